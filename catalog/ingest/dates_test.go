package ingest_test

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
)

// reader is a follower that takes something from Markdown.
type reader struct{ *follower }

func (reader) Dates(at string) bool { return path.Ext(at) == ".md" }

// changedIn is the number of the commit in which a followed file was changed
// last, 0 while that is unknown.
func (r *dating) changedIn(c *chronicle, at, content string) int {
	r.t.Helper()
	last, known := r.in.Changed(c.Describe().Name, at, content)
	if !known {
		return 0
	}
	for n := range 20 {
		if last.Commit == string(revisionOf(n)) && last.At.Equal(timeOf(n)) {
			return n
		}
	}
	r.t.Fatalf("%s was changed in %q", at, last.Commit)
	return 0
}

// idOf is what identifies the content of a file now.
func idOf(t *testing.T, c *chronicle, at string) string {
	t.Helper()
	rev, err := c.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := c.Memory.Open(t.Context(), rev)
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := tree.Changes(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if f.Path == at {
			return f.ID
		}
	}
	return ""
}

// TestFollowedFilesAreDated asks for the past of what followers read with one
// question, needs none for what follows directly, and keeps it.
func TestFollowedFilesAreDated(t *testing.T) {
	c, keeper, f := newChronicle("a", "one.test"), newKeeper(), reader{newFollower()}
	c.Write(map[string]string{"catalog-info.yaml": component("x"), "AGENTS.md": "one", "docs/a.md": "a", "main.go": "x"})
	r := startFollowed(t, keeper, []ingest.Follower{f}, "1", c)
	r.await("the dates", func() bool { return r.changedIn(c, "AGENTS.md", idOf(t, c, "AGENTS.md")) == 1 })
	if q := c.questions(); len(q) != 1 || strings.Join(q[0].Paths, " ") != "AGENTS.md catalog-info.yaml docs/a.md" {
		t.Errorf("asked %+v", q)
	}
	before := idOf(t, c, "AGENTS.md")
	r.write(c, map[string]string{"AGENTS.md": "two", "docs/b.md": "b", "main.go": "y"})
	for at, want := range map[string]int{"AGENTS.md": 2, "docs/a.md": 1, "docs/b.md": 2, "main.go": 0} {
		if n := r.changedIn(c, at, idOf(t, c, at)); n != want {
			t.Errorf("%s was changed in %d, not %d", at, n, want)
		}
	}
	if r.changedIn(c, "AGENTS.md", before) != 0 || r.changedIn(c, "gone.md", "x") != 0 || len(c.questions()) != 1 {
		t.Errorf("what is not in force has a date; asked %+v", c.questions())
	}
	r.stop()
	r = startFollowed(t, keeper, []ingest.Follower{f}, "1", c)
	if n := r.changedIn(c, "docs/b.md", idOf(t, c, "docs/b.md")); n != 2 || len(c.questions()) != 1 {
		t.Errorf("after a restart it was changed in %d; asked %+v", n, c.questions())
	}
}

// TestFilesAreDatedThatWereNot restarts with a follower that wants to know more
// than was kept, where files are read anew.
func TestFilesAreDatedThatWereNot(t *testing.T) {
	c, keeper := newChronicle("a", "one.test"), newKeeper()
	c.Write(map[string]string{"catalog-info.yaml": component("x"), "AGENTS.md": "one"})
	r := startDating(t, keeper, c)
	r.dated("x", 1)
	r.stop()
	r = startFollowed(t, keeper, []ingest.Follower{reader{newFollower()}}, "2", c)
	r.await("the dates", func() bool { return r.changedIn(c, "AGENTS.md", idOf(t, c, "AGENTS.md")) == 1 })
	if q := c.questions(); len(q) != 2 || strings.Join(q[1].Paths, " ") != "AGENTS.md" {
		t.Errorf("asked %+v", q)
	}
}

// TestKnownPastsAreNotKeptAgain holds that an answer which says nothing new
// writes nothing of the files.
func TestKnownPastsAreNotKeptAgain(t *testing.T) {
	c, keeper := newChronicle("a", "one.test"), newKeeper()
	c.Write(map[string]string{"x/catalog-info.yaml": component("x"), "y/catalog-info.yaml": component("y")})
	r := startDating(t, keeper, c)
	r.dated("x", 1)
	c.answers(func(_ context.Context, q ingest.Question) (ingest.Answer, error) {
		return ingest.Answer{AsBase: map[string]bool{"x/catalog-info.yaml": true}, Changed: map[string]ingest.CommitInfo{"y/catalog-info.yaml": commitOf(2)}}, nil
	})
	c.Write(map[string]string{"y/catalog-info.yaml": component("y") + "# two\n"})
	r.write(c, map[string]string{"other.txt": "x"})
	r.dated("y", 2)
	kept := func() ingest.Delta { keeper.mu.Lock(); defer keeper.mu.Unlock(); return keeper.last }
	r.await("the answer is kept", func() bool { return kept().Meta.Dated == revisionOf(3) })
	if got := slices.Sorted(maps.Keys(kept().Pasts)); strings.Join(got, " ") != "y/catalog-info.yaml" {
		t.Errorf("kept again: %q", got)
	}
}

// TestFollowersWaitForWhatTheyKept shows followers nothing before they have
// what they kept, and has them drop what is configured no more.
func TestFollowersWaitForWhatTheyKept(t *testing.T) {
	c, gone, keeper := newChronicle("a", "one.test"), newChronicle("gone", "one.test"), newKeeper()
	for _, s := range []*chronicle{c, gone} {
		s.Write(map[string]string{"catalog-info.yaml": component(s.Describe().Name), "AGENTS.md": "one"})
	}
	startDating(t, keeper, c, gone).stop()
	f, restored := newFollower(), make(chan struct{})
	f.at["gone"] = "kept"
	in := ingest.New(ingest.Config{Sources: []ingest.Source{c}, Processor: descriptor.New(descriptor.Options{}), Keeper: keeper, Fingerprint: "1",
		Refresh: time.Millisecond, Followers: []ingest.Follower{f}, Restored: restored, Publish: func([]index.Change) {}})
	if err := in.Restore(t.Context()); err != nil || f.Followed(ingest.Description{Name: "gone"}) != "" {
		t.Errorf("what is configured no more is still followed, at %q: %v", f.Followed(ingest.Description{Name: "gone"}), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- in.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	select {
	case <-f.shown:
		t.Error("the follower was shown something too early")
	case <-time.After(50 * time.Millisecond):
	}
	close(restored)
	f.await(t)
}
