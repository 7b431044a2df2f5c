package knowledge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/knowledge"
	"github.com/fairlead-dev/fairlead/knowledge/knowledgetest"
)

// planted are documents whose places among many others are known.
func planted() map[string]map[string]string {
	common := strings.Repeat("After the deploy of the service to production, look for an error in each request and ask the team. ", 12)
	return map[string]map[string]string{
		"clearing": {
			"catalog-info.yaml": service("clearing", ", system: money"),
			"README.md":         "# Clearing\n\nSettles what merchants are owed. Written in Kotlin.\n",
			"docs/runbooks/ClearingSettlementStuck.md": "---\nlastVerified: 2026-09-01\n---\n# ClearingSettlementStuck\n\n## Meaning\n\nNo settlement file was written for two hours.\n\n## Impact\n\nMerchants are paid late.\n\n## Diagnosis\n\nSee whether the bank's SFTP host answers.\n\n## Mitigation\n\nRun the settlement job by hand.\n",
			"docs/pooling.md":                          "# Pooling\n\n## Background\n\nThe service talks to Postgres.\n\n## Prepared statements\n\nOdyssey in transaction mode loses prepared statements; switch them off in the driver.\n",
			"docs/deploying.md":                        "# Deploying\n\n## Deploy the service to production after an error\n\n" + common + "\n\n## Notes\n\nThe word zorkmid in a request stands for a test amount.\n",
			"docs/adr/0003-use-temporal.md":            "---\nstatus: superseded\nsupersededBy: 0009\n---\n# Use cron for payouts\n\nPayouts start from cron.\n",
			"docs/adr/0009-payouts.md":                 "---\nstatus: accepted\n---\n# Start payouts from a workflow engine, not from cron\n\n## Decision\n\nPayouts start from a workflow that can be resumed.\n",
			"qa/reissue.md":                            "---\nquestion: How do I reissue a settlement file for one merchant?\nappliesTo: [clearing]\nlastVerified: 2026-10-01\n---\nRun `clearctl reissue --merchant ID`.\n",
			"qa/reissue-old.md":                        "---\nquestion: How do I reissue a settlement file by mail?\nappliesTo: [clearing]\nexpires: 2021-01-01\n---\nWrite a mail to the bank about the settlement file of the merchant.\n",
			"AGENTS.md":                                "# Rules\n\nRun one package's tests with `./gradlew :core:test`.\n",
		},
		"tollgate": {
			"catalog-info.yaml":             service("tollgate", ", system: money"),
			"docs/index.md":                 "# Tollgate\n\nCounts who passes. " + common + "\n",
			"docs/runbooks/DeployErrors.md": "---\nlastVerified: 2026-10-01\n---\n# Deploy of the service to production: error in a request\n\n" + common + "\n",
			"docs/rate-limit.md":            "# Rate limits of the tollgate\n\nA token bucket holds fifty tokens; clients over it get 429.\n",
			"docs/tenants.md":               "# Tenants\n\nLimits differ by tenant. A merchant may ask for higher ones. The settlement of fees is done elsewhere.\n",
		},
	}
}

// TestSearchRelevance asks among many other documents. Each question names
// what must be first, or among the first three.
func TestSearchRelevance(t *testing.T) {
	r := newRoom(t, nil, planted())
	c := knowledgetest.NewCorpus(600)
	changes, err := c.Changes()
	if err != nil {
		t.Fatal(err)
	}
	r.catalog.Publish(changes)
	if err := c.Fill(t.Context(), r.Service); err != nil {
		t.Fatal(err)
	}
	for _, q := range []struct {
		question, service string
		within            int
		want              string
	}{
		// A rare word decides, among documents and among sections.
		{"zorkmid", "", 1, "clearing/docs/deploying.md#notes"},
		{"deploy service production error request zorkmid", "", 1, "clearing/docs/deploying.md#notes"},
		{"which error does the service give in production for a zorkmid", "", 1, "clearing/docs/deploying.md#notes"},
		{"postgres connection limit odyssey", "", 1, "clearing/docs/pooling.md#prepared-statements"},
		{"service requests data production team odyssey", "", 1, "clearing/docs/pooling.md#prepared-statements"},
		{"prepared statements lost after deploy", "", 1, "clearing/docs/pooling.md#prepared-statements"},
		// Alerts by name, in any form, and the sections of their runbooks.
		{"ClearingSettlementStuck", "", 1, "clearing/docs/runbooks/ClearingSettlementStuck.md"},
		{"clearing settlement stuck", "", 1, "clearing/docs/runbooks/ClearingSettlementStuck.md"},
		{"bank sftp host settlement", "", 1, "clearing/docs/runbooks/ClearingSettlementStuck.md#diagnosis"},
		{"merchants paid late impact", "", 1, "clearing/docs/runbooks/ClearingSettlementStuck.md#impact"},
		{"run the settlement job by hand", "", 1, "clearing/docs/runbooks/ClearingSettlementStuck.md#mitigation"},
		// Verified answers before expired ones, decisions that stand before others.
		{"how do I reissue a settlement file", "", 1, "clearing/qa/reissue.md"},
		{"reissue settlement file merchant", "", 1, "clearing/qa/reissue.md"},
		{"payouts cron decision", "", 1, "clearing/docs/adr/0009-payouts.md"},
		{"start payouts from cron", "", 1, "clearing/docs/adr/0009-payouts.md"},
		// Services: by name, and those asked about.
		{"what is clearing", "", 3, "clearing/"},
		{"kotlin", "", 1, "clearing/README.md"},
		{"rate limit tollgate", "", 1, "tollgate/docs/rate-limit.md"},
		{"token bucket 429", "", 1, "tollgate/docs/rate-limit.md"},
		{"limits", "tollgate", 1, "tollgate/docs/"},
		{"settlement", "tollgate", 1, "tollgate/docs/tenants.md"},
		{"deploy error production", "clearing", 1, "clearing/docs/deploying.md#deploy-the-service-to-production-after-an-error"},
		{"how to run the tests of one package", "clearing", 1, "clearing/AGENTS.md"},
		{"gradlew core test", "", 1, "clearing/AGENTS.md"},
		{"settlem", "", 3, "clearing/"}, // the beginning of a word
	} {
		hits := r.search(knowledge.SearchKnowledgeInput{Query: q.question, Service: q.service}).Hits
		var got []string
		for _, h := range hits[:min(len(hits), q.within)] {
			got = append(got, h.Handle)
		}
		if !slices.ContainsFunc(got, func(h string) bool { return strings.HasPrefix(h, "doc://"+q.want) }) {
			t.Errorf("%q for %q: first %d are %v, without %s", q.question, q.service, q.within, got, q.want)
		}
	}
	for i := range 3 { // every document of the many is found by its own words
		for _, name := range []string{c.Services()[i], c.Services()[len(c.Services())-1-i]} {
			if got := r.found("architecture of "+name, ""); len(got) == 0 || !strings.Contains(got[0], name+"/docs/architecture.md") {
				t.Error(fmt.Sprintf("architecture of %s: ", name), got)
			}
		}
	}
}
