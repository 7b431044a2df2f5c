package gitlab_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge"
)

const (
	signingKey = "c2lnbmluZy1rZXktb2YtdGhlLXRlc3Q="
	before     = "1111111111111111111111111111111111111111"
	after      = "2222222222222222222222222222222222222222"
	zeros      = "0000000000000000000000000000000000000000"
	projectJ   = `"project":{"id":1,"path_with_namespace":"acme/web/shop","web_url":"https://gitlab.example.com/acme/web/shop","git_http_url":"https://gitlab.example.com/acme/web/shop.git","git_ssh_url":"git@gitlab.example.com:acme/web/shop.git"}`
	pushJ      = `{"object_kind":"push","event_name":"push","ref":"refs/heads/main","before":"` + before + `","after":"` + after + `",` + projectJ + `,"commits":[]}`
)

var clones = []string{"https://gitlab.example.com/acme/web/shop.git", "git@gitlab.example.com:acme/web/shop.git", "https://gitlab.example.com/acme/web/shop", "http://127.0.0.1:1/acme/web/shop.git"}

func hook(token, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/webhooks/gitlab", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Gitlab-Event", "Push Hook")
	if token != "" {
		r.Header.Set("X-Gitlab-Token", token)
	}
	return r
}

// signed is a request that is signed as GitLab does with a signing token.
func signed(key []byte, at time.Time, id, body string) *http.Request {
	r := hook("", body)
	mac := hmac.New(sha256.New, key)
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac.Write([]byte(id + "." + stamp + "." + body))
	r.Header.Set("Webhook-Id", id)
	r.Header.Set("Webhook-Timestamp", stamp)
	r.Header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString([]byte("another key's, while they are changed"))+" v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return r
}

func TestEvents(t *testing.T) {
	for name, tc := range map[string]struct {
		body string
		want forge.Event
	}{
		"push": {pushJ, forge.Event{Kind: "push", Repository: "acme/web/shop", CloneURLs: clones, Ref: "refs/heads/main", Before: before, After: after}},
		"tag":  {strings.Replace(strings.Replace(pushJ, `"push","event_name":"push"`, `"tag_push"`, 1), "heads/main", "tags/v1", 1), forge.Event{Kind: "push", Repository: "acme/web/shop", CloneURLs: clones, Ref: "refs/tags/v1", Before: before, After: after}},
		"gone": {strings.Replace(pushJ, after, zeros, 1), forge.Event{Kind: "push", Repository: "acme/web/shop", CloneURLs: clones, Ref: "refs/heads/main", Before: before, Deleted: true}},
		"merge request": {`{"object_kind":"merge_request","object_attributes":{"iid":7,"source_branch":"feature","last_commit":{"id":"` + after + `"}},` + projectJ + `}`,
			forge.Event{Kind: "pull_request", Number: 7, Repository: "acme/web/shop", CloneURLs: clones, Ref: "refs/heads/feature", After: after}},
		"project made": {`{"event_name":"project_create","path_with_namespace":"acme/new"}`, forge.Event{Kind: "repository", Repository: "acme/new", CloneURLs: []string{"http://127.0.0.1:1/acme/new.git"}}},
		"project gone": {`{"event_name":"project_destroy","path_with_namespace":"acme/new"}`, forge.Event{Kind: "repository", Repository: "acme/new", CloneURLs: []string{"http://127.0.0.1:1/acme/new.git"}, Deleted: true}},
		"issue":        {`{"object_kind":"issue",` + projectJ + `}`, forge.Event{Kind: "other", Repository: "acme/web/shop", CloneURLs: clones}},
		"unheard of":   {`{"object_kind":"something","project":[]}`, forge.Event{Kind: "other"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := hook("hook-secret", tc.body)
			r.Header.Set("Idempotency-Key", "d-1")
			got, err := client(t, "http://127.0.0.1:1", nil).Event(r)
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

func TestSignatures(t *testing.T) {
	key, _ := base64.StdEncoding.DecodeString(signingKey)
	late := time.Now().Add(-time.Hour)
	for name, tc := range map[string]struct {
		request *http.Request
		code    fault.Code
	}{
		"the secret token":                   {hook("hook-secret", pushJ), ""},
		"another token":                      {hook("guess", pushJ), fault.Forbidden},
		"no token":                           {hook("", pushJ), fault.Forbidden},
		"signed with what the token encodes": {signed(key, time.Now(), "1", pushJ), ""},
		"signed with the token as it is":     {signed([]byte("whsec_"+signingKey), time.Now(), "1", pushJ), ""},
		"signed with another":                {signed([]byte("guess"), time.Now(), "1", pushJ), fault.Forbidden},
		"signed long ago":                    {signed(key, late, "1", pushJ), fault.Forbidden},
		"a signature that fails beside a token": {func() *http.Request {
			r := signed([]byte("guess"), time.Now(), "1", pushJ)
			r.Header.Set("X-Gitlab-Token", "hook-secret")
			return r
		}(), fault.Forbidden},
		"another id than the signed": {func() *http.Request {
			r := signed(key, time.Now(), "1", pushJ)
			r.Header.Set("Webhook-Id", "2")
			return r
		}(), fault.Forbidden},
		"broken JSON": {hook("hook-secret", "{"), fault.Invalid},
		"no ref":      {hook("hook-secret", `{"object_kind":"push"}`), fault.Invalid},
	} {
		if _, err := client(t, "http://127.0.0.1:1", nil).Event(tc.request); fault.CodeOf(err) != tc.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReplaysAreRecognised(t *testing.T) {
	c := client(t, "http://127.0.0.1:1", nil)
	for i, want := range []bool{false, true} {
		if e, err := c.Event(hook("hook-secret", pushJ)); err != nil || e.Replay != want {
			t.Errorf("delivery %d: %+v, %v", i, e, err)
		}
	}
}

func FuzzEvent(f *testing.F) {
	f.Add([]byte(pushJ), "v1,AAAA", "1")
	f.Add([]byte(`{"object_kind":"merge_request"}`), "", "")
	f.Add([]byte(`{"event_name":"project_create"}`), "v2,x v1, v1,=", "-1")
	c := client(f, "http://127.0.0.1:1", nil)
	f.Fuzz(func(t *testing.T, body []byte, signature, at string) {
		r := hook("hook-secret", string(body))
		if signature != "" {
			r.Header["Webhook-Signature"], r.Header["Webhook-Timestamp"] = []string{signature}, []string{at}
		}
		e, err := c.Event(r)
		switch code := fault.CodeOf(err); {
		case err == nil && signature != "":
			t.Error("a guessed signature holds")
		case err == nil && (e.Kind == "" || e.Kind == forge.KindPush && (e.Ref == "" || e.Repository == "")):
			t.Errorf("an event of nothing: %+v", e)
		case err != nil && code != fault.Invalid && code != fault.Forbidden:
			t.Error(err)
		}
	})
}
