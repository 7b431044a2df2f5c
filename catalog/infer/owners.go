package infer

import (
	"bytes"

	"github.com/hmarr/codeowners"
)

// OwnerRule says who owns the paths that a pattern of a CODEOWNERS file
// matches.
type OwnerRule struct {
	Pattern string   `json:"pattern"`
	Owners  []string `json:"owners"`
	Place
}

func isCodeowners(dir, base string) bool {
	return base == "CODEOWNERS" && (dir == "" || dir == ".github" || dir == ".gitlab" || dir == ".gitea" || dir == ".forgejo" || dir == "docs")
}

// readCodeowners reads a CODEOWNERS file. Sections of GitLab count as rules.
func readCodeowners(at string, data []byte) Reading {
	rules, err := codeowners.ParseFile(bytes.NewReader(data))
	if err != nil {
		return Reading{Unreadable: "the file is no CODEOWNERS file"}
	}
	var r Reading
	for _, rule := range rules[:min(len(rules), maxFindings)] {
		o := OwnerRule{Pattern: rule.RawPattern(), Place: Place{Path: at, Line: rule.LineNumber}}
		for _, owner := range rule.Owners {
			o.Owners = append(o.Owners, owner.String())
		}
		r.Owners = append(r.Owners, o)
	}
	return r
}

// OwnersOf is the rule that holds for a file: the last that matches, as the
// forges read it. Only one CODEOWNERS file counts: that of .github before the
// root's before docs'.
func (r *Repository) OwnersOf(file string) (OwnerRule, bool) {
	for _, dir := range []string{".github/", ".gitlab/", ".gitea/", ".forgejo/", "", "docs/"} {
		reading, ok := r.readings[dir+"CODEOWNERS"]
		if !ok {
			continue
		}
		for i := len(reading.Owners) - 1; i >= 0; i-- {
			if reading.Owners[i].matches(file) {
				return reading.Owners[i], len(reading.Owners[i].Owners) > 0
			}
		}
		return OwnerRule{}, false
	}
	return OwnerRule{}, false
}

func (o OwnerRule) matches(file string) bool {
	rules, err := codeowners.ParseFile(bytes.NewReader([]byte(o.Pattern + " @nobody\n")))
	if err != nil || len(rules) != 1 {
		return false
	}
	ok, err := rules[0].Match(file)
	return err == nil && ok
}
