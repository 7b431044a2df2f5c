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

// sources is an ingestion that remembers what it was asked.
type sources struct {
	problems  []catalog.IngestionError
	refreshed []string
}

func (s *sources) Sources() []catalog.SourceStatus {
	return []catalog.SourceStatus{{Name: "test", State: "ok"}, {Name: "other", State: "failing"}}
}
func (s *sources) Problems() []catalog.IngestionError { return s.problems }
func (s *sources) Locations() []catalog.LocationItem {
	return []catalog.LocationItem{
		{ID: "1", Type: "url", Target: "https://x", Source: "test"}, {ID: "2", Type: "url", Target: "https://y", EntityRef: "location:default/hidden", Source: "test"},
		{ID: "3", Type: "url", Target: "https://z", Source: "other"},
	}
}
func (s *sources) Refresh(_ context.Context, source string) (*catalog.RefreshResult, error) {
	s.refreshed = append(s.refreshed, source)
	return &catalog.RefreshResult{Source: source, Changed: 1}, nil
}

func problem(source, file, ref, owner string, line uint32) catalog.IngestionError {
	return catalog.IngestionError{Source: source, Owner: owner, Problem: catalog.Problem{File: file, Ref: ref, Line: line, Message: "broken"}}
}

const redRules = `rules:
- {name: red, effect: allow, who: {subjects: ["user:default/rita"]}, actions: ["catalog.*"], on: {owners: ["group:default/red"]}}
- {name: all, effect: allow, who: {subjects: ["user:default/alice"]}, actions: ["*"]}`

func TestListIngestionErrors(t *testing.T) {
	in := &sources{problems: []catalog.IngestionError{
		problem("test", "z.yaml", "", "", 0), problem("test", "a.yaml", "component:default/pay", "group:default/red", 9), problem("test", "a.yaml", "component:default/pay", "group:default/red", 2),
		problem("other", "b.yaml", "component:default/never", "group:default/blue", 1), problem("other", "c.yaml", "component:default/never", "group:default/red", 1),
		problem("test", "m.yaml", "", "group:default/blue", 1),
	}}
	s := catalogtest.NewWith(t, town(), catalogtest.WithPolicy(accesstest.Policy(t, redRules)), catalogtest.WithIngestion(in))
	rita, stranger := accesstest.As("user:default/rita"), accesstest.As("user:default/sam")
	for name, c := range map[string]struct {
		who  access.Caller
		in   catalog.ListIngestionErrorsInput
		want string
	}{
		"all":      {alice, catalog.ListIngestionErrorsInput{}, "other/b.yaml:1 other/c.yaml:1 test/a.yaml:2 test/a.yaml:9 test/m.yaml:1 test/z.yaml:0"},
		"source":   {alice, catalog.ListIngestionErrorsInput{Source: "other"}, "other/b.yaml:1 other/c.yaml:1"},
		"owner":    {alice, catalog.ListIngestionErrorsInput{Owner: "Group:default/Blue"}, "other/b.yaml:1 test/m.yaml:1"},
		"in scope": {rita, catalog.ListIngestionErrorsInput{}, "other/c.yaml:1 test/a.yaml:2 test/a.yaml:9 test/z.yaml:0"},
		"nothing":  {stranger, catalog.ListIngestionErrorsInput{}, ""},
	} {
		for _, limit := range []int{0, 1, 2, 4} {
			c.in.Limit, c.in.Cursor = limit, ""
			var got []string
			for {
				out, err := s.ListIngestionErrors(t.Context(), c.who, c.in)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range out.Items {
					got = append(got, fmt.Sprintf("%s/%s:%d", p.Source, p.File, p.Line))
				}
				if out.Total != len(strings.Fields(c.want)) {
					t.Errorf("%s: total is %d", name, out.Total)
				}
				if c.in.Cursor = out.NextCursor; c.in.Cursor == "" {
					break
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%s by %d: %v, want %s", name, limit, got, c.want)
			}
		}
	}
	for _, bad := range []catalog.ListIngestionErrorsInput{{Limit: 501}, {Cursor: "?"}} {
		if _, err := s.ListIngestionErrors(t.Context(), alice, bad); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestSourcesAndLocations(t *testing.T) {
	s := catalogtest.NewWith(t, town(), catalogtest.WithPolicy(accesstest.Policy(t, redRules)))
	if _, err := s.ListSources(t.Context(), alice, catalog.ListSourcesInput{}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("before there are sources: %v", err)
	}
	s.Attach(&sources{})
	for who, want := range map[string][2]int{"user:default/alice": {2, 3}, "user:default/rita": {1, 1}, "user:default/sam": {0, 0}} {
		src, err := s.ListSources(t.Context(), accesstest.As(who), catalog.ListSourcesInput{})
		if err != nil || len(src.Items) != want[0] {
			t.Errorf("%s sees %v %v", who, src, err)
		}
		loc, err := s.ListLocations(t.Context(), accesstest.As(who), catalog.ListLocationsInput{})
		if err != nil || len(loc.Items) != want[1] {
			t.Errorf("%s sees %v %v", who, loc, err)
		}
	}
}

func TestRefreshEntity(t *testing.T) {
	in, policy := &sources{}, accesstest.Policy(t, redRules)
	guard, log := accesstest.Guard(t, policy)
	s := catalogtest.NewWith(t, town(), catalogtest.WithPolicy(policy), catalogtest.WithGuard(guard), catalogtest.WithIngestion(in))
	for _, c := range []struct {
		who  string
		in   catalog.RefreshEntityInput
		code fault.Code
	}{
		{"alice", catalog.RefreshEntityInput{EntityRef: "pay"}, ""},
		{"alice", catalog.RefreshEntityInput{Source: "other"}, ""},
		{"alice", catalog.RefreshEntityInput{Source: "none"}, fault.NotFound},
		{"alice", catalog.RefreshEntityInput{}, fault.Invalid},
		{"alice", catalog.RefreshEntityInput{EntityRef: "pay", Source: "other"}, fault.Invalid},
		{"alice", catalog.RefreshEntityInput{EntityRef: "no-such"}, fault.NotFound},
		{"rita", catalog.RefreshEntityInput{EntityRef: "pay"}, ""},
		{"rita", catalog.RefreshEntityInput{EntityRef: "api:other/ledger"}, fault.NotFound},
		{"rita", catalog.RefreshEntityInput{Source: "other"}, fault.Forbidden},
		{"sam", catalog.RefreshEntityInput{Source: "test"}, fault.Forbidden},
	} {
		out, err := s.RefreshEntity(t.Context(), accesstest.As("user:default/"+c.who), c.in)
		if fault.CodeOf(err) != c.code || err == nil && out.Changed != 1 {
			t.Errorf("%s %+v: %v %v", c.who, c.in, out, err)
		}
	}
	if want := []string{"test", "other", "test"}; !slices.Equal(in.refreshed, want) {
		t.Errorf("refreshed %v, want %v", in.refreshed, want)
	}
	var acts []string
	for _, e := range log.Entries() {
		acts = append(acts, string(e.Status)+" "+e.Target)
	}
	want := []string{"ok component:default/pay", "ok source:other", "failed source:none", "ok component:default/pay", "refused source:other", "refused source:test"}
	if !slices.Equal(acts, want) {
		t.Errorf("audit holds %q, want %q", acts, want)
	}
	bare := catalogtest.NewWith(t, town(), catalogtest.WithIngestion(in))
	if _, err := bare.RefreshEntity(t.Context(), alice, catalog.RefreshEntityInput{EntityRef: "pay"}); err == nil {
		t.Error("without a guard an act is let through")
	}
}

// TestUnshownEntitiesAreReported publishes one that processing takes and the
// catalog cannot show.
func TestUnshownEntitiesAreReported(t *testing.T) {
	docs := append(town(), component("{name: odd, labels: {Tier: a, tier: b}}", "owner: red"))
	s := catalogtest.NewWith(t, docs, catalogtest.WithIngestion(&sources{}))
	if _, err := s.GetEntity(t.Context(), alice, catalog.GetEntityInput{Ref: "odd"}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("it is served: %v", err)
	}
	out, err := s.ListIngestionErrors(t.Context(), alice, catalog.ListIngestionErrorsInput{Owner: "group:default/red"})
	if err != nil || len(out.Items) != 1 {
		t.Fatalf("%v %v", out, err)
	}
	p := out.Items[0]
	if p.Ref != "component:default/odd" || p.Source != "test" || p.File != "catalog-info-6.yaml" || p.Line != 1 || !strings.Contains(p.Message, "metadata.labels.tier") || p.Fix == "" {
		t.Errorf("%+v", p)
	}
}
