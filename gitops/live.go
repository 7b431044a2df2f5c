package gitops

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
)

// Lives tells what Argo CD deploys a service from; HealthService does.
type Lives interface {
	// Live gives the application of a service in an environment, as far as the
	// caller may read of its health.
	Live(ctx context.Context, who access.Caller, in LiveInput) (*LiveApplication, error)
}

// LiveInput names a service and one of its environments.
type LiveInput struct{ Service, Environment string }

// LiveApplication is an application as Argo CD has it.
type LiveApplication struct {
	// Name is its Argo CD and its name there.
	Name string
	// Environment is the fact that the catalog has of it.
	Environment catalog.Fact
	Entity      *catalog.Entity
	*Application
}

// livePatience is how long a proposal waits for Argo CD, and liveKeep how long
// what it says of an application's sources serves others.
const (
	livePatience = 2 * time.Second
	liveKeep     = 10 * time.Second
)

// namedApp is an application, or why there is none.
type namedApp struct {
	app *Application
	err error
}

// Live is that of Lives. Faults: those of DescribeDeployment, not_found (what
// the caller may not read of), failed_precondition and unavailable (the
// application is not known now).
func (s *HealthService) Live(ctx context.Context, who access.Caller, in LiveInput) (*LiveApplication, error) {
	d, err := s.deployment(ctx, who, GetDeploymentHealthInput{Service: in.Service, Environment: in.Environment})
	if err != nil {
		return nil, err
	}
	instance, err := s.instance(d)
	if err != nil {
		return nil, err
	}
	at := AppName{Name: d.App, Namespace: d.Namespace}
	if d.Selector != "" {
		if at.Name, err = s.selected(ctx, instance, d); err != nil {
			return nil, err
		}
	}
	found, err := s.sources.Book(instance+"\x00"+at.Namespace+"\x00"+at.Name, func(ctx context.Context) namedApp { return s.sourcesOf(ctx, instance, at) }).Wait(ctx)
	if err == nil {
		err = found.err
	}
	if err != nil {
		return nil, err
	}
	return &LiveApplication{Name: instance + "/" + at.Name, Environment: d.Environment, Entity: d.Entity, Application: found.app}, nil
}

// sourcesOf asks an Argo CD about an application; one that has just taken too
// long is not asked again for a while, so that many proposals at once do not
// each wait for it.
func (s *HealthService) sourcesOf(ctx context.Context, instance string, at AppName) namedApp {
	if s.slow.is(instance, s.cfg.Now()) {
		return namedApp{err: timedOut(context.DeadlineExceeded, "asking Argo CD "+instance+" just now")}
	}
	app, err := s.cfg.Instances[instance].Application(ctx, at, false)
	if ctx.Err() != nil {
		s.slow.note(instance, s.cfg.Now().Add(liveKeep))
	}
	return namedApp{app, timedOut(err, "asking Argo CD "+instance)}
}

// slow are the Argo CDs that took too long, and until when they are left alone.
type slow struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (s *slow) is(instance string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Before(s.until[instance])
}

func (s *slow) note(instance string, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.until == nil {
		s.until = map[string]time.Time{}
	}
	s.until[instance] = until
}
