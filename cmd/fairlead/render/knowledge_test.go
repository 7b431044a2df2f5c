package render_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
)

// foundDocuments is an answer of a server to a search in documents.
const foundDocuments = `{"total":9,"hits":[
 {"handle":"doc://checkout/docs/runbooks/CheckoutSlow.md#diagnosis","heading":"Diagnosis","role":"diagnosis","kind":"runbook","title":"CheckoutSlow","owner":"group:default/payments",
  "services":["component:default/checkout","component:default/basket"],"passage":"Look at the   pool first:\n| state | count |\n\u001b[31mwaiting\u0007","lastVerified":"2026-01-01T00:00:00Z","source":{"name":"checkout","path":"docs/runbooks/CheckoutSlow.md","line":14}},
 {"handle":"doc://checkout/qa/old-key.md","kind":"answer","title":"How do I rotate the key?","stale":"expired on 2020-01-01","supersededBy":"qa/key.md","passage":"By hand.","source":{"name":"checkout","path":"qa/old-key.md"}},
 {"handle":"doc://handbook/README.md","kind":"readme","title":"支付 handbook","source":{"name":"handbook","path":"README.md"}}]}`

// wholeDocument is an answer of a server to a document without a section.
const wholeDocument = `{"handle":"doc://checkout/docs/runbooks/CheckoutSlow.md#checkoutslow","kind":"runbook","title":"CheckoutSlow","owner":"group:default/payments","services":["component:default/checkout"],
 "stale":"no one has changed it since 2023-05-01","problems":["front matter: it is no mapping"],"outlineOmitted":2,"next":"doc://checkout/docs/runbooks/CheckoutSlow.md#checkoutslow@40",
 "outline":[{"handle":"doc://checkout/docs/runbooks/CheckoutSlow.md#checkoutslow","heading":"CheckoutSlow","level":1},{"handle":"doc://checkout/docs/runbooks/CheckoutSlow.md#diagnosis","heading":"Diagnosis","level":2}],
 "text":"# CheckoutSlow\n\nRequests wait:\n\n    kubectl get pods\r\n\t- \u001b]0;title\u0007then ask\n","source":{"name":"checkout","path":"docs/runbooks/CheckoutSlow.md","line":1}}`

func TestDocumentPages(t *testing.T) {
	for name, write := range map[string]func(*render.Page){
		"documents": func(p *render.Page) { p.Documents(read[render.DocumentHits](t, foundDocuments).Hits) },
		"document":  func(p *render.Page) { p.Document(read[render.DocumentText](t, wholeDocument)) },
	} {
		t.Run(name, func(t *testing.T) {
			var plain, colored bytes.Buffer
			p := render.NewPage(&plain, render.Options{Now: now})
			if write(p); p.Err() != nil {
				t.Fatal(p.Err())
			}
			golden(t, name, plain.String())
			write(render.NewPage(&colored, render.Options{Now: now, Color: true}))
			if bytes.Contains(plain.Bytes(), []byte("\x1b")) || !bytes.Contains(colored.Bytes(), []byte("\x1b[")) || bytes.Contains(colored.Bytes(), []byte("\x1b]")) {
				t.Errorf("escapes are where they should not be, or the other way round:\n%q\n%q", plain.String(), colored.String())
			}
		})
	}
}

func read[T any](t *testing.T, text string) *T {
	t.Helper()
	out := new(T)
	if err := json.Unmarshal([]byte(text), out); err != nil {
		t.Fatal(err)
	}
	return out
}
