package overhttp

import (
	"net/http"
	"slices"
	"strings"
)

// crossOrigin tells a browser whether a page of another origin may see the
// answer, and answers the browser's question ahead of a request.
func (h *Handler) crossOrigin(w http.ResponseWriter, r *http.Request) bool {
	head := w.Header()
	head.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	known := origin != "" && slices.ContainsFunc(h.Origins, func(o string) bool {
		return o == "*" || strings.EqualFold(strings.TrimSuffix(o, "/"), origin)
	})
	if known {
		head.Set("Access-Control-Allow-Origin", origin)
		head.Set("Access-Control-Expose-Headers", "WWW-Authenticate")
	}
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	if known {
		head.Set("Access-Control-Allow-Methods", "GET, POST")
		head.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept")
		head.Set("Access-Control-Max-Age", "600")
	}
	w.WriteHeader(http.StatusNoContent)
	return true
}

// patterns are the origins as the WebSocket library matches them: each stands
// for itself alone, "*" for all.
func (h *Handler) patterns() []string {
	literally := strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`)
	out := make([]string, len(h.Origins))
	for i, o := range h.Origins {
		if out[i] = o; o != "*" {
			out[i] = literally.Replace(strings.TrimSuffix(o, "/"))
		}
	}
	return out
}
