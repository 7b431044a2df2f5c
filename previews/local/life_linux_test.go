package local

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/previews"
)

func TestLife(t *testing.T) {
	eachMode(t, func(t *testing.T, mode string) {
		d := newDeployer(t, Config{Isolation: mode}, nil)
		w := wish("p-1")
		apply(t, d, w)
		o := untilReady(t, d, w)
		if o.Commit != w.Commit || o.URL != "http://p-1.preview.localhost:7007/" {
			t.Errorf("observed %+v", o)
		}
		if got, want := mustGet(t, d, "p-1", "/"), "text of "+w.Commit+" for p-1.preview.localhost:7007"; got != want {
			t.Errorf("it answers %q, not %q", got, want)
		}
		lines, err := d.Logs(t.Context(), w, 10)
		if err != nil || len(lines) != 1 || lines[0].Text != "serving [one]" || time.Since(lines[0].At) > time.Minute {
			t.Errorf("the log is %v, %v", lines, err)
		}
		untilGone(t, d, w)
		if status, _ := get(t, d, "p-1", "/"); status != http.StatusNotFound {
			t.Errorf("a preview that is gone answers %d", status)
		}
	})
}

func TestApplyAgain(t *testing.T) {
	d := newDeployer(t, Config{}, nil)
	w := wish("again")
	apply(t, d, w)
	untilReady(t, d, w)
	f, _ := d.folder(w.ID)
	was, _ := f.state()
	w.ExpiresAt = w.ExpiresAt.Add(time.Hour)
	if err := d.Apply(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if is, _ := f.state(); is.PID != was.PID || !untilReady(t, d, w).Ready {
		t.Errorf("applying again has started it again: %+v, %+v", was, is)
	}
	if p, _, _ := f.plan(); !p.Wish.ExpiresAt.Equal(w.ExpiresAt) {
		t.Errorf("it ends at %s, not at %s", p.Wish.ExpiresAt, w.ExpiresAt)
	}
	w.Commit = strings.Repeat("2", 40)
	if err := d.Apply(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	untilReady(t, d, w)
	if got := mustGet(t, d, w.ID, "/"); !strings.Contains(got, w.Commit) {
		t.Errorf("another commit answers %q", got)
	}
}

// TestAnotherDeployer has a new one take over what an earlier one started, as
// after a crash.
func TestAnotherDeployer(t *testing.T) {
	eachMode(t, func(t *testing.T, mode string) {
		first := newDeployer(t, Config{Isolation: mode}, nil)
		w := wish("kept")
		apply(t, first, w)
		untilReady(t, first, w)
		second := newDeployer(t, Config{Dir: first.cfg.Dir, Isolation: mode}, nil)
		if !untilReady(t, second, w).Ready || mustGet(t, second, w.ID, "/healthz") != "" {
			t.Error("another deployer does not see it")
		}
		untilGone(t, second, w)
	})
}

// TestSupervisorKilled kills the supervisor, which nothing can guard against:
// what it leaves is ended all the same, and applying starts anew.
func TestSupervisorKilled(t *testing.T) {
	for _, cageless := range cagelessToo() {
		eachMode(t, func(t *testing.T, mode string) {
			d := newDeployer(t, Config{Isolation: mode, Grace: 100 * time.Millisecond}, nil)
			d.cageless = cageless
			w := wish("orphan", "/bin/sh", "-c", "sleep 1234567 & exec ./app")
			apply(t, d, w)
			untilReady(t, d, w)
			f, _ := d.folder(w.ID)
			s, _ := f.state()
			all := descendants(s.PID)
			if len(all) < 2 || !endProcess(s.PID, s.Start, true) {
				t.Fatalf("the supervisor has %v", all)
			}
			until(t, d, w, "without a supervisor", func(o previews.Observed) bool { return o.Commit == "" && !o.Ready && !o.Failed })
			if err := d.Apply(t.Context(), w); err != nil {
				t.Fatal(err)
			}
			untilReady(t, d, w)
			untilGone(t, d, w)
			for _, p := range all {
				if is, ok := look(p.pid); ok && is.start == p.start && !is.dead {
					t.Errorf("process %s is still there", p)
				}
			}
		})
	}
}

func TestNumberOfAnotherProcess(t *testing.T) {
	me, ok := look(os.Getpid())
	if !ok {
		t.Fatal("this process cannot be seen")
	}
	if endProcess(me.pid, me.start+1, true) {
		t.Fatal("a process that started at another time was signalled")
	}
}

func TestMany(t *testing.T) {
	if testing.Short() {
		t.Skip("starts fifty servers")
	}
	d := newDeployer(t, Config{}, nil)
	var wg sync.WaitGroup
	ports := sync.Map{}
	for i := range 50 {
		wg.Go(func() {
			w := wish(fmt.Sprintf("many-%d", i))
			defer func() {
				if err := d.Remove(context.Background(), w); err != nil {
					t.Error(err)
				}
			}()
			var both sync.WaitGroup
			for range 2 { // asked for twice at once
				both.Go(func() {
					if err := d.Apply(t.Context(), w); err != nil {
						t.Error(err)
					}
				})
			}
			both.Wait()
			for o := (previews.Observed{}); !o.Ready; time.Sleep(50 * time.Millisecond) {
				if o, _ = d.Observe(t.Context(), w); o.Failed || t.Context().Err() != nil {
					t.Errorf("%s: %+v", w.ID, o)
					return
				}
				if o.Ready {
					break
				}
			}
			port, _ := d.portOf(w.ID)
			if other, taken := ports.LoadOrStore(port, w.ID); taken {
				t.Errorf("%s and %s have port %d", w.ID, other, port)
			}
		})
	}
	wg.Wait()
	left, err := os.ReadDir(d.cfg.Dir)
	if err != nil || len(left) != 1 { // .ports
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestRemovalUnderLoad(t *testing.T) {
	eachMode(t, func(t *testing.T, mode string) {
		d := newDeployer(t, Config{Isolation: mode, Grace: 200 * time.Millisecond}, nil)
		w := wish("busy", "/bin/sh", "-c", `trap "" TERM; (while :; do mkdir -p a/b/c; echo x > a/b/c/$(date +%N); done) & ./app`)
		apply(t, d, w)
		untilReady(t, d, w)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		server := httptest.NewServer(d.Front(http.NotFoundHandler()))
		defer server.Close()
		for range 8 {
			wg.Go(func() {
				for ctx.Err() == nil {
					load(ctx, server, w.ID)
				}
			})
		}
		untilGone(t, d, w)
		cancel()
		wg.Wait()
	})
}

// load asks for an answer without an end, which is broken off.
func load(ctx context.Context, server *httptest.Server, id string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/slow", nil)
	if err != nil {
		return
	}
	req.Host = id + ".preview.localhost"
	if resp, err := server.Client().Do(req); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

func TestTimeIsUp(t *testing.T) {
	if testing.Short() {
		t.Skip("waits ten seconds")
	}
	d := newDeployer(t, Config{}, nil)
	w := wish("late")
	w.ExpiresAt = time.Now()
	apply(t, d, w)
	o := until(t, d, w, "stopped", func(o previews.Observed) bool { return strings.Contains(o.Reason, "time was up") })
	if o.Failed || o.Commit != "" {
		t.Errorf("without Fairlead it ends as %+v", o)
	}
}
