package gitops

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
	"github.com/fairlead-dev/fairlead/internal/record"
)

// ArgoCD is one Argo CD, as the Observer asks it.
type ArgoCD interface {
	Deployments
	Listing
}

// ObserverConfig is what an Observer is made of. Recorder, Catalog and
// Instances are needed.
type ObserverConfig struct {
	Recorder *Recorder
	Catalog  *catalog.Service
	// Instances are the Argo CDs by name.
	Instances map[string]ArgoCD
	// Claim lets one of several replicas observe an Argo CD; nil where there is
	// but one.
	Claim func(ctx context.Context, work, holder string, now, until time.Time) (bool, error)
	// Every is how often each Argo CD is asked, 15 s by default.
	Every time.Duration
	// Patience is how long one may take, 30 s by default.
	Patience time.Duration
	// Logger is told of Argo CDs that do not answer; nil is slog.Default.
	Logger *slog.Logger
	// Now is the time; nil is time.Now.
	Now func() time.Time
}

// maxAnew is how many applications are compared anew in one turn, for which
// Argo CD has compared none since their sync ended.
const maxAnew = 10

// Observer writes down what is deployed where: it asks each Argo CD for all of
// its applications at once, and has a Recorder note those that the catalog says
// are an environment of a service.
type Observer struct {
	cfg    ObserverConfig
	holder string
	places placeList
}

// NewObserver makes an Observer.
func NewObserver(cfg ObserverConfig) (*Observer, error) {
	if cfg.Recorder == nil || cfg.Catalog == nil || len(cfg.Instances) == 0 {
		return nil, errors.New("gitops: Recorder, Catalog and Instances are needed")
	}
	if cfg.Every == 0 {
		cfg.Every = 15 * time.Second
	}
	if cfg.Patience == 0 {
		cfg.Patience = 30 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Observer{cfg: cfg, holder: record.NewID("observer", 40)}, nil
}

// Run observes until ctx ends. An Argo CD that does not answer is in nobody's
// way, and is logged once.
func (o *Observer) Run(ctx context.Context) error {
	var all beside.All
	for name := range o.cfg.Instances {
		all.Go(func() {
			beside.Always(ctx, o.cfg.Logger, "watching Argo CD "+name, func() { o.watch(ctx, name) })
		})
	}
	all.Wait()
	return nil
}

// watch looks at one Argo CD again and again.
func (o *Observer) watch(ctx context.Context, name string) {
	tick := time.NewTicker(o.cfg.Every)
	defer tick.Stop()
	turn := &observing{name: name}
	for {
		err := o.turn(ctx, turn)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !turn.failing:
			o.cfg.Logger.WarnContext(ctx, "what an Argo CD has deployed is not known", "argocd", name, "error", err)
		case err == nil && turn.failing:
			o.cfg.Logger.InfoContext(ctx, "what an Argo CD has deployed is known again", "argocd", name)
		}
		turn.failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// observing is what is remembered between two looks at an Argo CD.
type observing struct {
	name    string
	mine    time.Time // until when no other replica looks
	failing bool
}

// claimed is how long a replica has an Argo CD to itself, in turns.
const claimed = 4

// turn looks at one Argo CD once, unless another replica does.
func (o *Observer) turn(ctx context.Context, t *observing) (err error) {
	defer fault.Catch(&err, "looking at Argo CD %s", t.name)
	if ok, err := o.claim(ctx, t); !ok || err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, o.cfg.Patience)
	defer cancel()
	places, err := o.places.of(ctx, o.cfg.Catalog, o.cfg.Now)
	if err != nil {
		return err
	}
	here := places.at(t.name, len(o.cfg.Instances) == 1)
	if len(here) == 0 {
		return nil
	}
	all, err := o.cfg.Instances[t.name].ListApplications(ctx, selectorsOf(here))
	if err != nil {
		return timedOut(err, "listing the applications of Argo CD "+t.name)
	}
	return o.note(ctx, t.name, here, newFinder(all))
}

// claim has a replica be the one that looks. It asks for more time only when
// half of it is over.
func (o *Observer) claim(ctx context.Context, t *observing) (bool, error) {
	now, span := o.cfg.Now(), claimed*o.cfg.Every+o.cfg.Patience
	if o.cfg.Claim == nil || t.mine.Sub(now) > span/2 {
		return true, nil
	}
	ok, err := o.cfg.Claim(ctx, "deployments "+t.name, o.holder, now, now.Add(span))
	if t.mine = (time.Time{}); ok {
		t.mine = now.Add(span)
	}
	return ok, err
}

// note writes down what is seen of each place. What cannot be written down is
// seen again in the next turn.
func (o *Observer) note(ctx context.Context, name string, here []catalog.Deployment, apps finder) (err error) {
	anew := maxAnew
	for i := range here {
		d := &here[i]
		app := apps.find(d)
		if app == nil {
			continue
		}
		s := &sighting{service: d.Entity.Ref.String(), environment: d.Environment.Name, application: name + "/" + app.At.Name, app: &app.Application, images: app.Images, at: o.cfg.Now().UTC().Truncate(time.Microsecond)}
		if anew > 0 && s.moot() {
			anew--
			if fresh, lookErr := o.cfg.Instances[name].Application(ctx, app.At, true); lookErr == nil {
				s.app, s.compared = fresh, true
			}
		}
		if seeErr := o.cfg.Recorder.see(ctx, s); seeErr != nil && fault.CodeOf(seeErr) != fault.Conflict {
			if err = seeErr; ctx.Err() != nil {
				return err
			}
		}
	}
	return err
}

// moot tells that it was compared in the second in which its sync ended, so that
// nobody knows which was first.
func (s *sighting) moot() bool {
	op := s.app.Operation
	return op != nil && !op.FinishedAt.IsZero() && s.app.ComparedAt.Equal(op.FinishedAt) && !s.app.Deleting && !s.app.Pending && s.app.Health == "Healthy"
}

// placeList is where services are deployed, as the catalog last said.
type placeList struct {
	mu    sync.Mutex
	known placeSet
	snap  *index.Snapshot
	at    time.Time
	took  time.Duration
}

type placeSet []catalog.Deployment

// How often the catalog is asked anew: not more than one part in sharePlaces of
// the time goes into that, and in any case after oldPlaces, because not all that
// it says comes of its entities.
const (
	sharePlaces = 20
	oldPlaces   = 5 * time.Minute
)

// of gives the places, which are gathered anew where the catalog has changed.
func (l *placeList) of(ctx context.Context, c *catalog.Service, clock func() time.Time) (placeSet, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, current := clock(), c.Snapshot()
	age := now.Sub(l.at)
	if l.snap != nil && age < oldPlaces && (l.snap == current || age < sharePlaces*l.took) {
		return l.known, nil
	}
	all, err := c.Deployments(ctx)
	if err != nil {
		return nil, err
	}
	l.known, l.snap, l.at, l.took = all, current, now, clock().Sub(now)
	return l.known, nil
}

// at are the places at one Argo CD; alone tells that there is no other.
func (s placeSet) at(instance string, alone bool) (out []catalog.Deployment) {
	for _, d := range s {
		if d.Instance == instance || d.Instance == "" && alone {
			out = append(out, d)
		}
	}
	return out
}

func selectorsOf(here []catalog.Deployment) (out []string) {
	seen := map[string]bool{}
	for _, d := range here {
		if d.Selector != "" && !seen[d.Selector] {
			seen[d.Selector] = true
			out = append(out, d.Selector)
		}
	}
	return out
}

// finder finds applications among all of an Argo CD.
type finder struct {
	byName, bySelector map[string][]*ListedApplication
}

func newFinder(all []ListedApplication) finder {
	f := finder{map[string][]*ListedApplication{}, map[string][]*ListedApplication{}}
	for i := range all {
		a := &all[i]
		f.byName[a.At.Name] = append(f.byName[a.At.Name], a)
		for _, s := range a.Selectors {
			f.bySelector[s] = append(f.bySelector[s], a)
		}
	}
	return f
}

// find is the application of a place, nil where there is none, or more than
// one may be meant.
func (f finder) find(d *catalog.Deployment) (found *ListedApplication) {
	among := f.byName[d.App]
	if d.Selector != "" {
		among = f.bySelector[d.Selector]
	}
	for _, a := range among {
		if d.Namespace != "" && a.At.Namespace != d.Namespace {
			continue
		}
		if found != nil {
			return nil
		}
		found = a
	}
	return found
}
