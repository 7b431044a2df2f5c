package descriptor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

func TestPlaceholders(t *testing.T) {
	r := inRepository(map[string]string{
		"dir/t.txt": "text\n", "dir/a b.txt": "", "root.txt": "root",
		"dir/a%20b.txt": "spaced", "dir/broken.txt": "a\xe2\x82b\xff\xfe", "dir/bom.txt": "\ufefftext",
		"dir/v.json": `{"b": 1, "a": [true, null], "b": 2}`, "dir/bad.json": "{// no\n}", "dir/empty": "",
		"dir/v.yaml": "b: [x, {y: 1}]\n__proto__: {z: 1}\n", "dir/two.yaml": "a: 1\n---\nb: 2\n", "dir/bad.yaml": "a: [\n",
		"dir/catalog-info.yaml": "itself", "dir/nested.yaml": "$text: t.txt\n", "dir/list.yaml": "[b:x, a:y]\n",
	})
	for _, tc := range []struct{ value, want string }{
		{"{$text: t.txt}", `"text\n"`},
		{"{$text: ./t.txt#part}", `null`},
		{"{$text: 'a b.txt'}", `"spaced"`},
		{"{$text: a%20b.txt}", `"spaced"`},
		{"{$text: /root.txt}", `"root"`},
		{"{$text: ../root.txt}", `"root"`},
		{"{$text: ''}", `"itself"`},
		{"{$text: broken.txt}", `"a` + "\ufffd" + `b` + "\ufffd\ufffd" + `"`},
		{"{$text: bom.txt}", `"` + "\ufeff" + `text"`},
		{"{$text: empty}", `""`},
		{"{$json: v.json}", `{"b":2,"a":[true,null]}`},
		{"{$yaml: v.yaml}", `{"b":["x",{"y":1}]}`},
		{"{$yaml: nested.yaml}", `{"$text":"t.txt"}`},
		{"[1, {$text: t.txt}]", `[1,"text\n"]`},
		{"{a: {b: {$text: t.txt}}}", `{"a":{"b":"text\n"}}`},
		{"{$text: t.txt, other: 1}", `{"$text":"t.txt","other":1}`},
		{"{$text: t.txt, other: {$text: t.txt}}", `{"$text":"t.txt","other":{"$text":"t.txt"}}`},
		{"{$openapi: t.txt}", `{"$openapi":"t.txt"}`},
		{"{$Text: t.txt}", `{"$Text":"t.txt"}`},
	} {
		res := process(t, New(Options{}), shop("", "  x: "+tc.value+"\n"), r)
		if tc.want == "null" {
			if res.OK {
				t.Errorf("%s is read", tc.value)
			}
			continue
		}
		if !res.OK {
			t.Errorf("%s: %s", tc.value, said(res.Problems))
			continue
		}
		if got, _ := json.Marshal(res.Entity.Object("spec").Get("x")); string(got) != tc.want {
			t.Errorf("%s: %s, want %s", tc.value, got, tc.want)
		}
	}
	res := process(t, New(Options{}), shop("", "  dependsOn: {$yaml: list.yaml}\n"), r)
	if got, _ := json.Marshal(res.Entity.Object("spec").Get("dependsOn")); string(got) != `["a:y","b:x"]` || len(res.Read) != 1 {
		t.Errorf("dependsOn is %s; read %v", got, res.Read)
	}
}

func TestPlaceholdersThatFail(t *testing.T) {
	r := inRepository(map[string]string{
		"dir/bad.json": "{// no\n}", "dir/two.yaml": "a: 1\n---\nb: 2\n", "dir/bad.yaml": "a: b: c\n", "dir/empty.yaml": "# nothing\n",
	})
	for _, tc := range []struct{ value, want string }{
		{"{$text: gone.txt}", `$text names "gone.txt", which is not there`},
		{"{$text: 5}", "$text names the number 5, not a file"},
		{"{$text: ['a']}", "$text names a list, not a file"},
		{"{$json: bad.json}", `$json names "bad.json", which is not valid JSON: invalid character '/' looking for beginning of object key string`},
		{"{$yaml: two.yaml}", `$yaml names "two.yaml", which holds 2 YAML documents instead of one`},
		{"{$yaml: empty.yaml}", `$yaml names "empty.yaml", which holds 0 YAML documents instead of one`},
		{"{$text: 'https://github.com/acme/other/blob/main/t.txt'}", `$text names "https://github.com/acme/other/blob/main/t.txt", which is not in the same repository as the entity`},
		{"{$text: ../../../../other/blob/main/t.txt}", `$text names "../../../../other/blob/main/t.txt", which is not in the same repository as the entity`},
		{"{$text: 'https://gitlab.com/acme/catalog/-/blob/main/t.txt'}", `$text names "https://gitlab.com/acme/catalog/-/blob/main/t.txt", which is not in the same repository as the entity`},
		{"{$text: 'https://'}", `$text names "https://", of which no URL can be made`},
		{"{$text: " + strings.Repeat("a", 3000) + "}", `$text names "` + strings.Repeat("a", 80) + `"… (3000 bytes), of which no URL can be made`},
	} {
		res := process(t, New(Options{}), shop("", "  x: "+tc.value+"\n"), r)
		if got := strings.TrimSpace(said(res.Problems)); got != "9:7 "+tc.want {
			t.Errorf("%.60s: %s, want %s", tc.value, got, tc.want)
		}
	}
	if got := said(process(t, New(Options{}), shop("", "  x: {$yaml: bad.yaml}\n"), r).Problems); !strings.HasPrefix(got, `9:7 $yaml names "bad.yaml", which is not valid YAML: line 1: `) {
		t.Errorf("broken YAML: %s", got)
	}
}

// What a placeholder brings in has the place of the placeholder.
func TestFilledValuesHaveAPlace(t *testing.T) {
	r := inRepository(map[string]string{"dir/spec.yaml": "\n\n\ntype: 5\n", "dir/l.json": `{"tier": 1}`})
	res := process(t, New(Options{}), `apiVersion: backstage.io/v1alpha1
kind: System
metadata:
  name: s
  labels: {$json: l.json}
spec:
  $yaml: spec.yaml
`, r)
	want := "5:12 metadata.labels.tier is the number 1, not a text\n6:1 spec.owner is missing: kind System needs it\n7:3 spec.type is the number 5, not a text\n"
	if got := said(res.Problems); got != want {
		t.Errorf("problems:\n%swant\n%s", got, want)
	}
}

// Annotations as a whole cannot come from a file: generated ones stand beside.
func TestAnnotationsAreNoPlaceholder(t *testing.T) {
	res := process(t, New(Options{}), shop("  annotations: {$yaml: a.yaml}\n", ""), inRepository(map[string]string{"dir/a.yaml": "a: b\n"}))
	if res.OK || len(res.Read) != 0 {
		t.Errorf("ok %v, read %v", res.OK, res.Read)
	}
}

// In folders only absolute URLs have a meaning.
func TestPlaceholdersInFolders(t *testing.T) {
	p := New(Options{})
	at := Location{TypeFile, "/srv/catalog/a.yaml"}
	r := files{"https://example.test/t.txt": "far"}
	for value, want := range map[string]bool{"./t.txt": false, "/srv/catalog/t.txt": false, "https://example.test/t.txt": true} {
		f := p.Read(at, []byte(shop("", "  x: {$text: '"+value+"'}\n")))
		if res := p.Process(context.Background(), f, f.Documents[0], at, r); res.OK != want {
			t.Errorf("%s: ok %v: %s", value, res.OK, said(res.Problems))
		}
	}
}

type failing struct{ err error }

func (f failing) Read(context.Context, Location) ([]byte, error) { return nil, f.err }

func TestReaderDecides(t *testing.T) {
	for _, err := range []error{
		errors.New("the source does not allow it"),
		fmt.Errorf("far away: %w", fault.New(fault.Unavailable, "the source does not allow it").Because(errors.New("/srv/objects: permission denied"))),
	} {
		res := process(t, New(Options{}), shop("", "  x: {$text: 'https://example.test/t.txt'}\n"), failing{err})
		if got := said(res.Problems); got != "9:7 $text names \"https://example.test/t.txt\", which could not be read: the source does not allow it\n" {
			t.Error(got)
		}
	}
	if res := process(t, New(Options{}), shop("", "  x: {$text: t.txt}\n"), nil); res.OK || res.Problems[0].Name != notFoundError {
		t.Errorf("without a Reader: %v", res.Problems)
	}
}

func TestPlaceholdersAreBounded(t *testing.T) {
	big := inRepository(map[string]string{"dir/big.txt": strings.Repeat("a", 8<<20), "dir/t.txt": "t"})
	many := func(n int, value string) string {
		return shop("", "  x: ["+strings.TrimSuffix(strings.Repeat(value+", ", n), ", ")+"]\n")
	}
	for _, tc := range []struct{ text, want string }{
		{many(5, "{$text: big.txt}"), "with which the document's placeholders read more than 32 MiB"},
		{many(1001, "{$text: t.txt}"), "is one of more than 1000 placeholders in the document"},
	} {
		res := process(t, New(Options{}), tc.text, big)
		if len(res.Problems) != 1 || !strings.Contains(res.Problems[0].Message, tc.want) {
			t.Errorf("%v, want one problem with %q", res.Problems, tc.want)
		}
	}
	if res := process(t, New(Options{}), many(1000, "{$text: t.txt}"), big); !res.OK || len(res.Read) != 1 {
		t.Errorf("1000 placeholders: ok %v, %d read", res.OK, len(res.Read))
	}
}

// Small files may not make a huge entity.
func TestDocumentsAreBounded(t *testing.T) {
	r := inRepository(map[string]string{"dir/a.yaml": "- &a " + strings.Repeat("x", 10000) + "\n" + strings.Repeat("- *a\n", 50)})
	res := process(t, New(Options{}), shop("", "  x: ["+strings.Repeat("{$yaml: a.yaml}, ", 300)+"1]\n"), r)
	if got := said(res.Problems); got != "1:1 the document is larger than 64 MiB once its aliases and placeholders are written out\n" {
		t.Errorf("ok %v: %.200s", res.OK, got)
	}
}

func TestSameRepository(t *testing.T) {
	p := New(Options{Forges: map[string]string{"git.test": "gitea"}})
	const hub = "https://github.com/o/r/blob/main/a.yaml"
	for _, tc := range []struct {
		target, base string
		want         bool
	}{
		{"https://github.com/o/r/blob/dev/x", hub, true},
		{"https://github.com/o/r2/blob/main/x", hub, false},
		{"https://github.com/p/r/blob/main/x", hub, false},
		{"https://github.com/o/r", hub, true},
		{"https://github.com/o/q", hub, false},
		{"https://github.com/o/%2e%2e%2fq/blob/main/x", hub, false},
		{"https://gitlab.com/o/r/-/blob/main/x", hub, false},
		{"https://example.test/x", hub, true},
		{"https://gitlab.com/g/s/p/-/raw/main/x", "https://gitlab.com/g/s/p/-/blob/main/a.yaml", true},
		{"https://gitlab.com/g/s/q/-/raw/main/x", "https://gitlab.com/g/s/p/-/blob/main/a.yaml", false},
		{"https://git.test/o/q/src/branch/main/x", "https://git.test/o/r/src/branch/main/a.yaml", false},
		{"https://dev.azure.com/o/p/_git/r?path=/x", "https://dev.azure.com/o/p/_git/r?path=/a.yaml", true},
		{"https://dev.azure.com/o/p/_git/q?path=/x", "https://dev.azure.com/o/p/_git/r?path=/a.yaml", false},
		{"https://example.test/o/q/blob/m/x", "https://example.test/o/r/blob/m/a.yaml", false},
		{"https://example.test/files/x", "https://example.test/files/a.yaml", true},
		{"https://h.test/projects/P/repos/Q/raw/x", "https://h.test/projects/P/repos/R/browse/a.yaml", false},
	} {
		target, err := p.parse(tc.target)
		if err != nil {
			t.Fatal(err)
		}
		base, err := p.parse(tc.base)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.sameRepository(target, base); got != tc.want {
			t.Errorf("%s from %s: %v", tc.target, tc.base, got)
		}
	}
}
