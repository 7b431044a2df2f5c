package access_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/access"
)

func TestLoadPolicyTellsEverythingThatIsWrong(t *testing.T) {
	const text = `rules:
  - name: one
    effect: permit
    who: {}
    actions: [catalog.raed, "catalog.*"]
  - name: one
    effect: deny
    who: {groups: ["a b"], anonymous: false}
    actions: []
    on:
      kinds: [component, "comp*"]
      owners: [own, "group:/x", ""]
  - effect: allow
    who:
      subjects: ["*"]
    actions: ["*"]
`
	_, err := access.LoadPolicy([]byte(text), "rules.yaml")
	want := strings.Join([]string{
		`rules.yaml:3:13: rules[0].effect: "permit" is no effect (Write "allow", "deny", "approval" or "limit".)`,
		`rules.yaml:4:10: rules[0].who: the rule does not say for whom it is (Name subjects, agents, groups, roles or anonymous; subjects: ["*"] is everybody with a token.)`,
		`rules.yaml:5:15: rules[0].actions[0]: "catalog.raed" matches no action (Known: catalog.read, catalog.refresh, catalog.register, catalog.unregister, knowledge.external, previews.read, previews.create, previews.extend, previews.delete, previews.force, previews.strays, previews.sweep, secrets.read, secrets.request, secrets.collect, secrets.renew, secrets.revoke, secrets.plain, gitops.read, gitops.propose, gitops.fleet, gitops.health, gitops.checks, gitops.link, approvals.read, approvals.decide, audit.read, self.read, schema.read; * stands for any part.)`,
		`rules.yaml:8:20: rules[1].who.groups[0]: "a b" is not an entity reference of the form kind:namespace/name (Write for example group:default/name.)`,
		`rules.yaml:9:14: rules[1].actions: the rule names no actions (Name actions, for example catalog.read or "catalog.*".)`,
		`rules.yaml:11:26: rules[1].on.kinds[1]: "comp*": entities are picked by whole values, without patterns (Name each value in full, or leave the list out to mean all.)`,
		`rules.yaml:12:21: rules[1].on.owners[1]: "group:/x" is not an entity reference of the form kind:namespace/name (Write for example group:default/name.)`,
		`rules.yaml:12:33: rules[1].on.owners[2]: "" is not an entity reference of the form kind:namespace/name (Write for example group:default/name.)`,
		`rules.yaml:6:11: rules[1].name: "one" is the name of rules[0] already (Give each rule a name of its own; the audit speaks of rules by name.)`,
		`rules.yaml:13:5: rules[2].name: the name is empty (Give the rule a short name such as read-catalog.)`,
	}, "\n")
	if err == nil {
		t.Fatal("loaded")
	}
	if d := cmp.Diff(want, err.Error()); d != "" {
		t.Error(d)
	}
}

func TestLoadPolicyIsStrict(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "rules: there are no rules"},
		{"no rules", "rules: []", "there are no rules"},
		{"an unknown key", "rules:\n  - nam: x\n", `rules.yaml:2:1: unknown key "nam" (Known here: name, effect, who, actions, on, approval, limit.)`},
		{"an unknown key on top", "rulez: []\n", `unknown key "rulez" (Known here: rules.)`},
		{"an unknown key in who", "rules: [{who: {user: x}}]", `unknown key "user" (Known here: subjects, agents, groups, roles, anonymous.)`},
		{"an unknown key in on", "rules: [{on: {kind: x}}]", `unknown key "kind" (Known here: refs, kinds, namespaces, types, owners, tags, environments, protected, credentials, purposes.)`},
		{"a wrong type", "rules:\n  - {actions: catalog.read}", "rules.yaml:2:1: a text `catalog...` stands where a list belongs"},
		{"another wrong type", "rules: 3", "a whole number `3` stands where a list belongs"},
		{"no YAML", "rules: [", "rules.yaml:1:1: did not find expected node content"},
		{"a key twice", "rules: []\nrules: []\n", "mapping key \"rules\" already defined"},
		{"two documents", "rules: []\n---\nrules: []\n", "more than one YAML document"},
		{"too long", strings.Repeat("#", 1<<20+1), "more than 1048576"},
		{"a tab", "rules:\n\t- x", "found character that cannot start any token"},
		{"an alias bomb", bomb(), "a list stands where a section belongs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := access.LoadPolicy([]byte(tt.text), "rules.yaml")
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "access.") {
				t.Errorf("err = %v", err)
			}
		})
	}
}

func bomb() string {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for _, i := range "123456789" {
		a := "*a" + string(i-1)
		text += "a" + string(i) + ": &a" + string(i) + " [" + strings.Repeat(a+", ", 8) + a + "]\n"
	}
	return text + "rules: *a9\n"
}

func FuzzLoadPolicy(f *testing.F) {
	for _, seed := range []string{rules, "rules: [{name: x, effect: allow, who: {anonymous: true}, actions: ['*']}]", "a: &a [*a]", "rules: &r [*r]", "? {}\n: x", bomb()} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := access.LoadPolicy(data, "f.yaml")
		if (p == nil) == (err == nil) {
			t.Fatalf("policy %v, error %v", p, err)
		}
		if err != nil {
			if err.Error() == "" {
				t.Error("an error says nothing")
			}
			return
		}
		for _, on := range universe {
			scope := p.Scope(alice(), access.RefreshCatalog)
			if d := p.Allow(alice(), access.RefreshCatalog, on); d.Allowed != scope.Allows(on) || d.Allowed && d.Rule == "" {
				t.Errorf("decision %+v, scope %v", d, scope.Allows(on))
			}
		}
	})
}
