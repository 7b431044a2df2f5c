package ingest_test

import (
	"slices"
	"testing"
)

func TestLocationsAreFollowed(t *testing.T) {
	w := newWorld(t, "a")
	w.write(map[string]string{
		"catalog-info.yaml": location("root", "targets:", "  - ./org/all.yaml", "  - ./parts/x.yaml"),
		"org/all.yaml":      location("org", "target: ../parts/y.yaml"),
		"parts/x.yaml":      component("x"),
		"parts/y.yaml":      component("y"),
		"parts/z.yaml":      component("z"),
	})
	w.has("location:default/root", "location:default/org", "component:default/x", "component:default/y")
	w.lacks("component:default/z")
	if got := w.snap.Parents(everything(), "component:default/y"); !slices.Equal(got, []string{"location:default/org"}) {
		t.Errorf("parents of y: %q", got)
	}
	origin := w.entity("component:default/y").Annotation("backstage.io/managed-by-origin-location")
	if origin != "url:https://git.example.test/acme/a/blob/main/catalog-info.yaml" {
		t.Errorf("origin of y: %s", origin)
	}
	w.write(map[string]string{"catalog-info.yaml": location("root", "target: ./parts/x.yaml")})
	w.has("component:default/x")
	w.lacks("location:default/org", "component:default/y")
	w.quiet()
}

func TestLocationWithAMissingTarget(t *testing.T) {
	w := newWorld(t, "a")
	w.write(map[string]string{"catalog-info.yaml": location("root", "targets: [./x.yaml, ./gone.yaml]"), "x.yaml": component("x")})
	w.lacks("location:default/root", "component:default/x")
	p := w.problem(`target "./gone.yaml" is not there`)
	if p.File != "catalog-info.yaml" || p.Line != 6 || p.Ref != "location:default/root" {
		t.Errorf("got %+v", p)
	}
	w.write(map[string]string{"gone.yaml": component("y")})
	w.has("location:default/root", "component:default/x", "component:default/y")
	w.quiet()
	w.write(map[string]string{"gone.yaml": ""})
	w.has("location:default/root", "component:default/x")
	w.lacks("component:default/y")
	w.problem("is not there")
	w.start()
	w.has("location:default/root", "component:default/x")
}

func TestOptionalTarget(t *testing.T) {
	w := newWorld(t, "a")
	w.write(map[string]string{"catalog-info.yaml": location("root", "presence: optional", "targets: [./x.yaml, ./later.yaml]"), "x.yaml": component("x")})
	w.has("location:default/root", "component:default/x")
	w.write(map[string]string{"later.yaml": component("later")})
	w.has("component:default/later")
	w.quiet()
}

func TestBrokenTargetOfALocation(t *testing.T) {
	w := newWorld(t, "a")
	w.write(map[string]string{"catalog-info.yaml": location("root", "targets: [./x.yaml, ./bad.yaml]"), "x.yaml": component("x"), "bad.yaml": "a: [\n"})
	w.lacks("location:default/root", "component:default/x")
	w.problem("target bad.yaml has errors of its own")
	w.write(map[string]string{"bad.yaml": component("good")})
	w.has("component:default/x", "component:default/good")
	w.write(map[string]string{"bad.yaml": "a: [\n"})
	w.has("location:default/root", "component:default/x", "component:default/good")
}

func TestCyclesEnd(t *testing.T) {
	w := newWorld(t, "a")
	w.write(map[string]string{
		"catalog-info.yaml": location("one", "targets: [./two.yaml, ./catalog-info.yaml]"),
		"two.yaml":          location("two", "target: ./catalog-info.yaml") + "---\n" + component("x"),
	})
	w.has("location:default/one", "location:default/two", "component:default/x")
	w.quiet()
}

func TestOneFileIsOneClaim(t *testing.T) {
	w := newWorld(t, "a")
	w.write(map[string]string{
		"catalog-info.yaml":   location("root", "targets: [./x/catalog-info.yaml, ./x/catalog-info.yaml, https://git.example.test/acme/a/blob/main/x/catalog-info.yaml]"),
		"x/catalog-info.yaml": component("x"),
	})
	w.has("location:default/root", "component:default/x")
	w.quiet()
	if n := w.sources[0].Reads("x/catalog-info.yaml"); n != 1 {
		t.Errorf("x was read %d times", n)
	}
	if got := w.in.Sources()[0].Entities; got != 2 {
		t.Errorf("%d entities", got)
	}
}

func TestGlobs(t *testing.T) {
	w := newWorld(t, "a")
	w.write(map[string]string{"catalog-info.yaml": location("root", "target: ./parts/*.yaml"), "parts/x.yaml": component("x"), "parts/deep/y.yaml": component("y")})
	w.has("component:default/x")
	w.lacks("component:default/y")
	w.write(map[string]string{"parts/z.yaml": component("z")})
	w.has("component:default/z")
	w.quiet()
}

func TestTargetsInOtherSources(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.writeTo(1, map[string]string{"shared/x.yaml": component("x"), "catalog-info.yaml": component("root-of-b")})
	w.writeTo(0, map[string]string{"catalog-info.yaml": location("root", "target: https://git.example.test/acme/b/blob/main/shared/x.yaml")})
	w.has("component:default/x")
	if from := w.entity("component:default/x").From; from.Source != "b" || from.Path != "shared/x.yaml" || from.Repository != "https://git.example.test/acme/b" {
		t.Errorf("from %+v", from)
	}
	w.writeTo(1, map[string]string{"shared/x.yaml": component("x") + "  system: moved\n"})
	w.refresh(0)
	if got := w.entity("component:default/x").Targets("partOf"); !slices.Equal(got, []string{"system:default/moved"}) {
		t.Errorf("x is part of %q", got)
	}
	w.quiet()
}

func TestTargetsElsewhereAreRefused(t *testing.T) {
	w := newWorld(t, "a")
	for _, target := range []string{"http://169.254.169.254/latest/meta-data", "https://git.example.test/acme/secret/blob/main/x.yaml", "../../../etc/passwd"} {
		w.write(map[string]string{"catalog-info.yaml": location("root", "target: "+target)})
		w.lacks("location:default/root")
		if p := w.in.Problems(); len(p) != 1 {
			t.Errorf("%s: problems %+v", target, p)
		}
	}
}

func TestPlaceholdersAreFollowed(t *testing.T) {
	w := newWorld(t, "a")
	api := "apiVersion: backstage.io/v1alpha1\nkind: API\nmetadata:\n  name: x\nspec:\n  type: openapi\n  lifecycle: production\n  owner: shop\n  definition:\n    $text: ./openapi.txt\n"
	w.write(map[string]string{"catalog-info.yaml": api, "openapi.txt": "first"})
	if got := w.entity("api:default/x").Spec().String("definition"); got != "first" {
		t.Errorf("definition %q", got)
	}
	w.write(map[string]string{"openapi.txt": "second"})
	if got := w.entity("api:default/x").Spec().String("definition"); got != "second" {
		t.Errorf("definition %q", got)
	}
	w.write(map[string]string{"openapi.txt": ""})
	if e := w.entity("api:default/x"); e == nil || e.Spec().String("definition") != "second" || len(e.Status) == 0 {
		t.Errorf("the last good entity is gone: %+v", e)
	}
	w.write(map[string]string{"catalog-info.yaml": api + "\n", "openapi.txt": "third"})
	if got := w.entity("api:default/x").Spec().String("definition"); got != "third" {
		t.Errorf("definition %q", got)
	}
	w.quiet()
}
