// Package gitopstest holds what stands for an Argo CD in tests of the room
// gitops, and the contract that it and the real one pass.
package gitopstest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Fake is an Argo CD of one application, which is labelled app=NAME. Tests
// change what it says by Set.
type Fake struct {
	// Name is the application's.
	Name string

	mu      sync.Mutex
	app     gitops.Application
	wanted  []gitops.DeployedImage
	running gitops.Running
	err     error
	hold    chan struct{}
	asked   int
	looks   int
	listed  int
}

// NewFake makes one that is synced and healthy at a revision with an image.
func NewFake(name, revision, image string) *Fake {
	f := &Fake{Name: name}
	f.Deploy(revision, image)
	return f
}

// Deploy has it synced to a revision with an image, and well.
func (f *Fake) Deploy(revision, image string) {
	now := time.Now().UTC().Truncate(time.Second)
	ref := strings.SplitN(image, ":", 2)
	images := []gitops.DeployedImage{{Name: ref[0], Tag: ref[1]}}
	f.Set(func(s State) {
		*s.Wanted = images
		*s.Running = gitops.Running{Images: images}
		s.App.Revisions, s.App.Sync, s.App.Health, s.App.HealthMessage, s.App.Automated = []string{revision}, "Synced", "Healthy", "", true
		s.App.HealthSince, s.App.Namespace, s.App.Sources = now, f.Name, []gitops.AppSource{{Repository: "https://git.test/deploy.git", Target: "main"}}
		s.App.Operation = &gitops.Operation{Phase: gitops.OperationSucceeded, Message: "successfully synced", Revision: revision, StartedAt: now.Add(-10 * time.Second), FinishedAt: now.Add(-5 * time.Second)}
		s.App.ComparedAt = now
		s.App.History = append(s.App.History, gitops.PastDeployment{Revision: revision, At: now.Add(-5 * time.Second)})
	})
}

// Break has it be Degraded, by a Pod with a message.
func (f *Fake) Break(message string) {
	f.Set(func(s State) {
		s.App.Health = "Degraded"
		s.Running.Unwell = []gitops.UnwellResource{{Resource: "Pod web-1", Health: "Degraded", Message: message}}
	})
}

// State is what a Fake says.
type State struct {
	App     *gitops.Application
	Wanted  *[]gitops.DeployedImage
	Running *gitops.Running
	// Err is the answer to everything, nil for none.
	Err *error
}

// Set changes what it says.
func (f *Fake) Set(change func(State)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.app.History, f.app.Differing, f.running.Unwell = slices.Clone(f.app.History), slices.Clone(f.app.Differing), slices.Clone(f.running.Unwell)
	change(State{&f.app, &f.wanted, &f.running, &f.err})
}

// Hold has every call wait until release is called, or its context ends.
func (f *Fake) Hold() (release func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	hold := make(chan struct{})
	f.hold = hold
	return sync.OnceFunc(func() { close(hold) })
}

// Asked is how often an application was asked for, and how often to be compared
// anew.
func (f *Fake) Asked() (asked, looks int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked, f.looks
}

// call waits where calls are held, and refuses what is unknown.
func (f *Fake) call(ctx context.Context, at gitops.AppName) error {
	f.mu.Lock()
	hold := f.hold
	f.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil && at.Name != f.Name {
		return fault.New(fault.Unavailable, "reading the application %s: there is none", at.Name)
	}
	return f.err
}

// Find knows the label app.
func (f *Fake) Find(ctx context.Context, selector, _ string) ([]string, error) {
	if err := f.call(ctx, gitops.AppName{Name: f.Name}); err != nil {
		return nil, err
	}
	if selector != "app="+f.Name {
		return nil, nil
	}
	return []string{f.Name}, nil
}

// ListApplications gives the one that there is.
func (f *Fake) ListApplications(ctx context.Context, selectors []string) ([]gitops.ListedApplication, error) {
	if err := f.call(ctx, gitops.AppName{Name: f.Name}); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listed++
	one := gitops.ListedApplication{Application: f.app, At: gitops.AppName{Name: f.Name, Namespace: "argocd"}, Images: slices.Clone(f.running.Images)}
	one.Differing, one.Troubles = nil, nil
	if s := "app=" + f.Name; slices.Contains(selectors, s) {
		one.Selectors = []string{s}
	}
	return []gitops.ListedApplication{one}, nil
}

// Listed is how often all applications were asked for.
func (f *Fake) Listed() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.listed
}

// Application is the application.
func (f *Fake) Application(ctx context.Context, at gitops.AppName, look bool) (*gitops.Application, error) {
	if err := f.call(ctx, at); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	if look {
		f.looks++
		f.app.ComparedAt = time.Now().UTC().Truncate(time.Second)
	}
	app := f.app
	return &app, nil
}

// Wanted is what is wanted, whichever revisions are named.
func (f *Fake) Wanted(ctx context.Context, at gitops.AppName, _ []string) ([]gitops.DeployedImage, error) {
	if err := f.call(ctx, at); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.wanted), nil
}

// Running is what runs.
func (f *Fake) Running(ctx context.Context, at gitops.AppName) (*gitops.Running, error) {
	if err := f.call(ctx, at); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.running
	return &r, nil
}
