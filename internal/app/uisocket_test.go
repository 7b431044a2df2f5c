package app

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// TestPagesCallByGraphQL: the page that is served, one of a configured origin,
// and the page behind a proxy that names the server otherwise ask by GraphQL
// over HTTP and over a socket with the guest's token; others may not.
func TestPagesCallByGraphQL(t *testing.T) {
	s := startUI(t, "  guest: {subject: user:default/alice, groups: [group:default/storefront], roles: [developer]}\n"+
		"publicURL: http://front.example:8080/\ncors: ['http://localhost:3000', 'http://[::1]:3000']\n")
	page := s.send("", http.MethodGet, "/", "")
	if layers := layersOf(t, page.body); layers[1].Data["fairlead"]["url"] != "http://front.example:8080" || layers[1].Data["backend"]["baseUrl"] != "http://front.example:8080" {
		t.Errorf("the page is told %+v", layers)
	}
	if csp := page.header.Get("Content-Security-Policy"); !strings.HasSuffix(csp, "; connect-src 'self' ws: wss: https: http://front.example:8080") {
		t.Errorf("the page may load %s", csp)
	}
	token := s.guestToken()
	for origin, allowed := range map[string]bool{
		"http://localhost:3000": true, "http://[::1]:3000": true, "http://front.example:8080": true, s.url: true,
		"http://localhost:3001": false, "https://localhost:3000": false, "http://evil.example": false, "null": false,
	} {
		if got := s.pageAsks(origin, token); got != allowed {
			t.Errorf("a page of %s gets through by a socket: %v", origin, got)
		}
		before := s.send("", http.MethodOptions, "/graphql", "", "Origin", origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type")
		after := s.send(token, http.MethodPost, "/graphql", `{"query":"{ whoami { subject } }"}`, "Origin", origin)
		if origin == s.url { // the browser asks for no leave
			continue
		}
		if before.status != http.StatusNoContent || (before.header.Get("Access-Control-Allow-Origin") == origin) != allowed || (after.header.Get("Access-Control-Allow-Origin") == origin) != allowed {
			t.Errorf("a page of %s: %d %v, %v", origin, before.status, before.header, after.header)
		}
		if allowed && (!strings.Contains(before.header.Get("Access-Control-Allow-Headers"), "Authorization, Content-Type") || !strings.Contains(after.body, "user:default/alice")) {
			t.Errorf("a page of %s may send %v, and gets %s", origin, before.header, after.body)
		}
	}
}

// guestToken is a token of who opens the front end.
func (s *server) guestToken() string {
	s.t.Helper()
	var who struct {
		BackstageIdentity struct{ Token string }
	}
	s.send("", http.MethodGet, "/api/auth/guest/refresh", "").decode(s.t, &who)
	return who.BackstageIdentity.Token
}

// pageAsks opens a socket as a page of an origin does, shows a token in the
// payload of the first message, and asks who it is.
func (s *server) pageAsks(origin, token string) bool {
	s.t.Helper()
	ctx := s.t.Context()
	conn, resp, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(s.url, "http")+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"},
		HTTPHeader: http.Header{"Origin": {origin}}})
	if err != nil {
		if resp == nil || resp.StatusCode != http.StatusForbidden {
			s.t.Errorf("%s: %v", origin, err)
		}
		return false
	}
	defer conn.CloseNow()
	for _, m := range []string{`{"type":"connection_init","payload":{"Authorization":"Bearer ` + token + `"}}`, `{"id":"1","type":"subscribe","payload":{"query":"{ whoami { subject } }"}}`} {
		if err := conn.Write(ctx, websocket.MessageText, []byte(m)); err != nil {
			s.t.Fatal(err)
		}
	}
	var got []string
	for range 2 {
		_, data, err := conn.Read(ctx)
		if err != nil || !json.Valid(data) {
			s.t.Fatalf("%v: %s", err, data)
		}
		got = append(got, string(data))
	}
	return strings.Contains(got[0], "connection_ack") && strings.Contains(got[1], `"subject":"user:default/alice"`)
}
