package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/demo"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// organization is the company at Gitea.
const organization = "shop"

// robot is the account by which Fairlead reads and writes at Gitea.
const robot = "fairlead"

// account is one at Gitea.
type account struct{ password, token string }

// company makes the company's repositories and puts them into Gitea.
func (w *world) company(ctx context.Context) (err error) {
	if w.set, err = demo.Make(ctx, w.dir, w.gitea.URL+"/"+organization); err != nil {
		return err
	}
	w.say("pushing %d repositories to Gitea at %s/%s", len(w.set.Repositories), w.gitea.URL, organization)
	if err := w.gitea.Ask(ctx, http.MethodPost, "/orgs", map[string]any{"username": organization, "visibility": "public"}, nil); err != nil {
		return err
	}
	if err := w.people(ctx); err != nil {
		return err
	}
	for _, r := range w.set.Repositories {
		if err := w.push(ctx, r); err != nil {
			return err
		}
	}
	// Nobody pushes what is deployed, and somebody else agrees to it.
	return w.gitea.Ask(ctx, http.MethodPost, "/repos/"+organization+"/deploy/branch_protections", map[string]any{"rule_name": "main", "required_approvals": 1, "enable_push": false}, nil)
}

// people makes the accounts and teams. A team may write everything, as in a
// small company.
func (w *world) people(ctx context.Context) error {
	w.accounts = map[string]account{}
	members := demo.Members()
	members[robot] = []string{"platform"}
	for name := range members {
		a, err := w.account(ctx, name)
		if err != nil {
			return err
		}
		w.accounts[name] = a
	}
	for _, team := range demo.Teams() {
		var made struct{ ID int64 }
		err := w.gitea.Ask(ctx, http.MethodPost, "/orgs/"+organization+"/teams", map[string]any{"name": team, "permission": "write", "includes_all_repositories": true,
			"units_map": map[string]string{"repo.code": "write", "repo.issues": "write", "repo.pulls": "write"}}, &made)
		if err != nil {
			return err
		}
		for name, teams := range members {
			if slices.Contains(teams, team) {
				err = errors.Join(err, w.gitea.Ask(ctx, http.MethodPut, fmt.Sprintf("/teams/%d/members/%s", made.ID, name), nil, nil))
			}
		}
		if err != nil {
			return err
		}
	}
	credentials, err := url.Parse(w.gitea.URL)
	if err != nil {
		return err
	}
	credentials.User = url.UserPassword("alice", w.accounts["alice"].token)
	_, err = w.secret("git-credentials", credentials.String()+"\n")
	return err
}

// account makes an account with a token, and files that hold what it logs in
// with.
func (w *world) account(ctx context.Context, name string) (a account, err error) {
	a.password = rand.Text()
	err = w.gitea.Ask(ctx, http.MethodPost, "/admin/users", map[string]any{"username": name, "email": name + "@shop.test", "password": a.password, "must_change_password": false}, nil)
	if err != nil {
		return a, err
	}
	as := &realtest.Forge{URL: w.gitea.URL, User: name, Password: a.password}
	var made struct{ SHA1 string }
	if err := as.Ask(ctx, http.MethodPost, "/users/"+name+"/tokens", map[string]any{"name": "demo", "scopes": []string{"write:repository", "write:issue", "read:organization", "read:user"}}, &made); err != nil {
		return a, err
	}
	a.token = made.SHA1
	_, err1 := w.secret("gitea-"+name+".password", a.password)
	_, err2 := w.secret("gitea-"+name+".token", a.token)
	return a, errors.Join(err1, err2)
}

// push makes a repository at Gitea and pushes it there; its work tree stays
// connected, as Alice.
func (w *world) push(ctx context.Context, r demo.Repository) error {
	if err := w.gitea.Ask(ctx, http.MethodPost, "/orgs/"+organization+"/repos", map[string]any{"name": r.Name, "default_branch": "main"}, nil); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"remote", "add", "origin", w.gitea.URL + "/" + organization + "/" + r.Name + ".git"},
		{"config", "credential.helper", "store --file=" + w.path("secrets", "git-credentials")},
		{"config", "user.name", "Alice Ahlberg"}, {"config", "user.email", "alice@shop.test"},
		{"push", "--quiet", "--set-upstream", "origin", "main"},
	} {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", r.Dir}, args...)...) //nolint:gosec // arguments of ours
		cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s in %s: %w\n%s", args[0], r.Dir, err, out)
		}
	}
	return w.checked(ctx, r)
}

// checked has CI, of which there is none, say that the tests of a repository
// passed.
func (w *world) checked(ctx context.Context, r demo.Repository) error {
	head, err := exec.CommandContext(ctx, "git", "-C", r.Dir, "rev-parse", "HEAD").Output() //nolint:gosec // a folder of ours
	if err != nil {
		return err
	}
	return w.gitea.Ask(ctx, http.MethodPost, "/repos/"+organization+"/"+r.Name+"/statuses/"+strings.TrimSpace(string(head)),
		map[string]string{"state": "success", "context": "ci/test", "description": "make test", "target_url": "https://ci.shop.test/" + r.Name}, nil)
}

// hook has Gitea tell Fairlead what is pushed and merged.
func (w *world) hook(ctx context.Context) error {
	secret, err := os.ReadFile(w.path("secrets", "webhook"))
	if err != nil {
		return err
	}
	return w.gitea.Ask(ctx, http.MethodPost, "/orgs/"+organization+"/hooks", map[string]any{"type": "gitea", "active": true,
		"events": []string{"push", "create", "delete", "pull_request", "pull_request_review_approved", "pull_request_review_rejected", "status", "repository"},
		"config": map[string]string{"url": w.url() + "/webhooks/gitea", "content_type": "json", "secret": string(secret)}}, nil)
}
