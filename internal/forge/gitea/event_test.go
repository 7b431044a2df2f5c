package gitea_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge"
)

const (
	before = "1111111111111111111111111111111111111111"
	after  = "2222222222222222222222222222222222222222"
	zeros  = "0000000000000000000000000000000000000000"
	repoJ  = `"repository":{"full_name":"acme/shop","html_url":"https://git.example.com/acme/shop","clone_url":"https://git.example.com/acme/shop.git","ssh_url":"ssh://git@git.example.com:2222/acme/shop.git"}`
	pushJ  = `{"ref":"refs/heads/main","before":"` + before + `","after":"` + after + `",` + repoJ + `}`
)

func hook(prefix, event, secret, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/webhooks/gitea", strings.NewReader(body))
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	r.Header.Set(prefix+"Event", event)
	r.Header.Set(prefix+"Delivery", "d-1")
	r.Header.Set(prefix+"Signature", hex.EncodeToString(mac.Sum(nil)))
	return r
}

func TestEvents(t *testing.T) {
	clones := []string{"https://git.example.com/acme/shop.git", "ssh://git@git.example.com:2222/acme/shop.git", "https://git.example.com/acme/shop", "http://127.0.0.1:1/acme/shop.git"}
	shop := func(e forge.Event) forge.Event {
		e.Repository, e.CloneURLs, e.Delivery = "acme/shop", clones, "d-1"
		return e
	}
	for name, tc := range map[string]struct {
		event, body string
		want        forge.Event
	}{
		"push":           {"push", pushJ, shop(forge.Event{Kind: "push", Ref: "refs/heads/main", Before: before, After: after})},
		"push that ends": {"push", strings.Replace(pushJ, after, zeros, 1), shop(forge.Event{Kind: "push", Ref: "refs/heads/main", Before: before, Deleted: true})},
		"deleted tag":    {"delete", `{"ref":"v1","ref_type":"tag",` + repoJ + `}`, shop(forge.Event{Kind: "push", Ref: "refs/tags/v1", Deleted: true})},
		"pull request":   {"pull_request", `{"action":"opened","pull_request":{"number":12,"head":{"ref":"x","sha":"` + after + `"}},` + repoJ + `}`, shop(forge.Event{Kind: "pull_request", Number: 12, Ref: "refs/heads/x", After: after})},
		"repository":     {"repository", `{"action":"deleted",` + repoJ + `}`, shop(forge.Event{Kind: "repository", Deleted: true})},
		"issue":          {"issues", `{"action":"opened",` + repoJ + `}`, shop(forge.Event{Kind: "other"})},
		"another shape":  {"package", `[1]`, forge.Event{Kind: "other", Delivery: "d-1"}},
	} {
		for _, prefix := range []string{"X-Gitea-", "X-Forgejo-"} {
			got, err := client(t, "http://127.0.0.1:1", nil).Event(hook(prefix, tc.event, "hook-secret", tc.body))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("%s: %s", name, d)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		request *http.Request
		code    fault.Code
	}{
		"another secret": {hook("X-Gitea-", "push", "guess", pushJ), fault.Forbidden},
		"no signature":   {httptest.NewRequest(http.MethodPost, "/", strings.NewReader(pushJ)), fault.Forbidden},
		"broken":         {hook("X-Gitea-", "push", "hook-secret", "{"), fault.Invalid},
		"no ref":         {hook("X-Gitea-", "push", "hook-secret", "{"+repoJ+"}"), fault.Invalid},
		"no event":       {hook("X-Gitea-", "", "hook-secret", pushJ), fault.Invalid},
		"too large":      {hook("X-Gitea-", "push", "hook-secret", strings.Repeat(" ", forge.MaxWebhook+1)), fault.Invalid},
		"by GET":         {httptest.NewRequest(http.MethodGet, "/", http.NoBody), fault.Invalid},
	} {
		if _, err := client(t, "http://127.0.0.1:1", nil).Event(tc.request); fault.CodeOf(err) != tc.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzEvent(f *testing.F) {
	for _, event := range []string{"push", "delete", "pull_request", "repository", "x"} {
		f.Add(event, []byte(pushJ))
	}
	c := client(f, "http://127.0.0.1:1", nil)
	f.Fuzz(func(t *testing.T, event string, body []byte) {
		r := hook("X-Gitea-", "", "hook-secret", string(body))
		r.Header["X-Gitea-Event"] = []string{event}
		e, err := c.Event(r)
		switch code := fault.CodeOf(err); {
		case err == nil && (e.Kind == "" || e.Kind == forge.KindPush && (e.Ref == "" || e.Repository == "")):
			t.Errorf("an event of nothing: %+v", e)
		case err != nil && code != fault.Invalid:
			t.Error(err)
		}
	})
}
