package edit

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

const (
	digestA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	digestB = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// editCase is an edit: either parts of the text are replaced, or it is refused.
type editCase struct {
	name, file, in string
	do             string // --image …, --set …, --set-string …, --replicas …
	document       string
	// replace are old and new by turns, each old part once.
	replace []string
	// refused is part of the message.
	refused string
}

func (c editCase) change(t *testing.T) Change {
	t.Helper()
	flag, arg, _ := strings.Cut(c.do, " ")
	switch flag {
	case "image":
		im, err := ParseImage(arg)
		if err != nil {
			t.Fatal(err)
		}
		return im
	case "replicas":
		var r Replicas
		if _, err := fmt.Sscan(arg, &r.Count); err != nil {
			t.Fatal(err)
		}
		return r
	default:
		path, value, ok := SplitAssignment(arg)
		if !ok {
			t.Fatalf("%q is no assignment", arg)
		}
		return Set{Path: path, Value: value, String: flag == "set-string"}
	}
}

func editCases() []editCase {
	return append(append(kustomizeCases(), valuesCases()...), hardCases()...)
}

func TestEdit(t *testing.T) {
	for _, c := range editCases() {
		t.Run(c.name, func(t *testing.T) {
			for _, variant := range []struct {
				name string
				make func(string) string
			}{
				{"as it is", func(s string) string { return s }},
				{"CRLF", func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }},
				{"byte order mark", func(s string) string { return byteOrderMark + s }},
				{"no final newline", func(s string) string { return strings.TrimSuffix(s, "\n") }},
				{"comment with a tab", func(s string) string { return "# a\tb é\n" + s }},
			} {
				t.Run(variant.name, func(t *testing.T) { c.run(t, variant.make) })
			}
		})
	}
}

func (c editCase) run(t *testing.T, variant func(string) string) {
	if strings.HasPrefix(c.in, "%") && strings.HasPrefix(variant(""), "#") {
		t.Skip("a version stands first")
	}
	if (strings.HasSuffix(c.in, "\n\n") || strings.Contains(c.name, "a block at the end")) && variant("a\n") == "a" {
		t.Skip("the end is part of the case")
	}
	in, want := variant(c.in), c.in
	for i := 0; i < len(c.replace); i += 2 {
		if strings.Count(want, c.replace[i]) != 1 {
			t.Fatalf("%q is there %d times", c.replace[i], strings.Count(want, c.replace[i]))
		}
		want = strings.Replace(want, c.replace[i], c.replace[i+1], 1)
	}
	want = variant(want)
	r := Request{File: c.file, Text: in, Document: c.document, Changes: []Change{c.change(t)}}
	res, err := Apply(r)
	if c.refused != "" {
		var f *fault.Error
		if !errors.As(err, &f) {
			t.Fatalf("not refused: %+v", res)
		}
		if !strings.Contains(f.Message, c.refused) || f.Fix == "" || f.Code != fault.FailedPrecondition {
			t.Fatalf("refused with %s %q (fix %q), want %q", f.Code, f.Message, f.Fix, c.refused)
		}
		return
	}
	if err != nil {
		t.Fatal(err, fault.From(err).Details)
	}
	if res.Text != want {
		t.Fatalf("is\n%s\nwant\n%s", res.Text, want)
	}
	if (len(res.Touched) > 0) != (len(c.replace) > 0) {
		t.Errorf("touched %+v", res.Touched)
	}
	for _, touch := range res.Touched {
		if touch.Line < 1 || touch.Path == "" {
			t.Errorf("touched %+v", touch)
		}
	}
	held(t, r, res)
}
