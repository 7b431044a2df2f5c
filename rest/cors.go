package rest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// crossOrigin lets pages of known origins call, and answers their preflight
// requests; it tells whether the request is answered. Pages of other origins
// get no leave, so their browsers keep the answer from them.
func (d *door) crossOrigin(w http.ResponseWriter, r *http.Request) bool {
	h := w.Header()
	h.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	known := origin != "" && slices.ContainsFunc(d.Origins, func(o string) bool {
		return o == "*" || strings.EqualFold(strings.TrimSuffix(o, "/"), origin)
	})
	if known {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", "Link, Retry-After, WWW-Authenticate")
	}
	if r.Method != http.MethodOptions {
		return false
	}
	if known {
		h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, DELETE, OPTIONS")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
		h.Set("Access-Control-Max-Age", strconv.Itoa(600))
	}
	w.WriteHeader(http.StatusNoContent)
	return true
}
