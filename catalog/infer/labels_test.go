package infer

import (
	"bufio"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// labelled is what a person reads in one file, by role.
type labelled map[Role][]string

func labels(t *testing.T) map[string]labelled {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "labels.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]labelled{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		cols := strings.Split(lines.Text(), "\t")
		if len(cols) != 4 {
			continue
		}
		file := cols[0] + " " + cols[1]
		if out[file] == nil {
			out[file] = labelled{}
		}
		if cols[2] != "none" {
			out[file][Role(cols[2])] = strings.Split(cols[3], " | ")
		}
	}
	return out
}

func sharedFolder(t *testing.T, name string) string {
	t.Helper()
	root := os.Getenv("FAIRLEAD_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	dir := filepath.Join(root, name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("%s is missing: the public files cannot be read (set FAIRLEAD_SHARED)", dir)
	}
	return dir
}

// In at least 85 % of the public files in which a person finds commands, they
// are found, and nothing is made up in any.
func TestPublicAgentFiles(t *testing.T) {
	dir := sharedFolder(t, "knowledge/agents")
	files, right, found, all := 0, 0, 0, 0
	for file, want := range labels(t) {
		repo, at, _ := strings.Cut(file, " ")
		data, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(repo, "/", "__"), filepath.FromSlash(at)))
		if err != nil {
			t.Fatal(err)
		}
		// That targets are there is not in question here.
		readings := map[string]Reading{at: Read(at, data)}
		for _, d := range []string{"", "charts/mcp-stack/", "docs/", "ui/app/"} {
			readings[d+"Makefile"] = Read(d+"Makefile", []byte("include more.mk\n"))
		}
		readings["scripts/x.sh"] = Reading{}
		r := NewRepository(readings, slices.Collect(maps.Keys(readings)))
		got := map[Role]string{}
		for _, c := range r.Commands(folder(at)) {
			got[c.Role] = c.Text
			if ok := slices.Contains(want[c.Role], c.Text); !ok {
				t.Logf("%s: %s is not among what a person reads: %s", file, c.Role, c.Text)
				if want[c.Role] == nil {
					t.Errorf("%s: made up for %s: %s", file, c.Role, c.Text)
				}
			}
		}
		good := true
		for role, texts := range want {
			all++
			if slices.Contains(texts, got[role]) {
				found++
			} else {
				good = false
				t.Logf("%s: %s: got %q, a person reads %q", file, role, got[role], texts)
			}
		}
		if len(want) > 0 {
			files++
			if good {
				right++
			}
		}
	}
	t.Logf("%d of %d files wholly right, %d of %d commands", right, files, found, all)
	if right*100 < files*85 {
		t.Errorf("only %d of %d files are wholly right", right, files)
	}
}
