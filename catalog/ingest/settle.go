package ingest

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// settleTime is how long whoever changes a registered location waits to see it
// served so.
const settleTime = 10 * time.Second

// MayRead tells whether a registered location may point to a target: to a file
// of a configured source, or of a repository that the configuration lets be
// read. See catalog.LocationReader.
func (in *Ingester) MayRead(target string) error {
	if in.registered == nil {
		return fault.New(fault.Forbidden, "locations cannot be registered")
	}
	if in.covering(target) != nil {
		return nil
	}
	src, err := in.registered.Repositories.Repository(target)
	if err != nil {
		return err
	}
	d := src.Describe()
	path, ok := in.processor.Within(descriptor.Location{Type: d.BaseType, Target: d.Base}, descriptor.Location{Type: descriptor.TypeURL, Target: target})
	if !ok || path == "" {
		return fault.New(fault.Invalid, "%s is not how the files of %s are addressed", target, d.URL).WithFix("Write it as %scatalog-info.yaml.", d.Base)
	}
	return nil
}

// Rediscover has registered locations looked up again soon, as others may have
// changed them.
func (in *Ingester) Rediscover() {
	if in.registered == nil {
		return
	}
	select {
	case in.registered.watch.again <- struct{}{}:
	default:
	}
}

// SettleLocation looks registered locations up again now and reads the one of
// that id, if there is one. It waits for that, but not for long: what takes
// longer is served when it is read. See catalog.LocationReader.
func (in *Ingester) SettleLocation(ctx context.Context, id string) {
	if in.registered == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	done := make(chan struct{})
	select {
	case in.registered.watch.asks <- done:
	case <-ctx.Done():
		in.Rediscover()
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
		return
	}
	s := in.source(locationName(id))
	if s == nil {
		return
	}
	if _, err := in.syncAll(ctx, s); err != nil {
		in.log.WarnContext(ctx, "registered location could not be read yet", "target", s.desc().URL, "error", err)
	}
}

// syncAll brings a source up to date, and with it what it is read from and
// the registered locations that are read from it.
func (in *Ingester) syncAll(ctx context.Context, s *source) (changed int, err error) {
	if s.isLocation() {
		in.syncBelow(ctx, s)
	}
	s.doubt()
	changed, err = in.sync(ctx, s)
	if err != nil || s.isLocation() {
		return changed, err
	}
	for _, o := range in.sources() {
		if !o.isLocation() || !o.toRecheck() && (o.revision() != "" || !in.serves(s, o)) {
			continue
		}
		n, err := in.sync(ctx, o)
		changed += n
		if err != nil {
			in.log.WarnContext(ctx, "registered location could not be read", "target", o.desc().URL, "error", err)
		}
	}
	return changed, nil
}

// syncBelow brings up to date what a registered location points into. Where
// that fails, what was there before counts.
func (in *Ingester) syncBelow(ctx context.Context, location *source) {
	below := in.covering(location.desc().URL)
	if below == nil {
		i := slices.IndexFunc(in.sources(), func(o *source) bool { return o.rank.late && in.serves(o, location) })
		if i < 0 {
			return
		}
		below = in.sources()[i]
	}
	below.doubt()
	if _, err := in.sync(ctx, below); err != nil {
		in.log.WarnContext(ctx, "what a registered location points into could not be read", "source", below.desc().Name, "error", err)
	}
}

func (s *source) toRecheck() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.recheck
}

// GivenBy are the references of the entities that a registered location alone
// gives, sorted. See catalog.LocationReader.
func (in *Ingester) GivenBy(id string) []string {
	s := in.source(locationName(id))
	if s == nil {
		return nil
	}
	out := []string{}
	for _, h := range s.holdings() {
		for _, c := range h {
			if in.claims.alone(c.doc.Ref, s) {
				out = append(out, c.doc.Ref)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
