package ingest

import (
	"context"
	"slices"
)

// commit puts an outcome in force and tells what to keep and which claims to
// exchange.
func (s *source) commit(out *outcome, now Sighting) (delta Delta, old, fresh []holding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delta = Delta{Replace: out.replace || s.unsaved, Paths: out.changed, Files: map[string]*File{}}
	if delta.Replace {
		delta.Paths = out.paths
	}
	held := make(map[string]holding, len(out.files))
	for path, f := range out.files {
		was := s.held[path]
		if f == s.files[path] && slices.Equal(out.parents[path], s.parents[path]) && was != nil {
			held[path] = was
			if delta.Replace {
				delta.Files[path] = f
			}
			continue
		}
		held[path] = s.holding(f, out.parents[path])
		delta.Files[path] = f
		if was != nil {
			old = append(old, was)
		}
		fresh = append(fresh, held[path])
	}
	for path := range s.files {
		if out.files[path] == nil {
			delta.Files[path] = nil
			old = append(old, s.held[path])
		}
	}
	s.meta = out.meta
	if len(old)+len(fresh) > 0 || s.meta.Changed.At.IsZero() {
		s.meta.Changed = now
	}
	s.meta.Checked = now
	s.paths, s.files, s.parents, s.shape, s.held = out.paths, out.files, out.parents, out.shape, held
	s.recheck = false
	s.sight(now)
	delta.Meta = s.meta
	return delta, old, fresh
}

// save keeps what has changed. What cannot be saved is tried again with the
// next reading; the catalog is served all the same.
func (in *Ingester) save(ctx context.Context, s *source, d Delta) {
	if in.keeper == nil {
		return
	}
	err := in.keeper.Save(ctx, s.desc.Name, d)
	if err != nil {
		in.log.ErrorContext(ctx, "catalog state could not be kept", "source", s.desc.Name, "error", err)
	}
	s.mu.Lock()
	s.unsaved = err != nil
	s.mu.Unlock()
}
