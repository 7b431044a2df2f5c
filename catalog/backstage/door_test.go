package backstage_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog/backstage"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/catalog/ingest/ingesttest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "a-token-of-the-tests"

type silent struct{}

func (silent) Begin(ctx context.Context, _ access.Call) (context.Context, func(error)) {
	return ctx, func(error) {}
}

// door is a REST door of Fairlead over documents that may change. It stands
// for the existing Backstage.
type door struct {
	t    testing.TB
	url  string
	now  atomic.Pointer[http.Handler]
	mu   sync.Mutex
	asks []string // entities asked for by reference
}

func newDoor(t testing.TB, docs ...string) *door {
	d := &door{t: t}
	d.serve(docs...)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/by-refs") {
			d.note(r)
		}
		(*d.now.Load()).ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	d.url = server.URL
	return d
}

func (d *door) note(r *http.Request) {
	var in struct{ EntityRefs []string }
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil || len(body) > 90_000 || len(in.EntityRefs) > 500 {
		d.t.Errorf("a request for %d entities in %d bytes: %v", len(in.EntityRefs), len(body), err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asks = append(d.asks, in.EntityRefs...)
}

// asked gives the references asked for since the last call, sorted.
func (d *door) asked() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.asks
	d.asks = nil
	slices.Sort(out)
	return out
}

func (d *door) serve(docs ...string) {
	policy := accesstest.OpenPolicy()
	h, err := rest.New(rest.Config{
		Catalog: catalogtest.New(d.t, docs...), Access: accesstest.Service(d.t, policy, accesstest.NewLog()), Recorder: silent{},
		Authenticate: func(r *http.Request) (access.Caller, error) {
			if access.CredentialOf(r).Bearer != token {
				return access.Caller{}, fault.New(fault.Unauthenticated, "no token")
			}
			return accesstest.As("user:default/fairlead"), nil
		},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	d.now.Store(&h)
}

// source reads the door.
func (d *door) source(change ...func(*backstage.Config)) *backstage.Source {
	d.t.Helper()
	dir := d.t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte(token+"\n"), 0o600); err != nil {
		d.t.Fatal(err)
	}
	cfg := backstage.Config{URL: d.url, Credentials: backstage.Credentials{TokenFile: "token"}}
	for _, c := range change {
		c(&cfg)
	}
	s, err := backstage.New("existing", cfg, dir)
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// files lets a source of entities be tested as one of files: each file is the
// description of a component.
type files struct {
	ingest.Source
	mu    sync.Mutex
	names map[string]string // by file
	texts map[string]string
}

func (f *files) path(file string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n, ok := f.names[file]; ok {
		return "component/default/" + n
	}
	return file
}

func (f *files) file(path string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for file, n := range f.names {
		if "component/default/"+n == path {
			return file
		}
	}
	return path
}

func (f *files) write(d *door, change map[string]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for file, text := range change {
		if f.names[file] == "" {
			f.names[file] = fmt.Sprintf("file-%d", len(f.names))
		}
		f.texts[file] = text
	}
	var docs []string
	for file, text := range f.texts {
		if text != "" {
			docs = append(docs, component(f.names[file], text))
		}
	}
	slices.Sort(docs)
	d.serve(strings.Join(docs, "---\n")) // one file, so that no entity's annotations change with another
}

func component(name, description string) string {
	text, _ := json.Marshal(description)
	return fmt.Sprintf("kind: Component\nmetadata: {name: %s, description: %s}\nspec: {type: service, lifecycle: production, owner: team-a}\n", name, text)
}

func (f *files) Open(ctx context.Context, rev ingest.Revision) (ingest.Tree, error) {
	t, err := f.Source.Open(ctx, rev)
	return &fileTree{t, f}, err
}

type fileTree struct {
	ingest.Tree
	f *files
}

func (t *fileTree) Changes(ctx context.Context, since ingest.Revision) ([]ingest.Change, bool, error) {
	changes, incremental, err := t.Tree.Changes(ctx, since)
	for i := range changes {
		changes[i].Path = t.f.file(changes[i].Path)
	}
	return changes, incremental, err
}

func (t *fileTree) Read(ctx context.Context, file string) ([]byte, error) {
	data, err := t.Tree.Read(ctx, t.f.path(file))
	if err != nil {
		return nil, err
	}
	var e struct{ Metadata struct{ Description string } }
	err = json.Unmarshal(data, &e)
	return []byte(e.Metadata.Description), err
}

func TestContract(t *testing.T) {
	ingesttest.Contract(t, func(t *testing.T) ingesttest.Fixture {
		d := newDoor(t)
		f := &files{names: map[string]string{}, texts: map[string]string{}}
		f.Source = d.source(func(c *backstage.Config) { c.Limits.EntityBytes = 1 << 20 })
		return ingesttest.Fixture{Source: f, Write: func(change map[string]string) { f.write(d, change) }}
	})
}
