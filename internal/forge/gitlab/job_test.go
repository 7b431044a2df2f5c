package gitlab_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge/gitlab"
)

func TestJobsOfCI(t *testing.T) {
	states := map[string]string{"1": "running", "2": "success", "3": "canceled", "4": "manual"}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v4/projects/{project}/jobs/{id}", func(w http.ResponseWriter, r *http.Request) {
		state := states[r.PathValue("id")]
		if state == "" || r.PathValue("project") != "acme/web/shop" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id": ` + r.PathValue("id") + `, "status": "` + state + `"}`))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := gitlab.NewForge("acme", gitlab.Config{URL: server.URL, TokenFile: "token"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{"1": false, "2": true, "3": true, "4": false} {
		if over, err := c.JobOver(t.Context(), "acme/web/shop", "job", id); over != want || err != nil {
			t.Errorf("job %s, %s: over %v, %v", id, states[id], over, err)
		}
	}
	if _, err := c.JobOver(t.Context(), "acme/web/shop", "job", "9"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a job that there is not: %v", err)
	}
	if _, err := c.JobOver(t.Context(), "acme/web/shop", "run", "2"); err == nil {
		t.Error("GitLab told of a run of GitHub's")
	}
}
