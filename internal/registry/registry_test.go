package registry_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	realregistry "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/registry"
)

// served is a real registry, over HTTP.
type served struct {
	t     *testing.T
	host  string
	asked atomic.Int64
	// before may answer in its place.
	before func(w http.ResponseWriter, r *http.Request) bool
}

func serve(t *testing.T) *served {
	t.Helper()
	s := &served{t: t}
	handler := realregistry.New(realregistry.WithReferrersSupport(true), realregistry.Logger(log.New(io.Discard, "", 0)))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			s.asked.Add(1)
		}
		if s.before == nil || !s.before(w, r) {
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	s.host = strings.TrimPrefix(srv.URL, "http://")
	return s
}

func (s *served) repo(repository string) name.Repository {
	s.t.Helper()
	r, err := name.NewRepository(s.host + "/" + repository)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// image is one with labels, pushed.
func (s *served) image(repository string, labels map[string]string) v1.Image {
	s.t.Helper()
	img := must[v1.Image](s.t)(mutate.Config(empty.Image, v1.Config{Labels: labels}))
	s.push(repository, img)
	return img
}

func (s *served) push(repository string, img v1.Image) v1.Hash {
	s.t.Helper()
	digest := must[v1.Hash](s.t)(img.Digest())
	if err := remote.Write(s.repo(repository).Digest(digest.String()), img); err != nil {
		s.t.Fatal(err)
	}
	return digest
}

func digestOf(t *testing.T, img interface{ Digest() (v1.Hash, error) }) string {
	t.Helper()
	return must[v1.Hash](t)(img.Digest()).String()
}

// client asks the registry, and more.
func (s *served) client(change func(*registry.Config), more ...registry.Config) *registry.Client {
	s.t.Helper()
	cfg := registry.Config{Host: s.host, PlainHTTP: true, Private: true}
	if change != nil {
		change(&cfg)
	}
	c := must[*registry.Client](s.t)(registry.New(append(more, cfg)))
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// awaited is what is known of an image after a while.
func awaited(t *testing.T, c *registry.Client, image, digest string) gitops.Origin {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if o, ok := c.Origin(image, digest); ok {
			return o
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing is known of the image")
		}
	}
}

// never has a registry asked, and fails the test where something is known then.
func never(t *testing.T, c *registry.Client, image, digest string) {
	t.Helper()
	c.Origin(image, digest)
	c.Settle()
	if o, ok := c.Origin(image, digest); ok {
		t.Errorf("it is known: %+v", o)
	}
}

const commit = "0123456789abcdef0123456789abcdef01234567"

func TestLabels(t *testing.T) {
	s := serve(t)
	img := s.image("acme/shop", map[string]string{"org.opencontainers.image.revision": commit, "org.opencontainers.image.source": "https://bot:hunter2@git.test/acme/shop", "fairlead.dev/built-by": "https://ci.test/7"})
	c := s.client(nil)
	if o, ok := c.Origin(s.host+"/acme/shop", digestOf(t, img)); ok {
		t.Errorf("known before it is asked: %+v", o)
	}
	want := gitops.Origin{Commit: commit, Source: "https://git.test/acme/shop", BuiltBy: "https://ci.test/7"}
	if got := awaited(t, c, s.host+"/acme/shop", digestOf(t, img)); got != want {
		t.Errorf("%+v", got)
	}
	asked := s.asked.Load()
	for range 100 {
		c.Origin(s.host+"/acme/shop", digestOf(t, img))
	}
	if s.asked.Load() != asked {
		t.Error("what is known is asked again")
	}
	bad := s.image("acme/bad", map[string]string{"org.opencontainers.image.revision": "<script>\n" + commit, "org.opencontainers.image.source": strings.Repeat("x", 10_000)})
	if got := awaited(t, c, s.host+"/acme/bad", digestOf(t, bad)); got.Commit != "" || len(got.Source) != 300 {
		t.Errorf("%+v", got)
	}
}

// statement is one of in-toto about a digest.
func statement(predicate, digest, body string) []byte {
	return fmt.Appendf(nil, `{"_type":"https://in-toto.io/Statement/v0.1","predicateType":"https://slsa.dev/provenance/%s","subject":[{"name":"x","digest":{"sha256":%q}}],"predicate":%s}`,
		predicate, strings.TrimPrefix(digest, "sha256:"), body)
}

const (
	slsa02 = `{"builder":{"id":"https://ci.test/builder@v2"},"invocation":{"configSource":{"uri":"git+https://git.test/acme/shop@refs/heads/main","digest":{"sha1":"` + commit + `"}}},"materials":[{"uri":"pkg:docker/golang","digest":{"sha256":"00"}}]}`
	slsa1  = `{"buildDefinition":{"resolvedDependencies":[{"uri":"git+https://git.test/acme/shop@refs/tags/v1","digest":{"gitCommit":"` + commit + `"}}]},"runDetails":{"builder":{"id":"https://ci.test/builder@v2"}}}`
	kit    = `{"builder":{"id":"https://ci.test/builder@v2"},"materials":[],"metadata":{"https://mobyproject.org/buildkit@v1#metadata":{"vcs":{"revision":"` + commit + `","source":"https://git.test/acme/shop"}}}}`
)

func attestation(t *testing.T, kind string, text []byte) v1.Image {
	t.Helper()
	return must[v1.Image](t)(mutate.AppendLayers(mutate.MediaType(empty.Image, types.OCIManifestSchema1), static.NewLayer(text, types.MediaType(kind))))
}

// TestProvenance reads what is attached in the ways that builders attach it.
func TestProvenance(t *testing.T) {
	s := serve(t)
	want := gitops.Origin{Commit: commit, Source: "https://git.test/acme/shop", BuiltBy: "https://ci.test/builder@v2"}
	for what, c := range map[string]struct {
		predicate, body, kind string
		wrap                  func(string) string
	}{
		"a statement":       {"v0.2", slsa02, "application/vnd.in-toto+json", func(s string) string { return s }},
		"a newer statement": {"v1", slsa1, "application/vnd.in-toto+json", func(s string) string { return s }},
		"a signed one": {"v1", slsa1, "application/vnd.dsse.envelope.v1+json", func(s string) string {
			return `{"payloadType":"application/vnd.in-toto+json","payload":"` + base64.StdEncoding.EncodeToString([]byte(s)) + `","signatures":[]}`
		}},
		"a bundle": {"v1", slsa1, "application/vnd.dev.sigstore.bundle.v0.3+json", func(s string) string {
			return `{"dsseEnvelope":{"payload":"` + base64.StdEncoding.EncodeToString([]byte(s)) + `"}}`
		}},
	} {
		repository := "acme/" + strings.ReplaceAll(what, " ", "-")
		img := s.image(repository, map[string]string{"what": what})
		digest := digestOf(t, img)
		desc := must[*remote.Descriptor](t)(remote.Get(s.repo(repository).Digest(digest))).Descriptor
		att := attestation(t, c.kind, []byte(c.wrap(string(statement(c.predicate, digest, c.body)))))
		s.push(repository, mutate.Subject(att, desc).(v1.Image))
		if got := awaited(t, s.client(nil), s.host+"/"+repository, digest); got != want {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

// TestBuildKit reads provenance of an index, and takes none that is about
// another image.
func TestBuildKit(t *testing.T) {
	s := serve(t)
	arm, amd := s.image("acme/kit", map[string]string{"arch": "arm64"}), s.image("acme/kit", map[string]string{"arch": "amd64"})
	index := func(about v1.Image) v1.ImageIndex {
		att := attestation(t, "application/vnd.in-toto+json", statement("v0.2", digestOf(t, about), kit))
		return mutate.AppendManifests(empty.Index,
			mutate.IndexAddendum{Add: arm, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "arm64"}}},
			mutate.IndexAddendum{Add: amd, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}}},
			mutate.IndexAddendum{Add: att, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "unknown", Architecture: "unknown"},
				Annotations: map[string]string{"vnd.docker.reference.type": "attestation-manifest", "vnd.docker.reference.digest": digestOf(t, amd)}}})
	}
	right, wrong := index(amd), index(arm)
	for _, i := range []v1.ImageIndex{right, wrong} {
		if err := remote.WriteIndex(s.repo("acme/kit").Digest(digestOf(t, i)), i); err != nil {
			t.Fatal(err)
		}
	}
	want := gitops.Origin{Commit: commit, Source: "https://git.test/acme/shop", BuiltBy: "https://ci.test/builder@v2"}
	if got := awaited(t, s.client(nil), s.host+"/acme/kit", digestOf(t, right)); got != want {
		t.Errorf("%+v", got)
	}
	never(t, s.client(nil), s.host+"/acme/kit", digestOf(t, wrong))
}

// TestOnlyWhatIsAllowed asks no other host, no address that is not public but
// where that is allowed, nothing without TLS but where that is, and follows no
// redirect to such.
func TestOnlyWhatIsAllowed(t *testing.T) {
	s, inner := serve(t), serve(t)
	labels := map[string]string{"org.opencontainers.image.revision": commit}
	digest := digestOf(t, s.image("acme/shop", labels))
	inner.image("acme/shop", labels)
	before := s.asked.Load()
	for what, change := range map[string]func(*registry.Config){
		"not private": func(c *registry.Config) { c.Private = false },
		"no TLS":      func(c *registry.Config) { c.PlainHTTP = false },
	} {
		never(t, s.client(change), s.host+"/acme/shop", digest)
		if s.asked.Load() != before {
			t.Errorf("%s: it was asked", what)
		}
	}
	for _, image := range []string{inner.host + "/acme/shop", "169.254.169.254/acme/shop", "shop", "ghcr.io/acme/shop", "", "../../x", s.host, s.host + "/UPPER"} {
		never(t, s.client(nil), image, digest)
	}
	for _, digest := range []string{"", "latest", "sha256:0", "sha256:" + strings.Repeat("z", 64)} {
		never(t, s.client(nil), s.host+"/acme/shop", digest)
	}
	asked := inner.asked.Load()
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/manifests/") {
			http.Redirect(w, r, "http://"+inner.host+r.URL.Path, http.StatusTemporaryRedirect)
			return true
		}
		return false
	}
	never(t, s.client(nil), s.host+"/acme/shop", digest)
	s.before = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+inner.host+`/token",service="x"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	never(t, s.client(nil), s.host+"/acme/shop", digest)
	if inner.asked.Load() != asked {
		t.Error("a host was asked that nobody has allowed")
	}
}

func TestPassword(t *testing.T) {
	s := serve(t)
	digest := digestOf(t, s.image("acme/shop", map[string]string{"org.opencontainers.image.revision": commit}))
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		if user, password, ok := r.BasicAuth(); ok && user == "robot" && password == "hunter2" {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	never(t, s.client(nil), s.host+"/acme/shop", digest)
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	awaited(t, s.client(func(c *registry.Config) { c.Username, c.PasswordFile = "robot", file }), s.host+"/acme/shop", digest)
	never(t, s.client(func(c *registry.Config) { c.Username, c.PasswordFile = "robot", file+"x" }), s.host+"/acme/shop", digest)
}

// TestRegistryInTrouble has one that hangs, lies and talks without end.
func TestRegistryInTrouble(t *testing.T) {
	s := serve(t)
	digest := digestOf(t, s.image("acme/shop", map[string]string{"org.opencontainers.image.revision": commit}))
	for what, before := range map[string]func(w http.ResponseWriter, r *http.Request) bool{
		"without end": func(w http.ResponseWriter, r *http.Request) bool {
			for chunk := make([]byte, 1<<16); r.Context().Err() == nil; {
				if _, err := w.Write(chunk); err != nil {
					return true
				}
			}
			return true
		},
		"another manifest": func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, "/manifests/") {
				return false
			}
			w.Header().Set("Content-Type", string(types.OCIManifestSchema1))
			fmt.Fprintf(w, `{"annotations":{"org.opencontainers.image.revision":%q}}`, commit)
			return true
		},
		"no JSON": func(w http.ResponseWriter, _ *http.Request) bool { fmt.Fprint(w, "<html>"); return true },
		"down": func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		},
	} {
		s.before = before
		began := time.Now()
		never(t, s.client(nil), s.host+"/acme/shop", digest)
		if time.Since(began) > time.Minute {
			t.Errorf("%s: after %s", what, time.Since(began))
		}
	}
	hang := make(chan struct{})
	defer close(hang)
	s.before = func(_ http.ResponseWriter, r *http.Request) bool {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
		return true
	}
	c := s.client(nil)
	began := time.Now()
	for i := range 1000 { // far more than wait
		c.Origin(s.host+"/acme/shop", fmt.Sprintf("sha256:%064x", i))
	}
	if time.Since(began) > 10*time.Second {
		t.Errorf("asking takes %s", time.Since(began))
	}
	if err := c.Close(); err != nil || time.Since(began) > 12*time.Second { // a look may take 15s
		t.Errorf("closing after %s: %v", time.Since(began), err)
	}
}

func TestConfigIsChecked(t *testing.T) {
	for host, want := range map[string]string{"": "host", "https://ghcr.io": "host", "ghcr.io": "", "docker.io": "", "a/b": "host"} {
		cfg := registry.Config{Host: host}
		if ps := cfg.Validate(); (len(ps) == 0) != (want == "") || len(ps) > 0 && ps[0].Field != want {
			t.Errorf("%q: %v", host, ps)
		}
	}
	cfg := registry.Config{Host: "ghcr.io", Username: "x", PasswordFile: "a", PasswordEnv: "b"}
	if ps := cfg.Validate(); len(ps) != 1 {
		t.Errorf("%v", ps)
	}
	if _, err := registry.New([]registry.Config{{Host: "docker.io"}, {Host: "index.docker.io"}}); err == nil {
		t.Error("two names of one registry are taken")
	}
}
