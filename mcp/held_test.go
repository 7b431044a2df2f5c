package mcp_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/mcp"
)

// TestStreamsEndWithTheirCredential holds that nobody goes on listening with a
// token that was taken back, has expired, or stands for others now.
func TestStreamsEndWithTheirCredential(t *testing.T) {
	for name, change := range map[string]func(*http.Request) (access.Caller, error){
		"taken back": func(*http.Request) (access.Caller, error) {
			return access.Caller{}, fault.New(fault.Unauthenticated, "the token is none")
		},
		"another caller": func(r *http.Request) (access.Caller, error) {
			r.Header.Set("Authorization", "Bearer stranger")
			return authenticate(r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var changed atomic.Bool
			c := serve(t, []string{shop}, func(cfg *mcp.Config) {
				cfg.Recheck = time.Millisecond
				cfg.Authenticate = func(r *http.Request) (access.Caller, error) {
					if changed.Load() {
						return change(r)
					}
					return authenticate(r)
				}
			})
			modern := c.modernListen(`{"resourcesListChanged":true}`)
			if m := modern.next(); m.raw == "" {
				t.Fatal("the stream is not acknowledged")
			}
			c.open("2025-11-25")
			stream := c.listen(http.MethodGet, "")
			if stream.status != http.StatusOK {
				t.Fatal(stream.status)
			}
			changed.Store(true)
			for modern.next().raw != "" {
			}
			for stream.next().raw != "" {
			}
		})
	}
}
