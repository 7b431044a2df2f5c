package render_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/compare"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
)

func described(name, title, file string, line uint32) compare.Entity {
	return compare.Entity{Ref: "component:default/" + name, Title: title, Owner: "group:default/payments", Place: compare.Place{File: file, Line: line}}
}

func relation(source, typ, target string) compare.Relation {
	return compare.Relation{Source: "component:default/" + source, Type: typ, Target: target, Place: compare.Place{File: source + "/catalog-info.yaml", Line: 12}}
}

func comparison() *render.Comparison {
	return &render.Comparison{Rev: "origin/main", Commits: []string{"0123456789abcdef0123456789abcdef01234567"}, Files: 9, Entities: 12, Difference: &compare.Difference{
		Added: []compare.Entity{described("cart", "Cart", "cart/catalog-info.yaml", 1), described("stock", "", "stock/catalog-info.yaml", 8)},
		Changed: []compare.Change{{Entity: described("checkout", "Checkout", "checkout/catalog-info.yaml", 1), From: "old/catalog-info.yaml", Fields: []compare.Field{
			{Name: "metadata.title", Before: []byte(`"Pay"`), After: []byte(`"Checkout"`)},
			{Name: "metadata.description", Before: []byte(`"` + strings.Repeat("long ", 30) + `1"`), After: []byte(`"` + strings.Repeat("long ", 30) + `2"`)},
			{Name: "spec.lifecycle", After: []byte(`"production"`)}, {Name: "spec.system", Before: []byte(`"shop"`)}, {Name: "spec.dependsOn", Before: []byte(`["component:a"]`), After: []byte(`[]`)}}}},
		Moved:   []compare.Change{{Entity: described("web", "", "web/catalog-info.yaml", 1), From: "front/catalog-info.yaml"}},
		Removed: []compare.Entity{described("basket", "Basket", "basket/catalog-info.yaml", 1)},
		Stale:   []compare.Entity{described("mail", "Mail", "mail/catalog-info.yaml", 1)},
		Relations: compare.Relations{Broken: []compare.Relation{relation("web", "dependsOn", "component:default/basket")}, Made: []compare.Relation{relation("web", "dependsOn", "component:default/cart")},
			Dropped: []compare.Relation{relation("checkout", "dependsOn", "component:default/a")}, Unknown: []compare.Relation{relation("cart", "ownedBy", "group:default/new")}},
		Conflicts: []compare.Conflict{{Ref: "component:default/stock", Claims: []compare.Claim{{Place: compare.Place{File: "stock/catalog-info.yaml", Line: 8}, Owner: "group:default/payments", Keeps: true},
			{Place: compare.Place{File: "copy/catalog-info.yaml", Line: 1}, New: true}}}},
		Problems: compare.Problems{
			New: []compare.Problem{{Owner: "group:default/mail", Problem: entity.Problem{Severity: entity.SeverityError, File: "mail/catalog-info.yaml", Line: 4, Column: 3, Message: "the '{' of line 3 is not closed", Fix: "Close it."}}},
			Old: []compare.Problem{{}}, Fixed: []compare.Problem{{Problem: entity.Problem{Severity: entity.SeverityWarning, File: "a.yaml", Message: "odd"}}}},
	}}
}

func TestDifference(t *testing.T) {
	for name, c := range map[string]*render.Comparison{"difference": comparison(), "difference-none": {Rev: "01234567", Commits: []string{"0123456789abcdef"}, Difference: &compare.Difference{}}} {
		var page, comment bytes.Buffer
		p := render.NewPage(&page, render.Options{})
		p.Difference(c)
		if err := p.Err(); err != nil {
			t.Fatal(err)
		}
		golden(t, name, page.String())
		if err := render.Comment(&comment, c); err != nil {
			t.Fatal(err)
		}
		golden(t, name+"-comment", comment.String())
	}
	raw, err := json.Marshal(comparison().Difference)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := render.JSON(&out, raw); err != nil {
		t.Fatal(err)
	}
	golden(t, "difference-json", out.String())
}

// TestCommentIsBounded holds comments to what forges accept.
func TestCommentIsBounded(t *testing.T) {
	c := &render.Comparison{Difference: &compare.Difference{}}
	for i := range 5000 {
		c.Added = append(c.Added, described(fmt.Sprint("service-", i), strings.Repeat("|", 500), "x", 1))
	}
	var out bytes.Buffer
	if err := render.Comment(&out, c); err != nil {
		t.Fatal(err)
	}
	left := regexp.MustCompile(`… and (\d+) more`).FindStringSubmatch(out.String())
	if out.Len() > 65_000 || left == nil || !strings.HasPrefix(out.String(), "✅ **Catalog: 5000 entities added**") || !strings.Contains(out.String(), left[1]+" rows more in all") ||
		strings.Count(out.String(), "<details>") != strings.Count(out.String(), "</details>") {
		t.Errorf("%d bytes: %.500s", out.Len(), out.String())
	}
}

// FuzzComment holds texts from files to being nothing but text: what is left
// of a comment without code is the same for all of them.
func FuzzComment(f *testing.F) {
	for _, s := range []string{"plain", "<script>alert(1)</script>", "`x`", "|", `\|`, `\`, "``|<b>", "@team", "a\nb", "</code><img src=x>", "\x00\xff", "![x](https://e.example)", "| a | b |", "<!--", "&lt;"} {
		f.Add(s)
	}
	code := regexp.MustCompile("`[^`]*`|<code>[^<]*</code>")
	skeleton := func(t *testing.T, s string) string {
		c := comparison()
		c.Added[0].Title, c.Added[0].File, c.Problems.New[0].Message, c.Conflicts[0].Ref, c.Rev = s, s, s, s, s
		c.Changed[0].Fields[0] = compare.Field{Name: s, Before: entity.AppendJSON(nil, s), After: []byte(`"what nobody else says: 0x7d1c"`)}
		var out bytes.Buffer
		if err := render.Comment(&out, c); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(out.String(), "\n") {
			if strings.HasPrefix(line, "|") && strings.Count(line, "|") > 6 || strings.ContainsAny(line, "\x00\r") {
				t.Errorf("%q breaks its row: %s", s, line)
			}
			if strings.Count(code.ReplaceAllString(line, ""), "`") > 0 {
				t.Errorf("%q leaves code open: %s", s, line)
			}
		}
		return code.ReplaceAllString(out.String(), "")
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := strings.Join(strings.Fields(skeleton(t, s)), " ")
		if want := strings.Join(strings.Fields(skeleton(t, "plain")), " "); got != want {
			t.Errorf("%q changes the comment:\n%s\nwant\n%s", s, got, want)
		}
	})
}
