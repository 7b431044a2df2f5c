package app

import (
	"bytes"
	"html/template"
	"net/http"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

const (
	// maxLinkPages is how many of those who come back from a forge are served at
	// a time: they are not known.
	maxLinkPages = 16
	// maxLinkBody bounds what confirms, in bytes.
	maxLinkBody = 4 << 10
)

// linkPage is what a person reads who comes back from a forge.
const linkPage = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Fairlead</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}button{font:inherit;padding:.5rem 1rem}</style></head><body>
{{if .Trouble}}<h1>Not linked</h1><p>{{.Trouble}}</p><p>{{.Fix}}</p>
{{else if .Link.Confirm}}<h1>Is this you?</h1>
<p>Fairlead will push branches and open pull requests at <b>{{.Link.Forge}}</b> as <b>{{.Link.Account}}</b> when <b>{{.Link.Person}}</b>, or an agent for them, proposes a change.</p>
<p>Go on only if you are <b>{{.Link.Person}}</b> and have just run <code>fairlead login --forge {{.Link.Forge}}</code> yourself. If somebody sent you here, close this page.</p>
<form method="post"><input type="hidden" name="confirm" value="{{.Link.Confirm}}"><button>Link my account</button></form>
{{else}}<h1>Agreed</h1><p>Fairlead may act as <b>{{.Link.Account}}</b> at <b>{{.Link.Forge}}</b> for <b>{{.Link.Person}}</b> once the command line has finished. You can close this page.</p>{{end}}
</body></html>
`

type linkView struct {
	Link         gitops.AgreedLink
	Trouble, Fix string
}

// linkPages serves those who come back from a forge: what they agreed to is
// taken, and counts once they have confirmed whose it becomes.
func (a *App) linkPages() http.Handler {
	slots, page := make(chan struct{}, maxLinkPages), template.Must(template.New("link").Parse(linkPage))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		default:
			w.Header().Set("Retry-After", "1")
			plain(w, http.StatusServiceUnavailable, "many are coming back from forges; load the page again\n")
			return
		}
		var link *gitops.AgreedLink
		var err error
		switch r.Method {
		case http.MethodGet:
			q := r.URL.Query()
			link, err = a.links.Agree(r.Context(), q.Get("state"), q.Get("code"), q.Get("error"))
		case http.MethodPost:
			r.Body = http.MaxBytesReader(w, r.Body, maxLinkBody)
			link, err = a.links.Confirm(r.Context(), r.PostFormValue("confirm"))
		default:
			w.Header().Set("Allow", "GET, POST")
			plain(w, http.StatusMethodNotAllowed, "load it, or confirm by its form\n")
			return
		}
		a.showLink(w, r, page, link, err)
	})
}

func (a *App) showLink(w http.ResponseWriter, r *http.Request, page *template.Template, link *gitops.AgreedLink, err error) {
	view, status := linkView{}, http.StatusOK
	if err != nil {
		f := fault.From(err)
		a.telemetry.log.WarnContext(r.Context(), "an account is not linked", "error", err)
		view.Trouble, view.Fix, status = f.Message, f.Fix, f.Code.HTTPStatus()
	} else {
		view.Link = *link
	}
	var text bytes.Buffer
	if err := page.Execute(&text, view); err != nil {
		plain(w, http.StatusInternalServerError, "the page cannot be shown\n")
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // a client that has gone needs no answer
}
