package knowledge_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/knowledge"
	"github.com/fairlead-dev/fairlead/knowledge/document"
)

const latencyRunbook = `---
owner: group:default/payments-oncall
lastVerified: 2026-10-01
environment: production
---
# CheckoutLatencyHigh

## Meaning
The ninety-ninth percentile of checkout requests is above two seconds.

## Impact
Customers wait and leave.

## Diagnosis
Look at the database pool first: an exhausted pool shows as waiting connections.

## Mitigation
Scale the deployment out, then fail over to the replica.

### Failing over
Run the failover job and watch the lag.
`

func shop() map[string]map[string]string {
	return map[string]map[string]string{
		"checkout": {
			"catalog-info.yaml":                      service("checkout", ""),
			"docs/runbooks/checkout-latency-high.md": latencyRunbook,
			"README.md":                              "# Checkout\n\nTurns a cart into an order. The latency of checkout matters.\n",
			"docs/adr/0001-choose-postgres.md":       "---\nstatus: accepted\n---\n# Choose Postgres\n\n## Decision\nWe keep orders in Postgres.\n",
			"AGENTS.md":                              "# For agents\n\nRun the tests with `make test`.\n",
			"qa/rotate-key.md":                       "---\nquestion: How do I rotate the signing key?\nappliesTo: [checkout]\nversions: ['>=2']\nverifyCommand: make verify-key\nowner: payments\nlastVerified: 2026-09-01\nexpires: 2099-01-01\n---\nRun the rotation job, then restart the signing pods.\n",
			"qa/old-key.md":                          "---\nquestion: How do I rotate the signing key the old way?\nappliesTo: checkout\nexpires: 2020-01-01\nsupersededBy: qa/rotate-key.md\n---\nEdit the signing key by hand.\n",
			"skills/rotate/SKILL.md":                 "---\nname: rotate-key\ndescription: Rotates keys safely\nallowed-tools: [Bash, Read]\n---\n# Rotating\n\nAsk first.\n",
			"node_modules/x/README.md":               "# latency of others\n",
		},
		"ledger": {
			"catalog-info.yaml": service("ledger", ""),
			"docs/latency.md":   "# Latency of the ledger\n\nThe ledger is slow on Mondays, because checkout books late.\n",
			"docs/index.md":     "# Ledger\n\nBooks.\n",
		},
	}
}

func TestSearchFindsTheRunbookOfAnAlert(t *testing.T) {
	r := newRoom(t, nil, shop())
	for _, query := range []string{"CheckoutLatencyHigh", "checkout latency high", "what to do when checkout latency is high?", "exhausted database pool", "checkout-latency-high", "percentil"} {
		hits := r.search(knowledge.SearchKnowledgeInput{Query: query}).Hits
		if len(hits) == 0 || !strings.HasPrefix(hits[0].Handle, "doc://checkout/docs/runbooks/checkout-latency-high.md#") {
			t.Errorf("%q found %+v", query, hits)
			continue
		}
		h := hits[0]
		if h.Kind != document.Runbook || h.Owner != "group:default/payments-oncall" || !slices.Equal(h.Services, []string{"component:default/checkout"}) ||
			h.LastVerified.Format("2006-01-02") != "2026-10-01" || !slices.Equal(h.Environments, []string{"production"}) {
			t.Errorf("%q: standing is %+v", query, h.Standing)
		}
		if s := h.Source; s.Repo != "https://git.example.com/acme/checkout" || s.Commit == "" || s.Path != "docs/runbooks/checkout-latency-high.md" || s.Line < 6 {
			t.Errorf("%q: source is %+v", query, s)
		}
		if n := utf8.RuneCountInString(h.Passage); n == 0 || n > 300 {
			t.Errorf("%q: passage is %q", query, h.Passage)
		}
	}
	h := r.search(knowledge.SearchKnowledgeInput{Query: "exhausted database pool"}).Hits[0]
	if h.Heading != "Diagnosis" || h.Role != document.Diagnosis || h.Source.Line != 14 || !strings.Contains(h.Passage, "waiting connections") {
		t.Errorf("hit is %+v", h)
	}
}

func TestSearchRanks(t *testing.T) {
	r := newRoom(t, nil, shop())
	if got := r.found("latency", "ledger"); got[0] != "doc://ledger/docs/latency.md#latency-of-the-ledger" {
		t.Errorf("for the ledger: %v", got)
	}
	if got := r.found("latency", "checkout"); !strings.HasPrefix(got[0], "doc://checkout/docs/runbooks/") || !strings.HasPrefix(got[1], "doc://checkout/README.md") {
		t.Errorf("for checkout: %v", got)
	}
	got := r.search(knowledge.SearchKnowledgeInput{Query: "rotate signing key"}).Hits
	if len(got) < 2 || got[0].Source.Path != "qa/rotate-key.md" || got[0].Stale != "" || got[0].Kind != document.Answer {
		t.Errorf("hits are %+v", got)
	}
	for _, h := range got[1:] {
		if h.Source.Path == "qa/old-key.md" && (h.Stale != "superseded by qa/rotate-key.md" || h.SupersededBy == "" || h.Expires.IsZero()) {
			t.Errorf("the old answer stands as %+v", h.Standing)
		}
	}
	if got := r.found("latency of others", ""); slices.ContainsFunc(got, func(h string) bool { return strings.Contains(h, "node_modules") }) {
		t.Errorf("other people's texts are found: %v", got)
	}
	if got := r.search(knowledge.SearchKnowledgeInput{Query: "checkout", Kind: "adr"}).Hits; len(got) != 1 || got[0].Kind != document.Decision || got[0].Status != "accepted" {
		t.Errorf("decisions are %+v", got)
	}
}

func TestSearchPages(t *testing.T) {
	files := map[string]string{"catalog-info.yaml": service("many", "")}
	for _, n := range strings.Fields("a b c d e f g") {
		files["docs/"+n+".md"] = "# Page " + n + "\n\nthe widget " + n + "\n"
	}
	r := newRoom(t, nil, map[string]map[string]string{"many": files})
	var all []string
	in := knowledge.SearchKnowledgeInput{Query: "widget", Limit: 3}
	for range 4 {
		out := r.search(in)
		if out.Total != 7 {
			t.Errorf("total is %d", out.Total)
		}
		for _, h := range out.Hits {
			all = append(all, h.Handle)
		}
		if in.Cursor = out.NextCursor; in.Cursor == "" {
			break
		}
	}
	if slices.Sort(all); len(slices.Compact(all)) != 7 {
		t.Errorf("pages hold %v", all)
	}
	first := r.search(knowledge.SearchKnowledgeInput{Query: "widget", Limit: 3})
	for _, in := range []knowledge.SearchKnowledgeInput{{Query: "page", Cursor: first.NextCursor}, {Query: "widget", Cursor: "§"}} {
		if _, err := r.SearchKnowledge(t.Context(), alice(), in); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%+v: %v", in, err)
		}
	}
}

func TestSearchTakesAnyQuery(t *testing.T) {
	r := newRoom(t, nil, shop())
	for _, q := range []string{`"`, `title:x`, `a AND b OR NOT (`, `NEAR(checkout latency, 3)`, `*`, "checkout*", `^checkout`, "-checkout", `{title}: x`, "\x00checkout", "checkout\u202e", strings.Repeat("(", 900), strings.Repeat("word ", 199), "' OR 1=1 --", "ключ 鍵 🔑", "a", "x" + strings.Repeat("y", 990)} {
		_, err := r.SearchKnowledge(t.Context(), alice(), knowledge.SearchKnowledgeInput{Query: q, Service: "checkout"})
		if c := fault.CodeOf(err); c != "" && c != fault.Invalid {
			t.Errorf("%.40q: %v", q, err)
		}
	}
	for _, in := range []knowledge.SearchKnowledgeInput{{}, {Query: " ?! "}, {Query: strings.Repeat("x", 1001)}, {Query: "x", Limit: 21}, {Query: "x", Limit: -1}, {Query: "x", Kind: "novel"}} {
		_, err := r.SearchKnowledge(t.Context(), alice(), in)
		if f := fault.From(err); f == nil || f.Code != fault.Invalid || f.Fix == "" {
			t.Errorf("%.60v: %v", in, err)
		}
	}
	if _, err := r.SearchKnowledge(t.Context(), alice(), knowledge.SearchKnowledgeInput{Query: "x", Service: "nobody"}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("an unknown service: %v", err)
	}
}

func TestSearchFollowsChanges(t *testing.T) {
	r := newRoom(t, nil, shop())
	r.write("ledger", map[string]string{"docs/latency.md": "", "docs/new.md": "# Reconciling\n\nHow books are reconciled nightly.\n", "docs/index.md": "# Ledger\n\nBooks of account.\n"})
	if got := r.found("ledger slow Mondays", ""); slices.ContainsFunc(got, func(h string) bool { return strings.Contains(h, "latency.md") && strings.Contains(h, "ledger") }) {
		t.Errorf("a removed text is found: %v", got)
	}
	hits := r.search(knowledge.SearchKnowledgeInput{Query: "reconciled nightly"}).Hits
	if len(hits) != 1 || hits[0].Handle != "doc://ledger/docs/new.md#reconciling" {
		t.Errorf("hits are %+v", hits)
	}
	reads := r.sources["checkout"].Reads("README.md")
	r.stop()
	r.start()
	if got := r.found("reconciled nightly", ""); len(got) != 1 {
		t.Errorf("after a restart: %v", got)
	}
	if again := r.sources["checkout"].Reads("README.md"); again != reads {
		t.Errorf("a restart read a text anew: %d reads, then %d", reads, again)
	}
	r.halt()
	if err := r.Drop(t.Context(), "ledger"); err != nil {
		t.Fatal(err)
	}
	if got := r.found("reconciled nightly", ""); len(got) != 0 {
		t.Errorf("a dropped source is found: %v", got)
	}
}

func TestSearchShowsWhatOneMaySee(t *testing.T) {
	repos := shop()
	repos["mono"] = map[string]string{
		"open/catalog-info.yaml":   service("open", ""),
		"open/docs/page.md":        "# Open sesame\n",
		"secret/catalog-info.yaml": service("secret", ""),
		"secret/docs/page.md":      "# Secret sesame\n",
		"docs/root.md":             "# Root sesame\n",
		"docs/named.md":            "---\nappliesTo: secret\n---\n# Named sesame\n",
	}
	repos["bare"] = map[string]string{"docs/page.md": "# Bare sesame\n"}
	policy := accesstest.Policy(t, `rules:
- {name: open, effect: allow, who: {subjects: ["user:default/root"]}, actions: ["*"]}
- {name: some, effect: allow, who: {subjects: ["user:default/alice"]}, actions: ["*"], on: {refs: ["component:default/open"]}}`)
	r := newRoom(t, policy, repos)
	got := r.found("sesame", "")
	slices.Sort(got)
	if want := []string{"doc://mono/docs/root.md#root-sesame", "doc://mono/open/docs/page.md#open-sesame"}; !slices.Equal(got, want) {
		t.Errorf("alice finds %v, not %v", got, want)
	}
	for _, h := range []string{"doc://mono/secret/docs/page.md", "doc://mono/docs/named.md", "doc://bare/docs/page.md"} {
		if _, err := r.GetDocument(t.Context(), alice(), knowledge.GetDocumentInput{Handle: h}); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("alice gets %s: %v", h, err)
		}
		if _, err := r.GetDocument(t.Context(), accesstest.As("user:default/root"), knowledge.GetDocumentInput{Handle: h}); err != nil {
			t.Errorf("root gets %s: %v", h, err)
		}
	}
	if _, err := r.FindRunbook(t.Context(), alice(), knowledge.FindRunbookInput{Alert: "CheckoutLatencyHigh"}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("alice gets a runbook: %v", err)
	}
	if out, err := r.SearchKnowledge(t.Context(), accesstest.As("user:default/nobody"), knowledge.SearchKnowledgeInput{Query: "sesame"}); err != nil || len(out.Hits) > 0 || out.Total > 0 {
		t.Errorf("nobody finds %+v, %v", out, err)
	}
}
