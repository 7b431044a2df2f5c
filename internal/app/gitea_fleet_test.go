package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// askApart asks a server in a process of its own.
func askApart(t *testing.T, method, url, token, body string, out any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || json.Unmarshal(text, out) != nil {
		t.Fatalf("%s %s: %s %v %s", method, url, res.Status, err, text)
	}
}

// TestGiteaFleetIsKilled kills a server again and again while it proposes one
// change for many services to a real Gitea: each has one pull request, and when
// they are merged it is done.
func TestGiteaFleetIsKilled(t *testing.T) {
	f := realtest.Gitea(t)
	const org, token, services = "fleets", "token-of-the-operator-0123456789", 8
	f.API(t, http.MethodPost, "/orgs", map[string]string{"username": org}, nil)
	f.API(t, http.MethodPost, "/orgs/"+org+"/repos", map[string]any{"name": "deploy", "auto_init": true, "private": true, "default_branch": "main"}, nil)
	api := "/repos/" + org + "/deploy"
	s := &server{t: t, dir: t.TempDir()}
	var entities strings.Builder
	for i := range services {
		s.file(f, api, fmt.Sprintf("s%d/kustomization.yaml", i), []byte("images:\n  - name: acme/web\n    newTag: v1\n"))
		fmt.Fprintf(&entities, "---\napiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: s%d}\nspec: {type: service, lifecycle: production, owner: team, fairlead: {deployRepo: '%s/%s/deploy', environments: [{name: staging, path: s%d}]}}\n", i, f.URL, org, i)
	}
	writing, _ := f.NewToken(t, "write:repository", "write:issue", "read:user")
	write(t, filepath.Join(s.dir, "catalog-info.yaml"), entities.String())
	write(t, filepath.Join(s.dir, "sre"), token)
	write(t, filepath.Join(s.dir, "writing"), writing)
	config := filepath.Join(s.dir, "fairlead.yaml")
	write(t, config, "listen: 127.0.0.1:0\nauth: {tokens: [{name: sre, tokenFile: ./sre, subject: user:default/eve, roles: [sre]}]}\ncatalog: {refresh: 1h, sources: [{name: local, file: {path: ./catalog-info.yaml}}]}\nforges: [{name: tea, gitea: {url: \""+f.URL+"\", tokenFile: ./writing}}]\n")

	url, kill := serveApart(t, config)
	s.await("the catalog is read", func() bool { return countApart(t, url, token) == services })
	var fleet gitops.Fleet
	askApart(t, http.MethodPost, url+"/api/v1/fleets", token, `{"query":["kind=component"],"environment":"staging","change":{"image":{"tag":"v2"}},"reason":"the fix","waves":["100%"]}`, &fleet)
	if fleet.Counts.Waiting != services {
		t.Fatalf("%+v", fleet)
	}
	askApart(t, http.MethodPost, url+"/api/v1/fleets/"+fleet.ID+"/start", token, `{}`, &fleet)
	at := "/api/v1/fleets/" + fleet.ID + "?limit=200"
	for i := 0; ; i++ {
		if i < 6 {
			time.Sleep(time.Duration(300+450*i) * time.Millisecond) // at another moment each time
			kill()
			url, kill = serveApart(t, config)
			continue
		}
		askApart(t, http.MethodGet, url+at, token, "", &fleet)
		if fleet.Counts.Open == services {
			break
		}
		if fleet.State != gitops.FleetRunning || i > 600 {
			t.Fatalf("%+v", fleet)
		}
		time.Sleep(200 * time.Millisecond)
	}
	pulls := pullsOf(t, f, api)
	titles := map[string]int{}
	for _, p := range pulls {
		titles[p.Title]++
		f.Merge(t, fmt.Sprintf("%s/pulls/%d", api, p.Number))
	}
	if len(pulls) != services || len(titles) != services {
		t.Fatalf("%d pull requests: %v", len(pulls), titles)
	}
	for _, m := range fleet.Members { // there is no webhook: whoever looks at them brings news
		var p gitops.Proposal
		askApart(t, http.MethodGet, url+"/api/v1/proposals/"+m.Proposal, token, "", &p)
	}
	s.await("all is done", func() bool {
		askApart(t, http.MethodGet, url+at, token, "", &fleet)
		return fleet.State == gitops.FleetDone
	})
	if fleet.Counts.Done != services {
		t.Errorf("%+v", fleet)
	}
}

// countApart is how many components a server has.
func countApart(t *testing.T, url, token string) int {
	t.Helper()
	var n struct{ TotalItems int }
	askApart(t, http.MethodGet, url+"/api/v1/entities?limit=0", token, "", &n)
	return n.TotalItems
}
