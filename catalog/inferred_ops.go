package catalog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/infer"
)

// inferReliability adds objectives and runbooks, and the objectives of files
// that are declared in place of their bare paths.
func (s *Service) inferReliability(f *factory, naming []*Finding, b *Brief) {
	declared := map[string]int{}
	for i, fact := range b.SLOs {
		declared[fact.Value] = i
	}
	opened := map[string]bool{}
	var objectives []Fact
	s.each(f, naming, func(in *Finding, dir string, alone bool) {
		for _, slo := range in.SLOs(f.e.Ref.Name, dir, alone) {
			fact := s.found(f, in, objective(slo), slo.Place)
			fact.Name = slo.Name
			if i, ok := declared[slo.Path]; ok && in == f.ground.Finding {
				fact.Kind, fact.VerifiedAt = Declared, b.SLOs[i].VerifiedAt
				opened[slo.Path] = true
			}
			objectives = append(objectives, fact)
		}
		b.Runbooks = append(b.Runbooks, s.runbooks(f, in, dir, alone, b.Runbooks)...)
	})
	b.SLOs = append(slices.DeleteFunc(b.SLOs, func(fact Fact) bool { return opened[fact.Value] }), objectives...)
}

// objective words an objective: how much over which time, of what, and where
// that is measured.
func objective(s infer.SLO) string {
	text := strconv.FormatFloat(s.Objective, 'f', -1, 64) + "%"
	if s.Window != "" {
		text += " over " + s.Window
	}
	if s.Title != "" {
		text += ": " + s.Title
	}
	if s.DataSource != "" {
		text += ", measured by " + s.DataSource
	}
	return text
}

// each visits the service's own repository and then those that name it.
func (s *Service) each(f *factory, naming []*Finding, do func(in *Finding, dir string, alone bool)) {
	own := f.ground.Finding
	if own != nil {
		do(own, f.ground.dir, f.ground.alone)
	}
	for _, in := range naming {
		if own == nil || in.Source != own.Source {
			do(in, "\x00", false) // no folder of another repository is the service's
		}
	}
}

// runbooks are those of alerts and of folders that are not listed yet.
func (s *Service) runbooks(f *factory, in *Finding, dir string, alone bool, listed []Fact) []Fact {
	seen := map[string]bool{}
	for _, fact := range listed {
		seen[fact.Value] = true
	}
	var out []Fact
	for _, a := range in.Alerts(f.e.Ref.Name, dir, alone) {
		if a.Runbook == "" || seen[a.Runbook] {
			continue
		}
		seen[a.Runbook] = true
		fact := s.found(f, in, a.Runbook, a.Place)
		fact.Name = a.Name
		out = append(out, fact)
	}
	for _, file := range in.Runbooks(f.e.Ref.Name, dir, alone) {
		if !seen[file] {
			fact := s.found(f, in, file, infer.Place{Path: file, Line: 1})
			fact.Handle = handleOf(in.Source, file)
			out = append(out, fact)
		}
	}
	return out
}

// inferDeployment adds the environments and the deploy repository where none
// are declared.
func (s *Service) inferDeployment(f *factory, naming []*Finding, b *Brief) {
	if slices.ContainsFunc(b.Environments, func(e Fact) bool { return e.Name != "argocd" }) && b.DeployRepo != nil {
		return
	}
	var envs []Fact
	var repo *Fact
	s.each(f, naming, func(in *Finding, dir string, alone bool) {
		for _, d := range in.Deployments(f.e.Ref.Name, in == f.ground.Finding && alone) {
			fact := s.found(f, in, "", d.Place)
			fact.Name, fact.Path, fact.App = d.Environment, d.Path, d.App
			envs = append(envs, fact)
			if repo == nil {
				r := s.found(f, in, in.URL, d.Place)
				if d.Repo != "" {
					r.Value = d.Repo
				}
				repo = &r
			}
		}
	})
	if b.DeployRepo == nil {
		b.DeployRepo = repo
	}
	if len(b.Environments) == 0 {
		b.Environments = distinct(envs)
	}
}

// distinct keeps the first of several facts of one environment.
func distinct(envs []Fact) []Fact {
	seen := map[string]bool{}
	return slices.DeleteFunc(envs, func(e Fact) bool {
		again := seen[strings.ToLower(e.Name)]
		seen[strings.ToLower(e.Name)] = true
		return again
	})
}
