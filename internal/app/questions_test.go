package app

import (
	"strings"
	"testing"
)

// maxAnswer is how many tokens of four bytes the answer to a question may take
// in total.
const maxAnswer = 1_500

// ask is one call of a tool.
type ask struct {
	tool string
	args map[string]any
}

// question is what an agent wants to know, the calls that tell it, at most
// two, and what the answer says.
type question struct {
	text  string
	calls []ask
	says  []string
}

func brief(args ...any) ask { return ask{"get_service_brief", arguments(args)} }

func arguments(pairs []any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

// questions are those that agents ask; repo is the place of a repository.
func questions(repo func(parts ...string) string) []question {
	return []question{
		{"How do I run one test of inventory, and all of them?",
			[]ask{brief("service", "inventory", "sections", []string{"commands"})},
			[]string{"test one: make test TEST=health [inferred, AGENTS.md:6]", "test: make test [inferred, .gitea/workflows/ci.yaml:8]"}},
		{"Which repository and path do I change to deploy cart to staging?",
			[]ask{brief("service", "cart", "sections", []string{"deploy"})},
			[]string{"deploy repository: file://" + repo("deploy"), "staging", "in apps/cart/overlays/staging"}},
		{"And notifications, which declares nothing of it?",
			[]ask{brief("service", "notifications", "sections", []string{"deploy"})},
			[]string{"deploy repository: " + repo("deploy"), "staging · in apps/notifications/overlays/staging [inferred, apps/notifications/overlays/staging/kustomization.yaml:1]"}},
		{"What breaks if I change the payments API, and whom do I tell?",
			[]ask{brief("service", "payments", "sections", []string{"dependencies"}), {"get_dependencies", map[string]any{"ref": "api:payments-api", "direction": "in"}}},
			[]string{"consumesApi payments-api · component:default/checkout · owner group:default/storefront"}},
		{"What is the SLO of ledger?",
			[]ask{brief("service", "ledger", "sections", []string{"slos"})},
			[]string{"99.99% over 28d: Ledger availability [slo/ledger.yaml:"}},
		{"Is the test command in the AGENTS.md of notifications still right?",
			[]ask{brief("service", "notifications", "sections", []string{"commands"})},
			[]string{"test: pnpm run test:ci [inferred, .gitea/workflows/ci.yaml:8] but AGENTS.md:5 says `npm test`"}},
		{"Whose is the repository that I stand in, and which rules hold here?",
			[]ask{brief("repository", "file://"+repo("pricing"), "path", "docs/runbooks", "sections", []string{"owner", "rules"})},
			[]string{"component:default/pricing", "owner: Storefront · group:default/storefront", "doc://pricing/AGENTS.md"}},
		{"Where may I not deploy payments without approval?",
			[]ask{brief("service", "payments", "sections", []string{"deploy"})},
			[]string{"production", "protected", "argocd main/payments"}},
		{"Which alert of inventory has which runbook, and who owns it?",
			[]ask{brief("service", "inventory", "sections", []string{"owner", "runbooks"})},
			[]string{"owner: Fulfilment · group:default/fulfilment", "InventorySlow · https://runbooks.shop.test/inventory/slow [inferred, ops/alerts.yaml:"}},
		{"What must I know before I start on fraud?",
			[]ask{brief("service", "fraud")},
			[]string{"owner: Payments", "build: make build", "test: make test", "doc://fraud/AGENTS.md", "depended on by", "99.9% over 28d"}},
		{"What is wrong with the catalog file of legacy-reports?",
			[]ask{{"list_ingestion_errors", map[string]any{"source": "legacy-reports"}}},
			[]string{"catalog-info.yaml:"}},
	}
}

// documentQuestions are those that documents answer.
func documentQuestions() []question {
	return []question{
		{"Who is paged when checkout is slow, and what do they do first?",
			[]ask{brief("service", "checkout", "sections", []string{"owner", "oncall", "runbooks"}),
				{"get_document", map[string]any{"handle": "doc://checkout/docs/runbooks/slow.md", "section": "diagnosis"}}},
			[]string{"oncall: https://pager.shop.test/schedules/storefront", "doc://checkout/docs/runbooks/slow.md", "1. Look at the overview dashboard"}},
		{"How do I roll back search when it is slow?",
			[]ask{{"search_knowledge", map[string]any{"query": "answers slowly roll back mitigation", "service": "search", "limit": 3}},
				{"get_document", map[string]any{"handle": "doc://search/docs/runbooks/slow.md", "section": "mitigation"}}},
			[]string{"doc://search/docs/runbooks/slow.md", "Roll back if a rollout started it"}},
	}
}

// TestAgentsQuestions asks the demo what agents ask: each question takes two
// calls at most, and 1,500 tokens in total.
func TestAgentsQuestions(t *testing.T) {
	s := startDemo(t)
	s.asks(questions(s.repo), s.answer)
}

// TestAgentsQuestionsAboutDocuments asks those that documents answer.
func TestAgentsQuestionsAboutDocuments(t *testing.T) {
	s := startDemo(t)
	s.asks(documentQuestions(), s.answer)
}

// asks holds the answers to questions to what they have to say, and to their
// budget; answer asks one of them.
func (s *server) asks(all []question, answer func(q question) string) {
	s.t.Helper()
	var text string
	s.t.Cleanup(func() {
		if s.t.Failed() {
			s.t.Logf("the last answer:\n%s", text)
		}
	})
	for _, q := range all {
		// Files beside the catalog are followed a moment later.
		s.await(q.text, func() bool {
			text = answer(q)
			return says(text, q.says)
		})
		if n := len(text) / 4; n > maxAnswer || len(q.calls) > 2 {
			s.t.Errorf("%s It takes %d calls and %d tokens", q.text, len(q.calls), n)
		}
	}
}

// answer is what an agent reads of the answer to a question.
func (s *server) answer(q question) string {
	s.t.Helper()
	var text strings.Builder
	for _, c := range q.calls {
		r := s.tool("agent", c.tool, c.args)
		if r.IsError || len(r.Content) == 0 {
			text.WriteString(r.raw)
		}
		for _, part := range r.Content {
			text.WriteString(part.Text + "\n")
		}
	}
	return text.String()
}

// says tells whether a text has all parts.
func says(text string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}
