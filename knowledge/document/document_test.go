package document_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/knowledge/document"
)

func TestKinds(t *testing.T) {
	for at, want := range map[string]document.Kind{
		"README.md": document.Readme, "docs/README.md": document.Readme, "runbooks/README.md": document.Readme, "AGENTS.md": document.Rules, "x/CLAUDE.md": document.Rules,
		"CONTRIBUTING.md": document.Contributing, "docs/a.md": document.Doc, "a/runbooks/b.md": document.Runbook, "docs/checkout-runbook.md": document.Runbook,
		"docs/RUNBOOK.md": document.Runbook, "docs/runbooks-are-good.md": document.Doc, "docs/prunbook.md": document.Doc, "docs/adr/0001-x.md": document.Decision, "docs/decisions/0002-y.md": document.Decision,
		"docs/ADR-7.md": document.Decision, "qa/x.md": document.Answer, "skills/x/SKILL.md": document.Skill, "runbooks/index.md": document.Doc,
	} {
		if got := document.Read(at, []byte("# X\n\ntext\n")).Kind; got != want {
			t.Errorf("%s is %s, not %s", at, got, want)
		}
	}
	for at, want := range map[string]bool{"a.md": true, "a.MD": true, "a.mdx": true, "a.txt": false, "vendor/a.md": false, "a/node_modules/b/c.md": false, "CHANGELOG.md": false, "docs/a.markdown": true, ".github/ISSUE_TEMPLATE/bug.md": false} {
		if document.Wanted(at) != want {
			t.Errorf("%s is wanted: %v", at, !want)
		}
	}
}

func TestSections(t *testing.T) {
	text := "Before.\n\n# Title `x` {#here}\n\n```sh\n# no heading\n```\n\n<!--\n# nor this\n-->\n\nSetext *one*\n------------\n\n## [Link](https://example.com) ##\n\n## Link\n\n> # quoted\n"
	d := document.Read("docs/a.md", []byte(text))
	var got []string
	for _, s := range d.Sections {
		got = append(got, fmt.Sprintf("%d %d %s #%s", s.Line, s.Level, s.Heading, s.Anchor))
	}
	want := []string{"1 0  #", "3 1 Title x #title-x", "13 2 Setext one #setext-one", "16 2 Link #link", "18 2 Link #link-1"}
	if !slices.Equal(got, want) {
		t.Errorf("sections are\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if d.Text != text || d.Title != "Title x" {
		t.Errorf("title %q, text %q", d.Title, d.Text)
	}
}

func TestRoles(t *testing.T) {
	text := "# HighErrorRate\n\n## What does this alert mean?\n\n## Customer impact\n\n## Troubleshooting\n\n## How to fix it\n\n## Unrelated\n"
	d := document.Read("alerts/x.md", []byte(text))
	var got []document.Role
	for _, s := range d.Sections {
		got = append(got, s.Role)
	}
	if want := []document.Role{"", document.Meaning, document.Impact, document.Diagnosis, document.Mitigation, ""}; !slices.Equal(got, want) || d.Kind != document.Runbook {
		t.Errorf("%s with roles %q", d.Kind, got)
	}
	if d := document.Read("docs/plain.md", []byte("# Plain\n\n## Overview\n\n## Summary\n")); d.Kind != document.Doc || d.Sections[1].Role != "" {
		t.Errorf("a plain page is %+v", d)
	}
}

func TestFrontMatter(t *testing.T) {
	d := document.Read("x.md", []byte("---\nquestion: 'Why?'\napplies_to: [a, component:default/b]\nversions: 1.x, 2.x\nverify-command: make check\nowner: team\nlastVerified: 2026-01-31\nexpires: 2027-01-31T00:00:00Z\nsuperseded_by: []\nstatus: active\npassword: hunter2hunter2\n---\nBecause.\n"))
	if d.Kind != document.Answer || d.Title != "Why?" || !slices.Equal(d.AppliesTo, []string{"a", "component:default/b"}) || !slices.Equal(d.Versions, []string{"1.x", "2.x"}) ||
		d.VerifyCommand != "make check" || d.Owner != "team" || !d.LastVerified.Equal(time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)) || d.Expires.Year() != 2027 || d.SupersededBy != "" || d.Line != 13 || strings.Contains(d.Text, "hunter2") {
		t.Errorf("read as %+v", d)
	}
}

// TestBounded reads what is made to take long, or much memory.
func TestBounded(t *testing.T) {
	var indented strings.Builder
	for i := range 2000 {
		indented.WriteString(strings.Repeat(" ", 2*i) + "- x\n")
	}
	for name, text := range map[string]string{
		"huge": strings.Repeat("all work and no play\n", 500_000), "headings": strings.Repeat("# h\n", 100_000), "quotes": strings.Repeat(">", 500_000),
		"lists": strings.Repeat("- ", 200_000), "numbers": strings.Repeat("1. ", 200_000), "indented": indented.String(), "brackets": "# " + strings.Repeat("[", 500_000),
		"fences": strings.Repeat("```\n~~~\n", 50_000), "html": strings.Repeat("<div>\n\n", 50_000), "setext": strings.Repeat("a\n", 200_000) + "===\n",
		"front": "---\n" + strings.Repeat("a: &a [*a]\n", 100_000), "aliases": "---\na: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n---\n", "open": "---\n" + strings.Repeat("x", 900_000),
	} {
		d := document.Read("docs/runbooks/"+name+".md", []byte(text))
		if len(d.Text) > document.MaxText || len(d.Sections) > document.MaxSections+1 || len(d.Title) > 600 || len(d.Problems) > 10 {
			t.Errorf("%s gives %d bytes, %d sections", name, len(d.Text), len(d.Sections))
		}
		if name == "huge" && !strings.Contains(strings.Join(d.Problems, ""), "only the first MiB of 10500000 bytes") {
			t.Errorf("huge says %q", d.Problems)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("docs/a.md", []byte("---\na: b\n---\n# X\n\ntext\n\n## Y\n"))
	f.Add("runbooks/b.md", []byte("---\n: [\n---\nX\n===\n\n> - # y\n"))
	f.Add("SKILL.md", []byte("\xff\xfe---\r\n"))
	f.Fuzz(func(t *testing.T, at string, data []byte) {
		d := document.Read(at, data)
		end := 0
		for _, s := range d.Sections {
			if s.Start < end || s.End < s.Start || s.End > len(d.Text) || s.Line < 1 {
				t.Fatalf("section %+v of %d bytes", s, len(d.Text))
			}
			end = s.End
		}
	})
}

// TestRealRunbooks reads the runbooks that people wrote. Those of OpenShift
// have all the usual sections.
func TestRealRunbooks(t *testing.T) {
	root := os.Getenv("FAIRLEAD_SHARED")
	if root == "" {
		root = "../../../shared"
	}
	root = filepath.Join(root, "knowledge", "runbooks")
	if _, err := os.Stat(root); err != nil {
		t.Skipf("%s is not there: set FAIRLEAD_SHARED to the folder of shared test data", root)
	}
	read, whole := 0, 0
	err := filepath.WalkDir(root, func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !document.Wanted(at) {
			return err
		}
		data, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, at)
		d := document.Read(filepath.ToSlash(rel), data)
		read++
		roles := map[document.Role]bool{}
		for _, s := range d.Sections {
			roles[s.Role] = true
		}
		delete(roles, "")
		written := headed(string(data))
		if len(roles) == 4 {
			whole++
		}
		for _, r := range written {
			if !roles[r] {
				t.Errorf("%s has the section %s, read were %v as %s", rel, r, roles, d.Kind)
			}
		}
		if d.Title == "" || len(written) == 4 && d.Kind != document.Runbook || len(d.Sections) == 0 {
			t.Errorf("%s is %s %q", rel, d.Kind, d.Title)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d runbooks, %d with meaning, impact, diagnosis and mitigation", read, whole)
	if whole < 15 {
		t.Errorf("of %d runbooks only %d have all four sections", read, whole)
	}
}

// headed are the roles whose very names are headings of a text.
func headed(text string) (out []document.Role) {
	for _, r := range document.Roles() {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "##") && strings.EqualFold(strings.TrimSpace(strings.Trim(strings.TrimSpace(line), "#")), string(r)) {
				out = append(out, r)
				break
			}
		}
	}
	return out
}
