package document

import (
	"path"
	"regexp"
	"strings"
)

// Wanted tells whether a file of this path is one that is read: Markdown, but
// for other people's code, examples of tests, and what only a forge uses.
func Wanted(at string) bool {
	switch strings.ToLower(path.Ext(at)) {
	case ".md", ".mdx", ".markdown":
	default:
		return false
	}
	for part := range strings.SplitSeq(strings.ToLower(path.Dir(at)), "/") {
		switch part {
		case "node_modules", "vendor", "third_party", "testdata", "fixtures", "__fixtures__", ".git", "dist", "issue_template", "pull_request_template", ".changeset":
			return false
		}
	}
	switch stem(at) {
	case "changelog", "changes", "history", "license", "licence", "code_of_conduct", "pull_request_template", "issue_template":
		return false
	}
	return true
}

// stem is the name of a file without its extension, in lower case.
func stem(at string) string {
	return strings.ToLower(strings.TrimSuffix(path.Base(at), path.Ext(at)))
}

var (
	runbookName  = regexp.MustCompile(`^(runbook|playbook)([^a-z].*)?$|[^a-z](runbook|playbook)$`)
	decisionName = regexp.MustCompile(`^adr[-_ ]?\d+`)
	numbered     = regexp.MustCompile(`^\d{3,}[-_]`)
)

// classify finds a document's kind: as its front matter says, by its place, by
// its sections.
func (d *Document) classify(at string, f fields) {
	d.Kind = declaredKind(f.text("kind", "type", "doctype", "category"))
	if d.Kind == "" && d.Question != "" {
		d.Kind = Answer
	}
	if d.Kind == "" {
		d.Kind = kindByPath(at)
	}
	if d.Kind == Doc && d.runbookSections() {
		d.Kind = Runbook
	}
	if d.Kind != Runbook {
		for i := range d.Sections {
			d.Sections[i].Role = ""
		}
	}
}

func declaredKind(word string) Kind {
	switch strings.ToLower(word) {
	case "runbook", "playbook", "alert":
		return Runbook
	case "qa", "q&a", "answer", "question", "faq":
		return Answer
	case "skill":
		return Skill
	case "adr", "decision":
		return Decision
	default:
		return ""
	}
}

func kindByPath(at string) Kind {
	name := stem(at)
	switch name {
	case "skill":
		return Skill
	case "agents", "claude", "agent", "gemini":
		return Rules
	case "contributing", "development", "developing", "hacking":
		return Contributing
	case "readme":
		return Readme
	}
	if runbookName.MatchString(name) {
		return Runbook
	}
	if decisionName.MatchString(name) {
		return Decision
	}
	return kindByFolder(strings.ToLower(path.Dir(at)), name)
}

func kindByFolder(dir, name string) Kind {
	index := name == "index"
	for part := range strings.SplitSeq(dir, "/") {
		switch part {
		case "runbooks", "runbook", "playbooks", "playbook":
			if !index {
				return Runbook
			}
		case "qa", "knowledge", "answers", "faq":
			if !index && part != "knowledge" {
				return Answer
			}
		case "adr", "adrs", "decisions":
			if !index && (part != "decisions" || numbered.MatchString(name)) {
				return Decision
			}
		}
	}
	return Doc
}

// runbookSections tells whether the headings are those of a runbook.
func (d *Document) runbookSections() bool {
	found := map[Role]bool{}
	for _, s := range d.Sections {
		found[s.Role] = true
	}
	return found[Mitigation] && found[Diagnosis] || found[Impact] && (found[Mitigation] || found[Diagnosis])
}
