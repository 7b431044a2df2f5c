package git

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// TestContains asks of a history with a merge which commits hold which, of the
// repository itself and over HTTP, with a server that leaves files out and one
// that does not.
func TestContains(t *testing.T) {
	for _, filter := range []string{"true", "false"} {
		r := newRemoteRepo(t)
		r.git("config", "uploadpack.allowFilter", filter)
		r.git("config", "uploadpack.allowAnySHA1InWant", "true")
		r.write("a.yaml", "one")
		first := string(r.commit("first"))
		r.git("checkout", "-q", "-b", "side")
		r.write("b.yaml", "side")
		side := string(r.commit("side"))
		r.git("checkout", "-q", "main")
		r.write("c.yaml", "main")
		second := string(r.commit("second"))
		r.git("merge", "-q", "--no-ff", "-m", "merge", "side")
		merge := strings.TrimSpace(r.git("rev-parse", "HEAD"))
		for _, src := range []*Source{r.source(SourceConfig{}), r.source(SourceConfig{URL: r.dir})} {
			for _, c := range []struct {
				tip, commit string
				want        bool
			}{{merge, merge, true}, {merge, side, true}, {merge, first, true}, {second, side, false}, {side, second, false}, {first, merge, false}, {second, strings.Repeat("1", 40), false}} {
				got, err := src.Contains(t.Context(), c.tip, c.commit)
				if err != nil || got != c.want {
					t.Errorf("filter %s: %.8s in %.8s: %v, %v", filter, c.commit, c.tip, got, err)
				}
			}
			if _, err := src.Contains(t.Context(), "1.2.3", first); fault.CodeOf(err) != fault.Invalid {
				t.Errorf("the version of a chart: %v", err)
			}
			if _, err := src.Contains(t.Context(), strings.Repeat("2", 40), first); err == nil {
				t.Error("a tip that is not there contains something")
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := src.Contains(ended, merge, first); err == nil {
				t.Error("answered after the caller had gone")
			}
		}
	}
}

// TestContainsFarBack fetches more where a little does not tell, and says so
// where nothing that may be fetched does.
func TestContainsFarBack(t *testing.T) {
	for commits, want := range map[int]bool{30: true, 300: true, 6_000: false} {
		r := newRemoteRepo(t)
		written, head := r.long(commits)
		got, err := r.source(SourceConfig{}).Contains(t.Context(), string(head), string(written))
		if got != want || want != (err == nil) || !want && fault.CodeOf(err) != fault.FailedPrecondition {
			t.Errorf("%d commits: %v, %v", commits, got, err)
		}
		if sent := r.server.sent.Load(); sent > 2<<20 {
			t.Errorf("%d commits: %d bytes were sent", commits, sent)
		}
	}
	r := newRemoteRepo(t)
	written, head := r.long(10)
	runGit(t, filepath.Dir(r.dir), "clone", "-q", "--depth=1", "file://"+r.dir, "cut")
	if _, err := r.source(SourceConfig{URL: filepath.Join(filepath.Dir(r.dir), "cut")}).Contains(t.Context(), string(head), string(written)); fault.CodeOf(err) != fault.FailedPrecondition {
		t.Errorf("of a shallow clone: %v", err)
	}
}
