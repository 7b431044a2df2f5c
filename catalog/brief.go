package catalog

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// The bounds of a brief's size in tokens of four bytes.
const (
	defaultBriefTokens = 1200
	minBriefTokens     = 100
	maxBriefTokens     = 8000
)

// Evidence is what an Ingestion may know beyond its reports: how current a
// source is and which files it holds.
type Evidence interface {
	// Verified is the commit of a source and when it was last seen current.
	Verified(source string) Sighting
	// Files lists the files of a source that a pattern matches; known is false
	// while the source has not been read.
	Files(source, pattern string) (paths []string, known bool)
}

// briefSections are the sections that can be asked for and what drops them.
func briefSections() map[string]func(*Brief) {
	return map[string]func(*Brief){
		"owner":        func(b *Brief) { b.Owner = nil },
		"oncall":       func(b *Brief) { b.Oncall = nil },
		"repository":   func(b *Brief) { b.Repository = nil },
		"commands":     func(b *Brief) { b.Commands = nil },
		"rules":        func(b *Brief) { b.Rules = nil },
		"deploy":       func(b *Brief) { b.DeployRepo, b.Environments = nil, nil },
		"dependencies": func(b *Brief) { b.DependsOn, b.DependencyOf = nil, nil },
		"slos":         func(b *Brief) { b.SLOs = nil },
		"runbooks":     func(b *Brief) { b.Runbooks = nil },
		"dashboards":   func(b *Brief) { b.Dashboards = nil },
		"problems":     func(b *Brief) { b.Problems = nil },
	}
}

// GetServiceBrief answers what one needs to know before touching a service:
// what its catalog entry declares and what its repositories say, each fact
// with the place where it is written, within the size asked for.
func (s *Service) GetServiceBrief(ctx context.Context, who access.Caller, in GetServiceBriefInput) (*Brief, error) {
	limit, err := briefLimit(in)
	if err != nil {
		return nil, err
	}
	e, at, err := s.briefed(ctx, who, in)
	if err != nil {
		return nil, err
	}
	most := 0
	if len(in.Sections) == 0 || slices.Contains(in.Sections, "dependencies") {
		most = mostFacts(limit)
	}
	b := s.brief(s.reading(who), e, at, most)
	keepSections(b, in.Sections)
	b.fit(limit)
	return b, nil
}

func briefLimit(in GetServiceBriefInput) (int, error) {
	known := briefSections()
	for _, name := range in.Sections {
		if known[name] == nil {
			return 0, fault.New(fault.Invalid, "sections: there is no section %q", name).
				WithFix("Known: owner, oncall, repository, commands, rules, deploy, dependencies, slos, runbooks, dashboards, problems.")
		}
	}
	switch {
	case in.MaxTokens == 0:
		return defaultBriefTokens, nil
	case in.MaxTokens < minBriefTokens || in.MaxTokens > maxBriefTokens:
		return 0, fault.New(fault.Invalid, "max_tokens: %d is not between %d and %d", in.MaxTokens, minBriefTokens, maxBriefTokens).
			WithFix("Give a number in that range, or leave it out.")
	default:
		return in.MaxTokens, nil
	}
}

// briefed finds the entity that a brief is about, and the path inside its
// repository that is asked about.
func (s *Service) briefed(ctx context.Context, who access.Caller, in GetServiceBriefInput) (*Entity, string, error) {
	at, err := insidePath(in.Path)
	switch {
	case err != nil:
		return nil, "", err
	case in.Service != "" && in.Repository != "":
		return nil, "", fault.New(fault.Invalid, "service and repository are both given").WithFix("Name the service, or its repository, not both.")
	case in.Service != "":
		e, err := s.GetEntity(ctx, who, GetEntityInput{Ref: in.Service})
		return e, at, err
	case in.Repository != "":
		return s.ofRepository(s.reading(who), in.Repository, at)
	default:
		return nil, "", fault.New(fault.Invalid, "neither service nor repository is given").WithFix("Name the service, for example checkout, or the URL of its repository.")
	}
}

// brief gathers everything that is known of an entity. at is a path in its
// repository that is asked about, "" for the whole of it. Of what depends on it
// as many are told as are certain not to be too many, most at the most.
func (s *Service) brief(r reading, e *Entity, at string, most int) *Brief {
	b, f := s.known(r, e, at)
	b.DependsOn = s.needs(f)
	b.DependencyOf, b.cut = s.neededBy(r, e, most)
	for _, st := range e.Status {
		text := st.Message
		if st.Error != nil {
			text = st.Error.Name + ": " + st.Error.Message
		}
		f.problems = append(f.problems, staleness(e)+text)
	}
	b.Problems = f.problems
	b.Unknown = b.missing()
	return b
}

// known is what is known of an entity, less what it has to do with others and
// what is wrong with it.
func (s *Service) known(r reading, e *Entity, at string) (*Brief, *factory) {
	f := s.factory(e)
	f.at = at
	b := &Brief{Ref: e.Ref.String(), Title: e.Title(), Description: oneLine(e.Description())}
	b.Owner = s.ownerFact(r, f)
	f.declared(b)
	s.inferred(r, f, b)
	return b, f
}

// staleness says that an entity is older than its file, and since when.
func staleness(e *Entity) string {
	since := e.From.StaleSince
	if since == "" {
		return "the catalog file has errors, this is its last good state: "
	}
	if e.From.Commit != "" {
		since = "commit " + since[:min(12, len(since))]
	}
	return "the catalog file has errors since " + since + ", this is its last good state: "
}

func (s *Service) factory(e *Entity) *factory {
	f := &factory{e: e, failing: s.failing(e.From.Source), now: time.Now()}
	ev, ok := s.evidence()
	if !ok {
		return f
	}
	if len(e.Status) == 0 { // a last good state is of the commit it was read at
		f.verified = ev.Verified(e.From.Source)
	}
	f.files = func(pattern string) ([]string, bool) { return ev.Files(e.From.Source, pattern) }
	return f
}

// missing names the sections about which nothing is known.
func (b *Brief) missing() []string {
	var out []string
	for _, m := range []struct {
		name string
		gone bool
	}{
		{"owner", b.Owner == nil}, {"oncall", b.Oncall == nil}, {"repository", b.Repository == nil}, {"commands", b.Commands == nil},
		{"deployRepo", b.DeployRepo == nil}, {"environments", len(b.Environments) == 0}, {"slos", len(b.SLOs) == 0},
		{"runbooks", len(b.Runbooks) == 0}, {"dashboards", len(b.Dashboards) == 0},
	} {
		if m.gone {
			out = append(out, m.name)
		}
	}
	return out
}

func keepSections(b *Brief, sections []string) {
	if len(sections) == 0 {
		return
	}
	for name, drop := range briefSections() {
		if !slices.Contains(sections, name) {
			drop(b)
		}
	}
	b.Unknown = slices.DeleteFunc(b.Unknown, func(u string) bool {
		if u == "deployRepo" || u == "environments" {
			u = "deploy"
		}
		return !slices.Contains(sections, u)
	})
}

// ownerFact is the owner with the name that people know it by.
func (s *Service) ownerFact(r reading, f *factory) *Fact {
	ref := f.e.Owner()
	if ref == "" {
		return nil
	}
	fact := f.fact(ref, f.e.Spec().Position("owner"))
	if o := r.Get(r.scope, ref); o != nil {
		fact.Name = o.Title()
	}
	return &fact
}

// needs are what the entity depends on, as its own file says.
func (s *Service) needs(f *factory) []Fact {
	var out []Fact
	for _, field := range []struct{ key, kind string }{{"dependsOn", ""}, {"consumesApis", "api"}} {
		for _, it := range f.e.Spec().List(field.key) {
			written, _ := it.Value.(string)
			ref, err := entity.ParseRef(written, field.kind, f.e.Namespace())
			if err != nil {
				continue
			}
			fact := f.fact(ref.String(), it.At)
			fact.Name = field.key
			if field.kind != "" {
				fact.Name = "consumesApi"
			}
			out = append(out, fact)
		}
	}
	return out
}

// neededBy are what depends on the entity or consumes its APIs, each with
// the place in the other's file. Where there are more than most, they are
// halved as fit would halve them; cut tells so.
func (s *Service) neededBy(r reading, e *Entity, most int) (facts []Fact, cut bool) {
	if most == 0 {
		return nil, false
	}
	type need struct{ ref, relation, target string }
	var all []need
	add := func(refs []string, relation, target string) {
		for _, ref := range refs {
			if !r.hides(ref) {
				all = append(all, need{ref, relation, target})
			}
		}
	}
	add(e.Targets("dependencyOf"), "dependsOn", e.Ref.String())
	for _, api := range e.Targets("providesApi") {
		if a := r.Get(r.scope, api); a != nil {
			add(a.Targets("apiConsumedBy"), "consumesApi "+a.Ref.Name, api)
		}
	}
	for ; len(all) > most; cut = true {
		all = all[:len(all)/2]
	}
	for _, n := range all {
		fact := Fact{Value: n.ref, Kind: Declared}
		if other := r.Get(r.scope, n.ref); other != nil {
			fact = s.factory(other).fact(n.ref, written(other, n.target))
			if owner := other.Owner(); owner != e.Owner() {
				fact.Owner = owner
			}
		}
		fact.Name = n.relation
		facts = append(facts, fact)
	}
	return facts, cut
}

// hides tells whether the catalog has an entity that the caller may not see.
func (r reading) hides(ref string) bool {
	if r.scope.All() {
		return false
	}
	a, there := r.Attributes(ref)
	return there && !r.scope.Allows(a)
}

// written is where an entity names another in its spec.
func written(e *Entity, target string) entity.Position {
	for _, field := range []struct{ key, kind string }{{"dependsOn", ""}, {"consumesApis", "api"}} {
		for _, it := range e.Spec().List(field.key) {
			text, _ := it.Value.(string)
			if ref, err := entity.ParseRef(text, field.kind, e.Namespace()); err == nil && ref.String() == target {
				return it.At
			}
		}
	}
	return entity.Position{}
}
