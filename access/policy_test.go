package access_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
)

var search = access.Attributes{Ref: "component:default/search", Kind: "component", Namespace: "default", Type: "service", Owners: []string{"group:default/search"}}

func TestDefaultPolicy(t *testing.T) {
	p := access.DefaultPolicy()
	payments := accesstest.Groups("payments")
	for _, tt := range []struct {
		name   string
		who    access.Caller
		action access.Action
		on     access.Attributes
		rule   string // "" is refused
	}{
		{"anybody with a token reads", accesstest.As("bob"), access.ReadCatalog, checkout, "read-catalog"},
		{"a reader reads", accesstest.As("bob", accesstest.Roles("reader")), access.ReadCatalog, checkout, "read-catalog"},
		{"an anonymous reader reads", accesstest.Anonymous(), access.ReadCatalog, checkout, "read-catalog"},
		{"nobody reads nothing", access.Caller{}, access.ReadCatalog, checkout, ""},
		{"an owner acts", accesstest.As("alice", payments), access.RefreshCatalog, checkout, "act-on-own"},
		{"an owner's agent acts", accesstest.As("alice", payments, accesstest.Agent("claude")), access.RefreshCatalog, checkout, "act-on-own"},
		{"a developer who owns acts", accesstest.As("alice", payments, accesstest.Roles("developer")), access.RefreshCatalog, checkout, "act-on-own"},
		{"an owner does not act on others' things", accesstest.As("alice", payments), access.RefreshCatalog, search, ""},
		{"an owner does not act on nothing", accesstest.As("alice", payments), access.RefreshCatalog, access.Attributes{}, ""},
		{"without groups nothing is owned", accesstest.As("bob"), access.RefreshCatalog, access.Attributes{Ref: "component:default/orphan"}, ""},
		{"a reader who owns does not act", accesstest.As("alice", payments, accesstest.Roles("reader")), access.RefreshCatalog, checkout, ""},
		{"an anonymous reader does not act", accesstest.Anonymous(), access.RefreshCatalog, checkout, ""},
		{"sre acts on all", accesstest.As("eve", accesstest.Roles("reader", "sre")), access.RefreshCatalog, checkout, "operate"},
		{"admin acts on all", accesstest.As("eve", accesstest.Roles("admin")), access.RefreshCatalog, access.Attributes{}, "operate"},
		{"sre reads the audit", accesstest.As("eve", accesstest.Roles("sre")), access.ReadAudit, access.Attributes{}, "operate"},
		{"an owner does not read the audit", accesstest.As("alice", payments), access.ReadAudit, access.Attributes{}, ""},
		{"an action nobody knows is for operators", accesstest.As("eve", accesstest.Roles("sre")), "moon.land", checkout, "operate"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := p.Allow(tt.who, tt.action, tt.on)
			if d.Rule != tt.rule || d.Allowed != (tt.rule != "") {
				t.Errorf("decision = %+v", d)
			}
			if d.Reason == "" || (d.Fix == "") != d.Allowed {
				t.Errorf("decision does not explain itself: %+v", d)
			}
			if got := p.Scope(tt.who, tt.action).Allows(tt.on); got != d.Allowed {
				t.Errorf("scope says %v", got)
			}
		})
	}
}

const rules = `
rules:
  - {name: everyone, effect: allow, who: {subjects: ["*"]}, actions: [catalog.*]}
  - name: hide-secret-systems
    effect: deny
    who: {subjects: ["*"], anonymous: true}
    actions: [catalog.*]
    on: {Tags_: [hidden]}
  - {name: agents-leave-production, effect: deny, who: {agents: ["*"]}, actions: [catalog.refresh], on: {types: [Service], namespaces: [Prod]}}
  - {name: public, effect: allow, who: {anonymous: true}, actions: [catalog.read], on: {kinds: [API, domain]}}
  - {name: direct, effect: allow, who: {agents: [""], roles: ["", "night-*"]}, actions: [audit.read], on: {refs: [checkout], owners: [own, platform]}}
`

func TestPolicyRules(t *testing.T) {
	p := accesstest.Policy(t, strings.Replace(rules, "Tags_", "tags", 1))
	hidden := access.Attributes{Ref: "component:default/x", Kind: "component", Tags: []string{"go", "hidden"}}
	prod := access.Attributes{Ref: "component:prod/x", Kind: "component", Namespace: "prod", Type: "service"}
	api := access.Attributes{Ref: "api:default/x", Kind: "api"}
	alice := func(o ...accesstest.Option) access.Caller { return accesstest.As("alice", o...) }
	for _, tt := range []struct {
		name    string
		who     access.Caller
		action  access.Action
		on      access.Attributes
		rule    string
		allowed bool
	}{
		{"deny beats allow", alice(), access.ReadCatalog, hidden, "hide-secret-systems", false},
		{"patterns of actions", alice(), access.RefreshCatalog, prod, "everyone", true},
		{"a rule for agents", alice(accesstest.Agent("claude")), access.RefreshCatalog, prod, "agents-leave-production", false},
		{"only for that action", alice(accesstest.Agent("claude")), access.ReadCatalog, prod, "everyone", true},
		{"anonymous is not everyone", accesstest.Anonymous(), access.ReadCatalog, prod, "", false},
		{"anonymous has rules", accesstest.Anonymous(), access.ReadCatalog, api, "public", true},
		{"no agent", alice(accesstest.Agent("claude"), accesstest.Groups("payments")), access.ReadAudit, checkout, "", false},
		{"all lists must match", alice(accesstest.Groups("payments")), access.ReadAudit, checkout, "direct", true},
		{"a pattern of roles", alice(accesstest.Groups("payments"), accesstest.Roles("x", "night-shift")), access.ReadAudit, checkout, "direct", true},
		{"another role", alice(accesstest.Groups("payments"), accesstest.Roles("x")), access.ReadAudit, checkout, "", false},
		{"an owner beside own", alice(), access.ReadAudit, access.Attributes{Ref: "component:default/checkout", Owners: []string{"group:default/platform"}}, "direct", true},
		{"own without groups is nobody's", alice(), access.ReadAudit, checkout, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := p.Allow(tt.who, tt.action, tt.on); d.Rule != tt.rule || d.Allowed != tt.allowed {
				t.Errorf("decision = %+v", d)
			}
		})
	}
}

func TestScopeKey(t *testing.T) {
	read := func(rules string, who access.Caller) access.Scope {
		return accesstest.Policy(t, "rules:\n"+rules).Scope(who, access.ReadCatalog)
	}
	const own = `  - {name: own, effect: allow, who: {subjects: ["*"]}, actions: ["*"], on: {owners: [own]}}` + "\n"
	const apis = `  - {name: apis, effect: allow, who: {subjects: ["*"]}, actions: ["*"], on: {kinds: [api, domain]}}` + "\n"
	const all = `  - {name: all, effect: allow, who: {subjects: ["*"]}, actions: ["*"]}` + "\n"
	const none = `  - {name: none, effect: deny, who: {subjects: ["*"]}, actions: ["*"]}` + "\n"
	const hide = `  - {name: hide, effect: deny, who: {subjects: ["*"]}, actions: ["*"], on: {tags: [hidden]}}` + "\n"
	ab := accesstest.As("alice", accesstest.Groups("a", "b"))
	ba := accesstest.As("bob", accesstest.Groups("b", "a", "b"))
	c := accesstest.As("carol", accesstest.Groups("c"))

	if read(own, ab).Key() != read(own, ba).Key() {
		t.Error("the same groups in another order have another key")
	}
	if read(own+apis, ab).Key() != read(strings.ReplaceAll(apis, "api, domain", "Domain, API")+own, ba).Key() {
		t.Error("the same rules in another order have another key")
	}
	if read(own, ab).Key() == read(own, c).Key() {
		t.Error("other groups have the same key")
	}
	if read(own+hide, ab).Key() == read(own, ab).Key() || read(all+hide, ab).Key() == read(all, ab).Key() {
		t.Error("a denial does not show in the key")
	}
	if s := read(all+own, ab); !s.All() || s.None() || s.Key() != read(all, c).Key() {
		t.Errorf("everything is %+v", s)
	}
	if s := read(all+hide, ab); s.All() || s.None() {
		t.Errorf("everything but some is %+v", s)
	}
	for name, s := range map[string]access.Scope{
		"the zero scope": {}, "all denied": read(all+none, ab), "no rule": read(apis, access.Caller{}),
		"own without groups": read(own, accesstest.As("dave")), "only denials": read(hide, ab),
	} {
		if !s.None() || s.All() || s.Key() != "" || s.Allows(checkout) || s.Allows(access.Attributes{}) {
			t.Errorf("%s is %+v", name, s)
		}
	}
	var p *access.Policy
	if p.Allow(ab, access.ReadCatalog, checkout).Allowed {
		t.Error("the nil policy allows")
	}
}

// TestScopeAgreesWithAllow draws policies, callers and entities at random and
// holds both answers to a direct reading of the rules.
func TestScopeAgreesWithAllow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := func(of ...string) []string {
		return slices.DeleteFunc(slices.Clone(of), func(string) bool { return r.IntN(3) > 0 })
	}
	keys := map[string]string{}
	for range 1500 {
		d := drawn{r: r, some: some}
		p, err := access.LoadPolicy([]byte(d.policy()), "drawn.yaml")
		if err != nil {
			t.Fatalf("%v\n%s", err, d.text)
		}
		who := accesstest.As("alice", accesstest.Groups(some("a", "b", "c")...))
		scope := p.Scope(who, access.ReadCatalog)
		verdicts := ""
		for _, on := range universe {
			want, wantOK := d.decide(who, on)
			got := p.Allow(who, access.ReadCatalog, on)
			if got.Rule != want || got.Allowed != wantOK || scope.Allows(on) != wantOK {
				t.Fatalf("on %+v: want %q %v, Allow %+v, Scope %v\n%s", on, want, wantOK, got, scope.Allows(on), d.text)
			}
			verdicts += map[bool]string{true: "+", false: "-"}[wantOK]
		}
		if scope.All() && strings.Contains(verdicts, "-") || scope.None() && strings.Contains(verdicts, "+") {
			t.Fatalf("%+v does not know how much it holds: %s\n%s", scope, verdicts, d.text)
		}
		if before, ok := keys[scope.Key()]; ok && before != verdicts {
			t.Fatalf("key %q stands for %s and %s", scope.Key(), before, verdicts)
		}
		keys[scope.Key()] = verdicts
	}
	if len(keys) < 100 {
		t.Errorf("only %d different scopes were drawn", len(keys))
	}
}

var universe = func() (out []access.Attributes) {
	for _, kind := range []string{"component", "api"} {
		for _, owners := range [][]string{nil, {"group:default/a"}, {"group:default/b", "group:default/d"}} {
			for _, tags := range [][]string{nil, {"x"}, {"x", "y"}} {
				out = append(out, access.Attributes{Ref: kind + ":default/n", Kind: kind, Namespace: "default", Owners: owners, Tags: tags})
			}
		}
	}
	return out
}()

// drawn is a policy drawn at random, with its rules kept to read directly.
type drawn struct {
	r     *rand.Rand
	some  func(...string) []string
	rules []drawnRule
	text  string
}

type drawnRule struct {
	name                string
	deny                bool
	kinds, owners, tags []string
}

func (d *drawn) policy() string {
	d.text = "rules:\n"
	for i := range 1 + d.r.IntN(5) {
		rule := drawnRule{name: string(rune('A' + i)), deny: d.r.IntN(3) == 0, kinds: d.some("component", "api"), owners: d.some("own", "a", "d"), tags: d.some("x", "y")}
		effect := map[bool]string{true: "deny", false: "allow"}[rule.deny]
		d.text += "  - {name: " + rule.name + ", effect: " + effect + `, who: {subjects: ["*"]}, actions: ["*"], on: {kinds: [` +
			strings.Join(rule.kinds, ", ") + "], owners: [" + strings.Join(rule.owners, ", ") + "], tags: [" + strings.Join(rule.tags, ", ") + "]}}\n"
		d.rules = append(d.rules, rule)
	}
	return d.text
}

func (d *drawn) decide(who access.Caller, on access.Attributes) (string, bool) {
	first := func(deny bool) string {
		for _, rule := range d.rules {
			if rule.deny == deny && rule.holds(who, on) {
				return rule.name
			}
		}
		return ""
	}
	if name := first(true); name != "" {
		return name, false
	}
	name := first(false)
	return name, name != ""
}

func (r drawnRule) holds(who access.Caller, on access.Attributes) bool {
	kind := len(r.kinds) == 0 || slices.Contains(r.kinds, on.Kind)
	tag := len(r.tags) == 0 || slices.ContainsFunc(on.Tags, func(t string) bool { return slices.Contains(r.tags, t) })
	owner := len(r.owners) == 0 || slices.ContainsFunc(on.Owners, func(o string) bool {
		return slices.Contains(r.owners, strings.TrimPrefix(o, "group:default/")) || slices.Contains(r.owners, "own") && who.In(o)
	})
	return kind && tag && owner
}
