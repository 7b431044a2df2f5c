package app

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/previews/previewstest"
)

// revised is what is compared of an answer.
type revised struct {
	Service, DefaultBranch  string
	Branches, Tags, Commits struct {
		More  bool
		Items []struct {
			Name, Commit, Title, Author string
			At                          time.Time
		}
	}
}

func (s *server) inRepo(name string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", s.repo(name)}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v: %v %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestRevisionsOfAService lists the demo's repository, makes a preview of what
// is listed, and shows nothing to who may not see the service or previews.
func TestRevisionsOfAService(t *testing.T) {
	s := startPreviews(t, &previewstest.Fake{Looks: 1}, "previews: {}\n")
	s.inRepo("checkout", "branch", "feature/cart")
	s.inRepo("checkout", "tag", "-m", "first", "v1.0.0")
	const path = "/api/v1/previews/revisions?service=checkout"
	var all revised
	s.await("the new branch is listed", func() bool {
		all = revised{}
		s.send("developer", http.MethodGet, path, "").decode(t, &all)
		return len(all.Branches.Items) >= 2
	})
	if all.Service != "component:default/checkout" || all.DefaultBranch != "main" || all.Branches.Items[0].Name != "main" || all.Branches.Items[1].Name != "feature/cart" || len(all.Tags.Items) != 1 || all.Tags.Items[0].Commit != all.Branches.Items[1].Commit {
		t.Errorf("all: %+v", all)
	}
	if c := all.Commits.Items; len(c) == 0 || c[0].Name != s.inRepo("checkout", "rev-parse", "main") || c[0].Title == "" || c[0].At.IsZero() {
		t.Errorf("commits: %+v", c)
	}
	var some revised
	s.send("developer", http.MethodGet, path+"&query=CART&limit=1", "").decode(t, &some)
	if len(some.Branches.Items) != 1 || some.Branches.Items[0].Name != "feature/cart" || len(some.Tags.Items) > 0 {
		t.Errorf("some: %+v", some)
	}
	for _, revision := range []string{all.Branches.Items[1].Name, all.Tags.Items[0].Name, all.Commits.Items[0].Name} {
		if p := s.create("developer", `{"service":"checkout","ttl":"1m","revision":"`+revision+`"}`); p.ID == "" {
			t.Errorf("there is no preview of %s", revision)
		}
	}
	for query, status := range map[string]int{"service=none": 404, "service=checkout&limit=101": 400, "service=checkout&limit=-1": 400, "service=checkout&query=%01": 400, "service=checkout&query=" + strings.Repeat("x", 300): 400, "": 400} {
		if a := s.send("developer", http.MethodGet, "/api/v1/previews/revisions?"+query, ""); a.status != status || !strings.Contains(a.body, `"fix"`) {
			t.Errorf("%s: %d %s", query, a.status, a.body)
		}
	}
	if a := s.graph("developer", `{ revisions(service: "checkout", query: "v1") { defaultBranch tags { items { name at } more } } }`); !strings.Contains(a.body, `"name":"v1.0.0"`) {
		t.Error(a.body)
	}
}

// TestRevisionsAreForThoseWhoMaySee: without a rule nothing is told, not even
// that there is such a service.
func TestRevisionsAreForThoseWhoMaySee(t *testing.T) {
	s := startParity(t)
	for role, status := range map[string]int{"owner": 200, "reader": 404, "stranger": 404, "nobody": 401} {
		if a := s.send(role, http.MethodGet, "/api/v1/previews/revisions?service=checkout", ""); a.status != status {
			t.Errorf("%s: %d %s", role, a.status, a.body)
		}
	}
}
