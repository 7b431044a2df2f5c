package ingest_test

import (
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/ingest/ingesttest"
)

// large is a catalog file of more than 600 bytes.
func large(name string) string { return component(name) + strings.Repeat("# large\n", 75) }

// TestSettingsAreFollowedWithoutACommit restarts with other settings of a source,
// which has not changed: it is read anew, and what others read of it as well.
func TestSettingsAreFollowedWithoutACommit(t *testing.T) {
	w := newWorld(t, "a", "b")
	b := w.sources[1]
	restart := func() {
		w.start()
		w.refresh(0)
		w.refresh(1)
		w.refresh(0) // as it is by the next poll
	}
	b.Limit(500)
	w.writeTo(1, map[string]string{"catalog-info.yaml": component("small"), "large/catalog-info.yaml": large("large"), "shared/far.yaml": large("far"), "more.yaml": component("more")})
	w.writeTo(0, map[string]string{"catalog-info.yaml": location("l", "target: https://git.example.test/acme/b/blob/main/shared/far.yaml")})
	w.has("component:default/small")
	w.lacks("component:default/large", "component:default/far", "component:default/more")
	w.problem("large/catalog-info.yaml")

	b.Limit(5000)
	restart()
	w.has("component:default/small", "component:default/large", "component:default/far")
	w.quiet()
	read := b.Reads("large/catalog-info.yaml")
	restart()
	if n := b.Reads("large/catalog-info.yaml") - read; n != 0 {
		t.Errorf("with the same settings it was read %d times", n)
	}

	b.Include("**/catalog-info.yaml", "more.yaml")
	restart()
	w.has("component:default/more", "component:default/far")

	b.Limit(500)
	restart()
	w.problem("large/catalog-info.yaml")
	w.has("component:default/large", "component:default/far") // as they were
	b.Include("more.yaml")
	restart()
	w.has("component:default/more")
	w.lacks("component:default/small", "component:default/large")
}

// TestRegisteredFileThatWasTooLarge raises the limit of a repository that only a
// registered location reads.
func TestRegisteredFileThatWasTooLarge(t *testing.T) {
	w := newRegistered(t, "pay")
	w.repos["pay"].Limit(500)
	w.repos["pay"].Write(map[string]string{"deep/far.yaml": large("far")})
	w.add(w, host+"pay/blob/main/deep/far.yaml")
	w.wantNot("component:default/far")
	w.stop()

	w.repos["pay"] = ingesttest.NewMemory("pay", host+"pay")
	w.repos["pay"].Write(map[string]string{"deep/far.yaml": large("far")})
	w.start(t)
	w.await("the file is read", func() bool { return w.has("component:default/far") })
}
