package edit_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/gitops/edit"
)

// corpus gives the public files of deployments that are kept beside the
// repository.
func corpus(t *testing.T) map[string][]byte {
	t.Helper()
	root := os.Getenv("FAIRLEAD_SHARED")
	if root == "" {
		root = "../../../shared"
	}
	dir := filepath.Join(root, "gitops")
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == ".tsv" {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		files[name], err = os.ReadFile(path)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is missing: the public files cannot be edited (set FAIRLEAD_SHARED)", dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var (
	inOneValue = regexp.MustCompile(`(?m)^[ \t-]*image:[ \t]*["']?([a-z0-9][a-zA-Z0-9./_:-]*)["']?[ \t]*(?:#.*)?\r?$`)
	repository = regexp.MustCompile(`(?m)^[ \t-]*repository:[ \t]*["']?([a-z0-9][a-z0-9./_-]*)["']?[ \t]*(?:#.*)?\r?$`)
	entryName  = regexp.MustCompile(`(?m)^[ \t]*-?[ \t]*name:[ \t]*["']?([a-z0-9][a-z0-9./_:-]*)["']?[ \t]*\r?$`)
	replicas   = regexp.MustCompile(`(?m)^[ \t]*(replicas|replicaCount):[ \t]*[0-9]+`)
)

// imagesOf finds the images that a file names in so many words, by its lines
// alone.
func imagesOf(name string, text []byte) []string {
	var out []string
	add := func(s string) {
		if i := strings.LastIndexByte(s, ':'); i > strings.LastIndexByte(s, '/') {
			s = s[:i]
		}
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, m := range inOneValue.FindAllSubmatch(text, -1) {
		add(string(m[1]))
	}
	for _, m := range repository.FindAllSubmatch(text, -1) {
		add(string(m[1]))
	}
	if base := filepath.Base(name); base == "kustomization.yaml" && bytes.Contains(text, []byte("images:")) {
		for _, m := range entryName.FindAllSubmatch(text[bytes.Index(text, []byte("images:")):], -1) {
			add(string(m[1]))
		}
	}
	return out
}

// leaves are the scalars of all documents by their paths.
func leaves(t *testing.T, text []byte) map[string]string {
	t.Helper()
	out := map[string]string{}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for i := 0; ; i++ {
		var n yaml.Node
		if err := dec.Decode(&n); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Errorf("does not parse: %v", err)
			}
			return out
		}
		collect(out, fmt.Sprint(i), &n)
	}
}

func collect(out map[string]string, path string, n *yaml.Node) {
	switch n.Kind {
	case yaml.ScalarNode, yaml.AliasNode:
		out[path] = n.ShortTag() + " " + n.Anchor + " " + n.Value
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			collect(out, path+"/"+n.Content[i].Value, n.Content[i+1])
		}
	default:
		for i, c := range n.Content {
			collect(out, fmt.Sprintf("%s/%d", path, i), c)
		}
	}
}

// onlyMeant holds an edited file against the old one: lines that do not have
// what was written are as they were, in their order, and scalars, too.
func onlyMeant(t *testing.T, old, edited []byte, touched []edit.Touch, written ...string) {
	t.Helper()
	has := func(s string) bool {
		return slices.ContainsFunc(written, func(w string) bool { return strings.Contains(s, w) })
	}
	before, after := strings.SplitAfter(string(old), "\n"), strings.SplitAfter(string(edited), "\n")
	at, changed := 0, 0
	for _, l := range after {
		switch {
		case at < len(before) && l == before[at]:
			at++
		case has(l):
			changed++
			if at < len(before) && sameShape(before[at], l) {
				at++
			}
		case at+1 < len(before) && l == before[at+1]:
			at += 2 // a line went
		default:
			t.Errorf("the line %q is neither an old one nor was it meant", l)
			return
		}
	}
	if at != len(before) {
		t.Errorf("the line %q is gone", before[at])
	}
	if changed > 3*len(touched) {
		t.Errorf("%d lines changed for %d places", changed, len(touched))
	}
	a, b := leaves(t, old), leaves(t, edited)
	for path, v := range b {
		if a[path] != v && !has(v) && (!strings.HasSuffix(path, "/name") || a[path] != "") {
			t.Errorf("%s was %q and is %q", path, a[path], v)
		}
	}
	for path, v := range a {
		if _, there := b[path]; !there && v != "!!null  " && !strings.HasSuffix(path, "/digest") {
			t.Errorf("%s, which was %q, is gone", path, v)
		}
	}
}

// sameShape tells whether one line is the other with another value.
func sameShape(a, b string) bool {
	key := func(s string) string {
		k, _, found := strings.Cut(s, ":")
		if !found {
			return s[:len(s)-len(strings.TrimLeft(s, " -"))]
		}
		return k
	}
	return key(a) == key(b)
}

// TestCorpus edits the files of public deploy repositories.
func TestCorpus(t *testing.T) {
	type tally struct{ edited, refused int }
	table, reasons := map[string]*tally{}, map[string]int{}
	count := func(kind string) *tally {
		if table[kind] == nil {
			table[kind] = &tally{}
		}
		return table[kind]
	}
	literalEdited, literalRefused := 0, 0
	const tag, digest = "9.9.9-rc.1", "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for name, text := range corpus(t) {
		try := func(kind string, c edit.Change, written ...string) bool {
			res, err := edit.Apply(edit.Request{File: name, Text: string(text), Changes: []edit.Change{c}})
			if err != nil {
				count(kind).refused++
				reasons[kind+": "+reason(err)]++
				if testing.Verbose() {
					t.Logf("%s %+v: %v", kind, c, err)
				}
				return false
			}
			count(kind).edited++
			t.Run(kind+" "+name, func(t *testing.T) { onlyMeant(t, text, []byte(res.Text), res.Touched, written...) })
			again, err := edit.Apply(edit.Request{File: name, Text: res.Text, Changes: []edit.Change{c}})
			if err != nil || again.Text != res.Text || len(again.Touched) > 0 {
				t.Errorf("%s: once more it changes again: %v", name, err)
			}
			return true
		}
		all, some := true, false
		for _, im := range imagesOf(name, text) {
			some = true
			all = try("tag", edit.Image{Name: im, Tag: tag}, tag, "name: "+im) && all
			try("digest", edit.Image{Name: im, Tag: tag, Digest: digest}, tag, digest, digest[7:], "name: "+im)
		}
		switch {
		case some && all:
			literalEdited++
		case some:
			literalRefused++
		}
		if replicas.Match(text) {
			try("replicas", edit.Replicas{Count: 7177}, "7177")
		}
	}
	for kind, n := range table {
		t.Logf("%-9s edited %3d  refused %3d", kind, n.edited, n.refused)
	}
	why := make([]string, 0, len(reasons))
	for r, n := range reasons {
		why = append(why, fmt.Sprintf("%4d  %s", n, r))
	}
	slices.Sort(why)
	t.Logf("refused because\n%s", strings.Join(why, "\n"))
	t.Logf("files that name an image: edited %d, refused %d", literalEdited, literalRefused)
	for kind, least := range map[string]int{"tag": 85, "digest": 85, "replicas": 35} {
		if n := table[kind]; n == nil || n.edited < least {
			t.Errorf("%s: %+v were edited, fewer than %d", kind, n, least)
		}
	}
	if literalEdited < 50 || literalEdited < 5*literalRefused {
		t.Error("too few of the files that name an image were edited")
	}
}

// TestCorpusValues sets values all over the public files: each time one scalar
// is another and no other line.
func TestCorpusValues(t *testing.T) {
	edited, refused := 0, map[string]int{}
	most := 200
	if testing.Short() {
		most = 6
	}
	for name, text := range corpus(t) {
		var root yaml.Node
		if yaml.Unmarshal(text, &root) != nil || len(root.Content) == 0 {
			continue
		}
		var paths []string
		scalarPaths(root.Content[0], "", &paths)
		for i := 0; i < len(paths); i += max(1, len(paths)/most) {
			res, err := edit.Apply(edit.Request{File: name, Text: string(text), Document: "1", Changes: []edit.Change{edit.Set{Path: paths[i], Value: "7177"}}})
			if err != nil {
				refused[reason(err)]++
				continue
			}
			edited++
			if len(res.Touched) != 1 {
				t.Errorf("%s: %s touched %+v", name, paths[i], res.Touched)
			}
			onlyMeant(t, text, []byte(res.Text), res.Touched, "7177")
		}
	}
	t.Logf("edited %d, refused %v", edited, refused)
	if edited < 400 || refused["cannot be made exactly"] > 0 {
		t.Error("too few values could be set")
	}
}

// scalarPaths lists the paths of all scalars.
func scalarPaths(n *yaml.Node, path string, out *[]string) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			scalarPaths(n.Content[i+1], fmt.Sprintf("%s[%q]", path, n.Content[i].Value), out)
		}
	case yaml.SequenceNode:
		for i, c := range n.Content {
			scalarPaths(c, fmt.Sprintf("%s[%d]", path, i), out)
		}
	default:
		*out = append(*out, path)
	}
}

// reason is the kind of a refusal, without names and places.
func reason(err error) string {
	s := err.Error()
	for _, r := range []string{"is a template", "is not YAML", "has no image", "filled in by a template", "in several places", "block of text", "may be any of", "says nowhere", "replicas in", "cannot be made exactly", "names a tag", "an alias of", "both would change"} {
		if strings.Contains(s, r) {
			return r
		}
	}
	return s
}
