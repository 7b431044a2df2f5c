package catalog

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// maxTarget bounds a location's target, in bytes.
const maxTarget = 2048

// Location is one registered location: a catalog file that somebody asked to
// be read, beside those of the configured sources.
type Location struct {
	// ID is a UUID.
	ID string
	// Type is url.
	Type string
	// Target is the URL of the file, as it was registered.
	Target string
	// EntityRef is the Location entity that stands for it.
	EntityRef string
	// Subject, Agent and Groups are of who registered it.
	Subject, Agent string
	Groups         []string
	// At is when that was.
	At time.Time
}

// Item is the location as clients see it.
func (l Location) Item() LocationItem {
	return LocationItem{ID: l.ID, Type: l.Type, Target: l.Target, EntityRef: l.EntityRef, Registered: true}
}

// LocationStore keeps registered locations.
type LocationStore interface {
	// Locations are all of them, oldest first.
	Locations(ctx context.Context) ([]Location, error)
	// AddLocation adds one; a conflict where type and target are registered
	// already, failed_precondition where there are most already.
	AddLocation(ctx context.Context, l Location, most int) error
	// MoveLocation gives one another target; a conflict where that is
	// registered already, not_found where there is none of that id.
	MoveLocation(ctx context.Context, id, target string) error
	// RemoveLocation removes one; not_found where there is none of that id.
	RemoveLocation(ctx context.Context, id string) error
}

// LocationReader reads what locations point to.
type LocationReader interface {
	// MayRead refuses a target that is not in a repository which the
	// configuration lets be read; nothing is sent to anybody.
	MayRead(target string) error
	// TryLocation gives the entities that a location would give, and keeps
	// nothing of them. What is wrong with its files is an invalid.
	TryLocation(ctx context.Context, l Location) ([]*Entity, error)
	// SettleLocation returns once a location that was added, moved or removed
	// is served so, or after a while.
	SettleLocation(ctx context.Context, id string)
	// GivenBy are the references of the entities that are there for the sake
	// of this location alone, sorted.
	GivenBy(id string) []string
}

// Registration is what registering locations needs.
type Registration struct {
	Store  LocationStore
	Reader LocationReader
	// Max is how many locations may be registered.
	Max int
}

// AttachRegistration lets locations be registered from now on.
func (s *Service) AttachRegistration(r Registration) { s.registration.Store(&r) }

func (s *Service) registering() (*Registration, error) {
	if r := s.registration.Load(); r != nil {
		return r, nil
	}
	return nil, fault.New(fault.Forbidden, "the catalog's content comes from Git alone: locations are not registered, changed or removed, as catalog.locations is not configured").
		WithFix("Add, change or remove the catalog-info.yaml in a repository that a source reads, or have the operators add catalog.locations to the configuration.")
}

// RegisterLocationInput names a catalog file to read.
type RegisterLocationInput struct {
	Target string `json:"target" jsonschema:"URL of a catalog file as the forge shows it, for example https://github.com/acme/shop/blob/main/catalog-info.yaml"`
	Type   string `json:"type,omitempty" jsonschema:"url, which is the default"`
	DryRun bool   `json:"dryRun,omitempty" jsonschema:"only tell what the location would give; nothing is kept"`
	// OnConflict is reject (default), or refresh.
	OnConflict string `json:"onConflict,omitempty" jsonschema:"what to do where it is registered already: reject (default), or refresh to read it again"`
}

// RegisteredLocation is the answer to a registration.
type RegisteredLocation struct {
	Location LocationItem `json:"location"`
	// Entities are what the location would give; told by a dry run only.
	Entities []*Entity `json:"entities"`
	// Exists tells whether the location is registered already; told by a dry
	// run only.
	Exists *bool `json:"exists,omitempty" jsonschema:"whether it is registered already; told by a dry run only"`
}

// RegisterLocation has a catalog file read from now on, or tells what that
// would give. Faults: forbidden (no such right, or a repository that is not
// configured), invalid (no such URL, or a dry run of files that are wrong),
// conflict (registered already), failed_precondition (too many).
func (s *Service) RegisterLocation(ctx context.Context, who access.Caller, in RegisterLocationInput) (*RegisteredLocation, error) {
	reg, err := s.registering()
	if err != nil {
		return nil, err
	}
	l, err := newLocation(in.Type, in.Target)
	if err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"", "reject", "refresh"}, in.OnConflict) {
		return nil, fault.New(fault.Invalid, "onConflict is neither reject nor refresh").WithFix("Leave it out, or write refresh to have a registered location read again.")
	}
	l.Subject, l.Agent, l.Groups = who.Subject(), who.Agent(), who.Groups()
	op := access.Op{Action: access.RegisterCatalog, Operation: "register_location", Target: l.Target, Input: in}
	return access.Do(ctx, s.guard, who, op, func(ctx context.Context) (*RegisteredLocation, error) {
		if err := reg.Reader.MayRead(l.Target); err != nil {
			return nil, err
		}
		if in.DryRun {
			out, err := reg.try(ctx, l)
			if err == nil {
				out.Entities = s.reading(who).shown(out.Entities)
			}
			return out, err
		}
		return reg.add(ctx, l, in.OnConflict == "refresh")
	})
}

// newLocation checks what is to be registered.
func newLocation(typ, target string) (Location, error) {
	if typ != "" && typ != descriptor.TypeURL {
		return Location{}, fault.New(fault.Invalid, `Registered locations must be of an allowed type ["url"]`).WithFix("Leave out the type, or write url.")
	}
	switch {
	case target == "":
		return Location{}, fault.New(fault.Invalid, "target is not given").WithFix("Give the URL of a catalog file, for example https://github.com/acme/shop/blob/main/catalog-info.yaml.")
	case len(target) > maxTarget:
		return Location{}, fault.New(fault.Invalid, "target is longer than %d bytes", maxTarget).WithFix("Give the URL of the file as the forge shows it.")
	case strings.ToValidUTF8(target, "") != target || strings.ContainsFunc(target, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }):
		return Location{}, fault.New(fault.Invalid, "target holds spaces or control characters").WithFix("Give the URL as the browser shows it, percent-encoded.")
	}
	l := Location{ID: uuid.NewString(), Type: descriptor.TypeURL, Target: target, At: time.Now()}
	l.EntityRef = descriptor.Generated(descriptor.Location{Type: l.Type, Target: l.Target}).String()
	return l, nil
}

// same finds the location that is registered with that type and target.
func (r *Registration) same(ctx context.Context, l Location) (*Location, error) {
	all, err := r.Store.Locations(ctx)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(all, func(o Location) bool { return o.Type == l.Type && o.Target == l.Target }); i >= 0 {
		return &all[i], nil
	}
	return nil, nil
}

func (r *Registration) try(ctx context.Context, l Location) (*RegisteredLocation, error) {
	registered, err := r.same(ctx, l)
	if err != nil {
		return nil, err
	}
	entities, err := r.Reader.TryLocation(ctx, l)
	if err != nil {
		return nil, err
	}
	exists := registered != nil
	l.ID = l.Type + ":" + l.Target // so does Backstage
	return &RegisteredLocation{Location: l.Item(), Entities: entities, Exists: &exists}, nil
}

func (r *Registration) add(ctx context.Context, l Location, refresh bool) (*RegisteredLocation, error) {
	err := r.Store.AddLocation(ctx, l, r.Max)
	if fault.CodeOf(err) == fault.Conflict && refresh {
		registered, found := r.same(ctx, l)
		if found != nil || registered == nil {
			return nil, err
		}
		l, err = *registered, nil
	}
	if err != nil {
		return nil, err
	}
	r.Reader.SettleLocation(ctx, l.ID)
	return &RegisteredLocation{Location: l.Item(), Entities: []*Entity{}}, nil
}

// UnregisterLocationInput names a registered location.
type UnregisterLocationInput struct {
	ID string `json:"id" jsonschema:"id of the location, as the list of locations has it"`
}

// UnregisteredLocation is what is gone.
type UnregisteredLocation struct {
	Location LocationItem `json:"location"`
	Removed  []string     `json:"removed" jsonschema:"references of the entities that went with it"`
}

// UnregisterLocation takes back a location and what only it gave. The caller
// needs the right to catalog.unregister on every entity that goes with it; of
// a location that gave none, on what the groups of who registered it own.
// Faults: not_found, forbidden.
func (s *Service) UnregisterLocation(ctx context.Context, who access.Caller, in UnregisterLocationInput) (*UnregisteredLocation, error) {
	reg, l, err := s.registered(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	given := reg.Reader.GivenBy(l.ID)
	op := access.Op{Action: access.UnregisterCatalog, Operation: "unregister_location", Target: l.Target, Input: in, Resource: s.atStake(who, l, given)}
	return access.Do(ctx, s.guard, who, op, func(ctx context.Context) (*UnregisteredLocation, error) {
		if err := reg.Store.RemoveLocation(ctx, l.ID); err != nil {
			return nil, err
		}
		reg.Reader.SettleLocation(ctx, l.ID)
		return &UnregisteredLocation{Location: l.Item(), Removed: slices.Clone(given)}, nil
	})
}

// MoveLocationInput gives a registered location another target.
type MoveLocationInput struct {
	ID     string `json:"id" jsonschema:"id of the location, as the list of locations has it"`
	Target string `json:"target" jsonschema:"URL of the catalog file to read instead"`
	Type   string `json:"type,omitempty" jsonschema:"url, which is the default"`
}

// MoveLocation has a registered location point elsewhere. It needs the rights
// of UnregisterLocation and of RegisterLocation. Faults: not_found, forbidden,
// invalid, conflict.
func (s *Service) MoveLocation(ctx context.Context, who access.Caller, in MoveLocationInput) (*LocationItem, error) {
	reg, l, err := s.registered(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	to, err := newLocation(in.Type, in.Target)
	if err != nil {
		return nil, err
	}
	op := access.Op{Action: access.UnregisterCatalog, Operation: "move_location", Target: l.Target, Input: in, Resource: s.atStake(who, l, reg.Reader.GivenBy(l.ID))}
	return access.Do(ctx, s.guard, who, op, func(ctx context.Context) (*LocationItem, error) {
		if d := s.policy.Allow(who, access.RegisterCatalog, access.Attributes{}); !d.Allowed {
			return nil, fault.New(fault.Forbidden, "%s", d.Reason).WithFix("%s", d.Fix)
		}
		if err := reg.Reader.MayRead(to.Target); err != nil {
			return nil, err
		}
		if err := reg.Store.MoveLocation(ctx, l.ID, to.Target); err != nil {
			return nil, err
		}
		reg.Reader.SettleLocation(ctx, l.ID)
		l.Target = to.Target
		item := l.Item()
		return &item, nil
	})
}

// registered finds a registered location that the caller may know of.
func (s *Service) registered(ctx context.Context, who access.Caller, id string) (*Registration, Location, error) {
	reg, err := s.registering()
	if err != nil {
		return nil, Location{}, err
	}
	missing := fault.New(fault.NotFound, "Found no location with ID %s", clipped(id)).WithFix("List the locations to see their ids.")
	r := s.reading(who)
	if r.scope.None() {
		return nil, Location{}, missing
	}
	all, err := reg.Store.Locations(ctx)
	if err != nil {
		return nil, Location{}, err
	}
	if i := slices.IndexFunc(all, func(l Location) bool { return l.ID == id }); i >= 0 && r.knowsOf(all[i]) {
		return reg, all[i], nil
	}
	knows := r.knowsRoot()
	if ing, err := s.ingest(); err == nil && slices.ContainsFunc(ing.Locations(), func(l LocationItem) bool { return l.ID == id && knows(l) }) {
		return nil, Location{}, fault.New(fault.Forbidden, "location %s is configured, not registered", clipped(id)).
			WithFix("Remove its source from catalog.sources of the configuration.")
	}
	return nil, Location{}, missing
}

// knowsOf tells whether the caller may know of a registered location: of one
// whose Location is in scope, or that a group has registered whose entities
// are.
func (r reading) knowsOf(l Location) bool {
	return r.allows(l.EntityRef, "") || r.scope.Allows(l.attributes())
}

// attributes are what policy may look at in a location that gave nothing: it
// belongs to the groups of who registered it.
func (l Location) attributes() access.Attributes {
	return access.Attributes{Ref: l.EntityRef, Kind: "location", Namespace: entity.DefaultNamespace, Owners: l.Groups}
}

// shown are the entities that the caller may read, though the catalog may not
// hold them.
func (r reading) shown(entities []*Entity) []*Entity {
	if r.scope.All() {
		return entities
	}
	return slices.DeleteFunc(slices.Clone(entities), func(e *Entity) bool {
		a := index.AttributesOf(e)
		if owner, err := entity.ParseRef(e.Spec().String("owner"), "group", a.Namespace); err == nil {
			a.Owners = []string{owner.String()}
		}
		return !r.scope.Allows(a)
	})
}

// atStake is what policy looks at when a location is to go: the first entity
// of it that the caller may not remove, else the first. Locations themselves
// carry nothing and count only where there is nothing else.
func (s *Service) atStake(who access.Caller, l Location, given []string) access.Attributes {
	snap := s.Snapshot()
	var first *access.Attributes
	for _, ref := range given {
		a, ok := snap.Attributes(ref)
		if !ok || a.Kind == "location" && len(a.Owners) == 0 {
			continue
		}
		if first == nil {
			first = &a
		}
		if !s.policy.Allow(who, access.UnregisterCatalog, a).Allowed {
			return a
		}
	}
	if first != nil {
		return *first
	}
	return l.attributes()
}

// clipped shortens what a caller sent for showing it again.
func clipped(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}
