package catalog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// classed is a problem of a class.
func classed(name, owner string, severity string) catalog.IngestionError {
	p := problem("test", name+".yaml", "", owner, 1)
	p.Name, p.Severity, p.Message = name, entity.Severity(severity), "broken "+severity
	return p
}

// TestCatalogHealth counts what each caller may see, by owner.
func TestCatalogHealth(t *testing.T) {
	failing := problem("other", "x.yaml", "", "", 0)
	failing.Severity, failing.Name = entity.SeverityError, "SourceError"
	in := &sources{problems: []catalog.IngestionError{
		classed("InputError", "group:default/red", "error"), classed("InputError", "group:default/red", "error"), classed("ConflictError", "group:default/blue", "error"),
		classed("InputError", "", "warning"), failing,
	}}
	s := catalogtest.NewWith(t, append(town(), component("{name: web}", "owner: 'user:zoe', dependsOn: ['component:pay', 'component:gone']")), catalogtest.WithPolicy(accesstest.Policy(t, redRules)), catalogtest.WithIngestion(in))
	for name, c := range map[string]struct {
		who  access.Caller
		want string
	}{
		"all":      {alice, "6 of 2, 1 failing: errors 4 warnings 1 conflicts 1 stale 0 broken 7; group:default/red 2/0/0/3  1/1/0/0 group:default/blue 1/0/1/0 group:other/blue 0/0/0/2 user:default/zoe 0/0/0/2; InputError/error 2 ConflictError/error 1 InputError/warning 1 SourceError/error 1"},
		"in scope": {accesstest.As("user:default/rita"), "3 of 1, 0 failing: errors 2 warnings 1 conflicts 0 stale 0 broken 3; group:default/red 2/0/0/3  0/1/0/0; InputError/error 2 InputError/warning 1"},
		"nothing":  {accesstest.As("user:default/sam"), "0 of 0, 0 failing: errors 0 warnings 0 conflicts 0 stale 0 broken 0; ; "},
	} {
		h, err := s.GetCatalogHealth(t.Context(), c.who, catalog.GetCatalogHealthInput{})
		if err != nil {
			t.Fatal(err)
		}
		var owners, classes []string
		for _, o := range h.Owners {
			owners = append(owners, fmt.Sprintf("%s %d/%d/%d/%d", o.Owner, o.Errors, o.Warnings, o.Conflicts, o.Broken))
		}
		for _, k := range h.Classes {
			classes = append(classes, fmt.Sprintf("%s/%s %d", k.Class, k.Severity, k.Count))
		}
		got := fmt.Sprintf("%d of %d, %d failing: errors %d warnings %d conflicts %d stale %d broken %d; %s; %s", h.Entities, h.Sources, h.Failing, h.Errors, h.Warnings, h.Conflicts, h.Stale, h.Broken,
			strings.Join(owners, " "), strings.Join(classes, " "))
		if got != c.want {
			t.Errorf("%s:\n%s\n%s", name, got, c.want)
		}
	}
	if h, err := s.GetCatalogHealth(t.Context(), alice, catalog.GetCatalogHealthInput{Limit: 2}); err != nil || len(h.Owners) != 2 || !h.More || h.Errors != 4 {
		t.Errorf("two owners: %+v, %v", h, err)
	}
	if _, err := s.GetCatalogHealth(t.Context(), alice, catalog.GetCatalogHealthInput{Limit: 501}); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("too many owners: %v", err)
	}
	down := &living{}
	down.become(catalog.SourceStatus{Name: "test", State: "failing"})
	s.Attach(down)
	if h, err := s.GetCatalogHealth(t.Context(), alice, catalog.GetCatalogHealthInput{}); err != nil || h.Stale != 6 || h.Failing != 1 || h.Errors != 0 {
		t.Errorf("while its source fails: %+v, %v", h, err)
	}
	s.Attach(in)
	for in, want := range map[catalog.ListProblemsInput]int{{Severity: "error"}: 4, {Severity: "warning"}: 1, {Class: "conflicterror"}: 1, {Class: "InputError", Severity: "error"}: 2, {Class: "none"}: 0} {
		if out, err := s.ListProblems(t.Context(), alice, in); err != nil || out.Total != want {
			t.Errorf("%+v: %v, %v", in, out, err)
		}
	}
	if _, err := s.ListProblems(t.Context(), alice, catalog.ListProblemsInput{Severity: "bad"}); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("a severity that there is not: %v", err)
	}
}

// TestBrokenRelations names where each is written, page by page, and follows the
// catalog.
func TestBrokenRelations(t *testing.T) {
	s := catalogtest.NewWith(t, append(town(), "kind: Component\nmetadata: {name: web}\nspec:\n  type: service\n  lifecycle: production\n  owner: user:zoe\n  system: shop\n  dependsOn:\n    - component:pay\n    - Component:Gone\n  providesApis: [pay, none]\n"),
		catalogtest.WithPolicy(accesstest.Policy(t, redRules)))
	const web = "component:default/web dependsOn component:default/gone:11, component:default/web ownedBy user:default/zoe:7, component:default/web partOf system:default/shop:8, component:default/web providesApi api:default/none:12"
	list := func(who access.Caller, in catalog.ListBrokenRelationsInput) (out []string, total int) {
		t.Helper()
		for {
			page, err := s.ListBrokenRelations(t.Context(), who, in)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range page.Items {
				if b.Fix == "" || b.Source == "" {
					t.Errorf("%+v", b)
				}
				out = append(out, fmt.Sprintf("%s %s %s:%d", b.Ref, b.Type, b.Target, b.Line))
			}
			if in.Cursor = page.NextCursor; in.Cursor == "" {
				return out, page.Total
			}
		}
	}
	for _, limit := range []int{0, 1, 3} {
		if got, total := list(alice, catalog.ListBrokenRelationsInput{Owner: "User:default/Zoe", Limit: limit}); strings.Join(got, ", ") != web || total != 4 {
			t.Errorf("by %d: %d of %v", limit, total, got)
		}
	}
	if got, _ := list(alice, catalog.ListBrokenRelationsInput{Type: "partOf"}); len(got) != 1 {
		t.Errorf("of a type: %v", got)
	}
	if got, total := list(accesstest.As("user:default/rita"), catalog.ListBrokenRelationsInput{Limit: 1}); total != 3 || slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "web") }) {
		t.Errorf("in scope: %v", got)
	}
	if got, _ := list(accesstest.As("user:default/sam"), catalog.ListBrokenRelationsInput{}); len(got) > 0 {
		t.Errorf("a stranger is told %v", got)
	}
	s.Publish(catalogtest.Changes(t, component("{name: gone}", "owner: 'user:zoe'"), "kind: User\nmetadata: {name: zoe}\nspec: {memberOf: []}\n"))
	if got, _ := list(alice, catalog.ListBrokenRelationsInput{Owner: "user:default/zoe"}); len(got) != 2 {
		t.Errorf("after what was missing came: %v", got)
	}
	for _, bad := range []catalog.ListBrokenRelationsInput{{Limit: 501}, {Cursor: "?"}} {
		if _, err := s.ListBrokenRelations(t.Context(), alice, bad); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// BenchmarkCatalogHealth asks of 20,000 components, a fifth of which depend on
// what there is not, and of 5,000 problems.
func BenchmarkCatalogHealth(b *testing.B) {
	var docs []string
	in := &sources{}
	for i := range 20_000 {
		docs = append(docs, component(fmt.Sprintf("{name: c%d}", i), fmt.Sprintf("owner: t%d, dependsOn: [\"component:c%d\"]", i%200, i/4*5)))
		if i%4 == 0 {
			in.problems = append(in.problems, problem("test", fmt.Sprint(i), "", fmt.Sprintf("group:default/t%d", i%200), 1))
		}
	}
	half := `rules: [{name: half, effect: allow, who: {subjects: ["*"]}, actions: [catalog.read], on: {kinds: [component]}}]`
	for who, policy := range map[string]*access.Policy{"all": access.DefaultPolicy(), "scope": accesstest.Policy(b, half)} {
		s := catalogtest.NewWith(b, docs, catalogtest.WithPolicy(policy), catalogtest.WithIngestion(in))
		for name, fresh := range map[string]bool{"fresh": true, "again": false} {
			b.Run(who+"/"+name, func(b *testing.B) {
				for b.Loop() {
					if fresh {
						s.Publish(nil)
					}
					if _, err := s.GetCatalogHealth(b.Context(), alice, catalog.GetCatalogHealthInput{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
