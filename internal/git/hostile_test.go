package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// lyingServer answers what a test says.
func lyingServer(t *testing.T, answer http.HandlerFunc) *remoteRepo {
	t.Helper()
	r := &remoteRepo{repo: &repo{t: t}, limit: NewLimiter(4), state: filepath.Join(t.TempDir(), "state")}
	r.server = &server{Server: httptest.NewServer(answer)}
	t.Cleanup(func() {
		r.limit.Close()
		r.server.CloseClientConnections()
		r.server.Close()
	})
	return r
}

// wantFault checks an error that leaves.
func wantFault(t *testing.T, err error, code fault.Code, words string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != code || !strings.Contains(f.Message, words) || f.Fix == "" {
		t.Errorf("want %s with %q, got %#v (%v)", code, words, f, err)
	}
}

func TestAnswersThatAreNoGit(t *testing.T) {
	const pkt = "001e# service=git-upload-pack\n0000"
	advert := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", advertType)
			io.WriteString(w, body)
		}
	}
	status := func(n int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(n)
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		code   fault.Code
		words  string
	}{
		"web page":     {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") }, fault.Unavailable, "as a Git server does"},
		"nothing":      {advert(""), fault.Unavailable, "as a Git server does"},
		"noise":        {advert("zzzz"), fault.Unavailable, "as a Git server does"},
		"cut short":    {advert(pkt + "00a0"), fault.Unavailable, ""},
		"bad hash":     {advert(pkt + "003dzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz refs/heads/main\n0000"), fault.Unavailable, "as a Git server does"},
		"error packet": {advert(pkt + "0018ERR access refused\n0000"), fault.Unavailable, ""},
		"no commits":   {advert(pkt + "0000"), fault.NotFound, "no commits"},
		"missing":      {status(404), fault.NotFound, "no such repository"},
		"forbidden":    {status(403), fault.FailedPrecondition, "refuses access"},
		"broken":       {status(500), fault.Unavailable, "HTTP 500"},
		"too many":     {status(429), fault.Unavailable, "HTTP 429"},
		"closes":       {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, fault.Unavailable, "cannot be reached"},
		"endless header": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 1<<20))
			w.WriteHeader(http.StatusOK)
		}, fault.Unavailable, ""},
	} {
		r := lyingServer(t, c.answer)
		_, err := r.source(SourceConfig{}).Observe(context.Background())
		t.Run(name, func(t *testing.T) {
			wantFault(t, err, c.code, c.words)
			if name == "too many" && fault.From(err).RetryAfter != 7*time.Second {
				t.Errorf("retry after %s", fault.From(err).RetryAfter)
			}
		})
	}
	r := lyingServer(t, advert(""))
	r.server.Close()
	_, err := r.source(SourceConfig{}).Observe(context.Background())
	wantFault(t, err, fault.Unavailable, "cannot be reached")
}

func TestEndlessRefs(t *testing.T) {
	r := lyingServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", advertType)
		io.WriteString(w, "001e# service=git-upload-pack\n0000")
		line := fmt.Sprintf("%040x refs/heads/%0900d", 1, 1)
		fmt.Fprintf(w, "%04x%s\x00\n", len(line)+6, line)
		lines := strings.Repeat(fmt.Sprintf("%04x%s\n", len(line)+5, line), 1000)
		for {
			if _, err := io.WriteString(w, lines); err != nil {
				return
			}
		}
	})
	_, err := r.source(SourceConfig{}).Observe(context.Background())
	wantFault(t, err, fault.FailedPrecondition, "list of refs exceeds the limit")
}

// A server that accepts and then says nothing, at each step.
func TestHangingServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	limits := Limits{Timeout: 200 * time.Millisecond}
	r := lyingServer(t, http.NotFound)
	_, err = r.source(SourceConfig{URL: "http://" + listener.Addr().String() + "/repo", Limits: limits}).Observe(context.Background())
	wantFault(t, err, fault.Unavailable, "took longer than 200ms")

	g := newRemoteRepo(t)
	g.write("a.yaml", "x")
	head := g.commit("first")
	g.server.before = func(w http.ResponseWriter, req *http.Request) bool {
		if req.Method == http.MethodPost {
			io.Copy(io.Discard, req.Body)
			<-req.Context().Done()
			return true
		}
		return false
	}
	src := g.source(SourceConfig{Limits: Limits{Timeout: 2 * time.Second}})
	ctx, cancel := context.WithCancel(context.Background())
	g.server.posts.Store(0)
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err = src.Open(ctx, head); !errors.Is(err, context.Canceled) {
		t.Errorf("ended by the caller: %v", err)
	}
	src = g.source(SourceConfig{Limits: limits})
	_, err = src.Open(context.Background(), head)
	wantFault(t, err, fault.Unavailable, "fetching")
	check(t, "left on disk", len(g.kept()), 0)
}

// A caller that waits for a slot does not use up its own time limit.
func TestFetchesWaitForASlot(t *testing.T) {
	r := newRemoteRepo(t)
	r.write("a.yaml", "x")
	head := r.commit("first")
	release, err := func() (func(), error) {
		r.limit = NewLimiter(1)
		return r.limit.acquire(context.Background(), r.remoteURL())
	}()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.limit.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	src := r.source(SourceConfig{})
	if _, err := src.Open(ctx, head); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without a slot: %v", err)
	}
	release()
	tree, err := src.Open(context.Background(), head)
	if err != nil {
		t.Fatal(err)
	}
	tree.Close()
}

func TestRedirects(t *testing.T) {
	r := newRemoteRepo(t)
	r.write("a.yaml", "x")
	r.commit("first")
	r.requireAuth("git", "s3cret")
	t.Setenv("FAIRLEAD_TEST_TOKEN", "s3cret")
	credentials := Credentials{TokenEnv: "FAIRLEAD_TEST_TOKEN"}
	check := r.server.before
	r.server.before = func(w http.ResponseWriter, req *http.Request) bool {
		if rest, ok := strings.CutPrefix(req.URL.Path, "/old"); ok {
			http.Redirect(w, req, "/repo"+rest+"?"+req.URL.RawQuery, http.StatusMovedPermanently)
			return true
		}
		if strings.HasPrefix(req.URL.Path, "/private") {
			http.Redirect(w, req, "/login", http.StatusFound)
			return true
		}
		return check(w, req)
	}
	tree := open(t, r.source(SourceConfig{URL: r.server.URL + "/old", Credentials: credentials}))
	if got := read(t, tree, "a.yaml"); got != "x" {
		t.Errorf("moved on the same host: %q", got)
	}
	_, err := r.source(SourceConfig{URL: r.server.URL + "/private"}).Observe(context.Background())
	wantFault(t, err, fault.FailedPrecondition, "/login, which is no repository")

	var stolen string
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		stolen = req.URL.Path + req.Header.Get("Authorization")
	}))
	defer thief.Close()
	liar := lyingServer(t, func(w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, strings.Replace(thief.URL, "://", "://u:pass@", 1)+req.URL.RequestURI(), http.StatusFound)
	})
	_, err = liar.source(SourceConfig{Credentials: credentials}).Observe(context.Background())
	wantFault(t, err, fault.FailedPrecondition, "redirects to "+thief.URL+"/repo")
	mustNotSay(t, err, "s3cret")
	if strings.Contains(fault.From(err).Message, "pass") || stolen != "" {
		t.Errorf("the other host was asked %q; %v", stolen, err)
	}
}

// Packs that exceed the limit on disk end the fetch and leave nothing.
func TestOversizedPack(t *testing.T) {
	r := newRemoteRepo(t)
	r.git("config", "uploadpack.allowFilter", "false")
	noise, err := os.ReadFile(os.Args[0]) // a program does not compress to nothing
	if err != nil {
		t.Fatal(err)
	}
	r.write("noise.bin", string(noise[:min(len(noise), 4<<20)]))
	head := r.commit("first")
	src := r.source(SourceConfig{Limits: Limits{DiskBytes: 1 << 20}})
	_, err = src.Open(context.Background(), head)
	wantFault(t, err, fault.FailedPrecondition, "limit of 1048576 bytes on disk")
	check(t, "left on disk", len(r.kept()), 0)
	_, err = r.source(SourceConfig{Limits: Limits{Files: 1}}).Open(context.Background(), head)
	if err != nil {
		t.Fatal(err) // the allowance covers so small a commit; listing it does not pass
	}
}

// A small pack that holds a huge file costs time, not memory, whether the
// server can leave it out or not.
func TestHugeFile(t *testing.T) {
	const size = 64 << 20
	for _, filter := range []string{"true", "false"} {
		r := newRemoteRepo(t)
		r.git("config", "uploadpack.allowFilter", filter)
		r.git("config", "core.bigFileThreshold", "1m")
		at := filepath.Join(r.dir, "huge.bin")
		os.WriteFile(at, nil, 0o644)
		os.Truncate(at, size)
		r.write("a.yaml", "x")
		head := r.commit("first")
		os.Remove(at)
		peak := peakMemory(func() {
			tree, err := r.source(SourceConfig{}).Open(context.Background(), head)
			if err != nil {
				t.Fatal(err)
			}
			defer tree.Close()
			check(t, "content", read(t, tree, "a.yaml"), "x")
			if _, err := tree.Read(context.Background(), "huge.bin"); !errors.Is(err, ingest.ErrTooLarge) {
				t.Errorf("huge: %v", err)
			}
		})
		if peak > 32<<20 {
			t.Errorf("filter %s: took %d MiB of memory", filter, peak>>20)
		}
	}
}

// peakMemory is how much the heap grew at most while act ran.
func peakMemory(act func()) uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	base, peak := m.HeapAlloc, uint64(0)
	done, joined := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(joined)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc-min(base, m.HeapAlloc))
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	act()
	close(done)
	<-joined
	return peak
}

// A server that changes the pack on its way is found out.
func TestDamagedPack(t *testing.T) {
	r := newRemoteRepo(t)
	r.write("a.yaml", strings.Repeat("content ", 1000))
	head := r.commit("first")
	r.server.before = func(w http.ResponseWriter, req *http.Request) bool {
		if req.Method != http.MethodPost {
			return false
		}
		w.Header().Set("Content-Type", answerType)
		io.WriteString(w, "0034shallow "+string(head)+"0000"+"0008NAK\n"+"0026\x01PACK\x00\x00\x00\x02\x00\x00\x00\x01garbage-garbage-garbage"+"0000")
		return true
	}
	_, err := r.source(SourceConfig{}).Open(context.Background(), head)
	wantFault(t, err, fault.Unavailable, "fetching")
	check(t, "left on disk", len(r.kept()), 0)
}
