package secretstest

import (
	"testing"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets"
)

func anotherProcess(t *testing.T, s *Subject) {
	if s.Restarted == nil {
		t.Skip("there is no other process")
	}
	a, w := s.issue(t, s.order())
	b, v := s.issue(t, s.order())
	fields := s.unwrap(t, v)
	s.Issuer, s.Custodian = s.Restarted(t)
	s.there(t, w, true)
	s.there(t, v, false)
	all := s.accounts(t, s.Custodian)
	for _, handle := range []string{a.Handle, b.Handle} {
		if _, ok := all[handle]; !ok {
			t.Errorf("another process does not find %s", handle)
		}
	}
	if s.Works != nil && !s.Works(t, fields) {
		t.Error("what was issued ended with the process")
	}
	if err := s.Issuer.Revoke(t.Context(), b.Handle); err != nil {
		t.Fatal(err)
	}
	if s.Works != nil && s.Works(t, fields) {
		t.Error("another process did not take it back")
	}
}

func anotherFairlead(t *testing.T, s *Subject) {
	if s.Another == nil {
		t.Skip("there is no other Fairlead")
	}
	a := s.open(t, s.order())
	issuer, custodian := s.Another(t)
	o := s.order()
	b, err := issuer.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.accounts(t, s.Custodian)[b.Handle]; ok {
		t.Error("it finds what another Fairlead has made")
	}
	if _, ok := s.accounts(t, custodian)[a.Handle]; ok {
		t.Error("another Fairlead finds what it has made")
	}
	if err := issuer.Revoke(t.Context(), b.Handle); err != nil {
		t.Error(err)
	}
}

func sealed(t *testing.T, s *Subject) {
	if s.Seal == nil {
		t.Skip("it cannot be sealed")
	}
	o := s.order()
	a, w := s.issue(t, o)
	b := s.open(t, s.order())
	s.Seal(t, true)
	_, opening := s.Issuer.Open(t.Context(), o)
	_, drawing := s.Issuer.Draw(t.Context(), o, b)
	_, renewing := s.Issuer.Renew(t.Context(), a.Handle, o.TTL)
	_, looking := s.Custodian.Unopened(t.Context(), w.Accessor)
	calls := map[string]error{"open": opening, "draw": drawing, "renew": renewing, "revoke": s.Issuer.Revoke(t.Context(), a.Handle), "unopened": looking,
		"accounts": s.Custodian.Accounts(t.Context(), func(secrets.Held) bool { return true })}
	s.Seal(t, false)
	for call, err := range calls {
		f := fault.From(err)
		if f.Code != fault.Unavailable || f.Fix == "" {
			t.Errorf("%s of one that is sealed gives %+v", call, f)
		}
	}
	s.until(t, "it answers again", func() bool { _, err := s.Issuer.Renew(t.Context(), a.Handle, o.TTL); return err == nil })
	s.there(t, w, true)
}
