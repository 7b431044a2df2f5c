package catalog

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/infer"
)

// Finding is what inference found in the repository of one source.
type Finding struct {
	*infer.Repository
	// Source is the source's name, URL its repository and Commit what was read.
	Source, URL, Commit string
	// Contents identify the contents of the files that something was taken
	// from, by path.
	Contents map[string]string
}

// Findings is what inference found in the repositories of the sources.
type Findings interface {
	// Of is what was found in a source, nil while nothing is known of it.
	Of(source string) *Finding
	// In is the same by the URL of the repository, in any form.
	In(repository string) *Finding
	// Naming are the findings that name a service in their objectives, alerts
	// or deployments, by source.
	Naming(service string) []*Finding
}

// AttachFindings tells the service what inference found.
func (s *Service) AttachFindings(f Findings) { s.findings.Store(&f) }

// ground is where a service stands in its own repository.
type ground struct {
	*Finding
	dir string
	// alone tells that no other component is in that repository.
	alone bool
}

// ground finds a service's own repository and its folder there; nothing where
// the repository is that of no source, or of one that is not for the caller.
func (s *Service) ground(r reading, f *factory) ground {
	p := s.findings.Load()
	if p == nil {
		return ground{}
	}
	h := homeOf(f.e)
	var found *Finding
	if h.repository == "" || h.repository == entity.RepositoryKey(f.e.From.Repository) {
		found = (*p).Of(f.e.From.Source)
	}
	if repo := f.repository(); found == nil && repo != nil {
		at, _ := splitLocation(repo.Value)
		found = (*p).In(at)
	}
	if found == nil || len(r.readable(f, []*Finding{found})) == 0 {
		return ground{}
	}
	return ground{found, h.dir, s.residents.alone(h.repository)}
}

// folderOf is the folder that a catalog file describes: its own, or the one
// above where it lies in a folder for such files.
func folderOf(file string) string {
	dir := path.Dir(file)
	switch path.Base(dir) {
	case ".backstage", "backstage", ".catalog", "catalog", ".fairlead":
		dir = path.Dir(dir)
	}
	if dir == "." || dir == "/" {
		return ""
	}
	return dir
}

// splitLocation takes the URL of a folder apart into repository and folder, as
// GitHub, GitLab, Gitea and Bitbucket write it.
func splitLocation(location string) (repository, dir string) {
	for _, mark := range []string{"/-/tree/", "/-/blob/", "/tree/", "/blob/", "/src/branch/", "/src/commit/", "/src/"} {
		before, after, ok := strings.Cut(location, mark)
		if !ok {
			continue
		}
		_, dir, _ = strings.Cut(strings.Trim(after, "/"), "/")
		if path.Ext(dir) == ".yaml" || path.Ext(dir) == ".yml" {
			dir = strings.TrimPrefix(path.Dir(dir), ".")
		}
		return before, dir
	}
	return strings.TrimSuffix(location, "/"), ""
}

// inferred adds to a brief what is not declared but found, and says of what is
// declared where it no longer holds or other files say otherwise.
func (s *Service) inferred(r reading, f *factory, b *Brief) {
	p := s.findings.Load()
	if p == nil {
		return
	}
	f.ground = s.ground(r, f)
	if f.ground.Finding != nil {
		s.inferOwner(r, f, b)
		s.inferCommands(f, b)
		s.inferRules(f, b)
	}
	naming := r.naming(*p, f)
	s.inferReliability(f, naming, b)
	s.inferDeployment(f, naming, b)
}

// naming are the findings of other repositories that are about an entity: a
// bare name means the component of the default namespace where there is one,
// whoever may see it.
func (r reading) naming(p Findings, f *factory) []*Finding {
	meant := entity.Ref{Kind: "component", Namespace: entity.DefaultNamespace, Name: f.e.Ref.Name}.Canonical()
	if _, taken := r.Attributes(meant.String()); taken && f.e.Ref.Canonical() != meant {
		return nil
	}
	return r.readable(f, p.Naming(f.e.Ref.Name))
}

// readable are the findings that the caller may be told of: those of sources of
// which they may read an entity, the service's first, and of sources that give
// no entities, such as deploy repositories. Whoever writes a catalog file names
// in it what repository they like; that alone must not open it to them.
func (r reading) readable(f *factory, all []*Finding) []*Finding {
	foreign := func(in *Finding) bool { return in.Source != f.e.From.Source }
	if r.whole || r.scope.All() || !slices.ContainsFunc(all, foreign) {
		return all
	}
	known, giving := r.Sources(r.scope), r.Giving()
	return slices.DeleteFunc(slices.Clone(all), func(in *Finding) bool {
		return foreign(in) && giving[in.Source] && !known[in.Source]
	})
}

// found makes a fact of something that is written in a repository, the
// service's own or another.
func (s *Service) found(f *factory, in *Finding, value string, at infer.Place) Fact {
	fact := Fact{Value: value, Kind: Inferred, Stale: s.failing(in.Source), Source: FactSource{Repo: in.URL, Commit: in.Commit, Path: at.Path, Line: at.Line}}
	if ev, ok := s.evidence(); ok {
		fact.VerifiedAt = ev.Verified(in.Source).At
	}
	if own := f.ground.Finding; own == nil || own.Source != in.Source {
		if rule, ok := in.OwnersOf(at.Path); ok {
			fact.Owner = rule.Owners[0]
		}
	}
	fact.ChangedAt = s.ChangedAt(in.Source, at.Path, in.Contents[at.Path])
	fact.aged(f.now)
	return fact
}

// inferOwner compares the declared owner with CODEOWNERS, which alone is
// taken where none is declared.
func (s *Service) inferOwner(r reading, f *factory, b *Brief) {
	rule, ok := f.ground.OwnersOf(strings.TrimPrefix(f.ground.dir+"/x", "/"))
	if !ok {
		return
	}
	if b.Owner != nil {
		if !slices.ContainsFunc(rule.Owners, func(o string) bool { return sameOwner(o, b.Owner.Value) }) {
			b.Owner.Disagrees = append(b.Owner.Disagrees, place(rule.Place)+" says "+strings.Join(rule.Owners, " "))
		}
		return
	}
	fact := s.found(f, f.ground.Finding, rule.Owners[0], rule.Place)
	for _, kind := range []string{"group", "user"} {
		ref := kind + ":" + entity.DefaultNamespace + "/" + strings.ToLower(handle(rule.Owners[0]))
		if o := r.Get(r.scope, ref); o != nil {
			fact.Value, fact.Name = ref, o.Title()
			break
		}
	}
	b.Owner = &fact
}

// handle is the name of a person or team in a CODEOWNERS file.
func handle(owner string) string {
	return strings.TrimPrefix(owner[strings.LastIndexByte(owner, '/')+1:], "@")
}

// sameOwner tells whether a team or person of a forge is likely an owner of
// the catalog.
func sameOwner(theirs, ref string) bool {
	name := ref[strings.LastIndexByte(ref, '/')+1:]
	trim := func(s string) string {
		return strings.TrimPrefix(strings.TrimSuffix(strings.ToLower(s), "-team"), "team-")
	}
	return trim(handle(theirs)) == trim(name)
}

func place(p infer.Place) string { return p.Path + ":" + strconv.Itoa(p.Line) }

// inferCommands fills in the commands that are not declared, and judges those
// that are. Those of a folder below the service's own, where a path in it is
// asked about, come before what is declared for the whole.
func (s *Service) inferCommands(f *factory, b *Brief) {
	c := b.Commands
	if c == nil {
		c = &Commands{}
	}
	for role, at := range c.byRole() {
		if fact := *at; fact != nil {
			stale, disagrees := f.ground.Standing(role, fact.Value, f.ground.dir, f.exists)
			fact.Stale, fact.Disagrees = cmp.Or(stale, fact.Stale), disagrees
		}
	}
	for _, choice := range f.ground.Commands(f.folder()) {
		at, ok := c.byRole()[choice.Role]
		if !ok || *at != nil && (choice.Dir == f.ground.dir || !below(choice.Dir, f.ground.dir)) {
			continue
		}
		fact := s.found(f, f.ground.Finding, choice.Text, choice.Place)
		fact.Stale, fact.Disagrees = cmp.Or(choice.Stale, fact.Stale), choice.Disagrees
		if choice.Dir != f.ground.dir {
			fact.Path = cmp.Or(choice.Dir, ".")
		}
		if whole := *at; whole != nil {
			fact.Disagrees = append(fact.Disagrees, fmt.Sprintf("%s:%d says `%s` for the whole of it", whole.Source.Path, whole.Source.Line, whole.Value))
		}
		*at = &fact
	}
	if *c != (Commands{}) {
		b.Commands = c
	}
}

// folder is the folder whose commands and rules are asked for.
func (f *factory) folder() string { return cmp.Or(f.at, f.ground.dir) }

func (c *Commands) byRole() map[infer.Role]**Fact {
	return map[infer.Role]**Fact{infer.Setup: &c.Setup, infer.Build: &c.Build, infer.Test: &c.Test, infer.TestOne: &c.TestOne, infer.Lint: &c.Lint, infer.Run: &c.Run}
}

// exists tells whether the entity's repository has a file; while that is not
// known it is taken to have it.
func (f *factory) exists(file string) bool {
	found, known := f.lookUp(file)
	return !known || len(found) > 0
}

// inferRules lists the files with rules for agents, nearest first.
func (s *Service) inferRules(f *factory, b *Brief) {
	for _, rules := range f.ground.RulesFor(f.folder()) {
		fact := s.found(f, f.ground.Finding, rules.Path, rules.Place)
		fact.Handle = handleOf(f.ground.Source, rules.Path)
		b.Rules = append(b.Rules, fact)
	}
}
