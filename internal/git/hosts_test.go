package git

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// A host that answers with refs and hangs in every fetch holds up its own
// repositories alone.
func TestOneHostThatHangsDelaysNoOther(t *testing.T) {
	bad, good := newRemoteRepo(t), newRemoteRepo(t)
	bad.write("a.yaml", "x")
	bad.commit("first")
	good.write("a.yaml", "fine")
	good.commit("first")
	good.limit = bad.limit
	var hanging atomic.Int32
	held := make(chan struct{}, 100)
	bad.server.before = func(_ http.ResponseWriter, req *http.Request) bool {
		if req.Method == http.MethodPost {
			io.Copy(io.Discard, req.Body)
			hanging.Add(1)
			held <- struct{}{}
			<-req.Context().Done()
		}
		return req.Method == http.MethodPost
	}
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	for i := range 3 * DefaultFetches * busyHosts {
		bad.state = t.TempDir() + strconv.Itoa(i)
		src := bad.source(SourceConfig{})
		rev := observe(t, src)
		g.Go(func() error {
			if _, err := src.Open(ctx, rev); err == nil {
				t.Error("fetched from a server that hangs")
			}
			return nil
		})
	}
	for range DefaultFetches {
		<-held
	}
	check(t, "content", read(t, open(t, good.source(SourceConfig{})), "a.yaml"), "fine")
	check(t, "fetches at the host", hanging.Load(), int32(DefaultFetches))
	cancel()
	g.Wait()
}

func TestSlotsInAllAreBounded(t *testing.T) {
	l := NewLimiter(2)
	defer l.Close()
	var releases []func()
	take := func(ctx context.Context, host string) error {
		release, err := l.acquire(ctx, &url.URL{Scheme: "https", Host: host})
		if err == nil {
			releases = append(releases, release)
		}
		return err
	}
	for i := range 2 * busyHosts {
		if err := take(context.Background(), "h"+strconv.Itoa(i%busyHosts)); err != nil {
			t.Fatal(err)
		}
	}
	gone, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	if err := take(gone, "other"); err == nil {
		t.Error("more slots were given than there are")
	}
	for _, release := range releases {
		release()
	}
	if err := take(context.Background(), "other"); err != nil {
		t.Error(err)
	}
}

// Looking at many repositories makes no more connections than may be kept,
// whatever is asked.
func TestConnectionsAreUsedAgain(t *testing.T) {
	r := newRemoteRepo(t)
	r.write("a.yaml", "x")
	r.commit("first")
	var conns sync.Map
	r.server.before = func(_ http.ResponseWriter, req *http.Request) bool {
		conns.Store(req.RemoteAddr, true)
		return false
	}
	var sources []*Source
	for range 40 {
		r.state = t.TempDir()
		sources = append(sources, r.source(SourceConfig{}))
	}
	for range 4 { // the first time they are fetched, too
		var g errgroup.Group
		for _, src := range sources {
			g.Go(func() error {
				rev, err := src.Observe(context.Background())
				if err != nil {
					return err
				}
				tree, err := src.Open(context.Background(), rev)
				if err != nil {
					return err
				}
				return tree.Close()
			})
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	conns.Range(func(any, any) bool { n++; return true })
	if n > maxConns {
		t.Errorf("%d connections for 40 repositories", n)
	}
}
