package gitopstest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Subject is an Argo CD under test, with an application that is synced by
// itself.
type Subject struct {
	Deployments gitops.Deployments
	Listing     gitops.Listing
	At          gitops.AppName
	// Selector picks the application by its labels.
	Selector string
	// Revision is what its repository is at, and Image, NAME:TAG, what that runs.
	Revision, Image string
	// Deploy writes another image, NAME:TAG, into the repository and gives the
	// revision; Broken is one that does not become ready.
	Deploy          func(t *testing.T, image string) (revision string)
	Another, Broken string
	// Within bounds each wait.
	Within time.Duration
}

// Contract holds an Argo CD to what the room relies on. make gives one with an
// application of its own.
func Contract(t *testing.T, make func(t *testing.T) *Subject) {
	for _, part := range []struct {
		name string
		test func(t *testing.T, s *Subject)
	}{
		{"tells what is healthy, and what comes after it", tellsOfRevisions}, {"tells what is not well", tellsWhatIsUnwell}, {"knows what is not there", tellsNothing}, {"lists all", listsAll},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, make(t)) })
	}
}

// settled waits until a revision is live.
func (s *Subject) settled(t *testing.T, revision, health string) *gitops.Application {
	t.Helper()
	for deadline := time.Now().Add(s.Within); ; time.Sleep(50 * time.Millisecond) {
		app, err := s.Deployments.Application(t.Context(), s.At, false)
		if err == nil && slices.Equal(app.Revisions, []string{revision}) && app.Sync == "Synced" && app.Health == health && app.Operation != nil && !app.Operation.FinishedAt.IsZero() {
			return app
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not come to be %s: there is %+v, %v", revision, health, app, err)
		}
	}
}

func (s *Subject) images(t *testing.T, revision string) (wanted, running []string, r *gitops.Running) {
	t.Helper()
	w, err := s.Deployments.Wanted(t.Context(), s.At, []string{revision})
	r, runErr := s.Deployments.Running(t.Context(), s.At)
	if err = errors.Join(err, runErr); err != nil {
		t.Fatal(err)
	}
	for _, i := range w {
		wanted = append(wanted, i.Name+":"+i.Tag)
	}
	for _, i := range r.Images {
		running = append(running, i.Name+":"+i.Tag)
	}
	return wanted, running, r
}

func tellsOfRevisions(t *testing.T, s *Subject) {
	s.settled(t, s.Revision, "Healthy")
	app, err := s.Deployments.Application(t.Context(), s.At, true)
	if err != nil {
		t.Fatal(err)
	}
	op := app.Operation
	switch {
	case app.ComparedAt.Before(op.FinishedAt) || op.FinishedAt.Before(op.StartedAt) || time.Since(app.ComparedAt) > time.Minute:
		t.Errorf("the order of times: compared %s, operation %s to %s", app.ComparedAt, op.StartedAt, op.FinishedAt)
	case op.Phase != gitops.OperationSucceeded || op.Revision != s.Revision || op.By != "" || !app.Automated || app.Pending || app.Deleting || app.Namespace == "" || app.HealthSince.IsZero():
		t.Errorf("%+v %+v", app, op)
	case len(app.History) == 0 || app.History[len(app.History)-1].Revision != s.Revision || len(app.Troubles)+len(app.Differing) > 0:
		t.Errorf("%+v", app)
	}
	wanted, running, r := s.images(t, s.Revision)
	if !slices.Equal(wanted, []string{s.Image}) || !slices.Equal(running, wanted) || len(r.Unwell) > 0 {
		t.Errorf("wanted %v, running %+v", wanted, r)
	}
	next := s.Deploy(t, s.Another)
	app = s.settled(t, next, "Healthy")
	if n := len(app.History); n < 2 || app.History[n-1].Revision != next || app.History[n-2].Revision != s.Revision || app.History[n-1].At.Before(app.History[n-2].At) {
		t.Errorf("history: %+v", app.History)
	}
	if wanted, running, _ = s.images(t, next); !slices.Equal(wanted, []string{s.Another}) || !slices.Contains(running, s.Another) {
		t.Errorf("wanted %v, running %v", wanted, running)
	}
}

func tellsWhatIsUnwell(t *testing.T, s *Subject) {
	s.settled(t, s.Revision, "Healthy")
	app := s.settled(t, s.Deploy(t, s.Broken), "Degraded")
	_, _, r := s.images(t, app.Revisions[0])
	if len(r.Unwell) == 0 || r.Unwell[0].Health != "Degraded" || r.Unwell[0].Message == "" {
		t.Errorf("%+v of %+v", r.Unwell, app)
	}
}

func tellsNothing(t *testing.T, s *Subject) {
	none := gitops.AppName{Name: "no-such-application"}
	if app, err := s.Deployments.Application(t.Context(), none, false); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("an application that is not there: %+v, %v", app, err)
	}
	if w, err := s.Deployments.Wanted(t.Context(), none, []string{s.Revision}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("its manifests: %+v, %v", w, err)
	}
	if r, err := s.Deployments.Running(t.Context(), none); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("its resources: %+v, %v", r, err)
	}
	found, err := s.Deployments.Find(t.Context(), s.Selector, "")
	if err != nil || !slices.Equal(found, []string{s.At.Name}) {
		t.Errorf("found %v, %v", found, err)
	}
	if found, err = s.Deployments.Find(t.Context(), "app=nobody", ""); err != nil || len(found) > 0 {
		t.Errorf("found %v, %v", found, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Deployments.Application(ctx, s.At, false); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}

func listsAll(t *testing.T, s *Subject) {
	app := s.settled(t, s.Revision, "Healthy")
	for deadline := time.Now().Add(s.Within); ; time.Sleep(50 * time.Millisecond) {
		all, err := s.Listing.ListApplications(t.Context(), []string{s.Selector, "app=nobody", "no (selector"})
		i := slices.IndexFunc(all, func(a gitops.ListedApplication) bool { return a.At.Name == s.At.Name })
		if err != nil || i < 0 {
			t.Fatalf("%s is none of %+v: %v", s.At.Name, all, err)
		}
		a := all[i]
		if len(a.Images) == 0 && time.Now().Before(deadline) { // they are told of a moment later
			continue
		}
		if len(a.Images) != 1 || a.Images[0].Name+":"+a.Images[0].Tag != s.Image || !slices.Equal(a.Selectors, []string{s.Selector}) || a.At.Namespace == "" || !slices.Equal(a.Revisions, app.Revisions) || a.Health != "Healthy" || a.Sync != "Synced" || len(a.Sources) != 1 || a.Sources[0].Repository == "" || a.Operation == nil || a.Operation.FinishedAt.IsZero() || len(a.History) != len(app.History) {
			t.Errorf("%+v", a)
		}
		return
	}
}
