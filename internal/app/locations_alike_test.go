package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// registrar asks one of the two of what a test asks both.
type registrar struct {
	t           *testing.T
	base, token string
	// last is the id that the last registration gave.
	last string
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// ask sends "METHOD path body", LAST standing for the id that was given last,
// and gives what the answer has in common with the other's.
func (r *registrar) ask(request string) string {
	r.t.Helper()
	method, rest, _ := strings.Cut(request, " ")
	path, body, _ := strings.Cut(rest, " ")
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.base+strings.ReplaceAll(path, "LAST", r.last), strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	if method == http.MethodPost && path == "/locations" && res.StatusCode == http.StatusCreated {
		r.last = anyID.FindString(string(data))
	}
	var v any
	if len(data) > 0 {
		if err := json.Unmarshal([]byte(strings.ReplaceAll(string(data), r.last, "LAST")), &v); err != nil {
			r.t.Fatalf("%s: %v in %s", request, err, data)
		}
	}
	if m, ok := v.(map[string]any); ok && m["error"] != nil {
		e, _ := m["error"].(map[string]any)
		v = []any{e["name"], e["message"]}
	}
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		r.t.Fatal(err)
	}
	return fmt.Sprint(res.StatusCode, " ", string(text))
}

// TestBackstageRegistersAlike has real Backstage and Fairlead register the
// same file of the same host and compares what they answer on the way.
func TestBackstageRegistersAlike(t *testing.T) {
	h := newGitHost(t)
	h.push("shop", "main", map[string]string{
		"catalog-info.yaml": service("stock", "storefront") + "---\n" + service("more", "storefront"), "other.yaml": service("other", "storefront"),
		"twice.yaml": service("same", "a") + "---\n" + service("same", "b")})
	first := filepath.Join(t.TempDir(), "first.yaml")
	write(t, first, service("first", "storefront"))
	b := realtest.Backstage(t, realtest.BackstageConfig{Locations: []string{first}, Hosts: []string{strings.TrimPrefix(h.URL, "http://")}})
	s := startWithHost(t, h)
	theirs := &registrar{t: t, base: b.URL + "/api/catalog", token: b.Token, last: "none yet"}
	ours := &registrar{t: t, base: s.url + "/api/catalog", token: s.tokens["sre"], last: "none yet"}
	target := h.page("shop", "catalog-info.yaml")
	at := func(target string) string { return fmt.Sprintf(`{"type":"url","target":%q}`, target) }
	const nobody = "00000000-0000-4000-8000-000000000000"
	for _, request := range []string{
		"GET /locations",
		"POST /locations/by-query {}",
		"POST /locations?dryRun=true " + at(target),
		"POST /locations?dryRun=true " + at(h.page("shop", "twice.yaml")),
		"POST /locations " + at(target),
		"POST /locations?dryRun=yes " + at(target),
		"POST /locations " + at(target),
		"POST /locations?onConflict=refresh " + at(target),
		"POST /locations?onConflict=perhaps " + at(target),
		`POST /locations {"type":"file","target":"/etc/passwd"}`,
		`POST /locations {"type":"url"}`,
		`POST /locations {"target":"https://x"}`,
		`POST /locations {"type":"url","target":7}`,
		"GET /locations",
		"GET /locations/LAST",
		"GET /locations/" + nobody,
		"GET /locations/by-entity/component/default/nobody",
		"POST /locations/by-query {}",
		`POST /locations/by-query {"limit":0}`,
		`POST /locations/by-query {"cursor":""}`,
		`POST /locations/by-query {"cursor":"zzz"}`,
		`POST /locations/by-query {"query":{"target":{"$hasPrefix":"HTTP://127"}}}`,
		`POST /locations/by-query {"query":{"target":{"$in":["a","b"]},"type":"URL"}}`,
		`POST /locations/by-query {"query":{"$all":[]}}`,
		`POST /locations/by-query {"query":{"$any":[{"type":"url"},{"id":"x"}]}}`,
		`POST /locations/by-query {"query":{"$not":{"entityRef":{"$exists":true}}}}`,
		`POST /locations/by-query {"query":{"target":{"$contains":"x"}}}`,
		`POST /locations/by-query {"query":{"name":"x"}}`,
		"PUT /locations/LAST " + at(h.page("shop", "other.yaml")),
		"PUT /locations/" + nobody + " " + at(target),
		"GET /locations/LAST",
		"DELETE /locations/LAST",
		"DELETE /locations/LAST",
		"GET /locations",
	} {
		want, got := theirs.ask(request), ours.ask(request)
		if got != want {
			t.Errorf("%s\nBackstage: %s\n Fairlead: %s", request, want, got)
		}
	}
	missing := "POST /locations?dryRun=true " + at(h.page("shop", "gone.yaml"))
	for _, a := range []string{theirs.ask(missing), ours.ask(missing)} { // the words are each one's own
		if !strings.HasPrefix(a, "400 [\n \"InputError\",\n \"NotFoundError: ") {
			t.Errorf("a file that is not there: %s", a)
		}
	}
}
