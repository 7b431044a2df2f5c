package descriptor

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// blob is the base of the repository that tests read from.
const blob = "https://github.com/acme/catalog/blob/main/"

// files is a Reader over contents by URL.
type files map[string]string

func (f files) Read(_ context.Context, at Location) ([]byte, error) {
	text, ok := f[at.Target]
	if !ok {
		return nil, fmt.Errorf("%s: %w", at.Target, ErrNotFound)
	}
	return []byte(text), nil
}

// inRepository gives paths of the test repository the URLs that placeholders
// resolve to.
func inRepository(contents map[string]string) files {
	out := files{}
	for name, text := range contents {
		out["https://github.com/acme/catalog/tree/main/"+name] = text
	}
	return out
}

// where the tests' catalog file is.
func catalogFile(t testing.TB, p *Processor) (origin, at Location) {
	t.Helper()
	base := Location{TypeURL, blob}
	origin, err := p.Registered(base, "dir/catalog-info.yaml")
	if err != nil {
		t.Fatal(err)
	}
	at, err = p.Address(base, "dir/catalog-info.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return origin, at
}

// process reads a file and processes its first document.
func process(t testing.TB, p *Processor, text string, r Reader) *Result {
	t.Helper()
	origin, at := catalogFile(t, p)
	f := p.Read(at, []byte(text))
	if len(f.Documents) == 0 {
		t.Fatalf("no documents; problems %v", f.Problems)
	}
	if d := f.Documents[0]; d.Stage != StageProcess {
		return &Result{Problems: d.Problems}
	}
	return p.Process(context.Background(), f, f.Documents[0], origin, r)
}

// said writes problems as line:column message.
func said(problems []entity.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "%d:%d %s\n", p.Line, p.Column, p.Message)
	}
	return b.String()
}

// shop is an ordinary entity with something more in metadata and spec.
func shop(metadata, spec string) string {
	return "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata:\n  name: shop\n" + metadata +
		"spec:\n  type: service\n  lifecycle: production\n  owner: team-a\n" + spec
}
