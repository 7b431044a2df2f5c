package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	realregistry "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/gitopstest"
	"github.com/fairlead-dev/fairlead/internal/demo"
)

func TestRegistriesConfigured(t *testing.T) {
	cfg, err := ParseConfig([]byte("registries: [{host: ghcr.io}, {host: registry.example.com, username: robot, passwordFile: ./pass}]\n"), "fairlead.yaml", "/etc/fairlead")
	if err != nil || cfg.Registries[1].PasswordFile != "/etc/fairlead/pass" {
		t.Fatalf("%+v, %v", cfg, err)
	}
	_, err = ParseConfig([]byte("registries:\n  - {host: 'https://ghcr.io'}\n  - {host: a.io, username: x}\n  - {host: a.io}\n"), "fairlead.yaml", "/")
	var problems *ConfigError
	if !errors.As(err, &problems) {
		t.Fatal(err)
	}
	for _, want := range []string{"line 2: registries[0].host: ", "line 3: registries[1].username: ", `line 4: registries[2].host: another registry is "a.io"`} {
		if !strings.Contains(problems.Error(), want) {
			t.Errorf("%q is not in %s", want, problems.Error())
		}
	}
}

// TestHealthTellsOrigins follows an image's digest to the commit that it was
// built from, by a real registry: absent the first time, there the next.
func TestHealthTellsOrigins(t *testing.T) {
	srv := httptest.NewServer(realregistry.New(realregistry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(srv.Close)
	host, commit := strings.TrimPrefix(srv.URL, "http://"), strings.Repeat("c0ffee0", 6)[:40]
	img, err := mutate.Config(empty.Image, v1.Config{Labels: map[string]string{"org.opencontainers.image.revision": commit, "org.opencontainers.image.source": "https://git.test/acme/checkout", "fairlead.dev/built-by": "https://ci.test/7"}})
	if err != nil {
		t.Fatal(err)
	}
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.NewDigest(host + "/acme/checkout@" + digest.String())
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, img); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	set, err := demo.Prepare(t.Context(), dir, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config := withoutPreviews(readFile(t, set.Config)) + argoSection + fmt.Sprintf("registries: [{host: %q, plainHTTP: true, private: true}]\n", host)
	if err := os.WriteFile(set.Config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	argo := gitopstest.NewFake("checkout", strings.Repeat("a", 40), "checkout:1")
	argo.Set(func(s gitopstest.State) {
		s.Running.Images = []gitops.DeployedImage{{Name: host + "/acme/checkout", Tag: "1", Digest: digest.String()}}
	})
	s := &server{t: t, dir: dir, tokens: set.Tokens, argo: fakeArgo(argo)}
	s.start(set.Config)
	ask := func(more map[string]any) (h gitops.DeploymentHealth) {
		args := map[string]any{"service": "checkout", "environment": "production"}
		for k, v := range more {
			args[k] = v
		}
		a := s.tool("agent", "get_deployment_health", args)
		if a.IsError || json.Unmarshal(a.StructuredContent, &h) != nil {
			t.Fatal(a.raw)
		}
		return h
	}
	s.await("the image tells its commit", func() bool {
		live := ask(nil).Live.Images
		return len(live) == 1 && live[0].Commit == commit && live[0].BuiltBy == "https://ci.test/7" && live[0].Source == "https://git.test/acme/checkout"
	})
	if h := ask(map[string]any{"revision": commit[:12]}); h.Verdict != gitops.HealthyVerdict {
		t.Errorf("the commit that it was built from: %+v", h)
	}
}
