package access_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

const lending = `
rules:
  - {name: own, effect: allow, who: {subjects: ["*"]}, actions: ["*"], on: {owners: [own]}}
  - {name: migrations, effect: allow, who: {agents: ["*"]}, actions: [secrets.request], on: {credentials: [db-migrate], purposes: [migration], environments: [staging]}}
  - {name: no-root, effect: deny, who: {subjects: ["*"]}, actions: ["secrets.*"], on: {credentials: [db-root]}}
  - {name: agents-briefly, effect: limit, who: {agents: ["*"]}, actions: ["secrets.*"], limit: {ttl: 15m}}
  - {name: db-briefly, effect: limit, who: {subjects: ["*"]}, actions: [secrets.request], on: {credentials: [db], owners: [own]}, limit: {ttl: 5m}}
  - {name: others, effect: limit, who: {subjects: [bob]}, actions: [secrets.request], limit: {ttl: 1m}}
`

// lent is a credential of checkout.
func lent(name, purpose, environment string) access.Attributes {
	a := checkout
	a.Credential, a.Purpose, a.Environment = name, purpose, environment
	return a
}

func TestPolicyOfCredentials(t *testing.T) {
	p := accesstest.Policy(t, lending)
	owner, stranger := accesstest.As("alice", accesstest.Groups("payments")), accesstest.As("carol", accesstest.Agent("claude"))
	for _, tt := range []struct {
		name string
		who  access.Caller
		on   access.Attributes
		rule string
		ok   bool
	}{
		{"an owner", owner, lent("db", "", ""), "own", true},
		{"an owner, of what is denied", owner, lent("db-root", "", ""), "no-root", false},
		{"an agent for what is allowed", stranger, lent("db-migrate", "migration", "staging"), "migrations", true},
		{"for another purpose", stranger, lent("db-migrate", "curiosity", "staging"), "", false},
		{"for none", stranger, lent("db-migrate", "", "staging"), "", false},
		{"in another environment", stranger, lent("db-migrate", "migration", "production"), "", false},
		{"another credential", stranger, lent("db-migrate2", "migration", "staging"), "", false},
		{"no credential at all", stranger, checkout, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := p.Allow(tt.who, access.RequestCredentials, tt.on); d.Rule != tt.rule || d.Allowed != tt.ok || p.Scope(tt.who, access.RequestCredentials).Allows(tt.on) != tt.ok {
				t.Errorf("decision = %+v", d)
			}
		})
	}
}

func TestBound(t *testing.T) {
	p := accesstest.Policy(t, lending)
	for _, tt := range []struct {
		name   string
		who    access.Caller
		action access.Action
		on     access.Attributes
		ttl    time.Duration
		rule   string
	}{
		{"nobody bounds", accesstest.As("carol"), access.RequestCredentials, lent("db", "", ""), 0, ""},
		{"an agent", accesstest.As("carol", accesstest.Agent("claude")), access.RenewCredentials, lent("x", "", ""), 15 * time.Minute, "agents-briefly"},
		{"the strictest of two", alice(), access.RequestCredentials, lent("db", "", ""), 5 * time.Minute, "db-briefly"},
		{"which is for one action", alice(), access.RenewCredentials, lent("db", "", ""), 15 * time.Minute, "agents-briefly"},
		{"own without groups is nobody's", accesstest.As("carol"), access.RequestCredentials, lent("db", "", ""), 0, ""},
		{"who may not at all is bounded, too", accesstest.As("bob"), access.RequestCredentials, lent("db", "", ""), time.Minute, "others"},
		{"anonymous", accesstest.Anonymous(), access.RequestCredentials, lent("db", "", ""), 0, ""},
		{"nobody", access.Caller{}, access.RequestCredentials, lent("db", "", ""), 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if ttl, rule := p.Bound(tt.who, tt.action, tt.on); ttl != tt.ttl || rule != tt.rule {
				t.Errorf("bounded to %s by %q", ttl, rule)
			}
		})
	}
	if d := p.Allow(accesstest.As("bob"), access.RequestCredentials, lent("db", "", "")); d.Allowed {
		t.Errorf("a limit lets in: %+v", d)
	}
	var none *access.Policy
	if ttl, _ := none.Bound(alice(), access.RequestCredentials, checkout); ttl != 0 {
		t.Error("the nil policy bounds")
	}
}

// TestScopeKeyOfCredentials holds that what picks credentials makes another
// scope, and that a limit makes none.
func TestScopeKeyOfCredentials(t *testing.T) {
	key := func(on string, more ...string) string {
		return accesstest.Policy(t, "rules:\n  - {name: a, effect: allow, who: {subjects: [\"*\"]}, actions: [secrets.read], on: "+on+"}\n"+strings.Join(more, "\n")).Scope(alice(), access.ReadCredentials).Key()
	}
	seen := map[string]string{}
	for _, on := range []string{"{}", "{credentials: [a]}", "{credentials: [a, b]}", "{purposes: [a]}", "{purposes: [a], credentials: [a]}", "{environments: [a]}"} {
		if before, ok := seen[key(on)]; ok {
			t.Errorf("%s and %s have one key", before, on)
		}
		seen[key(on)] = on
	}
	if key("{credentials: [b, a]}") != key("{credentials: [a, b]}") {
		t.Error("the order of credentials makes another key")
	}
	if key("{}") != key("{}", `  - {name: l, effect: limit, who: {subjects: ["*"]}, actions: ["secrets.*"], limit: {ttl: 1m}}`) {
		t.Error("a limit makes another scope")
	}
	// No entity is a credential: such a rule gives nothing of the catalog.
	p := accesstest.Policy(t, `rules: [{name: a, effect: allow, who: {subjects: ["*"]}, actions: ["*"], on: {credentials: [a]}}]`)
	if s := p.Scope(alice(), access.ReadCatalog); s.All() || s.Allows(checkout) {
		t.Errorf("the catalog's scope is %+v", s)
	}
}

func TestLimitIsChecked(t *testing.T) {
	for _, tt := range []struct{ name, rule, want string }{
		{"without a limit", `{name: a, effect: limit, who: {subjects: ["*"]}, actions: [secrets.request]}`, "does not say what the limit is"},
		{"another effect", `{name: a, effect: allow, who: {subjects: ["*"]}, actions: [secrets.request], limit: {ttl: 1m}}`, "only a rule with the effect limit bounds"},
		{"no time", `{name: a, effect: limit, who: {subjects: ["*"]}, actions: [secrets.request], limit: {}}`, "rules[0].limit.ttl: 0s is no time of at least 1s"},
		{"a negative time", `{name: a, effect: limit, who: {subjects: ["*"]}, actions: [secrets.request], limit: {ttl: -1h}}`, "rules[0].limit.ttl"},
		{"no duration", `{name: a, effect: limit, who: {subjects: ["*"]}, actions: [secrets.request], limit: {ttl: soon}}`, "a duration such as 24h"},
		{"an unknown key", `{name: a, effect: limit, who: {subjects: ["*"]}, actions: [secrets.request], limit: {most: 1}}`, "Known here: ttl."},
		{"what does not last", `{name: a, effect: limit, who: {subjects: ["*"]}, actions: [catalog.refresh], limit: {ttl: 1m}}`, "Name secrets.request or secrets.renew."},
		{"a pattern of credentials", `{name: a, effect: deny, who: {subjects: ["*"]}, actions: [secrets.request], on: {credentials: ["db-*"]}}`, "whole values"},
		{"an empty purpose", `{name: a, effect: deny, who: {subjects: ["*"]}, actions: [secrets.request], on: {purposes: [""]}}`, "whole values"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := access.LoadPolicy([]byte("rules: ["+tt.rule+"]"), "rules.yaml")
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "rules.yaml:1") {
				t.Errorf("err = %v", err)
			}
		})
	}
}

// TestDefaultPolicyOfCredentials holds who may have what without a rules file.
func TestDefaultPolicyOfCredentials(t *testing.T) {
	p := access.DefaultPolicy()
	person, agent := alice(accesstest.Agent("")), alice()
	sre, sreAgent := accesstest.As("eve", accesstest.Roles("sre")), accesstest.As("eve", accesstest.Roles("sre"), accesstest.Agent("claude"))
	reader, stranger := accesstest.As("rob", accesstest.Roles("reader"), accesstest.Groups("payments")), accesstest.As("bob", accesstest.Groups("search"))
	on := lent("db", "", "staging")
	for _, tt := range []struct {
		name    string
		who     access.Caller
		allowed string
	}{
		{"a person who owns", person, "read request collect renew revoke"},
		{"their agent", agent, "read request renew revoke"},
		{"an sre", sre, "read request collect renew revoke"},
		{"an sre's agent", sreAgent, "read request renew revoke"},
		{"a reader who owns", reader, ""},
		{"a stranger", stranger, ""},
		{"an anonymous reader", accesstest.Anonymous(), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var may []string
			for _, a := range []access.Action{access.ReadCredentials, access.RequestCredentials, access.CollectCredentials, access.RenewCredentials, access.RevokeCredentials, access.RevealCredentials} {
				if p.Allow(tt.who, a, on).Allowed {
					may = append(may, strings.TrimPrefix(string(a), "secrets."))
				}
			}
			if got := strings.Join(may, " "); got != tt.allowed {
				t.Errorf("may %s, not %s", got, tt.allowed)
			}
		})
	}
}

// TestHolder holds that who holds something needs no rule, and that a rule can
// keep them from it.
func TestHolder(t *testing.T) {
	p := accesstest.Policy(t, `
rules:
  - {name: read, effect: allow, who: {subjects: ["*"]}, actions: [catalog.read]}
  - {name: never, effect: deny, who: {agents: [gpt]}, actions: ["secrets.*"]}
`)
	g, log := accesstest.Guard(t, p)
	do := func(who access.Caller, holder bool) error {
		_, err := access.Do(t.Context(), g, who, access.Op{Action: access.RevokeCredentials, Operation: "revoke_credentials", Resource: checkout, Target: "l", Holder: holder}, done)
		return err
	}
	if err := do(alice(), true); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{"who does not hold it": do(alice(), false), "whom a rule denies it": do(alice(accesstest.Agent("gpt")), true)} {
		if fault.CodeOf(err) != fault.Forbidden {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := do(access.Caller{}, true); fault.CodeOf(err) != fault.Unauthenticated {
		t.Errorf("nobody holds something: %v", err)
	}
	if e := log.Entries(); len(e) != 4 || e[0].Rule != "(the holder)" || e[0].Status != access.StatusOK {
		t.Errorf("the audit has %+v", e)
	}
}

// TestNoteAndRefuse records what no rule decides on.
func TestNoteAndRefuse(t *testing.T) {
	g, log := accesstest.Guard(t, accesstest.Policy(t, `rules: [{name: none, effect: deny, who: {subjects: ["*"]}, actions: ["*"]}]`))
	op := access.Op{Action: access.RevokeCredentials, Operation: "revoke_all_credentials", Target: "preview:a", Input: map[string]string{"password": "hunter2"}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // what was done is recorded, whoever has hung up
	g.Note(ctx, "credentials", op, nil)
	g.Note(ctx, "credentials", op, fault.New(fault.Unavailable, "sealed"))
	want := fault.New(fault.Invalid, "no such name").WithFix("Correct it.")
	if err := g.Refuse(ctx, alice(), op, want); fault.CodeOf(err) != fault.Invalid {
		t.Error(err)
	}
	e := log.Entries()
	if len(e) != 3 || e[0].Subject != "system:fairlead/credentials" || e[0].Status != access.StatusOK || e[1].Status != access.StatusFailed || e[1].Message != "sealed" ||
		e[2].Subject != "user:default/alice" || e[2].Status != access.StatusRefused || e[2].Code != "invalid" || strings.Contains(e[2].Input, "hunter2") {
		t.Errorf("the audit has %+v", e)
	}
}
