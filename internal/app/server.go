package app

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/graphql"
	"github.com/fairlead-dev/fairlead/mcp"
	"github.com/fairlead-dev/fairlead/rest"
)

// handler is everything that is served, door by door.
func (a *App) handler() (_ http.Handler, err error) {
	mux := http.NewServeMux()
	log := a.telemetry.log
	public := a.publicURL()
	challenge := mcp.Challenge(public, "")
	if a.cfg.UI != nil {
		if a.ui, err = a.openUI(); err != nil {
			return nil, err
		}
	}
	restDoor, err := rest.New(rest.Config{Catalog: a.catalog, Knowledge: a.knowledge, Access: a.access, Previews: a.previews, Secrets: a.secrets, Gitops: a.gitops, Health: a.health, CI: a.ci, Links: a.links, Authenticate: a.authenticate, Recorder: a.telemetry,
		Origins: a.origins(), Challenge: challenge, Logger: log})
	if err != nil {
		return nil, err
	}
	mcpDoor, err := mcp.New(mcp.Config{Catalog: a.catalog, Knowledge: a.knowledge, Access: a.access, Previews: a.previews, Secrets: a.secrets, Gitops: a.gitops, Health: a.health, CI: a.ci, Authenticate: a.authenticate, Recorder: a.telemetry,
		PublicURL: public, AuthorizationServers: a.authorizationServers(), Origins: a.origins(), Version: a.cfg.Version, Logger: log})
	if err != nil {
		return nil, err
	}
	graphqlDoor, err := graphql.New(graphql.Config{Catalog: a.catalog, Knowledge: a.knowledge, Access: a.access, Previews: a.previews, Secrets: a.secrets, Gitops: a.gitops, Health: a.health, CI: a.ci, Authenticate: a.authenticate, Recorder: a.telemetry,
		Origins: a.origins(), Challenge: challenge, Logger: log})
	if err != nil {
		return nil, err
	}
	mux.Handle("/api/", restDoor)
	mux.Handle("/mcp", mcpDoor)
	mux.Handle("/mcp/", mcpDoor)
	mux.Handle("/.well-known/", mcpDoor)
	mux.Handle("/graphql", graphqlDoor)
	mux.Handle("/graphql/", graphqlDoor)
	for _, kind := range []string{"github", "gitea", "gitlab"} {
		mux.Handle("POST /webhooks/"+kind, a.webhooks(a.hooks[kind]))
	}
	mux.Handle(linkCallback, a.linkPages())
	a.serveGuards(mux)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "alive\n") })
	mux.HandleFunc("GET /readyz", a.readyz)
	mux.Handle("GET /metrics", a.telemetry.metrics())
	mux.HandleFunc("GET /api/auth/guest/refresh", a.guestRefresh)
	if a.ui == nil {
		mux.HandleFunc("GET /{$}", root)
		mux.HandleFunc("/", nothingThere)
	} else {
		mux.Handle("/", a.ui)
	}
	return a.recovered(a.frontPreviews(a.telemetry.traced(secure(challenge401(hurryAnswer(a.guardHost(plainBody(hurryBody(mux, bodyTimeout))), answerTimeout)))))), nil
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) //nolint:gosec // plain text under nosniff is no page; a client that has gone needs no answer
}

func (a *App) readyz(w http.ResponseWriter, _ *http.Request) {
	if !a.Ready() {
		plain(w, http.StatusServiceUnavailable, "sources are still being read for the first time\n")
		return
	}
	text := "serving a catalog\n"
	if a.issuers != nil {
		for _, s := range a.issuers.Status() {
			if s.Trouble != "" {
				text += "tokens of " + s.Name + " cannot be checked: " + s.Trouble + "\n"
			}
		}
	}
	plain(w, http.StatusOK, text)
}

// publicURL is how clients reach the server, "" if that is not known. Where
// others issue tokens, clients must be told where to get one.
func (a *App) publicURL() string {
	if a.cfg.PublicURL == "" && len(a.authorizationServers()) > 0 && loopback(a.cfg.Listen) {
		return a.URL()
	}
	return a.cfg.PublicURL
}

// origins are those whose pages may call: those that are configured, and the
// server's own where a proxy passes requests on under another name.
func (a *App) origins() []string {
	if own := originOf(a.cfg.PublicURL); own != "" {
		return append(slices.Clip(a.cfg.CORS), own)
	}
	return a.cfg.CORS
}

// originOf is what a browser calls the origin of an address, "" for none.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// authorizationServers are the issuers at which clients can get tokens.
func (a *App) authorizationServers() []string {
	if a.issuers == nil {
		return nil
	}
	return a.issuers.Issuers()
}

func (a *App) authenticate(r *http.Request) (access.Caller, error) {
	return a.auth.Authenticate(r.Context(), access.CredentialOf(r))
}

// secure sets what every answer should carry.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	})
}

// challenge401 tells who showed a token that it does not hold (RFC 6750), and
// not that one is missing.
func challenge401(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			w = &challenger{w}
		}
		next.ServeHTTP(w, r)
	})
}

// challenger completes the challenge of a 401.
type challenger struct{ http.ResponseWriter }

// WriteHeader sends the status.
func (c *challenger) WriteHeader(status int) {
	const scheme = "Bearer"
	if given := c.Header().Get("WWW-Authenticate"); status == http.StatusUnauthorized && strings.HasPrefix(given, scheme) && !strings.Contains(given, "error=") {
		parts := []string{`error="invalid_token"`}
		if rest := strings.TrimSpace(strings.TrimPrefix(given, scheme)); rest != "" {
			parts = append(parts, rest)
		}
		c.Header().Set("WWW-Authenticate", scheme+" "+strings.Join(parts, ", "))
	}
	c.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (c *challenger) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// plainBody refuses compressed bodies: no door takes them, and a small one
// could be a large one.
func plainBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
			w.Header().Set("Accept-Encoding", "identity")
			plain(w, http.StatusUnsupportedMediaType, "compressed bodies are not taken; send the body as it is, without Content-Encoding\n")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bodyTimeout is how long a client may take to send a request's body.
const bodyTimeout = 30 * time.Second

// hurryBody bounds the time in which a body arrives, without bounding how
// long an answer may stream.
func hurryBody(next http.Handler, timeout time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			next.ServeHTTP(w, r)
			return
		}
		conn := http.NewResponseController(w)
		if conn.SetReadDeadline(time.Now().Add(timeout)) == nil {
			r.Body = &hurriedBody{ReadCloser: r.Body, done: func() { _ = conn.SetReadDeadline(time.Time{}) }} // it could be set before
		}
		next.ServeHTTP(w, r)
	})
}

// hurriedBody lifts the deadline once the body has been read.
type hurriedBody struct {
	io.ReadCloser
	done func()
}

// Read reads on.
func (b *hurriedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.done()
	}
	return n, err
}

// guardHost refuses names that a loopback server is not known by, so that a
// web page cannot reach it by pointing its own name at this machine.
func (a *App) guardHost(next http.Handler) http.Handler {
	if !loopback(a.cfg.Listen) {
		return next
	}
	known := []string{"localhost", "127.0.0.1", "::1"}
	if public := hostOf(strings.TrimPrefix(strings.TrimPrefix(a.cfg.PublicURL, "https://"), "http://")); public != "" {
		known = append(known, strings.ToLower(public))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host := hostOf(r.Host); !slices.Contains(known, strings.ToLower(host)) && !loopback(r.Host) {
			plain(w, http.StatusForbidden, "this server is not known as "+host+"; set publicURL to the name it is reached by\n")
			return
		}
		next.ServeHTTP(w, r)
	})
}
