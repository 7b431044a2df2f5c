package ingest

import (
	"cmp"
	"slices"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// rank orders sources: those that are configured one by one as configured,
// then those that a provider finds, by provider and name.
type rank struct {
	group int
	name  string
	// late tells that the source is there for registered locations, whose
	// claims come after all others however old they are.
	late bool
}

func (a rank) compare(b rank) int {
	return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.name, b.name))
}

// roster is the sources that there are at one moment. It is never changed.
type roster struct {
	list   []*source
	byName map[string]*source
	// byRepository finds sources by the key of any of their URLs.
	byRepository map[string][]*source
	// bases finds sources, by their place in list, that a location is in.
	bases descriptor.Bases[int]
}

func newRoster(p *descriptor.Processor, list []*source) *roster {
	slices.SortFunc(list, func(a, b *source) int { return a.rank.compare(b.rank) })
	r := &roster{list: list, byName: make(map[string]*source, len(list)), byRepository: make(map[string][]*source, len(list))}
	for i, s := range list {
		r.bases.Add(p, s.base(), i)
		r.byName[s.desc().Name] = s
		keys := []string{entity.RepositoryKey(s.desc().URL), entity.RepositoryKey(s.desc().Repository)}
		for _, k := range slices.Compact(keys) {
			if k != "" {
				r.byRepository[k] = append(r.byRepository[k], s)
			}
		}
	}
	return r
}

// sources are all sources, in order of precedence.
func (in *Ingester) sources() []*source { return in.roster.Load().list }

// source is the source of that name, nil if there is none.
func (in *Ingester) source(name string) *source { return in.roster.Load().byName[name] }

// holder is the first source of which wanted holds that a location is in, and
// the path there; nil if there is none.
func (in *Ingester) holder(at descriptor.Location, wanted func(s *source, path string) bool) (s *source, path string) {
	r := in.roster.Load()
	first := len(r.list)
	for i, p := range r.bases.Holding(in.processor, at) {
		if i < first && wanted(r.list[i], p) {
			first, s, path = i, r.list[i], p
		}
	}
	return s, path
}

// enrol adds and removes sources.
func (in *Ingester) enrol(add []*source, remove map[*source]bool) {
	in.enrolling.Lock()
	defer in.enrolling.Unlock()
	list := make([]*source, 0, len(in.sources())+len(add))
	for _, s := range in.sources() {
		if !remove[s] {
			list = append(list, s)
		}
	}
	in.roster.Store(newRoster(in.processor, append(list, add...)))
}
