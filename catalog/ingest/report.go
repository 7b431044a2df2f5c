package ingest

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/uuid"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// key identifies a problem across readings, wherever its line has moved to.
func key(p entity.Problem) string { return p.File + "\x00" + p.Ref + "\x00" + p.Message }

// found is a problem and the owner whom it concerns.
type found struct {
	entity.Problem
	owner string
}

// list gathers the problems of all files, by path.
func (s *source) list() []found {
	var out []found
	for _, path := range slices.Sorted(maps.Keys(s.troubled)) {
		out = append(out, s.files[path].found()...)
	}
	return out
}

func troubledOf(files map[string]*File) map[string]struct{} {
	out := map[string]struct{}{}
	for path, f := range files {
		if f.troubled() {
			out[path] = struct{}{}
		}
	}
	return out
}

func (f *File) troubled() bool {
	return len(f.Problems) > 0 || slices.ContainsFunc(f.Documents, func(d *Document) bool { return len(d.Problems) > 0 })
}

func (f *File) found() []found {
	var out []found
	for _, p := range f.Problems {
		out = append(out, found{p, f.owner()})
	}
	for _, d := range f.Documents {
		for _, p := range d.Problems {
			out = append(out, found{p, cmp.Or(d.Owner, f.owner())})
		}
	}
	return out
}

// twice is the problem of two documents of one file with one name.
func twice(path string, first, second *Document) entity.Problem {
	return entity.Problem{Severity: entity.SeverityWarning, Name: "ConflictError", File: path, Line: second.Line, Column: 1, Ref: second.Ref,
		Message: fmt.Sprintf("%s is described twice in this file, at lines %d and %d; the later one counts", second.Ref, first.Line, second.Line),
		Fix:     "Remove one of the two documents, or give one another metadata.name."}
}

// owner is the first owner that any document of the file names, else the one
// that its text seems to name.
func (f *File) owner() string {
	for _, d := range f.Documents {
		if d.Owner != "" {
			return d.Owner
		}
	}
	return f.Owner
}

// printOf is a number that tells problems apart; sums of them tell sets apart.
func printOf(p entity.Problem, owner string) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s\x00%d\x00%s\x00%s", key(p), p.Line, p.Severity, owner) // which never fails
	return h.Sum64()
}

// sight dates the problems in force; the caller holds the lock.
func (s *source) sight(now Sighting) {
	seen := map[string]Seen{}
	s.print = 0
	problems := s.list()
	for _, p := range problems {
		k := key(p.Problem)
		s.print += printOf(p.Problem, p.owner)
		first := now
		if was, known := s.meta.Seen[k]; known {
			first = was.First
		}
		seen[k] = Seen{First: first, Last: now}
	}
	s.meta.Seen = seen
	s.problems = len(problems)
}

// Sources tells how each source is doing, in configured order.
func (in *Ingester) Sources() []catalog.SourceStatus {
	lost, prints := map[string]int{}, map[string]uint64{}
	for _, c := range in.conflicts() {
		lost[c.Source]++
		prints[c.Source] += printOf(c.Problem, c.Owner)
	}
	held := in.claims.counts()
	all := in.sources()
	out := make([]catalog.SourceStatus, 0, len(all)+len(in.providers))
	for _, s := range all {
		st := s.status()
		st.Entities = held[s]
		st.Problems += lost[st.Name]
		st.Print += prints[st.Name]
		out = append(out, st)
	}
	for _, p := range in.providers {
		out = append(out, p.status())
	}
	return out
}

func (s *source) status() catalog.SourceStatus {
	s.mu.RLock()
	defer s.mu.RUnlock()
	st := catalog.SourceStatus{
		Name: s.desc().Name, Type: s.desc().Type, URL: s.desc().URL, State: "ok", Commit: s.meta.Info.Commit,
		Checked: sighting(s.meta.Checked), Changed: sighting(s.meta.Changed), Files: len(s.files), Problems: s.problems, Print: s.print,
	}
	switch {
	case s.lastErr != nil:
		st.State, st.Error, st.Fix = "failing", s.lastErr.Message, s.lastErr.Fix
		st.Problems++
	case s.meta.Revision == "":
		st.State = "pending"
	}
	return st
}

func (p *provider) status() catalog.SourceStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := catalog.SourceStatus{Name: p.desc.Name, Type: p.desc.Type, URL: p.desc.URL, State: "ok", Checked: sighting(Sighting{At: p.checked})}
	switch {
	case p.lastErr != nil:
		st.State, st.Error, st.Fix, st.Problems = "failing", p.lastErr.Message, p.lastErr.Fix, 1
	case !p.tried:
		st.State = "pending"
	}
	return st
}

func (p *provider) errors() []catalog.IngestionError {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.lastErr
	if f == nil {
		return nil
	}
	return []catalog.IngestionError{{Source: p.desc.Name, FirstSeen: sighting(Sighting{At: p.since}), LastSeen: sighting(Sighting{At: p.checked}),
		Problem: entity.Problem{Severity: entity.SeverityError, Name: "SourceError", Message: f.Message, Fix: f.Fix}}}
}

func sighting(s Sighting) catalog.Sighting {
	return catalog.Sighting{Commit: s.Commit, At: s.At.UTC().Truncate(time.Second)}
}

// Problems are all problems of all sources, by source, file and line.
func (in *Ingester) Problems() []catalog.IngestionError {
	var out []catalog.IngestionError
	all := in.sources()
	for _, s := range all {
		out = append(out, s.errors()...)
	}
	for _, p := range in.providers {
		out = append(out, p.errors()...)
	}
	out = append(out, in.conflicts()...)
	rank := make(map[string]int, len(all))
	for i, s := range all {
		rank[s.desc().Name] = i
	}
	slices.SortStableFunc(out, func(a, b catalog.IngestionError) int {
		return cmp.Or(cmp.Compare(rank[a.Source], rank[b.Source]), strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return out
}

func (s *source) errors() []catalog.IngestionError {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []catalog.IngestionError
	if f := s.lastErr; f != nil {
		out = append(out, catalog.IngestionError{Source: s.desc().Name, FirstSeen: sighting(s.errSince), LastSeen: sighting(s.meta.Checked),
			Problem: entity.Problem{Severity: entity.SeverityError, Name: "SourceError", Message: f.Message, Fix: f.Fix}})
	}
	for _, p := range s.list() {
		seen := s.meta.Seen[key(p.Problem)]
		last := seen.Last
		if s.lastErr == nil {
			last = Sighting{Commit: s.meta.Info.Commit, At: s.meta.Checked.At}
		}
		out = append(out, catalog.IngestionError{Problem: p.Problem, Source: s.desc().Name, Owner: p.owner,
			FirstSeen: sighting(seen.First), LastSeen: sighting(last)})
	}
	return out
}

// conflicts are the problems of documents that claim a name which another
// holds.
func (in *Ingester) conflicts() []catalog.IngestionError {
	all := in.claims.conflicts()
	var out []catalog.IngestionError
	for _, ref := range slices.Sorted(maps.Keys(all)) {
		held := all[ref][0]
		for _, c := range all[ref][1:] {
			out = append(out, in.conflict(ref, held, c))
		}
	}
	return out
}

func (in *Ingester) conflict(ref string, held, lost claim) catalog.IngestionError {
	s := lost.source
	s.mu.RLock()
	defer s.mu.RUnlock()
	first := s.meta.Changed
	if from := lost.doc.Entity.From; !from.VerifiedAt.IsZero() {
		first = Sighting{Commit: from.Commit, At: from.VerifiedAt}
	}
	from, by := held.doc.Entity.From, ""
	if held.doc.Owner != "" {
		by = " by " + held.doc.Owner
	}
	return catalog.IngestionError{Source: s.desc().Name, Owner: lost.doc.Owner,
		FirstSeen: sighting(first), LastSeen: sighting(s.meta.Checked),
		Problem: entity.Problem{Severity: entity.SeverityError, Name: "ConflictError", File: lost.path, Line: lost.doc.Line, Column: 1, Ref: ref,
			Message: fmt.Sprintf("%s is already described in %s:%d of source %s%s%s, which keeps the name", ref, held.path, held.doc.Line, from.Source, by, atCommit(from.Commit)),
			Fix:     "Remove one of the two descriptions, or give one another metadata.name or metadata.namespace."}}
}

// atCommit words the commit, where there is one.
func atCommit(commit string) string {
	if commit == "" {
		return ""
	}
	return " at commit " + short(commit)
}

func short(commit string) string { return commit[:min(len(commit), 12)] }

// Verified is the commit of a source and when that was last seen to be
// current.
func (in *Ingester) Verified(name string) catalog.Sighting {
	s := in.source(name)
	if s == nil {
		return catalog.Sighting{}
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return sighting(Sighting{Commit: s.meta.Info.Commit, At: s.meta.Checked.At})
}

// Failing tells whether the last attempt to read a source failed, so that what
// is served is its last good state.
func (in *Ingester) Failing(name string) bool {
	s := in.source(name)
	if s == nil {
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.lastErr != nil
}

// Ready tells whether every source has been read, restored or tried once.
func (in *Ingester) Ready() bool {
	for _, p := range in.providers {
		if !p.settled() {
			return false
		}
	}
	for _, s := range in.sources() {
		s.mu.RLock()
		ready := s.ready
		s.mu.RUnlock()
		if !ready {
			return false
		}
	}
	return true
}

// Locations are the roots of the sources as Backstage names locations.
func (in *Ingester) Locations() []catalog.LocationItem {
	all := in.sources()
	out := make([]catalog.LocationItem, 0, len(all))
	for _, s := range all {
		if s.rank.late {
			continue
		}
		target := s.desc().Base
		if len(s.desc().Include) == 1 && !strings.ContainsAny(s.desc().Include[0], "*?[{") {
			target = strings.TrimSuffix(target, "/") + "/" + s.desc().Include[0]
		}
		at := descriptor.Location{Type: s.desc().BaseType, Target: target}
		out = append(out, catalog.LocationItem{Type: at.Type, Target: at.Target, Source: s.desc().Name,
			ID: uuid.NewSHA1(uuid.NameSpaceURL, []byte(at.String())).String()})
	}
	return out
}

// Refresh reads one source now and tells what that changed.
func (in *Ingester) Refresh(ctx context.Context, name string) (*catalog.RefreshResult, error) {
	n, _, err := in.refreshNow(ctx, name)
	if err != nil {
		return nil, err
	}
	return &catalog.RefreshResult{Source: name, Commit: in.Verified(name).Commit, Changed: n}, nil
}

// Files lists a source's files that a pattern matches, sorted; known is false
// while the source has not been read.
func (in *Ingester) Files(name, pattern string) (paths []string, known bool) {
	if s := in.source(name); s != nil {
		return s.matching(pattern)
	}
	return nil, false
}

func (s *source) matching(pattern string) ([]string, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.meta.Revision == "" {
		return nil, false
	}
	if !strings.ContainsAny(pattern, "*?[{") {
		if _, there := s.paths[pattern]; there {
			return []string{pattern}, true
		}
		return nil, true
	}
	if !doublestar.ValidatePattern(pattern) {
		return nil, true
	}
	fixed := pattern[:strings.IndexAny(pattern, "*?[{")]
	var out []string
	for p := range s.paths {
		if strings.HasPrefix(p, fixed) && doublestar.MatchUnvalidated(pattern, p) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out, true
}
