package app

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/previews"
)

// giteaService declares a service that answers what is in answer.txt.
const giteaService = `apiVersion: backstage.io/v1alpha1
kind: Component
metadata: {name: shop}
spec:
  type: service
  lifecycle: production
  owner: shop
  fairlead:
    preview: {deployer: local, command: ["perl", "serve.pl"], health: /, ttl: 30m, pullRequests: true}
`

// serveText answers every request with what is in answer.txt.
const serveText = `use IO::Socket::INET;
open(my $f, '<', 'answer.txt'); my $text = <$f>;
my $s = IO::Socket::INET->new(LocalAddr => $ENV{HOST} || '127.0.0.1', LocalPort => $ENV{PORT}, Listen => 16, ReuseAddr => 1) or die $@;
while (my $c = $s->accept) {
  while (my $line = <$c>) { last if $line =~ /^\r?\n$/ }
  print $c "HTTP/1.1 200 OK\r\nContent-Length: " . length($text) . "\r\nConnection: close\r\n\r\n$text";
  close $c;
}
`

// TestGiteaPullRequests opens, pushes to and merges a pull request at a real
// Gitea: its preview follows, and so does one comment. One of a fork waits for
// an approval.
func TestGiteaPullRequests(t *testing.T) {
	f := realtest.Gitea(t)
	const org, repo = "appulls", "appulls/shop"
	f.API(t, http.MethodPost, "/orgs", map[string]string{"username": org}, nil)
	f.API(t, http.MethodPost, "/orgs/"+org+"/repos", map[string]any{"name": "shop", "auto_init": true, "default_branch": "main"}, nil)
	put := func(repo, branch, from, path, text string) {
		in := map[string]any{"content": base64.StdEncoding.EncodeToString([]byte(text)), "message": "Change " + path, "branch": from}
		if branch != from {
			in["new_branch"] = branch
		}
		f.API(t, http.MethodPost, "/repos/"+repo+"/contents/"+path, in, nil)
	}
	put(repo, "main", "main", "catalog-info.yaml", giteaService)
	put(repo, "main", "main", "serve.pl", serveText)
	reads, _ := f.NewToken(t, "read:organization", "read:repository", "read:user")
	writes, _ := f.NewToken(t, "write:repository", "write:issue", "read:user", "read:organization")

	s := &server{t: t, dir: t.TempDir(), tokens: map[string]string{"sre": "token-of-the-operator-0123456789"}}
	for name, text := range map[string]string{"sre": s.tokens["sre"], "reads": reads, "writes": writes, "secret": hookSecret} {
		write(t, filepath.Join(s.dir, name), text)
	}
	config := filepath.Join(s.dir, "fairlead.yaml")
	write(t, config, "listen: 127.0.0.1:0\nauth: {tokens: [{name: sre, tokenFile: ./sre, subject: user:default/sam, roles: [sre]}]}\n"+
		"catalog: {refresh: 1h, sources: [{name: acme, gitea: {url: "+f.URL+", org: "+org+", tokenFile: reads, webhookSecretFile: secret}}]}\n"+
		"forges: [{name: acme, gitea: {url: "+f.URL+", tokenFile: writes, webhookSecretFile: secret}}]\n"+
		"previews: {deployers: {local: {}}}\n")
	s.start(config)
	s.await("the service is read", func() bool {
		return s.send("sre", http.MethodGet, "/api/v1/entities/component:default/shop", "").status == http.StatusOK
	})
	f.API(t, http.MethodPost, "/orgs/"+org+"/hooks", map[string]any{"type": "gitea", "active": true, "events": []string{"push", "pull_request", "pull_request_sync"},
		"config": map[string]string{"url": s.url + "/webhooks/gitea", "content_type": "json", "secret": hookSecret}}, nil)

	put(repo, "faster", "main", "answer.txt", "one")
	var pull struct{ Number int64 }
	f.API(t, http.MethodPost, "/repos/"+repo+"/pulls", map[string]any{"title": "Answer", "head": "faster", "base": "main"}, &pull)
	comments := func(n int64) (out []struct{ Body string }) {
		f.API(t, http.MethodGet, fmt.Sprintf("/repos/%s/issues/%d/comments", repo, n), nil, &out)
		return out
	}
	says := func(n int64, text string) {
		t.Helper()
		s.await("one comment that says "+text, func() bool {
			all := comments(n)
			return len(all) == 1 && strings.Contains(all[0].Body, text)
		})
	}
	var made previews.Preview
	s.await("a preview is ready", func() bool {
		var page previews.Page
		s.send("sre", http.MethodGet, "/api/v1/previews?phase=ready", "").decode(t, &page)
		if len(page.Items) == 1 {
			made = page.Items[0]
		}
		return len(page.Items) == 1
	})
	says(pull.Number, "| ready | <"+made.URL+">")
	s.await("it answers", func() bool { return s.previewAnswers(made.URL) == "one" })

	var sha struct{ SHA string }
	f.API(t, http.MethodGet, "/repos/"+repo+"/contents/answer.txt?ref=faster", nil, &sha)
	f.API(t, http.MethodPut, "/repos/"+repo+"/contents/answer.txt", map[string]any{"content": base64.StdEncoding.EncodeToString([]byte("two")), "sha": sha.SHA, "branch": "faster", "message": "Two"}, nil)
	s.await("it answers at the same URL what was pushed", func() bool { return s.previewAnswers(made.URL) == "two" })

	f.Merge(t, fmt.Sprintf("/repos/%s/pulls/%d", repo, pull.Number))
	says(pull.Number, "merged, so its previews are removed")
	s.await("it is gone", func() bool { return s.preview("sre", made.ID).Phase == previews.Gone })

	f.API(t, http.MethodPost, "/repos/"+repo+"/forks", map[string]any{"name": "fork"}, nil)
	fork := f.User + "/fork"
	put(fork, "theirs", "main", "more.txt", "three")
	f.API(t, http.MethodPost, "/repos/"+repo+"/pulls", map[string]any{"title": "Theirs", "head": f.User + ":theirs", "base": "main"}, &pull)
	says(pull.Number, "runs fairlead approvals grant ")
	var asked access.ApprovalPage
	s.send("sre", http.MethodGet, "/api/v1/approvals?state=pending", "").decode(t, &asked)
	if len(asked.Items) != 1 {
		t.Fatalf("asked for %+v", asked.Items)
	}
	if a := s.send("sre", http.MethodPost, "/api/v1/approvals/"+asked.Items[0].ID+"/grant", "{}"); a.status != http.StatusOK {
		t.Fatalf("granting: %d %s", a.status, a.body)
	}
	says(pull.Number, "| ready |")
	f.API(t, http.MethodPatch, fmt.Sprintf("/repos/%s/pulls/%d", repo, pull.Number), map[string]any{"state": "closed"}, nil)
	says(pull.Number, "| gone |")
}

// previewAnswers is what a preview answers, reached through the server.
func (s *server) previewAnswers(at string) string {
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+"/", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Host = strings.TrimSuffix(strings.TrimPrefix(at, "http://"), "/")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return ""
	}
	return string(text)
}
