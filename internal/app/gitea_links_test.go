package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/internal/seal"
)

const giteaPassword = "Test-pw-123456"

// browser is a person's, with its cookies.
type browser struct {
	t *testing.T
	*http.Client
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, &http.Client{Jar: jar}}
}

// page is where a browser has come to, and what is written there.
type page struct {
	at     *url.URL
	status int
	text   string
}

func (b *browser) seen(resp *http.Response, err error) page {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return page{resp.Request.URL, resp.StatusCode, string(text)}
}

func (b *browser) open(at string) page {
	b.t.Helper()
	return b.seen(b.Get(at))
}

// send fills in a page's form whose action ends so, with its hidden fields.
func (b *browser) send(p page, action string, fields map[string]string) page {
	b.t.Helper()
	to := *p.at
	if action != "" {
		to.Path, to.RawQuery = action, ""
	}
	form := url.Values{}
	for _, m := range regexp.MustCompile(`<input[^>]*type="hidden"[^>]*>`).FindAllString(p.text, -1) {
		name, value := attributeOf(m, "name"), attributeOf(m, "value")
		form.Set(name, value)
	}
	for k, v := range fields {
		form.Set(k, v)
	}
	return b.seen(b.PostForm(to.String(), form))
}

func attributeOf(tag, name string) string {
	m := regexp.MustCompile(name + `="([^"]*)"`).FindStringSubmatch(tag)
	if m == nil {
		return ""
	}
	return strings.NewReplacer("&amp;", "&", "&#43;", "+", "&#34;", `"`).Replace(m[1])
}

// giteaPerson makes a user who may write to a repository.
func giteaPerson(t *testing.T, f *realtest.Forge, name, api string) {
	t.Helper()
	f.API(t, http.MethodPost, "/admin/users", map[string]any{"username": name, "email": name + "@example.invalid", "password": giteaPassword, "must_change_password": false}, nil)
	f.API(t, http.MethodPut, api+"/collaborators/"+name, map[string]string{"permission": "write"}, nil)
}

// startLinking serves a service whose changes go to a real Gitea, where Fairlead
// is an OAuth application.
func startLinking(t *testing.T, f *realtest.Forge, org string) (s *server, api string) {
	t.Helper()
	var app struct {
		ID           int64
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
	}
	made := map[string]any{"name": "fairlead-" + org, "confidential_client": true, "redirect_uris": []string{"http://127.0.0.1/later"}}
	f.API(t, http.MethodPost, "/user/applications/oauth2", made, &app)
	s = startGitea(t, f, org, func(dir, config string) string {
		for name, text := range map[string]string{"client": app.ClientSecret, "tokens.key": strings.Repeat("k", 32)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		config = strings.Replace(config, "webhookSecretFile: ./hook}", "webhookSecretFile: ./hook, oauth: {clientID: "+app.ClientID+", clientSecretFile: ./client}}", 1)
		return config + "proposals: {tokenKeyFile: ./tokens.key}\n"
	})
	api = s.changesAt(f, org)
	made["redirect_uris"] = []string{s.url + linkCallback}
	var again struct {
		ClientSecret string `json:"client_secret"`
	}
	f.API(t, http.MethodPatch, fmt.Sprintf("/user/applications/oauth2/%d", app.ID), made, &again)
	write(t, filepath.Join(s.dir, "client"), again.ClientSecret)
	return s, api
}

// link has a person link their account: they log in at the forge, agree, and
// confirm.
func (s *server) link(f *realtest.Forge, role, account string) (b *browser, last page, done answer) {
	s.t.Helper()
	var started gitops.StartedForgeLink
	s.send(role, http.MethodPost, "/api/v1/forge-links", `{"forge":"tea"}`).decode(s.t, &started)
	b = newBrowser(s.t)
	in := b.send(b.open(f.URL+"/user/login"), "/user/login", map[string]string{"user_name": account, "password": giteaPassword})
	if in.status != http.StatusOK {
		s.t.Fatalf("logging in at Gitea: %d %s", in.status, in.at)
	}
	p := b.open(started.URL)
	if !strings.Contains(p.text, "/login/oauth/grant") && !strings.Contains(p.text, "Is this you?") {
		s.t.Fatalf("asking for consent: %d %s\n%s", p.status, p.at, p.text)
	}
	if strings.Contains(p.text, "/login/oauth/grant") {
		p = b.send(p, "/login/oauth/grant", map[string]string{"granted": "true"})
	}
	if !strings.HasPrefix(p.at.String(), s.url+linkCallback) || !strings.Contains(p.text, "Is this you?") || !strings.Contains(p.text, account) || !strings.Contains(p.text, started.Person) {
		s.t.Fatalf("called back: %d %s\n%s", p.status, p.at, p.text)
	}
	if again := b.open(p.at.String()); again.status != http.StatusNotFound {
		s.t.Errorf("called back twice: %d %s", again.status, again.text)
	}
	if early := s.send(role, http.MethodPost, "/api/v1/forge-links/"+started.ID+"/finish", "{}"); early.status != http.StatusUnprocessableEntity {
		s.t.Errorf("before it is confirmed: %d %s", early.status, early.body)
	}
	last = b.send(p, "", nil)
	return b, last, s.send(role, http.MethodPost, "/api/v1/forge-links/"+started.ID+"/finish", "{}")
}

// TestGiteaLinkStory has a person link their account at a real Gitea as their
// browser would, an agent propose as them, and them revoke and unlink it.
func TestGiteaLinkStory(t *testing.T) {
	f := realtest.Gitea(t)
	s, api := startLinking(t, f, "linking")
	giteaPerson(t, f, "linkingada", api)
	if a := s.send("agent", http.MethodPost, "/api/v1/forge-links", `{"forge":"tea"}`); a.status != http.StatusForbidden {
		t.Errorf("an agent alone: %d %s", a.status, a.body)
	}
	if a := s.send("developer", http.MethodPost, "/api/v1/forge-links", `{"forge":"none"}`); a.status != http.StatusNotFound || !strings.Contains(a.body, "There is tea.") {
		t.Errorf("a forge that there is not: %d %s", a.status, a.body)
	}
	b, last, done := s.link(f, "developer", "linkingada")
	if last.status != http.StatusOK || !strings.Contains(last.text, "Agreed") || done.status != http.StatusOK || !strings.Contains(done.body, `"account":"linkingada"`) {
		t.Fatalf("linked: %d %s\n%d %s", last.status, last.text, done.status, done.body)
	}
	if a := s.send("developer", http.MethodGet, "/api/v1/forge-links", ""); !strings.Contains(a.body, `"account":"linkingada"`) {
		t.Errorf("what is linked: %s", a.body)
	}
	p, a := s.change(shopTag("1.5.0", nil)) // by the agent, for the person
	if p.State != gitops.Open {
		t.Fatalf("proposed: %s", a.raw)
	}
	who := func(p gitops.Proposal) (pull, author, message string) {
		var one struct{ User struct{ Login string } }
		f.API(t, http.MethodGet, api+"/pulls/"+p.URL[strings.LastIndex(p.URL, "/")+1:], nil, &one)
		var commits []struct {
			Commit struct {
				Message string
				Author  struct{ Name string }
			}
		}
		f.API(t, http.MethodGet, api+"/commits?limit=1&sha="+url.QueryEscape(p.Branch), nil, &commits)
		return one.User.Login, commits[0].Commit.Author.Name, commits[0].Commit.Message
	}
	if pull, author, message := who(p); pull != "linkingada" || author != "Ada Lovelace" || !strings.Contains(message, "Co-authored-by: claude") {
		t.Errorf("proposed by %s, %s: %s", pull, author, message)
	}
	newer, a := s.change(shopTag("1.5.1", nil))
	if newer.URL != p.URL {
		t.Errorf("brought up to date: %s", a.raw)
	}
	s.checkLinkAudit(t)

	f.API(t, http.MethodPatch, api+"/pulls/1", map[string]any{"state": "closed"}, nil)
	branches := len(s.branches(f, api))

	// They lose the right to write: nothing is pushed, and nobody steps in.
	f.API(t, http.MethodDelete, api+"/collaborators/linkingada", nil, nil)
	if _, a := s.change(shopTag("1.6.0", map[string]any{"key": "k2"})); !a.IsError || !strings.Contains(a.raw, "fairlead login --forge tea") {
		t.Errorf("without the right to write: %s", a.raw)
	}
	f.API(t, http.MethodPut, api+"/collaborators/linkingada", map[string]string{"permission": "write"}, nil)
	// They take back what they granted.
	settings := b.open(f.URL + "/user/settings/applications")
	revoke := regexp.MustCompile(`/user/settings/applications/oauth2/\d+/revoke/\d+`).FindString(settings.text)
	if gone := b.send(settings, revoke, nil); revoke == "" || gone.status != http.StatusOK {
		t.Fatalf("revoking by %q: %d %s", revoke, gone.status, settings.text)
	}
	if _, a := s.change(shopTag("1.7.0", map[string]any{"key": "k2"})); !a.IsError || !strings.Contains(a.raw, "revoked") || !strings.Contains(a.raw, "fairlead login --forge tea") {
		t.Errorf("with a grant that does not hold: %s", a.raw)
	}
	if n := len(s.branches(f, api)); n != branches {
		t.Errorf("%d branches, %d before", n, branches)
	}
	unlinked := s.send("developer", http.MethodDelete, "/api/v1/forge-links/tea", "")
	if unlinked.status != http.StatusOK || !strings.Contains(unlinked.body, "revoke it there") {
		t.Errorf("unlinked: %d %s", unlinked.status, unlinked.body)
	}
	if a := s.send("developer", http.MethodDelete, "/api/v1/forge-links/tea", ""); a.status != http.StatusNotFound {
		t.Errorf("unlinked twice: %d %s", a.status, a.body)
	}
	if p, a = s.change(shopTag("1.8.0", map[string]any{"key": "k2"})); p.State != gitops.Open {
		t.Fatalf("as Fairlead again: %s", a.raw)
	}
	if pull, author, _ := who(p); pull != f.User || author != "Ada Lovelace" {
		t.Errorf("as Fairlead again: %s, %s", pull, author)
	}
}

func (s *server) branches(f *realtest.Forge, api string) (out []struct{ Name string }) {
	f.API(s.t, http.MethodGet, api+"/branches", nil, &out)
	return out
}

// checkLinkAudit sees that each step is in the audit, and what opens the account
// nowhere: not in the audit, nor in the state, nor in the log.
func (s *server) checkLinkAudit(t *testing.T) {
	t.Helper()
	var audit struct {
		Items []struct{ Operation, Target, Subject string }
	}
	s.send("sre", http.MethodGet, "/api/v1/audit?limit=100", "").decode(t, &audit)
	seen := map[string]bool{}
	for _, i := range audit.Items {
		seen[i.Operation+" "+i.Target+" "+i.Subject] = true
	}
	for _, want := range []string{"start_forge_link forge:tea user:default/ada", "finish_forge_link forge:tea user:default/ada"} {
		if !seen[want] {
			enc, _ := json.Marshal(audit)
			t.Errorf("%s is not in the audit: %s", want, enc)
		}
	}
	kept, err := s.app.store.Links(t.Context(), "user:default/ada")
	if err != nil || len(kept) != 1 {
		t.Fatalf("%v, %v", kept, err)
	}
	box, err := seal.Load(filepath.Join(s.dir, "tokens.key"))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := box.Open(kept[0].Sealed, "link\x00user:default/ada\x00tea")
	if err != nil {
		t.Fatal(err)
	}
	var grant struct{ T, R string }
	if err := json.Unmarshal(plain, &grant); err != nil || len(grant.T) < 20 || len(grant.R) < 20 {
		t.Fatalf("what is kept: %v", err)
	}
	c := &canary{t: t, values: formsOf(grant.T, grant.R)}
	c.files(s.dir)
	c.clean("the log", []byte(s.logs.text()))
	for _, path := range []string{"/api/v1/audit?limit=100", "/api/v1/forge-links", "/api/v1/proposals", "/api/v1/whoami"} {
		c.clean(path, []byte(s.send("developer", http.MethodGet, path, "").body))
	}
	c.processes([]int{os.Getpid()})
}
