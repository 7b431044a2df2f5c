package index

import (
	"crypto/sha1"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

func record(root *entity.Object, edges ...entity.Edge) Change {
	e := &entity.Entity{Root: root}
	e.Ref = entity.Ref{Kind: e.Kind(), Namespace: "default", Name: e.Name()}.Canonical()
	return Change{Ref: e.Ref.String(), Record: &Record{Entity: e, Edges: edges}}
}

func TestSafeURLs(t *testing.T) {
	for url, bad := range map[string]bool{
		"javascript:alert(1)": true, " \x01JAVAscript:x": true, "j\na\tv\ra\nscript\n:x": true,
		"https://x/javascript:": false, "javascripts:x": false, "java script:x": false, "\u00a0javascript:x": false,
		"JAVASCRIPT:": true, "\x00 \x1fjavascript:x": true, "javascript": false, "jav\x00ascript:": false, "java\u017fcript:x": false, "": false,
	} {
		root := entity.Obj("kind", "Component", "metadata", entity.Obj("name", "a", "annotations", entity.Obj("backstage.io/edit-url", url, "other", url)))
		before := string(entity.AppendJSON(nil, root))
		safe := SafeURLs(root)
		ann := safe.Object("metadata").Object("annotations")
		if got := ann.String("backstage.io/edit-url") == RejectedURL; got != bad || ann.String("other") != url {
			t.Errorf("%q becomes %v", url, ann)
		}
		if string(entity.AppendJSON(nil, root)) != before || (safe != root) != bad {
			t.Errorf("%q: the descriptor itself is changed, or copied for nothing", url)
		}
	}
}

func TestEtag(t *testing.T) {
	root := entity.Obj("apiVersion", "v1", "kind", "Component", "metadata", entity.Obj("name", "a", "etag", "", "z", noEtag), "spec", entity.Obj("etag", noEtag))
	s := Empty().Apply([]Change{record(root)})
	e := s.Get(everything(), "component:default/a")
	b, _ := e.MarshalJSON()
	tag := e.Metadata().String("etag")
	sum := sha1.Sum([]byte(strings.Replace(string(b), `"etag":"`+tag, `"etag":"`+noEtag, 1)))
	if tag != hex.EncodeToString(sum[:]) || strings.Count(string(b), tag) != 1 || strings.Count(string(b), noEtag) != 2 {
		t.Errorf("etag %s of %s", tag, b)
	}
	made := entity.Entity{Root: e.Root, Relations: e.Relations}
	if anew := made.AppendJSON(nil); string(anew) != string(b) {
		t.Errorf("the root gives %s, the entity is %s", anew, b)
	}
	own := entity.Obj("apiVersion", "v1", "kind", "Component", "metadata", entity.Obj("name", "a", "etag", "mine"))
	s = s.Apply([]Change{record(own)})
	if got := s.Get(everything(), "component:default/a").Metadata().String("etag"); got != "mine" {
		t.Errorf("the author's etag became %s", got)
	}
}

// TestKeysThatDifferInCase keep an entity out, not its relations, until they
// are put right.
func TestKeysThatDifferInCase(t *testing.T) {
	edge := entity.Edge{Source: "group:default/g", Type: "ownerOf", Target: "component:default/a"}
	g := record(entity.Obj("kind", "Group", "metadata", entity.Obj("name", "g")))
	bad := record(entity.Obj("kind", "Component", "metadata", entity.Obj("name", "a", "labels", entity.Obj("Tier", "1", "tier", "2"))), edge)
	good := record(entity.Obj("kind", "Component", "metadata", entity.Obj("name", "a", "labels", entity.Obj("tier", "2"))), edge)
	told := false
	s := Empty().Apply([]Change{good, g}).Apply([]Change{bad})
	all := everything()
	if s.Get(all, "component:default/a") != nil || s.Len() != 1 || s.List(all, Query{}, limit(-1)).Total != 1 {
		t.Error("the entity is there")
	}
	for rec, err := range s.Unshown() {
		if rec != bad.Record || !strings.Contains(err.Error(), "'metadata.labels.tier'") {
			t.Errorf("%v is kept out by %v", rec.Entity.Ref, err)
		}
		told = true
	}
	if !told {
		t.Error("nothing is said of it")
	}
	if got := s.Get(all, "group:default/g").Targets("ownerOf"); len(got) != 1 {
		t.Errorf("the group owns %v", got)
	}
	s = s.Apply([]Change{good})
	if s.Get(all, "component:default/a") == nil {
		t.Error("the entity is not there again")
	}
	for _, err := range s.Unshown() {
		t.Errorf("something is kept out still: %v", err)
	}
}

// TestRelationsComeFromBothEnds emits one edge twice and takes it away once.
func TestRelationsComeFromBothEnds(t *testing.T) {
	all := everything()
	edge := entity.Edge{Source: "component:default/a", Type: "dependsOn", Target: "component:default/b"}
	a, b := entity.Obj("kind", "Component", "metadata", entity.Obj("name", "a")), entity.Obj("kind", "Component", "metadata", entity.Obj("name", "b"))
	s := Empty().Apply([]Change{record(b, edge)}) // before its source is there
	s = s.Apply([]Change{record(a, edge, edge)})
	check := func(want int) {
		t.Helper()
		e := s.Get(all, "component:default/a")
		if len(e.Relations) != want || s.List(all, Query{Where: Exists("relations.dependsOn")}, limit(-1)).Total != want {
			t.Errorf("relations are %v, want %d", e.Relations, want)
		}
	}
	check(1)
	s = s.Apply([]Change{record(b)})
	check(1)
	s = s.Apply([]Change{record(a)})
	check(0)
}
