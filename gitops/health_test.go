package gitops_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/gitopstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// TestFakeContract holds the fake to what the real one does.
func TestFakeContract(t *testing.T) {
	gitopstest.Contract(t, func(*testing.T) *gitopstest.Subject {
		f := gitopstest.NewFake("web", first, "web:1")
		n := 0
		return &gitopstest.Subject{Deployments: f, Listing: f, At: gitops.AppName{Name: "web"}, Selector: "app=web", Revision: first, Image: "web:1", Another: "web:2", Broken: "missing:1", Within: time.Second,
			Deploy: func(_ *testing.T, image string) string {
				n++
				revision := strings.Repeat(fmt.Sprint(n), 40)
				f.Deploy(revision, image)
				if image == "missing:1" {
					f.Break("Back-off pulling image")
				}
				return revision
			}}
	})
}

var (
	first  = strings.Repeat("a", 40)
	second = strings.Repeat("b", 40)
	alice  = accesstest.As("user:default/alice")
)

const checkout = `kind: Component
metadata: {name: checkout}
spec:
  type: service
  lifecycle: production
  owner: shop
  fairlead:
    environments:
      - {name: staging, argocd: {instance: main, app: checkout-staging}}
      - {name: production, argocd: {app: checkout}}
      - {name: elsewhere, argocd: {instance: far, app: checkout}}
      - {name: nowhere, path: apps/checkout}
`

// world is a room before a fake Argo CD.
type world struct {
	*gitops.HealthService
	t    *testing.T
	fake *gitopstest.Fake
}

func newWorld(t *testing.T, change ...func(*gitops.HealthConfig)) *world {
	t.Helper()
	f := gitopstest.NewFake("checkout", first, "web:1")
	cfg := gitops.HealthConfig{Policy: accesstest.OpenPolicy(), Catalog: catalogtest.New(t, checkout), Instances: map[string]gitops.Deployments{"main": f}, Keep: time.Nanosecond}
	for _, c := range change {
		c(&cfg)
	}
	s, err := gitops.NewHealth(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &world{s, t, f}
}

func (w *world) ask(revision string) *gitops.DeploymentHealth {
	w.t.Helper()
	h, err := w.GetDeploymentHealth(w.t.Context(), alice, gitops.GetDeploymentHealthInput{Service: "checkout", Environment: "production", Revision: revision})
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

func TestVerdicts(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	for name, c := range map[string]struct {
		change         func(gitopstest.State)
		asked          string
		verdict, first string
	}{
		"well":                    {nil, "", "healthy", "revision aaaaaaaaaa is live, synced and healthy; looked at 5s after its sync ended"},
		"well, and what is asked": {nil, first, "healthy", "revision aaaaaaaaaa is live"},
		"a short revision":        {nil, "aaaaaaa", "healthy", "revision aaaaaaaaaa is live"},
		"built from what is asked": {func(s gitopstest.State) { s.Running.Images = []gitops.DeployedImage{{Name: "web", Commit: second}} }, second,
			"healthy", "revision aaaaaaaaaa is live"},
		"not all built from what is asked": {func(s gitopstest.State) {
			s.Running.Images = []gitops.DeployedImage{{Name: "web", Commit: second}, {Name: "side", Commit: first[:39] + "c"}}
		}, second, "unknown", "revision bbbbbbbbbb is neither live nor wanted"},
		"another revision": {nil, second, "unknown", "revision bbbbbbbbbb is neither live nor wanted; live is aaaaaaaaaa; whether that contains it is not known here"},
		"one that was replaced": {func(s gitopstest.State) {
			s.App.History = append([]gitops.PastDeployment{{Revision: second, At: now.Add(-time.Hour)}}, s.App.History...)
		}, second, "unknown", "revision bbbbbbbbbb is neither live nor wanted; live is aaaaaaaaaa; it was synced at"},
		"being deleted": {func(s gitopstest.State) { s.App.Deleting = true }, "", "unknown", "the application is being deleted"},
		"a sync begins": {func(s gitopstest.State) { s.App.Pending = true }, "", "progressing", "a sync is asked for"},
		"a sync runs": {func(s gitopstest.State) {
			s.App.Operation = &gitops.Operation{Phase: "Running", Revision: second, StartedAt: now, Message: "waiting for healthy state"}
		}, "", "progressing", "a sync to bbbbbbbbbb runs since"},
		"a sync failed": {func(s gitopstest.State) {
			s.App.Operation.Phase, s.App.Operation.Message, s.App.Sync = "Failed", "one or more objects failed to apply", "OutOfSync"
		}, "", "degraded", "the sync to aaaaaaaaaa failed at"},
		"not well": {func(s gitopstest.State) {
			s.App.Health = "Degraded"
			s.Running.Unwell = []gitops.UnwellResource{{Resource: "Pod web-1", Health: "Degraded", Message: "CrashLoopBackOff"}}
		}, first, "degraded", "Pod web-1 is Degraded: CrashLoopBackOff"},
		"on its way":      {func(s gitopstest.State) { s.App.Health = "Progressing" }, "", "progressing", "the application is Progressing"},
		"held":            {func(s gitopstest.State) { s.App.Health = "Suspended" }, "", "progressing", "the application is Suspended and waits for somebody"},
		"gone":            {func(s gitopstest.State) { s.App.Health = "Missing" }, "", "degraded", "the application is Missing"},
		"health not told": {func(s gitopstest.State) { s.App.Health = "" }, "", "unknown", "Argo CD does not know its health"},
		"cannot compare": {func(s gitopstest.State) {
			s.App.Sync, s.App.Troubles = "Unknown", []gitops.Trouble{{Kind: "ComparisonError", Message: "repository not found", Blind: true}}
		}, "", "unknown", "ComparisonError: repository not found"},
		"to be synced": {func(s gitopstest.State) {
			s.App.Sync, s.App.Revisions, s.App.Differing = "OutOfSync", []string{second}, []gitops.UnwellResource{{Resource: "Deployment web", Sync: "OutOfSync"}}
		}, second, "progressing", "revision bbbbbbbbbb is to be synced, and aaaaaaaaaa is live: differing resources: 1"},
		"to be synced by hand": {func(s gitopstest.State) {
			s.App.Sync, s.App.Revisions, s.App.Automated = "OutOfSync", []string{second}, false
		}, "", "unknown", "revision bbbbbbbbbb waits for somebody to sync it"},
		"drifted": {func(s gitopstest.State) {
			s.App.Sync, s.App.Differing = "OutOfSync", []gitops.UnwellResource{{Resource: "Deployment web", Sync: "OutOfSync"}}
		}, first, "unknown", "what runs has drifted from revision aaaaaaaaaa (differing resources: 1)"},
		"several sources":                      {func(s gitopstest.State) { s.App.Revisions = []string{first, "1.2.3"} }, first, "healthy", "revision aaaaaaaaaa, 1.2.3 is live"},
		"what is asked differs, and it is ill": {func(s gitopstest.State) { s.App.Health = "Degraded" }, second, "unknown", "revision bbbbbbbbbb is neither live nor wanted"},
		"Argo CD down": {func(s gitopstest.State) {
			*s.Err = fault.New(fault.Unavailable, "reading: Argo CD main does not answer")
		}, first,
			"unknown", "reading: Argo CD main does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if c.change != nil {
				w.fake.Set(c.change)
			}
			h := w.ask(c.asked)
			if h.Verdict != c.verdict || len(h.Grounds) == 0 || !strings.HasPrefix(h.Grounds[0], c.first) {
				t.Errorf("%s on the grounds of %q", h.Verdict, h.Grounds)
			}
			if !strings.HasPrefix(h.Text(), c.verdict+": component:default/checkout in production\n") {
				t.Error(h.Text())
			}
		})
	}
}

// never refuses to compare anew.
type never struct{ gitops.Deployments }

func (n never) Application(ctx context.Context, at gitops.AppName, look bool) (*gitops.Application, error) {
	if look {
		return nil, fault.New(fault.Unavailable, "the controller does not answer")
	}
	return n.Deployments.Application(ctx, at, false)
}

// TestLooksAgain: what was last compared before the last sync ended, or long
// ago, is compared anew, and unknown where that cannot be.
func TestLooksAgain(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	for name, change := range map[string]func(gitopstest.State){
		"before the sync ended": func(s gitopstest.State) { s.App.ComparedAt = s.App.Operation.FinishedAt.Add(-time.Second) },
		"in the same second":    func(s gitopstest.State) { s.App.ComparedAt = s.App.Operation.FinishedAt },
		"long ago":              func(s gitopstest.State) { s.App.ComparedAt = now.Add(-time.Hour); s.App.Operation = nil },
		"never":                 func(s gitopstest.State) { s.App.ComparedAt = time.Time{} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.fake.Set(change)
			if h := w.ask(first); h.Verdict != "healthy" {
				t.Errorf("%s: %q", h.Verdict, h.Grounds)
			}
			if _, looks := w.fake.Asked(); looks != 1 {
				t.Errorf("it was compared anew %d times", looks)
			}
			f := gitopstest.NewFake("checkout", first, "web:1")
			f.Set(change)
			w = newWorld(t, func(c *gitops.HealthConfig) { c.Instances = map[string]gitops.Deployments{"main": never{f}} })
			if h := w.ask(first); h.Verdict != "unknown" || !strings.Contains(h.Grounds[0], "the controller does not answer") {
				t.Errorf("%s: %q", h.Verdict, h.Grounds)
			}
		})
	}
}

// TestLooksAgainAreNotOlder: what was compared anew a while ago does not stand in
// for what has been seen since.
func TestLooksAgainAreNotOlder(t *testing.T) {
	var later time.Duration
	w := newWorld(t, func(c *gitops.HealthConfig) {
		c.Keep, c.Now = 2*time.Second, func() time.Time { return time.Now().Add(later) }
	})
	third := strings.Repeat("c", 40)
	if h := w.ask(third); !strings.Contains(h.Grounds[0], "live is "+first[:10]) {
		t.Errorf("%q", h.Grounds)
	}
	w.fake.Deploy(second, "web:2")
	later = 3 * time.Second // the look has been spent, and not the one anew
	if h := w.ask(third); !strings.Contains(h.Grounds[0], "live is "+second[:10]) {
		t.Errorf("it has been deployed, and %q", h.Grounds)
	}
}

func TestHealthRefuses(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		in   gitops.GetDeploymentHealthInput
		code fault.Code
		fix  string
	}{
		"no service":            {gitops.GetDeploymentHealthInput{Service: "nobody", Environment: "staging"}, fault.NotFound, ""},
		"no environment":        {gitops.GetDeploymentHealthInput{Service: "checkout", Environment: "moon"}, fault.NotFound, "There is staging, production, elsewhere, nowhere."},
		"none given":            {gitops.GetDeploymentHealthInput{Service: "checkout"}, fault.Invalid, ""},
		"no application":        {gitops.GetDeploymentHealthInput{Service: "checkout", Environment: "nowhere"}, fault.FailedPrecondition, "Add argocd:"},
		"another Argo CD":       {gitops.GetDeploymentHealthInput{Service: "checkout", Environment: "elsewhere"}, fault.FailedPrecondition, "there is main"},
		"a revision too short":  {gitops.GetDeploymentHealthInput{Service: "checkout", Environment: "production", Revision: "abc"}, fault.Invalid, "7"},
		"control characters":    {gitops.GetDeploymentHealthInput{Service: "checkout", Environment: "prod\x00uction"}, fault.Invalid, ""},
		"a text without an end": {gitops.GetDeploymentHealthInput{Service: strings.Repeat("x", 301), Environment: "production"}, fault.Invalid, ""},
	} {
		_, err := w.GetDeploymentHealth(t.Context(), alice, c.in)
		if fault.CodeOf(err) != c.code || !strings.Contains(fault.From(err).Fix, c.fix) {
			t.Errorf("%s: %v, %+v", name, err, fault.From(err))
		}
	}
	if _, err := w.GetDeploymentHealth(t.Context(), access.Caller{}, gitops.GetDeploymentHealthInput{Service: "checkout", Environment: "production"}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("nobody: %v", err)
	}
	var none *gitops.HealthService
	if _, err := none.GetDeploymentHealth(t.Context(), alice, gitops.GetDeploymentHealthInput{}); fault.CodeOf(err) != fault.FailedPrecondition {
		t.Error(err)
	}
	if h, err := w.GetDeploymentHealth(t.Context(), alice, gitops.GetDeploymentHealthInput{Service: "checkout", Environment: "staging"}); err != nil || h.Verdict != "unknown" {
		t.Errorf("an application that Argo CD does not know: %+v, %v", h, err)
	}
}

// TestHealthIsForWhoMayReadIt: the catalog may be read by who may not read of
// deployments.
func TestHealthIsForWhoMayReadIt(t *testing.T) {
	policy, err := access.LoadPolicy([]byte("rules:\n  - {name: r, effect: allow, who: {subjects: [\"*\"]}, actions: [catalog.read]}\n  - {name: h, effect: allow, who: {groups: [group:default/shop]}, actions: [gitops.health], on: {owners: [own]}}\n"), "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(c *gitops.HealthConfig) { c.Policy, c.Catalog = policy, catalogtest.New(t, checkout) })
	for _, environment := range []string{"production", "nowhere"} {
		if _, err := w.GetDeploymentHealth(t.Context(), alice, gitops.GetDeploymentHealthInput{Service: "checkout", Environment: environment}); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%s: %v", environment, err)
		}
	}
	own := accesstest.As("user:default/olga", accesstest.Groups("group:default/shop"))
	if h, err := w.GetDeploymentHealth(t.Context(), own, gitops.GetDeploymentHealthInput{Service: "checkout", Environment: "production"}); err != nil || h.Verdict != "healthy" {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestOneLookForAll: who asks at the same time, or soon after, shares one look,
// and one who hangs up takes nothing from the others.
func TestOneLookForAll(t *testing.T) { synctest.Test(t, oneLookForAll) }

func oneLookForAll(t *testing.T) {
	w := newWorld(t, func(c *gitops.HealthConfig) { c.Keep = time.Hour })
	release := w.fake.Hold()
	gone, hangUp := context.WithCancel(t.Context())
	in := gitops.GetDeploymentHealthInput{Service: "checkout", Environment: "production"}
	var all sync.WaitGroup
	left := make(chan error, 1)
	go func() {
		_, err := w.GetDeploymentHealth(gone, alice, in)
		left <- err
	}()
	for range 20 {
		all.Go(func() {
			if h, err := w.GetDeploymentHealth(t.Context(), alice, in); err != nil || h.Verdict != "healthy" {
				t.Errorf("%+v, %v", h, err)
			}
		})
	}
	hangUp()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who hung up: %v", err)
	}
	release()
	all.Wait()
	h := w.ask("")
	if asked, _ := w.fake.Asked(); asked != 1 {
		t.Errorf("Argo CD was asked %d times", asked)
	}
	if age, err := time.ParseDuration(h.Age); err != nil || age > time.Minute || h.ObservedAt.IsZero() {
		t.Errorf("age %q of %s", h.Age, h.ObservedAt)
	}
}

// TestSilentArgoCD: what does not answer is unknown after as long as it may
// take, and the service ends though a look is under way.
func TestSilentArgoCD(t *testing.T) { synctest.Test(t, silentArgoCD) }

func silentArgoCD(t *testing.T) {
	w := newWorld(t, func(c *gitops.HealthConfig) { c.Patience = 50 * time.Millisecond })
	release := w.fake.Hold()
	defer release()
	if h := w.ask(""); h.Verdict != "unknown" || !strings.Contains(h.Grounds[0], "took too long") {
		t.Errorf("%s: %q", h.Verdict, h.Grounds)
	}
	s, err := gitops.NewHealth(gitops.HealthConfig{Policy: accesstest.OpenPolicy(), Catalog: catalogtest.New(t, checkout), Instances: map[string]gitops.Deployments{"main": w.fake}, Patience: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan *gitops.DeploymentHealth)
	go func() {
		h, _ := s.GetDeploymentHealth(t.Context(), alice, gitops.GetDeploymentHealthInput{Service: "checkout", Environment: "production"}) // its verdict tells
		ended <- h
	}()
	synctest.Wait() // until it looks
	select {
	case h := <-ended:
		t.Fatalf("%+v", h)
	default:
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if h := <-ended; h == nil || h.Verdict != "unknown" {
		t.Errorf("%+v", h)
	}
}

// TestHealthFits holds the worst answer to its budget, and what matters most
// stays.
func TestHealthFits(t *testing.T) {
	long := strings.Repeat("something went wrong in a very long sentence; ", 40)
	w := newWorld(t)
	w.fake.Set(func(s gitopstest.State) {
		s.App.Health, s.App.Sync = "Degraded", "OutOfSync"
		for i := range 500 {
			u := gitops.UnwellResource{Resource: fmt.Sprintf("Deployment %s-%d", strings.Repeat("n", 200), i), Health: "Degraded", Sync: "OutOfSync", Message: long}
			s.App.Differing, s.Running.Unwell = append(s.App.Differing, u), append(s.Running.Unwell, u)
			s.Running.Images = append(s.Running.Images, gitops.DeployedImage{Name: strings.Repeat("r", 200), Tag: fmt.Sprint(i), Digest: "sha256:" + first + first[:24], Commit: first})
			*s.Wanted = s.Running.Images
			s.App.History = append(s.App.History, gitops.PastDeployment{Revision: first, At: time.Now()})
			s.App.Troubles = append(s.App.Troubles, gitops.Trouble{Kind: "SyncError", Message: long})
		}
		s.App.Operation.Message = long
	})
	h := w.ask(first)
	enc, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Text()) > 2400 || len(enc) > 4800 {
		t.Errorf("%d bytes of text, %d of JSON", len(h.Text()), len(enc))
	}
	if h.Verdict != "degraded" || len(h.Grounds) == 0 || len(h.Resources) == 0 || h.Live.Revision != first || len(h.Omitted) == 0 {
		t.Errorf("%s", h.Text())
	}
}
