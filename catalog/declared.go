package catalog

import (
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// declared fills in what the entity's own file says for Fairlead.
func (f *factory) declared(b *Brief) {
	b.Oncall = f.oncall()
	b.Repository = f.repository()
	b.Commands = f.commands()
	b.DeployRepo = f.text(f.fairlead(), "deployRepo", "spec.fairlead")
	b.Environments = f.environments()
	b.SLOs = append(f.paths("slos"), f.links("slo")...)
	b.Runbooks = append(f.paths("runbooks"), f.links("runbook", "playbook")...)
	b.Dashboards = f.dashboards()
	f.unknown(f.fairlead(), "spec.fairlead", "commands", "deployRepo", "environments", "slos", "runbooks", "dashboards", "oncall", "preview", "credentials")
}

// DeclarationProblems tells what is wrong with what an entity's file says for
// Fairlead, under spec.fairlead: unknown keys, wrong types, files that are not
// there. They are warnings: nothing of it keeps an entity out of the catalog.
// files lists the files of the repository that a pattern matches.
func DeclarationProblems(e *Entity, files func(pattern string) []string) []Problem {
	if _, there := e.Spec().Lookup("fairlead"); !there {
		return nil
	}
	f := &factory{e: e, files: func(pattern string) ([]string, bool) { return files(pattern), true }}
	f.declared(&Brief{})
	out := make([]Problem, 0, len(f.problems))
	for _, text := range f.problems {
		p := Problem{Severity: entity.SeverityWarning, Name: "DeclarationError", Message: text, File: e.From.Path, Ref: e.Ref.String(),
			Fix: "Correct it, or remove it: Fairlead leaves out what it cannot read."}
		// A problem that has a place begins with it.
		if rest, ok := strings.CutPrefix(text, e.From.Path+":"); ok {
			if number, message, ok := strings.Cut(rest, ": "); ok {
				if line, err := strconv.ParseUint(number, 10, 32); err == nil {
					p.Line, p.Message = uint32(line), message
				}
			}
		}
		out = append(out, p)
	}
	return out
}
