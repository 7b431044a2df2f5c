package app

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/notify"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// TestGiteaFollowed follows a proposal at a real Gitea: it comes to be in
// conflict and is made anew, is merged, and whoever waits for that is told once:
// who watches, the command line, and a webhook that was down at first.
func TestGiteaFollowed(t *testing.T) {
	f := realtest.Gitea(t)
	ends, tries := make(chan gitops.Ending, 10), 0
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if tries++; err != nil || tries == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var e gitops.Ending
		if json.Unmarshal(text, &e) == nil && strings.HasPrefix(r.Header.Get(notify.SignatureHeader), "sha256=") && strings.HasPrefix(r.Header.Get(notify.DeliveryHeader), e.ID+".") {
			ends <- e
		}
	}))
	t.Cleanup(hook.Close)
	secret := filepath.Join(t.TempDir(), "secret")
	write(t, secret, "a secret of enough bytes")
	s, api := startChangesAtGitea(t, f, "followed", "proposals: {verify: 1m, notify: [{url: '"+hook.URL+"/?token=hidden', secretFile: '"+secret+"'}]}\n")
	f.API(t, http.MethodPost, api+"/hooks", map[string]any{"type": "gitea", "active": true, "events": []string{"push", "pull_request"},
		"config": map[string]string{"url": s.url + "/webhooks/gitea", "content_type": "json", "secret": "hook-secret"}}, nil)
	p, a := s.change(shopTag("1.5.0", nil))
	if p.State != gitops.Open {
		t.Fatalf("proposed: %s", a.raw)
	}
	changes := s.subscribe("developer", `subscription { proposalChanged(id: "`+p.ID+`") { id state merged outcome environment blocking next } }`)
	var file struct{ SHA string }
	f.API(t, http.MethodGet, api+"/contents/shop/staging/kustomization.yaml", nil, &file)
	theirs := strings.Replace(deployed, "# ours", "# theirs", 1)
	f.API(t, http.MethodPut, api+"/contents/shop/staging/kustomization.yaml", map[string]any{"branch": "main", "message": "beside", "sha": file.SHA, "content": []byte(theirs)}, nil)
	for end := time.Now().Add(2 * time.Minute); !strings.Contains(strings.Join(s.proposal(p.ID).Notes, " "), "system:fairlead/proposals made it anew"); time.Sleep(time.Second) {
		if time.Now().After(end) {
			t.Fatalf("it is not made anew: %+v", s.proposal(p.ID))
		}
	}
	if n := len(pullsOf(t, f, api)); n != 1 {
		t.Errorf("%d pull requests", n)
	}
	f.Merge(t, api+"/pulls/1")
	if code, out := s.cli("developer", "change", "show", p.ID, "--watch", "--for", "1m"); code != 0 || !strings.Contains(out, "merged") {
		t.Errorf("on the command line: %d %s", code, out)
	}
	got := s.proposal(p.ID)
	if got.Follow.Outcome != gitops.OutcomeMerged || len(got.Follow.Merged) != 40 || got.Environment != "staging" {
		t.Errorf("ended %+v", got.Follow)
	}
	if e := <-ends; e.ID != p.ID || e.Follow.Outcome != gitops.OutcomeMerged || e.Follow.Merged != got.Follow.Merged {
		t.Errorf("the webhook is told %+v", e)
	}
	s.await("who watches is told", func() bool {
		select {
		case c := <-changes:
			return strings.Contains(string(c), `"outcome":"merged"`) && strings.Contains(string(c), got.Follow.Merged)
		default:
			return false
		}
	})
	if len(ends) > 0 || tries != 2 {
		t.Errorf("the webhook was told %d times more, tried %d times", len(ends), tries)
	}
}
