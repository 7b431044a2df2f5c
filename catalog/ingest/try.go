package ingest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// tryTime bounds the trying of one location.
const tryTime = 45 * time.Second

// TryLocation reads what a location would give, as an ingestion would, beside
// the catalog. The entities come in the order in which Backstage tells them.
// See catalog.LocationReader.
func (in *Ingester) TryLocation(ctx context.Context, l catalog.Location) ([]*entity.Entity, error) {
	if err := in.MayRead(l.Target); err != nil {
		return nil, err
	}
	asked := ctx
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	select {
	case in.registered.tries <- struct{}{}:
		defer func() { <-in.registered.tries }()
	case <-ctx.Done():
		return nil, fault.New(fault.Unavailable, "too many locations are being tried at the moment").WithFix("Try again in a moment.").Because(ctx.Err())
	}
	out, err := in.try(ctx, l)
	if err != nil && ctx.Err() != nil && asked.Err() == nil {
		return nil, fault.New(fault.Unavailable, "trying %s took longer than %s", l.Target, tryTime).
			WithFix("Check that the repository's server answers, or register the location without trying it.").Because(err)
	}
	return out, err
}

func (in *Ingester) try(ctx context.Context, l catalog.Location) (_ []*entity.Entity, err error) {
	t := in.beside()
	src := newSource(rank{name: "location", late: true}, &registeredLocation{in: t, at: l})
	list := slices.DeleteFunc(slices.Clone(in.sources()), func(s *source) bool { return s.rank.late })
	if below := in.covering(l.Target); below != nil {
		if _, err := in.sync(ctx, below); err != nil {
			in.log.WarnContext(ctx, "a location is tried against the last good state", "source", below.desc().Name, "error", err)
		}
	} else {
		passing, err := in.registered.Repositories.Passing(l.Target)
		if err != nil {
			return nil, err
		}
		repository := newSource(rank{name: "repository", late: true}, passing)
		defer func() {
			repository.close()
			if d, ok := passing.(Disposable); ok {
				err = errors.Join(err, d.Dispose())
			}
		}()
		if err := t.peek(ctx, repository); err != nil {
			return nil, err
		}
		list = append(list, repository)
	}
	t.roster.Store(newRoster(t.processor, append(list, src)))
	out, err := t.examine(ctx, src, locationTree{Revision(l.Target)}, Revision(l.Target))
	if err != nil {
		return nil, err
	}
	return told(out)
}

// beside is an ingester that reads as this one does, and of which nobody
// hears.
func (in *Ingester) beside() *Ingester {
	return &Ingester{processor: in.processor, fingerprint: in.fingerprint, timeout: in.timeout, sourceBytes: in.sourceBytes,
		log: in.log, now: in.now, workers: in.workers, claims: newClaims(), trial: true}
}

// peek lists the files of a repository.
func (in *Ingester) peek(ctx context.Context, s *source) error {
	in.roster.Store(newRoster(in.processor, []*source{s}))
	rev, err := s.from().Observe(ctx)
	if err != nil {
		return err
	}
	tree, err := s.from().Open(ctx, rev)
	if err != nil {
		return err
	}
	s.swap(tree)
	out, err := in.examine(ctx, s, tree, rev)
	if err != nil {
		return err
	}
	s.commit(out, Sighting{})
	return nil
}

// maxProblemsTold is how many problems one refusal tells.
const maxProblemsTold = 20

// told gives the entities of a reading, or its problems as one refusal.
func told(out *outcome) ([]*entity.Entity, error) {
	var problems []string
	for _, path := range out.order {
		for _, p := range out.files[path].found() {
			if p.Severity != entity.SeverityWarning {
				problems = append(problems, p.Name+": "+p.String())
			}
		}
	}
	if len(problems) > 0 {
		return nil, fault.New(fault.Invalid, "%s", strings.Join(problems[:min(len(problems), maxProblemsTold)], ", ")).
			WithFix("Put right what is wrong with the files, then try again.").WithDetail("problems", len(problems))
	}
	return inOrder(out)
}

// inOrder takes entities from the top of a stack on which the files of a
// Location are put one after the other.
func inOrder(out *outcome) ([]*entity.Entity, error) {
	below := map[string][]*Document{}
	for _, path := range out.order {
		for _, parent := range out.parents[path] {
			below[parent] = append(below[parent], out.files[path].Documents...)
		}
	}
	var list []*entity.Entity
	seen := map[string]bool{}
	stack := slices.Clone(out.files[locationPath].Documents)
	for len(stack) > 0 {
		d := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if d.Entity == nil {
			continue
		}
		if seen[d.Ref] {
			return nil, fault.New(fault.Invalid, "Duplicate nested entity: %s", d.Ref).
				WithFix("Describe it once, or give one of the two another metadata.name.")
		}
		seen[d.Ref] = true
		// Relations are worked out where all entities are known: it has none.
		list = append(list, d.Entity.WithJSON(entity.AppendJSON(nil, d.Entity.Root)))
		stack = append(stack, below[d.Ref]...)
	}
	return list, nil
}
