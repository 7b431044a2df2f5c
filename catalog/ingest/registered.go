package ingest

import (
	"cmp"
	"context"
	"fmt"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// RegisteredName is the name of the provider of registered locations; theirs
// and those of their repositories begin with it and a slash. No configured
// source has it.
const RegisteredName = "registered"

// Registered is what finds registered locations.
type Registered struct {
	// List gives the locations that are registered now.
	List func(ctx context.Context) ([]catalog.Location, error)
	// Repositories opens what no configured source holds.
	Repositories Repositories
}

// Repositories opens the repositories of registered locations.
type Repositories interface {
	// Repository makes the source of the repository and branch that a target
	// is in, of which no file is a catalog file by itself. Equal repositories
	// and branches have equal names, which begin with RegisteredName and a
	// slash. A target that the configuration does not let be read is
	// forbidden or invalid; nothing is sent to anybody.
	Repository(target string) (Source, error)
	// Passing is Repository for one reading. It is Disposable, and what it
	// leaves on disk is its own.
	Passing(target string) (Source, error)
}

// typeLocation is the type of the sources that stand for registered locations.
const typeLocation = "location"

// locationPath is the one file of such a source: the Location.
const locationPath = "location"

// registry is the provider of registered locations. Each is a source of one
// Location; the file that this points to belongs to a configured source, or to
// a repository that the provider finds with it.
type registry struct {
	Registered
	in    *Ingester
	watch *provider
	// opened are the repositories by name; only Discover uses it.
	opened map[string]Source
	// tries bounds how many locations are tried at once.
	tries chan struct{}
}

// maxTries is how many locations are tried at once.
const maxTries = 4

func (in *Ingester) register(group int, cfg Registered) {
	r := &registry{Registered: cfg, in: in, opened: map[string]Source{}, tries: make(chan struct{}, maxTries)}
	r.watch = newProvider(group, r)
	r.watch.late = true
	in.registered = r
	in.providers = append(in.providers, r.watch)
}

// Describe says what the provider is.
func (r *registry) Describe() Description {
	return Description{Name: RegisteredName, Type: "locations"}
}

// Discover lists the locations and the repositories that only they need.
func (r *registry) Discover(ctx context.Context) ([]Source, error) {
	all, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	opened := map[string]Source{}
	out := make([]Source, 0, len(all))
	for _, l := range all {
		s := &registeredLocation{in: r.in, at: l}
		if r.in.covering(l.Target) == nil {
			if src, err := r.Repositories.Repository(l.Target); err != nil {
				r.in.log.WarnContext(ctx, "registered location may not be read", "target", l.Target, "error", err)
			} else {
				s.repository = src.Describe().Name
				if opened[s.repository] == nil {
					opened[s.repository] = src
				}
			}
		}
		out = append(out, s)
	}
	for name, src := range opened {
		if old := r.opened[name]; old != nil {
			opened[name], src = old, old
		}
		out = append(out, src)
	}
	r.opened = opened
	return out, nil
}

// covering is the first configured source that a target is in, nil if it is in
// none.
func (in *Ingester) covering(target string) *source {
	at := descriptor.Location{Type: descriptor.TypeURL, Target: target}
	s, _ := in.holder(at, func(s *source, path string) bool { return path != "" && !s.rank.late })
	return s
}

// serves tells whether o is the repository that a registered location points
// into. Nobody else may read what is only registered.
func (in *Ingester) serves(o, location *source) bool {
	if o.isLocation() || !location.isLocation() {
		return false
	}
	path, ok := in.processor.Within(o.base(), location.base())
	return ok && path != ""
}

// isLocation tells whether the source stands for a registered location.
func (s *source) isLocation() bool { return s.rank.late && s.desc().Type == typeLocation }

// lateness orders claims of registered locations after all others.
func (s *source) lateness() int {
	if s.rank.late {
		return 1
	}
	return 0
}

func (s *source) info() CommitInfo {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.meta.Info
}

// registeredLocation is one location as a source. Its base is the target.
type registeredLocation struct {
	in *Ingester
	at catalog.Location
	// repository is the name of the source that the provider has opened for
	// it; "" where a configured source holds the target.
	repository string
}

func locationName(id string) string { return RegisteredName + "/" + id }

// Describe says what the source is.
func (l *registeredLocation) Describe() Description {
	return Description{Name: locationName(l.at.ID), Type: typeLocation, URL: l.at.Target, BaseType: descriptor.TypeURL, Base: l.at.Target,
		Include: []string{locationPath}}
}

// Observe tells the target, once its repository has been read.
func (l *registeredLocation) Observe(ctx context.Context) (Revision, error) {
	if s := l.in.source(l.repository); s != nil && s.revision() == "" {
		if _, err := l.in.sync(ctx, s); err != nil {
			return "", err
		}
	}
	return Revision(l.at.Target), nil
}

// Open gives the one Location.
func (l *registeredLocation) Open(_ context.Context, rev Revision) (Tree, error) {
	return locationTree{rev}, nil
}

// locationTree holds the Location, which has no bytes.
type locationTree struct{ rev Revision }

// Changes lists the Location.
func (t locationTree) Changes(_ context.Context, since Revision) ([]Change, bool, error) {
	if since == t.rev {
		return nil, true, nil
	}
	return []Change{{Path: locationPath, ID: string(t.rev)}}, false, nil
}

// Read finds nothing.
func (locationTree) Read(context.Context, string) ([]byte, error) { return nil, ErrNotFound }

// Info knows no commit.
func (locationTree) Info() CommitInfo { return CommitInfo{} }

// Close has nothing to release.
func (locationTree) Close() error { return nil }

// registration makes the Location that stands for a registered location.
func (l *loader) registration(ctx context.Context, f, old *File) (*File, error) {
	src, ok := l.src.from().(*registeredLocation)
	if !ok {
		return nil, fault.New(fault.Unavailable, "the registered location %s has not been found again yet", l.src.desc().URL)
	}
	ref, err := entity.ParseRef(src.at.EntityRef, "location", entity.DefaultNamespace)
	if err != nil {
		return nil, fmt.Errorf("registered location %s: %w", src.at.ID, err)
	}
	read, d := l.in.processor.RegistrationAs(ref, l.src.base())
	f.Readable = true
	doc, err := l.process(ctx, f, read, d, src.at.Target, old)
	if err != nil {
		return nil, err
	}
	f.Documents = []*Document{doc}
	return f, nil
}

// because tells the first error of a file that a registered location points
// to, which is told nowhere else.
func (w *walk) because(f *File) string {
	if !w.src.isLocation() || len(f.Problems) == 0 {
		return ""
	}
	return ": " + cmp.Or(f.Problems[0].String(), "it is unreadable")
}
