package git

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

var (
	ada = Signature{Name: "Ada <Lovelace>", Email: "ada@example.com", When: time.Unix(1700000000, 5).In(time.FixedZone("", 5400))}
	bot = Signature{Name: "Fairlead", Email: "fairlead@example.com", When: time.Unix(1700000100, 0).UTC()}
)

// publication is a change of the branch main for the branch proposal.
func publication(base string, changes ...Change) Publication {
	return Publication{Base: base, BaseBranch: "main", Changes: changes, Message: "Say more\n\nWhy it does.", Author: ada, Committer: bot, Branch: "proposal"}
}

func publish(t *testing.T, src *Source, p Publication) string {
	t.Helper()
	out, err := src.Publish(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if out.Unchanged || len(out.Commit) != 40 {
		t.Fatalf("published %+v", out)
	}
	return out.Commit
}

// pushable is a repository with all sorts of entries that takes pushes.
func pushable(t *testing.T) (*remoteRepo, string) {
	t.Helper()
	r := newRemoteRepo(t)
	r.git("config", "http.receivepack", "true")
	r.write("README.md", "read me\r\nwithout an end")
	r.write("docs/one.md", "one")
	r.write("docs-more/x.md", "sorted beside a folder")
	r.write("only/deep/file.md", "the only one")
	r.write("run.sh", "#!/bin/sh\n")
	os.Chmod(filepath.Join(r.dir, "run.sh"), 0o755)
	os.Symlink("docs", filepath.Join(r.dir, "link"))
	head := r.commit("first")
	r.git("update-index", "--add", "--cacheinfo", "160000,"+string(head)+",sub")
	r.git("commit", "-q", "-m", "second")
	return r, r.git("rev-parse", "HEAD")
}

func TestPublishEverywhere(t *testing.T) {
	for name, reach := range map[string]func(r *remoteRepo) SourceConfig{
		"http": func(*remoteRepo) SourceConfig { return SourceConfig{} },
		"path": func(r *remoteRepo) SourceConfig { return SourceConfig{URL: r.dir} },
		"file": func(r *remoteRepo) SourceConfig { return SourceConfig{URL: "file://" + r.dir} },
		"ssh": func(r *remoteRepo) SourceConfig {
			s := serveSSH(r.t, true)
			return SourceConfig{URL: "ssh://git@" + s.addr + r.dir, Credentials: Credentials{SSHKeyFile: s.keyFile, KnownHostsFile: s.hosts}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, base := pushable(t)
			src := r.source(reach(r))
			id := publish(t, src, publication(base,
				Change{Path: "run.sh", Data: []byte("#!/bin/sh\necho\n")},
				Change{Path: "docs/answers/new.md", Data: []byte("new")},
				Change{Path: "docs/tool.sh", Executable: true},
				Change{Path: "only/deep/file.md", Delete: true},
				Change{Path: "never/there.md", Delete: true}))
			check(t, "branch", r.git("rev-parse", "proposal"), id)
			check(t, "parent", r.git("rev-parse", "proposal^"), base)
			check(t, "changes", strings.Split(r.git("diff-tree", "-r", "--no-renames", "--format=", "--no-abbrev", base, id), "\n"), []string{
				raw("000000", "100644", "", "new", "A", "docs/answers/new.md"),
				raw("000000", "100755", "", "", "A", "docs/tool.sh"),
				raw("100644", "000000", "the only one", "", "D", "only/deep/file.md"),
				raw("100755", "100755", "#!/bin/sh\n", "#!/bin/sh\necho\n", "M", "run.sh"),
			})
			check(t, "root", r.git("ls-tree", "--name-only", id), strings.Join([]string{"README.md", "docs-more", "docs", "link", "run.sh", "sub"}, "\n"))
			check(t, "who", r.git("log", "-1", "--format=%an|%ae|%ad|%cn|%ce|%ct|%B", "--date=raw", id),
				"Ada Lovelace|ada@example.com|1700000000 +0130|Fairlead|fairlead@example.com|1700000100|Say more\n\nWhy it does.")
			r.git("fsck", "--strict", "--full")

			again, err := src.Publish(context.Background(), publication(base, Change{Path: "docs/one.md", Data: []byte("one")}))
			check(t, "as it is", []any{again, err}, []any{Published{Unchanged: true}, error(nil)})
		})
	}
}

// raw is a line of git diff-tree.
func raw(before, after, old, now, what, path string) string {
	id := func(mode, text string) objects.ID {
		if mode == "000000" {
			return objects.ID{}
		}
		return (&builder{}).add(objects.Blob, []byte(text))
	}
	return fmt.Sprintf(":%s %s %s %s %s\t%s", before, after, id(before, old), id(after, now), what, path)
}

// What is written is what the git program makes of the same changes.
func TestPublishAsGitDoes(t *testing.T) {
	r, base := pushable(t)
	src := r.source(SourceConfig{URL: r.dir})
	names := []string{"docs", "docs-more", "docs.md", "docs0", "only", "deep", "a", "z", "é", "run.sh2"}
	for seed := range uint64(12) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		r.git("checkout", "-q", "-f", base)
		files := map[string]Change{"README.md": {Path: "README.md", Data: fmt.Append(nil, seed)}}
		for range 1 + rnd.IntN(8) {
			path := fmt.Sprintf("t%d/%s/%s/f%d", rnd.IntN(2), names[rnd.IntN(len(names))], names[rnd.IntN(len(names))], rnd.IntN(3))
			files[path] = Change{Path: path, Data: fmt.Append(nil, rnd.IntN(9)), Executable: rnd.IntN(2) == 0}
		}
		for _, path := range []string{"docs/one.md", "docs-more/x.md", "only/deep/file.md"} {
			if rnd.IntN(2) == 0 {
				files[path] = Change{Path: path, Delete: true}
			}
		}
		p := publication(base)
		p.BaseBranch, p.Branch = "", fmt.Sprintf("seed-%d", seed)
		for path, c := range files {
			p.Changes = append(p.Changes, c)
			if c.Delete {
				r.git("rm", "-q", path)
				continue
			}
			r.write(path, string(c.Data))
			if c.Executable {
				os.Chmod(filepath.Join(r.dir, path), 0o755)
			}
			r.git("add", path)
		}
		id := publish(t, src, p)
		check(t, p.Branch, r.git("rev-parse", id+"^{tree}"), r.git("write-tree"))
	}
	r.git("fsck", "--strict", "--full")
}

func TestPublishRefusesPaths(t *testing.T) {
	r, base := pushable(t)
	src := r.source(SourceConfig{})
	for path, code := range map[string]fault.Code{
		"": fault.Invalid, "/etc/passwd": fault.Invalid, "../up": fault.Invalid, "a/../../up": fault.Invalid, "a//b": fault.Invalid, "a/": fault.Invalid,
		".git/config": fault.Invalid, "a/.GIT/hooks/x": fault.Invalid, "git~1/config": fault.Invalid, ".git./config": fault.Invalid, ".git::$INDEX_ALLOCATION/x": fault.Invalid,
		".g\u200cit/config": fault.Invalid, "a\nb": fault.Invalid, "a\x00b": fault.Invalid, "a\xffb": fault.Invalid, `a\b`: fault.Invalid, "end ": fault.Invalid, ".gitmodules": fault.Invalid,
		strings.Repeat("a", 201): fault.Invalid, strings.Repeat("a/", 64) + "a": fault.Invalid,
		"link/x": fault.Conflict, "link": fault.Conflict, "sub": fault.Conflict, "sub/x": fault.Conflict, "README.md/x": fault.Conflict, "docs": fault.Conflict,
		"Docs/new.md": fault.Conflict, "readme.MD": fault.Conflict, "docs/ONE.md": fault.Conflict,
	} {
		_, err := src.Publish(context.Background(), publication(base, Change{Path: path, Data: []byte("x")}))
		if fault.CodeOf(err) != code || fault.From(err).Fix == "" {
			t.Errorf("%q: %v", path, err)
		}
	}
	for _, both := range [][]Change{{{Path: "a"}, {Path: "a"}}, {{Path: "a"}, {Path: "a/b"}}, {{Path: "a/b"}, {Path: "a"}}, {{Path: "new"}, {Path: "NEW"}}} {
		if _, err := src.Publish(context.Background(), publication(base, both...)); fault.CodeOf(err) != fault.Invalid && fault.CodeOf(err) != fault.Conflict {
			t.Errorf("%v: %v", both, err)
		}
	}
	check(t, "branches", r.git("branch", "--list", "proposal"), "")
	id := publish(t, src, publication(base, Change{Path: "README.md", Delete: true}, Change{Path: "readme.md", Data: []byte("renamed in case")}))
	check(t, "renamed", r.git("cat-file", "-p", id+":readme.md"), "renamed in case")
}

func TestPublishRefusesNonsense(t *testing.T) {
	r, base := pushable(t)
	src := r.source(SourceConfig{Limits: Limits{FileBytes: 10}})
	for what, change := range map[string]func(*Publication){
		"base":      func(p *Publication) { p.Base = "main" },
		"expected":  func(p *Publication) { p.Expected = "abc" },
		"branch":    func(p *Publication) { p.Branch = "refs/heads/x" },
		"head":      func(p *Publication) { p.Branch = "HEAD" },
		"space":     func(p *Publication) { p.Branch = "a b" },
		"rewriting": func(p *Publication) { p.Branch = "main" },
		"message":   func(p *Publication) { p.Message = " \n" },
		"no files":  func(p *Publication) { p.Changes = nil },
		"author":    func(p *Publication) { p.Author.Name = "<>" },
		"committer": func(p *Publication) { p.Committer = Signature{} },
		"too large": func(p *Publication) { p.Changes[0].Data = make([]byte, 11) },
		"too many":  func(p *Publication) { p.Changes = make([]Change, maxChanges+1) },
	} {
		p := publication(base, Change{Path: "x", Data: []byte("x")})
		change(&p)
		if _, err := src.Publish(context.Background(), p); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s: %v", what, err)
		}
	}
	p := publication(strings.Repeat("ab", 20), Change{Path: "x", Data: []byte("x")})
	if _, err := src.Publish(context.Background(), p); err == nil {
		t.Error("a base that is not there was changed")
	}
	check(t, "branches", r.git("branch", "--list"), "* main")
}
