package catalog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// sighted is a problem of a file that was first seen at a commit.
func sighted(file, ref, commit, message string, line uint32) catalog.IngestionError {
	p := problem("test", file, ref, "", line)
	p.Severity, p.Name, p.Message, p.Fix = entity.SeverityError, "InputError", message, "Mend it."
	p.FirstSeen = catalog.Sighting{Commit: commit, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	return p
}

// TestStaleEntities tells which entities are served as they were, since when, and
// why, page by page, and as many as health counts.
func TestStaleEntities(t *testing.T) {
	in := &living{sources: sources{problems: []catalog.IngestionError{
		sighted("doc-0.yaml", "", "c1", "the file is broken", 3), sighted("doc-0.yaml", "component:default/pay", "c1", "the owner is missing", 7),
		sighted("doc-3.yaml", "", "c3", "another thing is wrong by now", 2),
	}}}
	in.become(catalog.SourceStatus{Name: "test", State: "ok"})
	s := catalogtest.NewWith(t, nil, catalogtest.WithPolicy(accesstest.Policy(t, redRules)), catalogtest.WithIngestion(in))
	changes := catalogtest.Changes(t, town()...)
	for i, since := range map[int]string{0: "c1", 2: "2026-01-01T00:00:00Z", 3: "c2"} {
		r := *changes[i].Record
		e := *r.Entity
		e.From.StaleSince, e.From.Path = since, fmt.Sprintf("doc-%d.yaml", i)
		e.Status = []entity.StatusItem{{Message: "InputError: it cannot be read; what is shown is the last good state"}}
		r.Entity = &e
		changes[i].Record = &r
	}
	s.Publish(changes)
	list := func(who access.Caller, in catalog.ListStaleEntitiesInput) (out []string) {
		t.Helper()
		for {
			page, err := s.ListStaleEntities(t.Context(), who, in)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range page.Items {
				since := ""
				if e.Since != nil {
					since = e.Since.Format(time.DateOnly)
				}
				out = append(out, fmt.Sprintf("%s %s %s:%d %q %q %s %s", e.Ref, e.Reason, e.File, e.Line, e.Message, e.Fix, e.StaleSince, since))
			}
			if in.Cursor = page.NextCursor; in.Cursor == "" {
				if page.Total != len(out) {
					t.Errorf("%d are said to be %d", len(out), page.Total)
				}
				return out
			}
		}
	}
	const (
		ledger = `api:other/ledger file doc-2.yaml:1 "InputError: it cannot be read" ""  2026-01-01`
		pay    = `component:default/pay file doc-0.yaml:7 "the owner is missing" "Mend it." c1 2026-01-02`
		db     = `resource:default/db file doc-3.yaml:2 "another thing is wrong by now" "Mend it." c2 `
	)
	for name, c := range map[string]struct {
		who  access.Caller
		in   catalog.ListStaleEntitiesInput
		want []string
	}{
		"all":                 {alice, catalog.ListStaleEntitiesInput{}, []string{ledger, pay, db}},
		"one by one":          {alice, catalog.ListStaleEntitiesInput{Limit: 1}, []string{ledger, pay, db}},
		"of an owner":         {alice, catalog.ListStaleEntitiesInput{Owner: "Group:other/Blue"}, []string{ledger}},
		"of another source":   {alice, catalog.ListStaleEntitiesInput{Source: "other"}, nil},
		"in scope":            {accesstest.As("user:default/rita"), catalog.ListStaleEntitiesInput{}, []string{pay, db}},
		"with nothing to see": {accesstest.As("user:default/sam"), catalog.ListStaleEntitiesInput{}, nil},
	} {
		if got := list(c.who, c.in); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s:\n%s", name, strings.Join(got, "\n"))
		}
	}
	down := sighted("", "", "", "the server does not answer", 0)
	down.Name = "SourceError"
	in.problems = append(in.problems, down)
	in.become(catalog.SourceStatus{Name: "test", State: "failing", Error: down.Message, Fix: "Start it."})
	got := list(alice, catalog.ListStaleEntitiesInput{Limit: 2})
	if h, err := s.GetCatalogHealth(t.Context(), alice, catalog.GetCatalogHealthInput{}); err != nil || len(got) != 5 || h.Stale != 5 {
		t.Errorf("health counts %+v (%v), the list has %d", h, err, len(got))
	}
	if got[0] != `api:default/pay source catalog-info-2.yaml:1 "the server does not answer" "Start it."  2026-01-02` || got[1] != ledger {
		t.Errorf("while the source fails: %s", strings.Join(got, "\n"))
	}
	for _, bad := range []catalog.ListStaleEntitiesInput{{Limit: 501}, {Cursor: "?"}} {
		if _, err := s.ListStaleEntities(t.Context(), alice, bad); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
