package findings_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/findings"
	"github.com/fairlead-dev/fairlead/internal/keep"
)

// BenchmarkRestore brings back what was found in a thousand repositories of
// some twenty files that say something.
func BenchmarkRestore(b *testing.B) {
	kept, err := keep.OpenFindings(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = kept.Close() }() // the benchmark ends with it
	f := findings.New(kept)
	for i := range 1_000 {
		name := fmt.Sprintf("service-%04d", i)
		files := map[string]string{
			".github/workflows/ci.yml": "on: push\njobs: {a: {steps: [{run: make lint test}, {run: ./scripts/check.sh}]}}\n", ".github/workflows/release.yml": "on: {push: {tags: ['v*']}}\njobs: {a: {steps: [{run: make release}]}}\n",
			"AGENTS.md": "# Rules\n\n- Build: `make build`\n- Test: `make test`\n- Lint: `make lint`\n", "CODEOWNERS": "* @acme/" + name + "\n/docs/ @acme/docs\n", "scripts/check.sh": "#!/bin/sh\ngo vet ./...\ngo test ./...\n",
			"Makefile": strings.Repeat(".PHONY: x\n", 1) + "build:\n\tgo build ./...\ntest:\n\tgo test ./...\nlint:\n\tgolangci-lint run\nrun: build\n\t./bin/app\nrelease:\n\tgoreleaser\n", "go.mod": "module acme/" + name + "\n",
			"package.json":    `{"scripts": {"test": "vitest", "build": "tsc -b", "lint": "eslint ."}}`,
			"slo/up.yaml":     "apiVersion: openslo/v1\nkind: SLO\nmetadata: {name: up}\nspec: {service: " + name + ", timeWindow: [{duration: 28d}], objectives: [{target: 0.99}]}\n",
			"ops/alerts.yaml": "groups: [{name: g, rules: [{alert: Slow, labels: {severity: page, service: " + name + "}, annotations: {runbook_url: https://x.test/" + name + "}}]}]\n",
		}
		for j := range 10 {
			files[fmt.Sprintf("docs/runbooks/r%d.md", j)], files[fmt.Sprintf("internal/p%d/x.go", j)] = "# R\n", "package p\n"
		}
		newSource(b, name, files).follow(f)
	}
	b.ResetTimer()
	for range b.N {
		again := findings.New(kept)
		if err := again.Restore(b.Context()); err != nil || again.Of("service-0999") == nil {
			b.Fatal(err)
		}
	}
}
