package local

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/previews"
)

func nobody(string) bool { return false }

func TestStrays(t *testing.T) {
	d := newDeployer(t, Config{}, nil)
	for _, id := range []string{"mine", "lost"} {
		apply(t, d, wish(id))
	}
	untilReady(t, d, wish("lost"))
	other := newDeployer(t, Config{}, nil)
	apply(t, other, wish("lost"))
	untilReady(t, other, wish("lost"))
	found, err := d.Strays(t.Context(), func(id string) bool { return id == "mine" })
	if err != nil || len(found) != 1 {
		t.Fatalf("there are %+v, %v", found, err)
	}
	s := found[0]
	if s.ID != "lost" || s.Bytes == 0 || s.Wish.Service != "component:default/shop" || s.Since.IsZero() || !strings.Contains(strings.Join(s.What, "\n"), "the folder ") {
		t.Errorf("found %+v", s)
	}
	if err := d.RemoveStray(t.Context(), "lost"); err != nil {
		t.Error(err)
	}
	if found, err := d.Strays(t.Context(), nobody); err != nil || len(found) != 1 || found[0].ID != "mine" {
		t.Errorf("then there are %+v, %v", found, err)
	}
	if o, err := other.Observe(t.Context(), wish("lost")); err != nil || !o.Ready {
		t.Errorf("that of another Fairlead on this machine is %+v, %v", o, err)
	}
	for _, id := range []string{"../mine", "", "Mine"} {
		if err := d.RemoveStray(t.Context(), id); err == nil {
			t.Errorf("%q was removed", id)
		}
	}
}

// TestStraysWithoutFolder kills a supervisor and removes the folder, so that
// processes, their groups and a reserved port are all there is.
func TestStraysWithoutFolder(t *testing.T) {
	for _, cageless := range cagelessToo() {
		d := newDeployer(t, Config{Isolation: None}, nil)
		d.cageless = cageless
		w := wish("orphan")
		apply(t, d, w)
		untilReady(t, d, w)
		f := folder(d.cfg.Dir + "/orphan")
		s, err := f.state()
		if err != nil {
			t.Fatal(err)
		}
		_, known := look(s.Main)
		if !known || !endProcess(s.PID, s.Start, true) {
			t.Fatalf("there is no supervisor: %+v", s)
		}
		if err := os.RemoveAll(string(f)); err != nil {
			t.Fatal(err)
		}
		found, err := d.Strays(t.Context(), nobody)
		if err != nil || len(found) != 1 || !slices.ContainsFunc(found[0].What, func(what string) bool { return strings.HasPrefix(what, "port ") }) {
			t.Errorf("cageless %v: there are %+v, %v", cageless, found, err)
		}
		if err := d.RemoveStray(t.Context(), w.ID); err != nil {
			t.Error(err)
		}
		if p, ok := look(s.Main); ok && p.start == s.MainStart && !p.dead {
			t.Errorf("%s goes on", p)
		}
		if found, err := d.Strays(t.Context(), nobody); err != nil || len(found) != 0 {
			t.Errorf("cageless %v: then there are %+v, %v", cageless, found, err)
		}
	}
}

func TestMeasure(t *testing.T) {
	for _, cageless := range cagelessToo() {
		eachMode(t, func(t *testing.T, mode string) {
			d := newDeployer(t, Config{Isolation: mode}, nil)
			d.cageless = cageless
			w := wish("measured", "/bin/sh", "-c", "dd if=/dev/zero of=big bs=1M count=8 2>&-; (while :; do :; done) & ./app")
			if _, ok, err := d.Measure(t.Context(), w); ok || err != nil {
				t.Errorf("of nothing %v, %v", ok, err)
			}
			apply(t, d, w)
			untilReady(t, d, w)
			first := measure(t, d, w)
			if first.Processes < 3 || first.MemoryBytes < 1<<20 || first.MemoryBytes > 200<<20 || first.DiskBytes < 8<<20 || first.At.IsZero() {
				t.Errorf("measured %+v", first)
			}
			for deadline := time.Now().Add(time.Minute); measure(t, d, w).CPU < first.CPU+50*time.Millisecond; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("a loop used no more than %s", first.CPU)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, ok, _ := d.Measure(ctx, previews.Wish{ID: "none"}); ok {
				t.Error("measured nothing")
			}
			untilGone(t, d, w)
		})
	}
}

func measure(t *testing.T, d *Deployer, w previews.Wish) previews.Resources {
	t.Helper()
	r, ok, err := d.Measure(t.Context(), w)
	if err != nil || !ok {
		t.Fatalf("measured %+v, %v, %v", r, ok, err)
	}
	return r
}
