package git

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

func names(rs []Revision) (out []string) {
	for _, r := range rs {
		out = append(out, r.Name)
	}
	return out
}

// TestRevisions lists a repository on disk and over HTTP, with a server that
// leaves files out and one that does not.
func TestRevisions(t *testing.T) {
	for _, filter := range []string{"true", "false"} {
		r := newRemoteRepo(t)
		r.git("config", "uploadpack.allowFilter", filter)
		r.write("a.yaml", "one")
		first := string(r.commit("first\n\nWith a body."))
		r.git("tag", "v1.0.0")
		r.git("checkout", "-q", "-b", "topic/x")
		r.write("b.yaml", strings.Repeat("large ", 100_000))
		side := string(r.commit("a\x1b[31m side " + strings.Repeat("é", 200)))
		r.git("tag", "-m", "annotated", "v1.1.0")
		r.git("checkout", "-q", "main")
		r.git("merge", "-q", "--no-ff", "-m", "merge", "topic/x")
		merge := strings.TrimSpace(r.git("rev-parse", "HEAD"))
		r.git("branch", "aaa", first)
		r.git("tag", "tree", "HEAD^{tree}")
		r.git("pack-refs", "--all")
		r.git("update-ref", "refs/pull/1/head", side)
		for kind, src := range map[string]*Source{"disk": r.source(SourceConfig{URL: r.dir}), "http": r.source(SourceConfig{}), "pinned": r.source(SourceConfig{Ref: "v1.0.0"})} {
			t.Run(kind+" "+filter, func(t *testing.T) {
				got, err := src.Revisions(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if got.Default != "main" || !slices.Equal(names(got.Branches), []string{"main", "aaa", "topic/x"}) || got.Branches[0].Commit != merge || got.Branches[1].Commit != first {
					t.Errorf("branches %q: %+v", got.Default, got.Branches)
				}
				tags := slices.DeleteFunc(got.Tags, func(r Revision) bool { return r.Name == "tree" })
				if !slices.Equal(names(tags), []string{"v1.0.0", "v1.1.0"}) || tags[0].Commit != first || tags[1].Commit != side {
					t.Errorf("tags %+v", got.Tags)
				}
				if kind != "disk" && filter == "false" {
					if len(got.Commits) > 0 || !got.Branches[0].At.IsZero() {
						t.Errorf("a server that cannot leave files out told %+v", got)
					}
					return
				}
				if c := got.Commits; len(c) != 3 || c[0].Name != merge || got.Older || c[0].Author != "Ada Lovelace" || c[0].At.Unix() != 1700000100 || !slices.ContainsFunc(c, func(r Revision) bool { return r.Name == first && r.Title == "first" }) {
					t.Errorf("commits %v: %+v", got.Older, got.Commits)
				}
				if title := got.Branches[2].Title; !strings.HasPrefix(title, "a[31m side é") || len(title) > maxTitle || !strings.HasSuffix(title, "é…") || got.Branches[2].At.IsZero() {
					t.Errorf("the branch's title is %q", title)
				}
			})
		}
		if sent := r.server.sent.Load(); filter == "true" && sent > 20_000 {
			t.Errorf("%d bytes were sent", sent)
		}
		if kept := r.kept(); len(kept) > 0 {
			t.Errorf("%v was left", kept)
		}
	}
}

// TestRevisionsOfMany keeps to what is worth while.
func TestRevisionsOfMany(t *testing.T) {
	r := newRemoteRepo(t)
	_, head := r.long(200)
	var refs strings.Builder
	for _, kind := range []string{"heads/b", "tags/t"} {
		for i := range 6_000 {
			fmt.Fprintf(&refs, "%s refs/%s%04d\n", head, kind, i)
		}
	}
	if err := os.WriteFile(filepath.Join(r.dir, ".git", "packed-refs"), []byte(refs.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r.git("tag", "-m", "annotated", "zzz")
	for kind, src := range map[string]*Source{"disk": r.source(SourceConfig{URL: r.dir}), "http": r.source(SourceConfig{})} {
		got, err := src.Revisions(t.Context())
		if err != nil || len(got.Branches) != 6_001 || len(got.Tags) != 6_001 || len(got.Commits) != recentCommits || !got.Older {
			t.Fatalf("%s: %d branches, %d tags, %d commits, %v", kind, len(got.Branches), len(got.Tags), len(got.Commits), err)
		}
		if last := got.Tags[6_000]; kind == "disk" && last.Commit != "" || kind == "http" && last.Commit != string(head) {
			t.Errorf("%s: the tag whose object was not read is of %q", kind, last.Commit)
		}
	}
}

// TestRevisionsThatAreNotThere: repositories without commits, without a default
// branch, cut short, or not there.
func TestRevisionsThatAreNotThere(t *testing.T) {
	r := newRemoteRepo(t)
	for _, src := range []*Source{r.source(SourceConfig{URL: r.dir}), r.source(SourceConfig{})} {
		if got, err := src.Revisions(t.Context()); err != nil || len(got.Branches)+len(got.Tags)+len(got.Commits) > 0 || got.Default != "" {
			t.Errorf("an empty repository has %+v, %v", got, err)
		}
	}
	r.write("a.yaml", "one")
	r.commit("first")
	r.write("a.yaml", "two")
	r.commit("second")
	runGit(t, filepath.Dir(r.dir), "clone", "-q", "--depth=1", "file://"+r.dir, "cut")
	if got, err := r.source(SourceConfig{URL: filepath.Join(filepath.Dir(r.dir), "cut")}).Revisions(t.Context()); err != nil || len(got.Commits) != 1 || !got.Older {
		t.Errorf("a shallow clone has %+v, %v", got, err)
	}
	r.git("checkout", "-q", "-b", "only")
	r.git("branch", "-D", "main")
	r.git("symbolic-ref", "HEAD", "refs/heads/gone")
	for _, src := range []*Source{r.source(SourceConfig{URL: r.dir}), r.source(SourceConfig{})} {
		if got, err := src.Revisions(t.Context()); err != nil || len(got.Branches) != 1 || got.Default != "" || len(got.Commits) > 0 {
			t.Errorf("without a default branch: %+v, %v", got, err)
		}
	}
	for _, src := range []*Source{r.source(SourceConfig{URL: r.dir + "/none"}), r.source(SourceConfig{URL: r.server.URL + "/none"})} {
		if got, err := src.Revisions(t.Context()); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("no repository: %+v, %v", got, err)
		}
	}
}
