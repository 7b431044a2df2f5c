package github_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge"
)

const (
	repoJSON = `"repository":{"id":1,"full_name":"acme/shop","html_url":"https://github.com/acme/shop","clone_url":"https://github.com/acme/shop.git","ssh_url":"git@github.com:acme/shop.git"}`
	pushJSON = `{"ref":"refs/heads/main","before":"` + before + `","after":"` + after + `","created":false,"deleted":false,"forced":false,` + repoJSON + `,"commits":[],"pusher":{"name":"alice"}}`
	before   = "1111111111111111111111111111111111111111"
	after    = "2222222222222222222222222222222222222222"
	zeros    = "0000000000000000000000000000000000000000"
)

var clones = []string{"https://github.com/acme/shop.git", "git@github.com:acme/shop.git", "https://github.com/acme/shop", "http://127.0.0.1:1/acme/shop.git"}

// hook is a request as GitHub sends it.
func hook(event, delivery, secret, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/webhooks/github", strings.NewReader(body))
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	for k, v := range map[string]string{"Content-Type": "application/json", "X-Github-Event": event, "X-Github-Delivery": delivery,
		"X-Hub-Signature-256": "sha256=" + hex.EncodeToString(mac.Sum(nil))} {
		r.Header.Set(k, v)
	}
	return r
}

func TestEvents(t *testing.T) {
	for name, tc := range map[string]struct {
		event, body string
		want        forge.Event
	}{
		"push": {"push", pushJSON, forge.Event{Kind: "push", Repository: "acme/shop", CloneURLs: clones, Ref: "refs/heads/main", Before: before, After: after}},
		"new branch": {"push", `{"ref":"refs/heads/x","before":"` + zeros + `","after":"` + after + `",` + repoJSON + `}`,
			forge.Event{Kind: "push", Repository: "acme/shop", CloneURLs: clones, Ref: "refs/heads/x", After: after}},
		"deleted branch": {"push", `{"ref":"refs/heads/x","before":"` + before + `","after":"` + zeros + `","deleted":true,` + repoJSON + `}`,
			forge.Event{Kind: "push", Repository: "acme/shop", CloneURLs: clones, Ref: "refs/heads/x", Before: before, Deleted: true}},
		"pull request": {"pull_request", `{"action":"opened","number":1,"pull_request":{"head":{"ref":"feature","sha":"` + after + `"}},` + repoJSON + `}`,
			forge.Event{Kind: "pull_request", Number: 1, Repository: "acme/shop", CloneURLs: clones, Ref: "refs/heads/feature", After: after}},
		"repository": {"repository", `{"action":"deleted",` + repoJSON + `}`, forge.Event{Kind: "repository", Repository: "acme/shop", CloneURLs: clones, Deleted: true}},
		"ping":       {"ping", `{"zen":"Keep it logically awesome.","hook_id":1}`, forge.Event{Kind: "ping"}},
		"unknown":    {"star", `{"action":"created",` + repoJSON + `}`, forge.Event{Kind: "other", Repository: "acme/shop", CloneURLs: clones}},
		"unheard of": {"something_new", `{"repository":"of another shape"}`, forge.Event{Kind: "other"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := client(t, "http://127.0.0.1:1", nil)
			got, err := c.Event(hook(tc.event, "d-1", "hook-secret", tc.body))
			if err != nil {
				t.Fatal(err)
			}
			tc.want.Delivery = "d-1"
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestFormsAreRead(t *testing.T) {
	r := hook("push", "d", "older-secret", url.Values{"payload": {pushJSON}}.Encode())
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	got, err := client(t, "http://127.0.0.1:1", nil).Event(r)
	if err != nil || got.After != after {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestUnsignedIsForbiddenInOneVoice(t *testing.T) {
	c := client(t, "http://127.0.0.1:1", nil)
	var first string
	for name, change := range map[string]func(*http.Request){
		"another secret": func(r *http.Request) { *r = *hook("push", "d", "guess", pushJSON) },
		"none":           func(r *http.Request) { r.Header.Del("X-Hub-Signature-256") },
		"sha1 alone": func(r *http.Request) {
			r.Header.Del("X-Hub-Signature-256")
			r.Header.Set("X-Hub-Signature", "sha1=00")
		},
		"without its name": func(r *http.Request) {
			r.Header.Set("X-Hub-Signature-256", strings.TrimPrefix(r.Header.Get("X-Hub-Signature-256"), "sha256="))
		},
		"another body": func(r *http.Request) { r.Body = http.NoBody },
	} {
		r := hook("push", "d", "hook-secret", pushJSON)
		change(r)
		_, err := c.Event(r)
		f := fault.From(err)
		if f == nil || f.Code != fault.Forbidden {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if first == "" {
			first = f.Message + f.Fix
		}
		if f.Message+f.Fix != first {
			t.Errorf("%s is told apart: %s", name, f.Message)
		}
	}
	if _, err := c.Event(hook("push", "d", "hook-secret", pushJSON)); err != nil {
		t.Errorf("the signed one after them: %v", err)
	}
}

func TestLargeBodiesAreRefused(t *testing.T) {
	c := client(t, "http://127.0.0.1:1", nil)
	for name, r := range map[string]*http.Request{
		"told":     hook("push", "d", "hook-secret", strings.Repeat(" ", forge.MaxWebhook+1)),
		"not told": httptest.NewRequest(http.MethodPost, "/", struct{ *bytes.Reader }{bytes.NewReader(make([]byte, forge.MaxWebhook+1))}),
	} {
		_, err := c.Event(r)
		f := fault.From(err)
		if f == nil || f.Details["status"] != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReplaysAreRecognised(t *testing.T) {
	c := client(t, "http://127.0.0.1:1", nil)
	other := strings.Replace(pushJSON, after, strings.Repeat("3", 40), 1)
	for _, tc := range []struct {
		name, id, body string
		want           bool
	}{
		{"the first", "1", pushJSON, false},
		{"the same again", "1", pushJSON, true},
		{"the same under another id, which is not signed", "2", pushJSON, true},
		{"another", "3", other, false},
		{"an id that was used", "1", strings.Replace(pushJSON, before, after, 1), true},
	} {
		e, err := c.Event(hook("push", tc.id, "hook-secret", tc.body))
		if err != nil || e.Replay != tc.want {
			t.Errorf("%s: %v, %v", tc.name, e.Replay, err)
		}
	}
}

func TestMalformedIsInvalid(t *testing.T) {
	c := client(t, "http://127.0.0.1:1", nil)
	for _, body := range []string{"", "{", "[]", "null", `{"ref":1}`, `{"ref":"refs/heads/main"}`} {
		if _, err := c.Event(hook("push", "d", "hook-secret", body)); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func FuzzEvent(f *testing.F) {
	for _, event := range []string{"push", "pull_request", "repository", "ping", "star", ""} {
		f.Add(event, "application/json", []byte(pushJSON))
		f.Add(event, "application/x-www-form-urlencoded", []byte("payload=%7B%7D"))
	}
	c := client(f, "http://127.0.0.1:1", nil)
	f.Fuzz(func(t *testing.T, event, kind string, body []byte) {
		r := hook(event, "", "hook-secret", string(body))
		r.Header["Content-Type"] = []string{kind}
		e, err := c.Event(r)
		switch code := fault.CodeOf(err); {
		case err == nil && e.Kind == "":
			t.Error("an event of no kind")
		case err == nil && e.Kind == forge.KindPush && (e.Ref == "" || e.Repository == ""):
			t.Errorf("a push of nothing: %+v", e)
		case err != nil && code != fault.Invalid:
			t.Errorf("%v", err)
		}
	})
}
