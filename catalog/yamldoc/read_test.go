package yamldoc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// summary is what a file reads as, on one line: JSON of each document, "null"
// for those that are skipped, the message of a problem with its place.
func summary(text string) string {
	docs, fatal := Read([]byte(text))
	var parts []string
	for _, d := range docs {
		switch {
		case len(d.Problems) > 0:
			p := d.Problems[0]
			parts = append(parts, fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Message))
		case d.Null:
			parts = append(parts, "null")
		default:
			parts = append(parts, string(entity.AppendJSON(nil, d.Value)))
		}
	}
	if fatal != nil {
		parts = append(parts, fmt.Sprintf("fatal %d:%d: %s", fatal.Line, fatal.Column, fatal.Message))
	}
	return strings.Join(parts, " | ")
}

type reading struct{ text, want string }

func check(t *testing.T, cases []reading) {
	t.Helper()
	for _, c := range cases {
		if got := summary(c.text); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestScalars(t *testing.T) {
	check(t, []reading{
		{"[yes, no, on, y, 2001-12-14, 12:30:45, 1_000, 0b11, -0x1f, +0o7, 0O17, 0X1F]",
			`["yes","no","on","y","2001-12-14","12:30:45","1_000","0b11","-0x1f","+0o7","0O17","0X1F"]`},
		{"[017, 0o17, 0x1f, +7, -7, 1e3, 1., .5, 1.e1, -0, ., 1e, .e1, 1-2]", `[17,15,31,7,-7,1000,1,0.5,10,0,".","1e",".e1","1-2"]`},
		{"[null, Null, NULL, ~, nULL, true, True, TRUE, tRUE, false, False, FALSE]", `[null,null,null,null,"nULL",true,true,true,"tRUE",false,false,false]`},
		{"[.inf, -.Inf, .NAN, .iNF, 1e400, 1e-400]", `[null,null,null,".iNF",null,0]`},
		{"[9007199254740993, 0xffffffffffffffffff, 0o7777777777777777777777]", `[9007199254740992,4.722366482869645e+21,73786976294838210000]`},
		{`["a", 'it''s', "\t\x41\u00e9\U0001F600\/\N\_", "\ud83d\ude00", "\ud800x"]`, "[\"a\",\"it's\",\"\\tAé😀/\u0085\u00a0\",\"😀\",\"\ufffdx\"]"},
		{"[a#b, http://x/#y, -a, ?a, :a, --b, a'b, a\"b, <a>]", `["a#b","http://x/#y","-a","?a",":a","--b","a'b","a\"b","<a>"]`},
		{"a: one\n two\n\n  three\nb: 'x\n\n  y '\nc: \"x \\\n   y\n  z\"", `{"a":"one two\nthree","b":"x\ny ","c":"x y z"}`},
		{"a: x\rb", `{"a":"x\rb"}`},
		{"a: x\x00\x07y\u0085z\u2028\u00a0", "{\"a\":\"x\\u0000\\u0007y\u0085z\u2028\u00a0\"}"},
		{"{{ value }}", `{"{ value }":null}`},
		{"a: ${{ values.x }}", `{"a":"${{ values.x }}"}`},
		{"-x\n-y", `"-x -y"`},
	})
}

func TestBlockScalars(t *testing.T) {
	check(t, []reading{
		{"a: |\n  x\n   y\n\n", `{"a":"x\n y\n"}`},
		{"a: |-\n  x\nb: 1", `{"a":"x","b":1}`},
		{"a: |+\n  x\n\n\nb: 1", `{"a":"x\n\n\n","b":1}`},
		{"a: |+\n  x", `{"a":"x\n"}`},
		{"a: |\n  x", `{"a":"x\n"}`},
		{"a: >\n  x\n  y\n\n  z\n   w\n  v\n", `{"a":"x y\nz\n w\nv\n"}`},
		{"a: |2\n    x\n", `{"a":"  x\n"}`},
		{"- |1-\n  x\n", `[" x"]`},
		{"a: | # comment\n  x\n", `{"a":"x\n"}`},
		{"a: |\nb: 1", `{"a":"","b":1}`},
		{"a: |\n  \ttab\n  x\ty\n", `{"a":"\ttab\nx\ty\n"}`},
		{"a: |\r\n  x\r\n  y\r\n", `{"a":"x\ny\n"}`},
		{"--- |\ntext\n---\na: 1\n", `"text\n" | {"a":1}`},
		{"a: |\n  x\n # less\nb: 1", `{"a":"x\n","b":1}`},
	})
}

func TestDocuments(t *testing.T) {
	check(t, []reading{
		{"", ""},
		{"# only a comment\n\n", ""},
		{"%YAML 1.2\n", ""},
		{"---\n", "null"},
		{"null\n---\n~\n---\n# c\n---\n\"\"", `null | null | null | ""`},
		{"a: 1\n...\nb: 2\n...\n...\n", `{"a":1} | {"b":2} | null`},
		{"...\n", "null"},
		{"--- {a: 1}\n---\t\n- x\n--- # c\n\"y\"\n", `{"a":1} | ["x"] | "y"`},
		{"\ufeffa: 1\n...\n\ufeffb: 2\n---\n\ufeffc: 3", "{\"a\":1} | {\"b\":2} | {\"\ufeffc\":3}"},
		{"a: 1\n---\nb: [\n---\nc: 3", `{"a":1} | 4:1: the '[' of line 3 is not closed | {"c":3}`},
		{"%FOO x\n%YAML 1.3\n%YAML 1.3\n---\na: yes", `{"a":"yes"}`},
		{"a\xe2\x82\xacb: \xed\xa0\x80", "{\"a€b\":\"\ufffd\ufffd\ufffd\"}"},
		{"x: a\xe2\x82b\xe2\xe2\x82\xac\xf5\x80", "{\"x\":\"a\ufffdb\ufffd€\ufffd\ufffd\"}"},
	})
}

func TestKeys(t *testing.T) {
	check(t, []reading{
		{"{1: a, 2.50: b, 0x10: c, true: d, ~: e}", `{"1":"a","2.5":"b","16":"c","true":"d","":"e"}`},
		{"1: a\n\"1\": b", `{"1":"b"}`},
		{"[a, b]: 1\n? {m: n}\n: 2\n? - q\n  - r\n: 3", `{"[ a, b ]":1,"{ m: n }":2,"[ q, r ]":3}`},
		{"{a:b}", `{"a:b":null}`},
		{`{"a":b, : c}`, `{"a":"b","":"c"}`},
		{"[a:b, a: b, : c, ? d, ]", `["a:b",{"a":"b"},{"":"c"},{"d":null}]`},
		{": a", `{"":"a"}`},
		{"a: &k b\n*k : c", `{"a":"b","b":"c"}`},
		{"<<: {a: 1}\nb: 2", `{"<<":{"a":1},"b":2}`},
		{"{a\n b: c}", `{"a b":"c"}`},
		{"{" + strings.Repeat("k", 2000) + ": 1}", `{"` + strings.Repeat("k", 2000) + `":1}`},
		{"a: 1\nb: 2\na: 3", `3:1: the key "a" is written twice, first on line 1`},
		{"1: a\n0x1: b", `2:1: the key "0x1" is written twice, first on line 1`},
		{"~: a\nnull: b", `2:1: the key "null" is written twice, first on line 1`},
		{"a: 1\n'a': 2", `2:1: the key "a" is written twice, first on line 1`},
		{"a\xff: 1\na\xfe: 2", `2:1: the key "a` + "\ufffd" + `" is written twice, first on line 1`},
	})
}

func TestTags(t *testing.T) {
	check(t, []reading{
		{"[!thing 12, !<x:y> z, !!str 5, !!int abc, !!float 1, !!int 1.5, !!int \"12\", !!null x, !!bool \"true\", ! 7]",
			`["12","z","5","abc","1","1.5",12,"x",true,"7"]`},
		{"[!!map [a], !!seq x, !!str {a: b}, !!set {a, b}, !!omap [a: 1], !!pairs [a: 1, b: 2]]", `[["a"],"x",{"a":"b"},{},{},[{"a":1},{"b":2}]]`},
		{"!!binary aGk=", `{"type":"Buffer","data":[104,105]}`},
		{"!!timestamp 2001-12-14t21:59:43.10-05:00", `"2001-12-15T02:59:43.100Z"`},
		{"%TAG !! other:\n---\n!!int \"2\"", `"2"`},
		{"%TAG !e! tag:yaml.org,2002:\n---\n!e!int \"2\"", `2`},
		{"a: !e!foo b", `1:4: the tag "!e!foo" has a handle that is not declared`},
		{"a: !!set {b: 1}", `1:14: an item of a set has no value`},
		{"a: !!omap [b: 1, b: 2]", `1:18: the key "b" is in the ordered map twice, first on line 1`},
		{"a: !!timestamp soon", `1:16: "soon" is no timestamp`},
	})
}

func TestOldVersion(t *testing.T) {
	check(t, []reading{
		{"%YAML 1.1\n---\n[yes, off, 017, 0o17, 1_000, 0b11, 190:20:30, 1:30.5, 2001-12-14, 2001-12-14 1:2:3, -.inf, 1_0.5, x]\n---\nyes\n...\n---\nyes",
			`[true,false,15,"0o17",1000,3,685230,90.5,"2001-12-14T00:00:00.000Z","2001-12-14T01:02:03.000Z",null,10.5,"x"] | true | true`},
		{"%YAML 1.1\n---\na: &a {x: 1, u: 2}\nb:\n  u: 3\n  <<: *a\n  z: 4\nc: {<<: [*a, {w: 5}], x: 6}",
			`{"a":{"x":1,"u":2},"b":{"u":3,"x":1,"z":4},"c":{"x":6,"u":2,"w":5}}`},
		{"%YAML 1.1\n---\na: {<<: 1}", `fatal 3:5: "<<" merges mappings, and this is none`},
	})
}
