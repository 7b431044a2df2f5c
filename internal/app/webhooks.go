package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge"
)

// maxHook is the largest body of a webhook that is read.
const maxHook = 4 << 20

// maxHooks is how many events are read and verified at a time: whoever sends
// one is not known before.
const maxHooks = 32

// hook is one configured forge's way to verify a webhook.
type hook interface {
	Event(r *http.Request) (forge.Event, error)
}

// webhooks takes the events of all configured forges of one kind: the one
// whose secret fits says what happened.
func (a *App) webhooks(hooks []hook) http.HandlerFunc {
	slots := make(chan struct{}, maxHooks)
	return func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > maxHook {
			plain(w, http.StatusRequestEntityTooLarge, "the event is larger than 4 MiB\n")
			return
		}
		if len(hooks) == 0 {
			plain(w, http.StatusNotFound, "no forge of this kind is configured to send webhooks\n")
			return
		}
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		default:
			w.Header().Set("Retry-After", "1")
			plain(w, http.StatusServiceUnavailable, "many events are being read; send this one again\n")
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxHook))
		var large *http.MaxBytesError
		switch {
		case errors.As(err, &large):
			plain(w, http.StatusRequestEntityTooLarge, "the event is larger than 4 MiB\n")
			return
		case err != nil:
			plain(w, http.StatusBadRequest, "the event could not be read\n")
			return
		}
		event, err := a.verify(hooks, r, body)
		if err != nil {
			f := fault.From(err)
			a.telemetry.log.WarnContext(r.Context(), "webhook refused", "path", r.URL.Path, "error", err)
			plain(w, f.Code.HTTPStatus(), f.Message+"\n")
			return
		}
		a.act(r.Context(), event)
		plain(w, http.StatusAccepted, "accepted\n")
	}
}

// verify asks each forge in turn; the last refusal counts.
func (a *App) verify(hooks []hook, r *http.Request, body []byte) (forge.Event, error) {
	err := error(fault.New(fault.NotFound, "no forge of this kind is configured to send webhooks").
		WithFix("Set webhookSecretFile on its source."))
	for _, h := range hooks {
		try := r.Clone(r.Context())
		try.Body = io.NopCloser(bytes.NewReader(body))
		var event forge.Event
		if event, err = h.Event(try); err == nil {
			return event, nil
		}
		if fault.CodeOf(err) != fault.Forbidden {
			return forge.Event{}, err
		}
	}
	return forge.Event{}, err
}

func (a *App) act(ctx context.Context, e forge.Event) {
	if e.Replay {
		return
	}
	switch e.Kind {
	case forge.KindPush:
		a.ingester.Notify(e.CloneURLs...)
		a.tellProposal(context.WithoutCancel(ctx), e.CloneURLs, e.Ref)
	case forge.KindPullRequest:
		a.heardOfPull(context.WithoutCancel(ctx), e)
		a.tellProposal(context.WithoutCancel(ctx), e.CloneURLs, e.Ref)
	case forge.KindRepository:
		a.ingester.Notify()
	}
}
