package check

import (
	"fmt"

	"github.com/fairlead-dev/fairlead/catalog/compare"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// brokenRelation is the class of problem of relations to what a change
// removes.
const brokenRelation = "BrokenRelationError"

// SARIF gives a comparison in SARIF 2.1.0, for code scanning: what is wrong
// now, each result with whether it is new.
func (d *Diff) SARIF(version string) ([]byte, error) {
	var r Report
	add := func(p compare.Problem, baseline string) {
		at := d.origins[p.File]
		r.Findings = append(r.Findings, Finding{Problem: p.Problem, Owner: p.Owner, root: at.root, path: at.path, baseline: baseline})
	}
	for _, p := range d.Problems.New {
		add(p, "new")
	}
	for i := range d.Conflicts {
		for _, c := range d.Conflicts[i].Claims[1:] {
			if c.New {
				add(conflictProblem(&d.Conflicts[i], c), "new")
				d.relate(&r.Findings[len(r.Findings)-1], d.Conflicts[i].Claims[0])
			}
		}
	}
	for _, b := range d.Relations.Broken {
		add(relationProblem(b, brokenRelation, entity.SeverityError, "is removed",
			"Take the reference out, name what has taken its place, or keep what it names."), "new")
	}
	for _, u := range d.Relations.Unknown {
		add(relationProblem(u, "NotFoundError", entity.SeverityWarning, "is not described here",
			"Check that it is described elsewhere in the catalog, or correct the reference."), "new")
	}
	for _, p := range d.Problems.Old {
		add(p, "unchanged")
	}
	return r.SARIF(version)
}

// relate names the claim that keeps the name, where it is in the same
// repository.
func (d *Diff) relate(f *Finding, keeps compare.Claim) {
	if at := d.origins[keeps.File]; at.root == f.root {
		f.related = &related{at.path, keeps.Line, "This description keeps the name."}
	}
}

func conflictProblem(c *compare.Conflict, lost compare.Claim) compare.Problem {
	keeps := fmt.Sprintf("%s:%d", c.Claims[0].File, c.Claims[0].Line)
	if owner := c.Claims[0].Owner; owner != "" {
		keeps += " by " + owner
	}
	return compare.Problem{Owner: lost.Owner, Problem: entity.Problem{
		Severity: entity.SeverityError, Name: "ConflictError", File: lost.File, Line: lost.Line, Column: 1, Ref: c.Ref,
		Message: fmt.Sprintf("%s is already described at %s, which keeps the name", c.Ref, keeps),
		Fix:     "Remove one of the two descriptions, or give one another metadata.name or metadata.namespace.",
	}}
}

func relationProblem(r compare.Relation, name string, s entity.Severity, what, fix string) compare.Problem {
	return compare.Problem{Owner: r.Owner, Problem: entity.Problem{
		Severity: s, Name: name, File: r.File, Line: r.Line, Column: 1, Ref: r.Source,
		Message: fmt.Sprintf("%s says %s %s, which %s", r.Source, r.Type, r.Target, what), Fix: fix,
	}}
}
