// Package accesstest gives tests callers, policies, and a guard over an audit
// and a quota in memory, which pass the contract that the real store passes.
package accesstest

import (
	"context"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
)

// Option says more of the caller that As makes.
type Option func(*access.TokenConfig)

// Agent lets an agent act for the subject.
func Agent(name string) Option { return func(c *access.TokenConfig) { c.Agent = name } }

// Groups puts the subject in groups; their kind is group unless they name one.
func Groups(groups ...string) Option { return func(c *access.TokenConfig) { c.Groups = groups } }

// Roles gives the caller roles.
func Roles(roles ...string) Option { return func(c *access.TokenConfig) { c.Roles = roles } }

// Token names the caller's token; without it the name is "test".
func Token(name string) Option { return func(c *access.TokenConfig) { c.Name = name } }

// As makes the caller for a subject, in the way a server does: by a token.
// Wrong names are a panic, as there is no test without its caller.
func As(subject string, opts ...Option) access.Caller {
	cfg := access.TokenConfig{Name: "test", Subject: subject, TokenEnv: "TOKEN"}
	for _, o := range opts {
		o(&cfg)
	}
	const token = "a-token-for-tests-alone"
	return authenticate(access.AuthConfig{Tokens: []access.TokenConfig{cfg}}, access.Credential{Bearer: token}, token)
}

// Anonymous makes the caller that a server with anonymous reading makes of a
// request from loopback without a token.
func Anonymous() access.Caller {
	return authenticate(access.AuthConfig{Anonymous: access.AnonymousRead}, access.Credential{Loopback: true}, "")
}

func authenticate(cfg access.AuthConfig, c access.Credential, token string) access.Caller {
	a, err := access.NewAuthenticator(cfg, access.AuthOptions{LookupEnv: func(string) (string, bool) { return token, true }})
	if err != nil {
		panic(err)
	}
	who, err := a.Authenticate(context.Background(), c)
	if err != nil {
		panic(err)
	}
	return who
}

const openRules = `rules: [{name: open, effect: allow, who: {subjects: ["*"], anonymous: true}, actions: ["*"]}]`

// OpenPolicy lets every caller do everything.
func OpenPolicy() *access.Policy { return mustPolicy(openRules) }

// Policy makes a policy of the text of a rules file.
func Policy(t testing.TB, rules string) *access.Policy {
	t.Helper()
	p, err := access.LoadPolicy([]byte(rules), "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustPolicy(rules string) *access.Policy {
	p, err := access.LoadPolicy([]byte(rules), "rules.yaml")
	if err != nil {
		panic(err)
	}
	return p
}

// Guard makes a guard over a policy (nil is the default policy), and the audit
// in memory that it records in.
func Guard(t testing.TB, policy *access.Policy) (*access.Guard, *Log) {
	t.Helper()
	log := NewLog()
	g, err := access.NewGuard(access.GuardConfig{Policy: policy, Log: log, Quota: NewQuota(), Approvals: NewApprovals()})
	if err != nil {
		t.Fatal(err)
	}
	return g, log
}

// Service makes the service of access over a policy (nil is the default
// policy) and an audit in memory.
func Service(t testing.TB, policy *access.Policy, log *Log) *access.Service {
	t.Helper()
	s, err := access.NewService(policy, log)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
