package app

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// commit changes a file in one of the demo's repositories with git itself.
func (s *server) commit(repo, path, text string) {
	s.t.Helper()
	if err := os.WriteFile(s.repo(repo, path), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
	s.git(repo, "add", "--", path)
	s.git(repo, "commit", "-qam", "Change "+path)
}

func (s *server) git(repo string, args ...string) {
	s.t.Helper()
	args = append([]string{"-C", s.repo(repo), "-c", "user.name=Test", "-c", "user.email=test@shop.test"}, args...)
	if out, err := exec.CommandContext(s.t.Context(), "git", args...).CombinedOutput(); err != nil {
		s.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func (s *server) refresh(role, source string) answer {
	s.t.Helper()
	return s.send(role, http.MethodPost, "/api/v1/refresh", `{"source":"`+source+`"}`)
}

func TestACommitIsSeenInEveryDoor(t *testing.T) {
	s := startDemo(t)
	file := s.repo("checkout", "catalog-info.yaml")
	s.commit("checkout", "catalog-info.yaml", strings.Replace(readFile(t, file), "title: Checkout", "title: Checkout, renewed", 1))
	if a := s.refresh("sre", "checkout"); a.status != http.StatusOK {
		t.Fatalf("refresh: %d %s", a.status, a.body)
	}
	for door, body := range map[string]string{
		"rest":      s.send("developer", http.MethodGet, "/api/v1/entities/component:default/checkout", "").body,
		"backstage": s.send("developer", http.MethodGet, "/api/catalog/entities/by-name/component/default/checkout", "").body,
		"graphql":   s.graph("developer", `{ entity(ref: "component:default/checkout") { metadata { title } } }`).body,
		"mcp":       s.tool("agent", "get_entity", map[string]any{"ref": "checkout"}).raw,
	} {
		if !strings.Contains(body, "Checkout, renewed") {
			t.Errorf("%s does not show the change: %s", door, body)
		}
	}
}

func TestAPollSeesACommit(t *testing.T) {
	s := startDemo(t)
	file := s.repo("cart", "catalog-info.yaml")
	s.commit("cart", "catalog-info.yaml", strings.Replace(readFile(t, file), "title: Cart", "title: Basket", 1))
	s.await("the poll sees the commit", func() bool {
		return strings.Contains(s.send("developer", http.MethodGet, "/api/v1/entities/component:default/cart", "").body, "Basket")
	})
}

func TestABrokenFileIsReportedAndTheRestIsServed(t *testing.T) {
	s := startDemo(t)
	file := s.repo("payments", "catalog-info.yaml")
	good := readFile(t, file)
	s.commit("payments", "catalog-info.yaml", strings.Replace(good, "  owner: payments\n", "  owner: payments\n  owner: data\n", 1))
	s.refresh("sre", "payments")
	a := s.send("developer", http.MethodGet, "/api/v1/errors?source=payments", "")
	var errors struct {
		Items []struct {
			File, Message, Owner string
			Line                 int
			FirstSeen            struct{ Commit string }
		}
	}
	a.decode(t, &errors)
	if len(errors.Items) == 0 || errors.Items[0].File != "catalog-info.yaml" || errors.Items[0].Line == 0 ||
		errors.Items[0].Owner != "group:default/payments" || len(errors.Items[0].FirstSeen.Commit) != 40 {
		t.Errorf("got %s", a.body)
	}
	if b := s.send("developer", http.MethodGet, "/api/catalog/entities/by-name/component/default/payments", "").body; !strings.Contains(b, `"status":{"items":[{"type":"backstage.io/catalog-processing","level":"error"`) {
		t.Errorf("the entity shows no status: %s", b)
	}
	s.commit("payments", "catalog-info.yaml", good)
	s.refresh("sre", "payments")
	if b := s.send("developer", http.MethodGet, "/api/v1/errors?source=payments", "").body; !strings.Contains(b, `"total":0`) {
		t.Errorf("the error stays: %s", b)
	}
}

func TestARestartServesAtOnceWithoutItsSources(t *testing.T) {
	s := startDemo(t)
	before := s.send("developer", http.MethodGet, "/api/catalog/entities?filter=kind=component", "").body
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(s.dir, "repos"), filepath.Join(s.dir, "away")); err != nil {
		t.Fatal(err)
	}
	s.start(filepath.Join(s.dir, "fairlead.yaml"))
	if after := s.send("developer", http.MethodGet, "/api/catalog/entities?filter=kind=component", "").body; after != before {
		t.Errorf("after the restart:\n%s\nbefore:\n%s", after, before)
	}
	s.await("sources are reported as failing", func() bool {
		return strings.Contains(s.send("developer", http.MethodGet, "/api/v1/sources", "").body, `"failing"`)
	})
}

func TestTokensStayOutOfEverything(t *testing.T) {
	s := startDemo(t)
	for _, role := range []string{"agent", "developer", "sre"} {
		s.send(role, http.MethodGet, "/api/v1/whoami", "")
		s.refresh(role, "checkout")
		s.tool(role, "whoami", nil)
		s.graph(role, "{ whoami { subject } }")
	}
	s.send("not-a-token-but-secret-all-the-same", http.MethodGet, "/api/v1/whoami", "")
	secrets := []string{"not-a-token-but-secret-all-the-same"}
	for _, token := range s.tokens {
		secrets = append(secrets, token)
	}
	places := map[string]string{"log": s.logs.text(), "audit": s.send("sre", http.MethodGet, "/api/v1/audit?limit=500", "").body,
		"metrics": s.send("sre", http.MethodGet, "/metrics", "").body}
	files, err := filepath.Glob(filepath.Join(s.dir, "state", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err == nil && info.Mode().IsRegular() {
			places[f] = readFile(t, f)
		}
	}
	for place, text := range places {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds a token", place)
			}
		}
	}
	if len(places) < 4 {
		t.Errorf("only %d places were searched", len(places))
	}
}
