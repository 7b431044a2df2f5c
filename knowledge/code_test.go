package knowledge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/knowledge"
)

func codeShop() map[string]map[string]string {
	return map[string]map[string]string{
		"checkout": {
			"catalog-info.yaml":  service("checkout", ""),
			"pay/pay.go":         "package pay\n\n// Charge takes the money.\nfunc Charge(amount int) error {\n\treturn gateway.Charge(amount)\n}\n",
			"pay/pay_test.go":    "package pay\n\nfunc TestCharge(t *testing.T) { Charge(1) }\n",
			"deploy/values.yaml": "charge:\n  retries: 3\n  password: hunter22secret\n",
			"docs/charge.md":     "# How to Charge\n",
			"vendor/x/y.go":      "package y // Charge\n",
			"web/app.min.js":     "function Charge(){}",
			"logo.png":           "\x89PNG Charge",
			"data.txt":           "Charge\x00",
		},
		"ledger": {
			"catalog-info.yaml": service("ledger", ""),
			"book.py":           "def book(entry):\n    charge_back(entry)\n",
		},
	}
}

func (r *room) find(in knowledge.SearchCodeInput) *knowledge.CodeHits {
	r.t.Helper()
	out, err := r.SearchCode(r.t.Context(), alice(), in)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func places(out *knowledge.CodeHits) string {
	var all []string
	for _, h := range out.Hits {
		all = append(all, fmt.Sprintf("%s/%s:%d", h.Source.Name, h.Source.Path, h.Source.Line))
	}
	return strings.Join(all, " ")
}

func TestSearchCodeFinds(t *testing.T) {
	r := newRoom(t, nil, codeShop())
	for _, c := range []struct {
		in   knowledge.SearchCodeInput
		want string
	}{
		{knowledge.SearchCodeInput{Query: "Charge"}, "checkout/pay/pay.go:3 checkout/docs/charge.md:1 checkout/pay/pay_test.go:3"},
		{knowledge.SearchCodeInput{Query: "charge", Service: "checkout"}, "checkout/pay/pay.go:3 checkout/deploy/values.yaml:1 checkout/docs/charge.md:1 checkout/pay/pay_test.go:3"},
		{knowledge.SearchCodeInput{Query: "charge", Service: "ledger"}, "ledger/book.py:2"},
		{knowledge.SearchCodeInput{Query: "charge", Repository: "git@git.example.com:acme/ledger.git"}, "ledger/book.py:2"},
		{knowledge.SearchCodeInput{Query: "charge", Repository: "ledger"}, "ledger/book.py:2"},
		{knowledge.SearchCodeInput{Query: "charge", Language: "Python"}, "ledger/book.py:2"},
		{knowledge.SearchCodeInput{Query: "Charge", Path: "pay"}, "checkout/pay/pay.go:3 checkout/pay/pay_test.go:3"},
		{knowledge.SearchCodeInput{Query: "Charge", Path: "/pay/pay.go"}, "checkout/pay/pay.go:3"},
		{knowledge.SearchCodeInput{Query: "charge", Path: "**/*.{py,yaml}", Repository: "ledger"}, "ledger/book.py:2"},
		{knowledge.SearchCodeInput{Query: `func \w*Charge\(`, Regexp: true}, "checkout/pay/pay.go:4 checkout/pay/pay_test.go:3"},
		{knowledge.SearchCodeInput{Query: `de`, Repository: "ledger"}, "ledger/book.py:1"},
		{knowledge.SearchCodeInput{Query: "hunter22secret"}, ""},
		{knowledge.SearchCodeInput{Query: "nothing like it"}, ""},
	} {
		if got := places(r.find(c.in)); got != c.want {
			t.Errorf("%+v found %s, not %s", c.in, got, c.want)
		}
	}
	out := r.find(knowledge.SearchCodeInput{Query: "Charge", Path: "pay/pay.go"})
	h := out.Hits[0]
	if s := h.Source; s.Repo != "https://git.example.com/acme/checkout" || s.Commit == "" || h.Language != "go" || h.Owner != "group:default/team-checkout" || !slices.Equal(h.Services, []string{"component:default/checkout"}) ||
		h.Matches != 3 || len(h.Excerpts) != 1 || h.Excerpts[0].Line != 1 || !slices.Equal(h.Excerpts[0].Lines, []int{3, 4, 5}) || !strings.HasPrefix(h.Excerpts[0].Text, "package pay\n\n// Charge takes") {
		t.Errorf("%+v", h)
	}
	if out.Searched != 2 || out.Unsearched != 0 || out.NextCursor != "" {
		t.Errorf("%+v", out)
	}
	if h := r.find(knowledge.SearchCodeInput{Query: "retries"}).Hits[0]; !strings.Contains(h.Excerpts[0].Text, "password: [secret]") {
		t.Errorf("%+v", h)
	}
}

func TestSearchCodeRefuses(t *testing.T) {
	r := newRoom(t, nil, codeShop())
	page := r.find(knowledge.SearchCodeInput{Query: "Charge", Limit: 1})
	for code, ins := range map[fault.Code][]knowledge.SearchCodeInput{
		fault.Invalid: {{}, {Query: "ab"}, {Query: "a|bcd", Regexp: true}, {Query: "(", Regexp: true}, {Query: "x*", Regexp: true}, {Query: "charge", Limit: 51}, {Query: "charge", Limit: -1}, {Query: "charge", Path: "[a"},
			{Query: "charge", Cursor: "§"}, {Query: "charge", Cursor: page.NextCursor}, {Query: "charge", Cursor: "eyJhIjotNX0"}},
		fault.NotFound: {{Query: "charge", Service: "nobody"}, {Query: "charge", Repository: "https://git.example.com/acme/nothing"}},
	} {
		for _, in := range ins {
			_, err := r.SearchCode(t.Context(), alice(), in)
			if f := fault.From(err); fault.CodeOf(err) != code || f.Fix == "" {
				t.Errorf("%+v: %v", in, err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.SearchCode(ctx, alice(), knowledge.SearchCodeInput{Query: "Charge"}); err == nil {
		t.Error("a search of a caller who is gone goes on")
	}
	off := newRoomOf(t, nil, codeShop(), knowledge.CodeConfig{Off: true})
	for _, s := range []*knowledge.Service{off.Service, nil} {
		if _, err := s.SearchCode(t.Context(), alice(), knowledge.SearchCodeInput{Query: "Charge"}); fault.CodeOf(err) != fault.FailedPrecondition {
			t.Errorf("switched off: %v", err)
		}
	}
}

// pages are all hits of a search, page by page.
func (r *room) pages(in knowledge.SearchCodeInput) (hits []knowledge.CodeHit, pages int) {
	r.t.Helper()
	for {
		out := r.find(in)
		pages++
		hits = append(hits, out.Hits...)
		if text, err := json.Marshal(out); err != nil || len(text) > 24_000 {
			r.t.Fatalf("a page has %d bytes, %v", len(text), err)
		}
		if in.Cursor = out.NextCursor; in.Cursor == "" || pages > 200 {
			return hits, pages
		}
	}
}

func TestSearchCodePages(t *testing.T) {
	files := map[string]string{"catalog-info.yaml": service("many", "")}
	for i := range 55 {
		files[fmt.Sprintf("src/f%02d.go", i)] = fmt.Sprintf("package f\n\nvar widget%d = 1\n", i)
	}
	files["big.go"] = strings.Repeat("var gadget = \"<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<\"\n\n\n\n\n\n\n\n", 120)
	r := newRoom(t, nil, map[string]map[string]string{"many": files})
	for limit, want := range map[int]int{7: 8, 11: 5, 50: 2} {
		hits, pages := r.pages(knowledge.SearchCodeInput{Query: "widget", Limit: limit})
		seen := map[string]bool{}
		for _, h := range hits {
			seen[h.Source.Path] = true
		}
		if len(hits) != 55 || len(seen) != 55 || pages != want {
			t.Errorf("%d hits of %d files on %d pages", len(hits), len(seen), pages)
		}
	}
	if hits, _ := r.pages(knowledge.SearchCodeInput{Query: "gadget"}); len(hits) != 1 || len(hits[0].Excerpts) != 3 || hits[0].Matches != 120 {
		t.Errorf("%+v", hits)
	}
	hits, pages := r.pages(knowledge.SearchCodeInput{Query: "gadget", Path: "big.go"})
	lines := map[int]bool{}
	for _, h := range hits {
		for _, e := range h.Excerpts {
			for _, n := range e.Lines {
				if lines[n] {
					t.Errorf("line %d comes twice", n)
				}
				lines[n] = true
			}
		}
	}
	if len(lines) != 120 || pages < 3 {
		t.Errorf("%d lines on %d pages", len(lines), pages)
	}
}

func TestSearchCodeShowsWhatOneMaySee(t *testing.T) {
	repos := map[string]map[string]string{"mono": {"top.go": "var sesame = 0\n"}, "bare": {"x.go": "var sesame = 3\n"}, "closed": {"catalog-info.yaml": service("closed", ""), "x.go": "var sesame = 4\n"}}
	repos["mono"]["open/catalog-info.yaml"], repos["mono"]["secret/catalog-info.yaml"] = service("open", ""), service("secret", "")
	for i := range 30 {
		repos["mono"][fmt.Sprintf("open/f%02d.go", i)] = "var sesame = 1\n"
		repos["mono"][fmt.Sprintf("secret/f%02d.go", i)] = "var sesame = 2\n"
	}
	policy := accesstest.Policy(t, `rules:
- {name: open, effect: allow, who: {subjects: ["user:default/root"]}, actions: ["*"]}
- {name: some, effect: allow, who: {subjects: ["user:default/alice"]}, actions: ["*"], on: {refs: ["component:default/open"]}}`)
	r := newRoom(t, policy, repos)
	hits, pages := r.pages(knowledge.SearchCodeInput{Query: "sesame", Limit: 10})
	for _, h := range hits {
		if !strings.HasPrefix(h.Source.Path, "open/") && h.Source.Path != "top.go" {
			t.Errorf("alice finds %s", h.Source.Path)
		}
	}
	if len(hits) != 31 || pages != 4 {
		t.Errorf("%d hits on %d pages", len(hits), pages)
	}
	if out := r.find(knowledge.SearchCodeInput{Query: "sesame"}); out.Searched != 1 || out.Unsearched != 0 {
		t.Errorf("%+v", out)
	}
	for _, repository := range []string{"closed", "https://git.example.com/acme/closed", "bare"} {
		if _, err := r.SearchCode(t.Context(), alice(), knowledge.SearchCodeInput{Query: "sesame", Repository: repository}); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%s: %v", repository, err)
		}
	}
	if _, err := r.SearchCode(t.Context(), alice(), knowledge.SearchCodeInput{Query: "sesame", Service: "secret"}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a hidden service: %v", err)
	}
	root, err := r.SearchCode(t.Context(), accesstest.As("user:default/root"), knowledge.SearchCodeInput{Query: "sesame", Limit: 50})
	if err != nil || len(root.Hits) < 32 || root.Searched != 3 {
		t.Errorf("root finds %d of %d, %v", len(root.Hits), root.Searched, err)
	}
	if out, err := r.SearchCode(t.Context(), accesstest.As("user:default/nobody"), knowledge.SearchCodeInput{Query: "sesame"}); err != nil || len(out.Hits) > 0 || out.Searched > 0 || out.NextCursor != "" {
		t.Errorf("nobody finds %+v, %v", out, err)
	}
}
