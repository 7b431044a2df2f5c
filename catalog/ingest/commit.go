package ingest

import (
	"context"
	"slices"
)

// commit puts an outcome in force and tells what to keep and which claims to
// exchange. Whoever reads s.files and the like without holding the source
// must hold s.mu.
func (s *source) commit(out *outcome, now Sighting) (delta Delta, old, fresh []holding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delta = Delta{Replace: out.replace || s.unsaved, Paths: out.changed, Files: map[string]*File{}}
	if out.quick {
		old, fresh = s.patch(out, delta.Files)
	} else {
		old, fresh = s.exchange(out, delta.Files)
	}
	delta.Pasts = s.succeed(out.descent, out.meta.Revision)
	if delta.Replace {
		delta.Paths, delta.Files, delta.Pasts = s.paths, s.files, s.allDated()
	}
	s.meta = out.meta
	if len(old)+len(fresh) > 0 || s.meta.Changed.At.IsZero() {
		s.meta.Changed = now
	}
	s.meta.Checked = now
	s.recheck = false
	s.sight(now)
	if s.provider != "" {
		s.meta.Provider, s.meta.Description = s.provider, *s.desc()
	}
	delta.Meta = s.meta
	return delta, old, fresh
}

// patch works a few files into what is in force; its cost follows them alone.
func (s *source) patch(out *outcome, differ map[string]*File) (old, fresh []holding) {
	for path, id := range out.changed {
		if id == "" {
			delete(s.paths, path)
		} else {
			s.paths[path] = id
		}
	}
	for path, f := range out.files {
		old = append(old, s.holding(s.files[path], s.parents[path]))
		fresh = append(fresh, s.holding(f, s.parents[path]))
		s.weight += f.weight() - s.files[path].weight()
		s.files[path], differ[path] = f, f
		delete(s.troubled, path)
		if f.troubled() {
			s.troubled[path] = struct{}{}
		}
	}
	return old, fresh
}

// exchange replaces all that is in force.
func (s *source) exchange(out *outcome, differ map[string]*File) (old, fresh []holding) {
	for path, f := range out.files {
		was := s.files[path]
		if f == was && slices.Equal(out.parents[path], s.parents[path]) {
			continue
		}
		differ[path] = f
		fresh = append(fresh, s.holding(f, out.parents[path]))
		if was != nil {
			old = append(old, s.holding(was, s.parents[path]))
		}
	}
	for path, was := range s.files {
		if out.files[path] == nil {
			differ[path] = nil
			old = append(old, s.holding(was, s.parents[path]))
		}
	}
	s.paths, s.files, s.parents, s.shape = out.paths, out.files, out.parents, out.shape
	s.troubled = troubledOf(s.files)
	s.weight = 0
	for _, f := range s.files {
		s.weight += f.weight()
	}
	return old, fresh
}

// save keeps what has changed. What cannot be saved is tried again with the
// next reading; the catalog is served all the same.
func (in *Ingester) save(ctx context.Context, s *source, d Delta) {
	if in.keeper == nil {
		return
	}
	err := in.keeper.Save(ctx, s.desc().Name, d)
	if err != nil {
		in.log.ErrorContext(ctx, "catalog state could not be kept", "source", s.desc().Name, "error", err)
	}
	s.mu.Lock()
	s.unsaved = err != nil
	s.mu.Unlock()
}
