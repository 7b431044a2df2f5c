package catalog_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// registry keeps locations in memory, and gives what a test says.
type registry struct {
	all     []catalog.Location
	given   map[string][]string
	tried   []*catalog.Entity
	settled int
}

func (r *registry) Locations(context.Context) ([]catalog.Location, error) {
	return slices.Clone(r.all), nil
}

func (r *registry) AddLocation(_ context.Context, l catalog.Location, most int) error {
	if slices.ContainsFunc(r.all, func(o catalog.Location) bool { return o.Target == l.Target }) {
		return fault.New(fault.Conflict, "it is there")
	}
	if len(r.all) >= most {
		return fault.New(fault.FailedPrecondition, "too many")
	}
	r.all = append(r.all, l)
	return nil
}

func (r *registry) at(id string) int {
	return slices.IndexFunc(r.all, func(l catalog.Location) bool { return l.ID == id })
}

func (r *registry) MoveLocation(_ context.Context, id, target string) error {
	r.all[r.at(id)].Target = target
	return nil
}

func (r *registry) RemoveLocation(_ context.Context, id string) error {
	r.all = slices.Delete(r.all, r.at(id), r.at(id)+1)
	return nil
}

func (r *registry) MayRead(target string) error {
	if strings.HasPrefix(target, "https://git.example.com/") {
		return nil
	}
	return fault.New(fault.Forbidden, "no such host")
}

func (r *registry) TryLocation(context.Context, catalog.Location) ([]*catalog.Entity, error) {
	return r.tried, nil
}
func (r *registry) SettleLocation(context.Context, string) { r.settled++ }
func (r *registry) GivenBy(id string) []string             { return r.given[r.all[r.at(id)].Target] }

const page = "https://git.example.com/a/b/blob/main/"

func registering(t *testing.T, policy *access.Policy) (*catalog.Service, *registry, *accesstest.Log) {
	t.Helper()
	guard, log := accesstest.Guard(t, policy)
	r := &registry{given: map[string][]string{}}
	s := catalogtest.NewWith(t, town(), catalogtest.WithPolicy(policy), catalogtest.WithGuard(guard), catalogtest.WithIngestion(&sources{}))
	s.AttachRegistration(catalog.Registration{Store: r, Reader: r, Max: 4})
	return s, r, log
}

// TestWhoRegisters holds the built-in policy: developers and sre register,
// readers and nobody do not; what a location gave is taken back by who owns
// all of it.
func TestWhoRegisters(t *testing.T) {
	s, r, _ := registering(t, access.DefaultPolicy())
	red := accesstest.Groups("group:default/red")
	for who, c := range map[string]struct {
		caller access.Caller
		code   fault.Code
	}{
		"developer":         {accesstest.As("dora", red, accesstest.Roles("developer")), ""},
		"developer's agent": {accesstest.As("doran", red, accesstest.Roles("developer"), accesstest.Agent("claude")), ""},
		"sre":               {accesstest.As("sam", accesstest.Roles("sre")), ""},
		"without a role":    {accesstest.As("nora", red), ""},
		"reader":            {accesstest.As("rolf", red, accesstest.Roles("reader")), fault.Forbidden},
		"anonymous":         {accesstest.Anonymous(), fault.Unauthenticated},
		"nobody":            {access.Caller{}, fault.Unauthenticated},
	} {
		out, err := s.RegisterLocation(t.Context(), c.caller, catalog.RegisterLocationInput{Target: page + strings.ReplaceAll(who, " ", "-")})
		if fault.CodeOf(err) != c.code || err == nil && (out.Location.EntityRef == "" || out.Entities == nil || out.Exists != nil) {
			t.Errorf("%s: %+v, %v", who, out, err)
		}
	}
	if len(r.all) != 4 || r.settled != 4 {
		t.Fatalf("registered: %+v", r.all)
	}
	target, id := r.all[0].Target, r.all[0].ID
	for given, want := range map[string]map[string]fault.Code{
		"component:default/pay location:default/x": {"red": "", "blue": fault.Forbidden, "sre": "", "reader": fault.Forbidden},
		"component:default/pay api:other/ledger":   {"red": fault.Forbidden, "blue": fault.Forbidden, "sre": "", "reader": fault.Forbidden},
		"":                                         {"blue": fault.Forbidden, "sre": ""},
	} {
		r.given[target] = strings.Fields(given)
		for who, code := range want {
			caller := accesstest.As("dora", accesstest.Groups("group:default/"+who), accesstest.Roles("developer"))
			switch who {
			case "sre", "reader":
				caller = accesstest.As("x", red, accesstest.Roles(who))
			}
			before := slices.Clone(r.all)
			_, err := s.UnregisterLocation(t.Context(), caller, catalog.UnregisterLocationInput{ID: id})
			if fault.CodeOf(err) != code {
				t.Errorf("%s taking back %q: %v", who, given, err)
			}
			r.all = before
		}
	}
}

func TestRegisterLocationSays(t *testing.T) {
	policy := accesstest.Policy(t, "rules:\n- {name: all, effect: allow, who: {subjects: [\"*\"]}, actions: [\"*\"]}")
	s, r, log := registering(t, policy)
	long := page + strings.Repeat("x", 2100)
	for _, c := range []struct {
		in   catalog.RegisterLocationInput
		code fault.Code
		text string
	}{
		{catalog.RegisterLocationInput{}, fault.Invalid, "target is not given"},
		{catalog.RegisterLocationInput{Type: "file", Target: page}, fault.Invalid, "allowed type"},
		{catalog.RegisterLocationInput{Target: long}, fault.Invalid, "2048"},
		{catalog.RegisterLocationInput{Target: page + "a b"}, fault.Invalid, "spaces"},
		{catalog.RegisterLocationInput{Target: page, OnConflict: "both"}, fault.Invalid, "onConflict"},
		{catalog.RegisterLocationInput{Target: "https://elsewhere.example.com/"}, fault.Forbidden, "no such host"},
		{catalog.RegisterLocationInput{Target: page + "x"}, "", ""},
		{catalog.RegisterLocationInput{Target: page + "x"}, fault.Conflict, "it is there"},
		{catalog.RegisterLocationInput{Target: page + "x", OnConflict: "refresh"}, "", ""},
	} {
		_, err := s.RegisterLocation(t.Context(), alice, c.in)
		if fault.CodeOf(err) != c.code || err != nil && !strings.Contains(fault.From(err).Message, c.text) {
			t.Errorf("%+v: %v", c.in, err)
		}
	}
	entries, err := log.Audit(t.Context(), access.AuditQuery{Limit: 1})
	if err != nil || len(entries) != 1 || entries[0].Action != access.RegisterCatalog || entries[0].Target != page+"x" || entries[0].Status != access.StatusOK {
		t.Errorf("the audit holds %+v, %v", entries, err)
	}
	out, err := s.RegisterLocation(t.Context(), alice, catalog.RegisterLocationInput{Target: page + "x", DryRun: true})
	if err != nil || out.Exists == nil || !*out.Exists || out.Location.ID != "url:"+page+"x" || len(r.all) != 1 {
		t.Errorf("the dry run says %+v, %v", out, err)
	}
	moved, err := s.MoveLocation(t.Context(), alice, catalog.MoveLocationInput{ID: r.all[0].ID, Target: page + "y"})
	if err != nil || moved.Target != page+"y" || moved.EntityRef != r.all[0].EntityRef {
		t.Errorf("moved: %+v, %v", moved, err)
	}
	list, err := s.ListLocations(t.Context(), alice, catalog.ListLocationsInput{})
	if err != nil || fmt.Sprint(len(list.Items), list.Registrable, list.Items[0].Registered, list.Items[1].Registered) != "4 true true false" {
		t.Errorf("listed: %+v, %v", list, err)
	}
	for id, code := range map[string]fault.Code{"none": fault.NotFound, "1": fault.Forbidden, r.all[0].ID: ""} {
		if _, err := s.UnregisterLocation(t.Context(), alice, catalog.UnregisterLocationInput{ID: id}); fault.CodeOf(err) != code {
			t.Errorf("unregistering %s: %v", id, err)
		}
	}
}

// TestTryingShowsNothingHidden lets a caller who reads what is red alone
// register: a dry run is no way around that.
func TestTryingShowsNothingHidden(t *testing.T) {
	s, r, _ := registering(t, accesstest.Policy(t, redRules+"\n- {name: register, effect: allow, who: {subjects: [\"*\"]}, actions: [catalog.register]}"))
	for _, change := range catalogtest.Changes(t, component("{name: mine}", "owner: red"), component("{name: theirs}", "owner: blue")) {
		r.tried = append(r.tried, change.Record.Entity)
	}
	rita := accesstest.As("user:default/rita", accesstest.Groups("group:default/red"))
	out, err := s.RegisterLocation(t.Context(), rita, catalog.RegisterLocationInput{Target: page + "x", DryRun: true})
	if err != nil || len(out.Entities) != 1 || out.Entities[0].Name() != "mine" {
		t.Errorf("%+v, %v", out, err)
	}
	for who, seen := range map[string]int{"user:default/rita": 1, "user:default/sam": 0} {
		if r.all == nil {
			if _, err := s.RegisterLocation(t.Context(), rita, catalog.RegisterLocationInput{Target: page + "x"}); err != nil {
				t.Fatal(err)
			}
		}
		list, err := s.ListLocations(t.Context(), accesstest.As(who), catalog.ListLocationsInput{})
		n := len(slices.DeleteFunc(list.Items, func(l catalog.LocationItem) bool { return !l.Registered }))
		if err != nil || n != seen {
			t.Errorf("%s sees %d, %v", who, n, err)
		}
	}
}
