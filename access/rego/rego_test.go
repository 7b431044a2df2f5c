package rego_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/access/rego"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// folder writes policies: pairs of a file's name and its text.
func folder(t testing.TB, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func load(t testing.TB, files ...string) *rego.Policy {
	t.Helper()
	p, err := rego.Load(t.Context(), folder(t, files...))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const evidence = `package fairlead

deny contains {"message": sprintf("%s is no registry of ours", [i.registry]), "fix": "Push it to ghcr.io."} if {
	some i in input.plan.images
	not i.registry in data.config.registries
}

require contains {"message": "production needs evidence", "fix": "Give evidence."} if {
	input.resource.protected
	count(input.plan.evidence) == 0
}

deny contains "it is late" if time.parse_rfc3339_ns(input.now) != time.now_ns()
`

func TestGuardAsksThePolicies(t *testing.T) {
	judge := load(t, "a.rego", evidence, "config.yaml", "registries: [ghcr.io]\n", "broken_test.rego", "package fairlead\n\ntest_x if { data.config.registries }\n", "notes.txt", "not a policy")
	log := accesstest.NewLog()
	guard, err := access.NewGuard(access.GuardConfig{Policy: accesstest.OpenPolicy(), Log: log, Quota: accesstest.NewQuota(), Judge: judge})
	if err != nil {
		t.Fatal(err)
	}
	who := accesstest.As("alice", accesstest.Agent("claude"))
	for name, c := range map[string]struct {
		registry  string
		evidence  []string
		protected bool
		code      fault.Code
		want      string
	}{
		"fine":             {"ghcr.io", nil, false, "", ""},
		"fine by evidence": {"ghcr.io", []string{"tests passed"}, true, "", ""},
		"another registry": {"evil.test", nil, false, fault.Forbidden, "policy: evil.test is no registry of ours"},
		"no evidence":      {"ghcr.io", []string{}, true, fault.FailedPrecondition, "policy: production needs evidence"},
		"both":             {"evil.test", []string{}, true, fault.Forbidden, "policy: evil.test is no registry of ours; production needs evidence"},
	} {
		op := access.Op{Action: access.ProposeChange, Operation: "propose_change", Resource: access.Attributes{Ref: "component:default/shop", Protected: c.protected},
			Plan: map[string]any{"images": []any{map[string]string{"registry": c.registry}}, "evidence": append([]string{}, c.evidence...)}}
		done := false
		_, err := access.Do(t.Context(), guard, who, op, func(context.Context) (*bool, error) { done = true; return &done, nil })
		var f *fault.Error
		if errors.As(err, &f); fault.CodeOf(err) != c.code && err != nil || (err == nil) != (c.code == "") || err != nil && (f.Message != c.want || f.Fix == "") || done != (err == nil) {
			t.Errorf("%s: %v, done %t", name, err, done)
		}
		trial, err := access.Try(t.Context(), guard, who, op)
		if err != nil || (len(trial.Objections) == 0) != (c.code == "") || len(trial.Notes()) != len(trial.Objections) {
			t.Errorf("%s tried: %+v %v", name, trial, err)
		}
	}
	refused := 0
	for _, e := range log.Entries() {
		if e.Status == access.StatusRefused {
			refused++
		}
	}
	if refused != 3 {
		t.Errorf("%d refusals are in the audit", refused)
	}
}

func TestPoliciesThatFailLetNothingThrough(t *testing.T) {
	for name, c := range map[string]struct{ policy, want string }{
		"of no end":    {`deny contains "x" if { some i in numbers.range(1, 2000); some j in numbers.range(1, 1000000); i + j == -1 }`, "took longer than"},
		"of a builtin": {`deny contains "x" if to_number(input.operation) > 3`, "to_number"},
		"no text":      {`deny contains 3 if true`, "neither a text"},
		"no message":   {`require contains {"fix": "x"} if true`, "neither a text"},
		"no set":       {`deny if true`, "is no set"},
		"of conflict":  {`deny contains f(1) if true` + "\nf(x) := \"a\" if x > 0\nf(x) := \"b\" if x < 2", "conflict"},
	} {
		p := load(t, "a.rego", "package fairlead\n\n"+c.policy+"\n")
		began := time.Now()
		_, err := p.Judge(t.Context(), access.Question{Operation: "o", Now: "2026-11-30T00:00:00Z"})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%s took %s", name, took)
		}
		guard, _ := access.NewGuard(access.GuardConfig{Policy: accesstest.OpenPolicy(), Log: accesstest.NewLog(), Quota: accesstest.NewQuota(), Judge: p})
		if _, err := access.Do(t.Context(), guard, accesstest.As("alice"), access.Op{Action: access.ProposeChange, Operation: "o"}, func(context.Context) (*int, error) {
			t.Errorf("%s: it was done", name)
			return nil, nil
		}); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := access.Do(t.Context(), guard, accesstest.As("alice"), access.Op{Action: access.RevokeCredentials, Operation: "o"}, func(context.Context) (*int, error) { return nil, nil }); err != nil {
			t.Errorf("%s: credentials cannot be taken back: %v", name, err)
		}
	}
}

func TestPoliciesReachNothing(t *testing.T) {
	for _, call := range []string{`http.send({"method": "get", "url": "http://127.0.0.1"})`, `net.lookup_ip_addr("localhost")`, `opa.runtime()`, `rand.intn("x", 3)`, `uuid.rfc4122("x")`, `trace("x")`} {
		_, err := rego.Load(t.Context(), folder(t, "a.rego", "package fairlead\n\ndeny contains \"x\" if { y := "+call+"; y }\n"))
		var ps access.Problems
		if !errors.As(err, &ps) || ps[0].Line != 3 || !strings.Contains(ps[0].Message, "undefined function") || !strings.Contains(ps[0].Fix, "reach nothing") {
			t.Errorf("%s: %v", call, err)
		}
	}
	schema := `deny contains "x" if { json.match_schema({}, {"$ref": "http://127.0.0.1:1/x.json"})[0] }`
	if p, err := rego.Load(t.Context(), folder(t, "a.rego", "package fairlead\n\n"+schema+"\n")); err == nil {
		if _, err = p.Judge(t.Context(), access.Question{Now: "2026-11-30T00:00:00Z"}); err == nil || strings.Contains(err.Error(), "refused") {
			t.Errorf("a schema elsewhere: %v", err)
		}
	}
}

func TestLoadTellsEverythingThatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"nothing":        {nil, "no policy says deny or require"},
		"no entrance":    {[]string{"a.rego", "package fairlead\n\nallow := true\n"}, "no policy says deny or require"},
		"another place":  {[]string{"a.rego", "package other\n\ndeny contains \"x\" if true\n"}, "no policy says deny or require"},
		"syntax":         {[]string{"a.rego", "package fairlead\n\ndeny contains {\n"}, "a.rego:4:"},
		"unknown":        {[]string{"a.rego", "package fairlead\n\ndeny contains x if true\n"}, "a.rego:3:1"},
		"two files":      {[]string{"a.rego", "package fairlead\n\ndeny contains x if true\n", "b.rego", "package\n"}, "b.rego:2:"},
		"broken data":    {[]string{"a.rego", evidence, "config.yaml", "a: [\n"}, "config.yaml"},
		"data of lists":  {[]string{"a.rego", evidence, "config.yaml", "- a\n"}, "config.yaml"},
		"old syntax":     {[]string{"a.rego", "package fairlead\n\ndeny[x] { x := 1 }\n"}, "a.rego:3:"},
		"unused":         {[]string{"a.rego", "package fairlead\n\nimport data.lib\n\ndeny contains \"x\" if true\n"}, "a.rego:3:"},
		"too much of it": {[]string{"a.rego", "package fairlead\n" + strings.Repeat("# x\n", 2<<20)}, "more than"},
	} {
		if _, err := rego.Load(t.Context(), folder(t, c.files...)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := rego.Load(t.Context(), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a folder that is not there was read")
	}
}

func TestTestsOfPolicies(t *testing.T) {
	dir := folder(t, "a.rego", `package fairlead

deny contains "no" if input.plan.bad
`, "a_test.rego", `package fairlead_test

import data.fairlead

test_denies if "no" in fairlead.deny with input as {"plan": {"bad": true}}

test_fails if "no" in fairlead.deny with input as {"plan": {}}

test_breaks if to_number("x") == 1
`)
	out, err := rego.Test(t.Context(), dir)
	if err != nil || len(out) != 3 {
		t.Fatalf("%+v %v", out, err)
	}
	if !out[0].Passed || out[0].Name != "fairlead_test.test_denies" || out[0].Line != 5 || out[1].Passed || out[1].Message != "is not true" || out[2].Passed || out[2].Message == "" {
		t.Errorf("%+v", out)
	}
}

func TestManyObjections(t *testing.T) {
	p := load(t, "a.rego", "package fairlead\n\ndeny contains sprintf(\"%d %s\", [i, input.plan]) if some i in numbers.range(1, 100)\n")
	out, err := p.Judge(t.Context(), access.Question{Plan: strings.Repeat("ä\n", 400), Now: "2026-11-30T00:00:00Z"})
	if err != nil || len(out) != 21 || out[20].Message != "and 80 more" || len(out[0].Message) > 600 || strings.Contains(out[0].Message, "\n") {
		t.Errorf("%d %v", len(out), err)
	}
}

func BenchmarkJudge(b *testing.B) {
	p := load(b, "a.rego", evidence, "config.yaml", "registries: [ghcr.io]\n")
	q := access.Question{Operation: "propose_change", Now: "2026-11-30T00:00:00Z", Plan: map[string]any{"images": []any{map[string]string{"registry": "ghcr.io"}}, "diff": strings.Repeat("x", 10000)}}
	for b.Loop() {
		if _, err := p.Judge(b.Context(), q); err != nil {
			b.Fatal(err)
		}
	}
}
