package descriptor

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

func TestLocationTargets(t *testing.T) {
	type target struct {
		at             string
		optional, glob bool
	}
	show := func(ts []Target) string {
		var out []string
		for _, x := range ts {
			out = append(out, fmt.Sprint(target{x.Location.String(), x.Optional, x.Glob}, x.At.Line))
		}
		return strings.Join(out, " ")
	}
	const tree = "https://github.com/acme/catalog/tree/main/"
	for _, tc := range []struct{ spec, want, problems string }{
		{"{}", "", ""},
		{"{target: ./b.yaml, targets: [../c.yaml, '*.yaml'], presence: optional}",
			"{url:" + tree + "dir/b.yaml true false} 4 {url:" + tree + "c.yaml true false} 4 {url:" + tree + "dir/*.yaml true true} 4", ""},
		{"{type: url, target: 'https://example.test/x?y=*'}", "{url:https://example.test/x?y=* false false} 4", ""},
		{"{type: file}", "", "4:8 spec.type \"file\" cannot be read from a file of type url\n"},
	} {
		res := process(t, New(Options{}), "apiVersion: backstage.io/v1alpha1\nkind: Location\nmetadata: {name: l}\nspec: "+tc.spec+"\n", nil)
		if got := show(res.Targets); got != tc.want || said(res.Problems) != tc.problems || res.Entity == nil {
			t.Errorf("%s: %s, want %s; problems %s", tc.spec, got, tc.want, said(res.Problems))
		}
		if res.OK != (tc.problems == "") {
			t.Errorf("%s: ok %v", tc.spec, res.OK)
		}
	}
	p := New(Options{})
	at := Location{TypeFile, "/srv/catalog/a.yaml"}
	f := p.Read(at, []byte("apiVersion: backstage.io/v1alpha1\nkind: Location\nmetadata: {name: l}\nspec: {targets: [./x, ./sub/, './{a,b}', y]}\n"))
	res := p.Process(context.Background(), f, f.Documents[0], at, nil)
	want := "{file:/srv/catalog/x false false} 4 {file:/srv/catalog/{a,b} false true} 4 {file:y false false} 4"
	if got := show(res.Targets); got != want || res.OK || res.Entity == nil {
		t.Errorf("in a folder: %s, want %s; %s", got, want, said(res.Problems))
	}
}
