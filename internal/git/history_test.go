package git

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// story makes random histories: files that are written, changed back, moved
// and removed, branches that merge, merges that take one side or neither.
type story struct {
	*repo
	rand  *rand.Rand
	clock int64
	tips  []string
}

func newStory(r *repo, seed uint64) *story {
	s := &story{repo: r, rand: rand.New(rand.NewPCG(seed, 1)), clock: 1_600_000_000, tips: []string{"main"}}
	s.write("catalog-info.yaml", "0")
	s.write("keep/catalog-info.yaml", "never changed")
	s.save("first")
	return s
}

// save commits what is in the work tree; author times need not be in order.
func (s *story) save(message string) {
	s.t.Helper()
	s.git("add", "-A")
	s.dated("commit", "-q", "--allow-empty", "-m", message)
}

// dated runs git with times of the story's own.
func (s *story) dated(args ...string) {
	s.t.Helper()
	s.clock += int64(s.rand.IntN(5)) - 1
	author := s.clock - int64(s.rand.IntN(1000))
	cmd := exec.Command("git", args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=B", "GIT_COMMITTER_EMAIL=b@example.com", fmt.Sprintf("GIT_AUTHOR_DATE=%d +0200", author), fmt.Sprintf("GIT_COMMITTER_DATE=%d +0000", s.clock))
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (s *story) path() string {
	dirs := []string{"", "a/", "a/b/", "c/d/e/"}
	return dirs[s.rand.IntN(len(dirs))] + []string{"catalog-info.yaml", "x.yaml"}[s.rand.IntN(2)]
}

// go1 makes one step.
func (s *story) go1(n int) {
	s.t.Helper()
	switch k := s.rand.IntN(10); {
	case k < 5:
		s.write(s.path(), strconv.Itoa(s.rand.IntN(3))) // often back to what was
		s.save("write")
	case k == 5:
		if files := s.files(); len(files) > 2 {
			s.git("rm", "-q", "--", files[s.rand.IntN(len(files))])
			s.save("remove")
		}
	case k == 6:
		if files := s.files(); len(files) > 2 {
			from, to := files[s.rand.IntN(len(files))], s.path()
			if from != to {
				s.write(to, "")
				s.git("add", "-A")
				s.git("mv", "-f", from, to)
				s.save("move")
			}
		}
	case k == 7:
		branch := fmt.Sprintf("b%d", n)
		s.git("branch", branch)
		s.tips = append(s.tips, branch)
	case k == 8:
		s.git("checkout", "-q", s.tips[s.rand.IntN(len(s.tips))])
	default:
		s.merge(s.tips[s.rand.IntN(len(s.tips))])
	}
}

// merge merges a branch; conflicts are resolved by one side, and sometimes by
// something new, as merges that people make may be.
func (s *story) merge(branch string) {
	s.t.Helper()
	side := []string{"ours", "theirs"}[s.rand.IntN(2)]
	cmd := exec.Command("git", "-c", "user.name=x", "-c", "user.email=x", "merge", "-q", "--no-ff", "--no-commit", "-X", side, branch)
	cmd.Dir = s.dir
	_, _ = cmd.CombinedOutput() // conflicts of other kinds are resolved by what is there
	if s.rand.IntN(3) == 0 {
		s.write(s.path(), strconv.Itoa(s.rand.IntN(3)))
	}
	s.save("merge " + branch)
}

func (s *story) files() []string { return strings.Fields(s.git("ls-files")) }

// told is what git log says, by path.
func (s *story) told(rev string, paths []string) map[string]string {
	out := map[string]string{}
	for _, p := range paths {
		out[p] = s.git("log", "-1", "--format=%H %at", rev, "--", p)
	}
	return out
}

func answered(a ingest.Answer) map[string]string {
	out := map[string]string{}
	for p, c := range a.Changed {
		out[p] = fmt.Sprintf("%s %d", c.Commit, c.Time.Unix())
	}
	return out
}

func asked(t *testing.T, src *Source, q ingest.Question) ingest.Answer {
	t.Helper()
	a, err := src.LastChanges(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestLastChangesAreGits compares with the real git log over random histories,
// on disk and over HTTP, and from a base on.
func TestLastChangesAreGits(t *testing.T) {
	seeds := 6
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			r := newRemoteRepo(t)
			s := newStory(r.repo, uint64(seed))
			for n := range 25 {
				s.go1(n)
			}
			base := s.git("rev-parse", "HEAD")
			for n := range 25 {
				s.go1(100 + n)
			}
			compareWithGit(t, r, s, base)
		})
	}
}

func compareWithGit(t *testing.T, r *remoteRepo, s *story, base string) {
	s.git("checkout", "-q", "-B", "main")
	head, paths := s.git("rev-parse", "HEAD"), s.files()
	want := s.told(head, paths)
	local := r.repo.source(SourceConfig{})
	remote := r.source(SourceConfig{})
	q := ingest.Question{Revision: ingest.Revision(head), Paths: append(paths, "nowhere.yaml", "keep", "nowhere/x")}
	check(t, "on disk", answered(asked(t, local, q)), want)
	check(t, "over HTTP", answered(asked(t, remote, q)), want)
	q.Base = ingest.Revision(base)
	a := asked(t, remote, q)
	got := answered(a)
	before := s.told(base, slices.Sorted(func(yield func(string) bool) {
		for p := range a.AsBase {
			if !yield(p) {
				return
			}
		}
	}))
	for p, said := range before {
		got[p] = said
	}
	check(t, "from a base on", got, want)
	if len(r.kept()) > 0 {
		t.Errorf("%q is left", r.kept())
	}
}

// TestLastChangeFollowsMerges pins what the random histories hit by chance.
func TestLastChangeFollowsMerges(t *testing.T) {
	r := newRepo(t)
	r.write("a.yaml", "one")
	r.write("d/b.yaml", "one")
	first := r.commit("first")
	r.write("d/b.yaml", "two")
	r.git("switch", "-q", "-c", "side")
	second := r.commit("second")
	r.git("switch", "-q", "main")
	r.write("c.yaml", "x")
	third := r.commit("third")
	r.git("merge", "-q", "--no-edit", "side")
	r.git("commit", "-q", "--allow-empty", "-m", "empty")
	r.git("mv", "c.yaml", "moved.yaml")
	moved := r.commit("moved")
	os.Chmod(filepath.Join(r.dir, "a.yaml"), 0o755)
	head := r.commit("permissions")
	got := asked(t, r.source(SourceConfig{}), ingest.Question{Revision: head, Paths: []string{"a.yaml", "d/b.yaml", "c.yaml", "moved.yaml"}})
	commits := map[string]ingest.Revision{}
	for p, c := range got.Changed {
		commits[p] = ingest.Revision(c.Commit)
	}
	check(t, "changes", commits, map[string]ingest.Revision{"a.yaml": first, "d/b.yaml": second, "moved.yaml": moved})
	_ = third
	runGit(t, filepath.Dir(r.dir), "clone", "-q", "--depth=1", "file://"+r.dir, "shallow")
	cut := r.source(SourceConfig{URL: filepath.Join(filepath.Dir(r.dir), "shallow")})
	check(t, "shallow", len(asked(t, cut, ingest.Question{Revision: head, Paths: []string{"a.yaml"}}).Changed), 0)
}

// long makes a history of n commits after the one that wrote a.yaml.
func (r *repo) long(n int) (written, head ingest.Revision) {
	r.t.Helper()
	r.write("a.yaml", "one")
	written = r.commit("first")
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "commit refs/heads/main\ncommitter B <b@example.com> %d +0000\ndata 1\nx\n", 1_700_000_200+i)
		if i == 0 {
			fmt.Fprintf(&b, "from %s\n", written)
		}
		fmt.Fprintf(&b, "M 100644 inline b.yaml\ndata %d\n%d\n", len(strconv.Itoa(i)), i)
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = r.dir, strings.NewReader(b.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("%v: %s", err, out)
	}
	return written, ingest.Revision(r.git("rev-parse", "main"))
}

// TestHistoryIsFetchedInSteps looks far back, and gives up where that is
// further than it may.
func TestHistoryIsFetchedInSteps(t *testing.T) {
	for _, tt := range []struct {
		name     string
		commits  int
		requests int32
		known    bool
	}{{"near", 30, 1, true}, {"farther", 300, 2, true}, {"far", 3_000, 3, true}, {"too far", 6_000, 3, false}} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRemoteRepo(t)
			written, head := r.long(tt.commits)
			a := asked(t, r.source(SourceConfig{}), ingest.Question{Revision: head, Paths: []string{"a.yaml", "b.yaml"}})
			check(t, "b", a.Changed["b.yaml"].Commit, string(head))
			check(t, "a", a.Changed["a.yaml"].Commit, map[bool]string{true: string(written)}[tt.known])
			check(t, "requests", r.server.posts.Load(), tt.requests)
			if sent := r.server.sent.Load(); sent > 4<<20 {
				t.Errorf("%d bytes were sent", sent)
			}
		})
	}
}

// TestHistoryFromBaseIsCheap has a base near by answer what is far away.
func TestHistoryFromBaseIsCheap(t *testing.T) {
	r := newRemoteRepo(t)
	_, base := r.long(3_000)
	r.git("reset", "-q", "--hard")
	r.write("b.yaml", "changed")
	r.commit("one")
	r.write("b.yaml", "again")
	head := r.commit("two")
	r.server.sent.Store(0)
	a := asked(t, r.source(SourceConfig{}), ingest.Question{Revision: head, Base: base, Paths: []string{"a.yaml", "b.yaml"}})
	check(t, "as base", a.AsBase, map[string]bool{"a.yaml": true})
	check(t, "changed", a.Changed["b.yaml"].Commit, string(head))
	check(t, "requests", r.server.posts.Load(), int32(1))
}

// TestHistoryWithoutFilter asks a server that cannot leave files out: what
// exceeds the bound is not known, and no error.
func TestHistoryWithoutFilter(t *testing.T) {
	r := newRemoteRepo(t)
	r.git("config", "uploadpack.allowFilter", "false")
	noise := make([]byte, 300<<10)
	source := rand.NewChaCha8([32]byte{1})
	r.write("a.yaml", "one")
	first := r.commit("first")
	for range 2 {
		if _, err := source.Read(noise); err != nil {
			t.Fatal(err)
		}
		r.write("noise.bin", string(noise))
		r.commit("noise")
	}
	head := ingest.Revision(r.git("rev-parse", "HEAD"))
	q := ingest.Question{Revision: head, Paths: []string{"a.yaml"}}
	check(t, "small", asked(t, r.source(SourceConfig{}), q).Changed["a.yaml"].Commit, string(first))
	check(t, "large", len(asked(t, r.source(SourceConfig{Limits: Limits{DiskBytes: 400 << 10}}), q).Changed), 0)
	if len(r.kept()) > 0 {
		t.Errorf("%q is left", r.kept())
	}
}

func TestHistoryOfWhatIsGone(t *testing.T) {
	r := newRemoteRepo(t)
	r.write("a.yaml", "one")
	head := r.commit("first")
	r.write("a.yaml", "two")
	r.commit("second")
	src := r.source(SourceConfig{})
	_, err := src.LastChanges(t.Context(), ingest.Question{Revision: head, Paths: []string{"a.yaml"}})
	check(t, "moved on", fault.CodeOf(err), fault.Unavailable)
	_, err = src.LastChanges(t.Context(), ingest.Question{Revision: "main", Paths: []string{"a.yaml"}})
	check(t, "no id", fault.CodeOf(err), fault.Invalid)
	gone, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	if _, err = src.LastChanges(gone, ingest.Question{Revision: head, Paths: []string{"a.yaml"}}); err == nil {
		t.Error("a question that is over was answered")
	}
}

func TestParents(t *testing.T) {
	r := newRepo(t)
	r.write("a.yaml", "one")
	first := r.commit("first")
	src := r.source(SourceConfig{})
	check(t, "first", open(t, src).(ingest.Descendant).Parents(), []ingest.Revision{})
	r.commit("second")
	check(t, "second", open(t, src).(ingest.Descendant).Parents(), []ingest.Revision{first})
}

func TestHistoryOverSSH(t *testing.T) {
	r := newRemoteRepo(t)
	written, head := r.long(100)
	s := serveSSH(t, true)
	src := r.source(SourceConfig{URL: "ssh://git@" + s.addr + r.dir, Credentials: Credentials{SSHKeyFile: s.keyFile, KnownHostsFile: s.hosts}})
	a := asked(t, src, ingest.Question{Revision: head, Paths: []string{"a.yaml"}})
	check(t, "changed", a.Changed["a.yaml"].Commit, string(written))
}

// TestHistoryIsBounded ends looking where the server does not end sending.
func TestHistoryIsBounded(t *testing.T) {
	r := newRemoteRepo(t)
	_, head := r.long(10)
	src := r.source(SourceConfig{Limits: Limits{Timeout: 200 * time.Millisecond}})
	r.server.before = func(w http.ResponseWriter, req *http.Request) bool {
		if req.Method != http.MethodPost {
			return false
		}
		_, _ = io.Copy(io.Discard, req.Body) // a server notices who hangs up once it has read all
		<-req.Context().Done()
		return true
	}
	_, err := src.LastChanges(t.Context(), ingest.Question{Revision: head, Paths: []string{"a.yaml"}})
	wantFault(t, err, fault.Unavailable, "reading the history of")
	if len(r.kept()) > 0 {
		t.Errorf("%q is left", r.kept())
	}
}
