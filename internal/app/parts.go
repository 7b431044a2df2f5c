package app

import (
	"context"
	"net/http"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// loop is what runs until ctx ends. Where it panics, that is logged and it
// begins anew, so that the rest of the server goes on.
func (a *App) loop(ctx context.Context, doing string, do func(context.Context)) func() {
	return func() { beside.Always(ctx, a.telemetry.log, doing, func() { do(ctx) }) }
}

// part is a loop without which the server ends where it fails.
func (a *App) part(ctx context.Context, doing string, do func(context.Context) error) func() error {
	return func() (err error) {
		a.loop(ctx, doing, func(ctx context.Context) { err = do(ctx) })()
		return err
	}
}

// recovered logs what panics while a request is answered, where no door has
// answered for it. The connection is ended: a part of an answer may have been
// sent.
func (a *App) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p != http.ErrAbortHandler { //nolint:errorlint // the panic's value is this very error
				a.telemetry.log.ErrorContext(r.Context(), "a part of Fairlead panicked", "doing", "answering "+r.Method+" "+r.URL.Path, "error", fault.Recovered(p, "answering a request"))
			}
			panic(http.ErrAbortHandler)
		}()
		next.ServeHTTP(w, r)
	})
}
