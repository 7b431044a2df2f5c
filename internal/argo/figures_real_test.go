package argo

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/argocd"
)

// kept keeps the application that was put last.
type kept struct {
	argocd.Applications
	last *argocd.Application
}

func (k *kept) Put(ctx context.Context, app *argocd.Application) error {
	k.last = app
	return k.Applications.Put(ctx, app)
}

// TestArgoCDFigures compares how long a preview takes by the deployer with how
// long the very same application takes that a client puts at once, one after
// the other. The deployer may take one second more.
func TestArgoCDFigures(t *testing.T) {
	w := newWorld(t, argocd.Config{})
	k := &kept{Applications: w.instance.Applications}
	w.instance.Applications = k
	const rounds = 5
	fresh := func() previews.Wish {
		return w.wish(w.argo.Repository(t, map[string]string{"deploy/web.yaml": realtest.Web("web:1")}))
	}
	model := fresh()
	w.viaDeployer(&model) // nothing is cold afterwards
	app := k.last
	var via, direct []time.Duration
	for i := range rounds {
		a, b := fresh(), fresh()
		if i%2 == 0 {
			via = append(via, w.viaDeployer(&a))
		}
		direct = append(direct, w.directly(app, &model, &b))
		if i%2 != 0 {
			via = append(via, w.viaDeployer(&a))
		}
	}
	slices.Sort(via)
	slices.Sort(direct)
	more := via[rounds/2] - direct[rounds/2]
	figures, err := json.Marshal(map[string]any{"Via": via, "Direct": direct}) // for make bench
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("figures: %s", figures)
	t.Logf("from nothing to Synced and Healthy, median of %d: by the deployer %s (%s), by Argo CD's client alone %s (%s): %s more", rounds, via[rounds/2], via, direct[rounds/2], direct, more)
	if more > time.Second {
		t.Errorf("the deployer adds %s to what Argo CD takes, more than a second", more)
	}
}

// figurePause is how often both ways are looked at.
const figurePause = 20 * time.Millisecond

// viaDeployer makes a preview as the reconciler does, tells how long that took,
// and removes it.
func (w *world) viaDeployer(wish *previews.Wish) time.Duration {
	w.Helper()
	began := time.Now()
	w.apply(wish)
	for {
		o, err := w.deployer.Observe(w.Context(), *wish)
		switch {
		case err != nil || o.Failed || time.Since(began) > 2*time.Minute:
			w.Fatalf("there is %+v, %v", o, err)
		case o.Ready && o.Commit == wish.Commit:
			took := time.Since(began)
			w.goes(wish)
			return took
		case o.Stale:
			w.apply(wish)
		}
		time.Sleep(figurePause)
	}
}

// directly puts the application of a preview for another one, tells how long it
// took, and deletes it.
func (w *world) directly(app *argocd.Application, of, wish *previews.Wish) time.Duration {
	w.Helper()
	text, err := json.Marshal(app)
	if err != nil {
		w.Fatal(err)
	}
	text = []byte(strings.NewReplacer(of.ID, wish.ID, of.Repository, wish.Repository, of.Commit, wish.Commit).Replace(string(text)))
	mine := &argocd.Application{}
	if err := json.Unmarshal(text, mine); err != nil {
		w.Fatal(err)
	}
	project, name, began := mine.Spec.Project, mine.Metadata.Name, time.Now()
	if err := w.client.Put(w.Context(), mine); err != nil {
		w.Fatal(err)
	}
	for {
		have, err := w.client.Get(w.Context(), project, name)
		if err != nil || time.Since(began) > 2*time.Minute {
			w.Fatalf("there is %+v, %v", have, err)
		}
		if s := have.Status; s.Sync.Status == "Synced" && s.Health.Status == "Healthy" && slices.Contains(s.Sync.Revisions, wish.Commit) {
			break
		}
		time.Sleep(figurePause)
	}
	took := time.Since(began)
	if err := w.client.Delete(w.Context(), project, name, true); err != nil {
		w.Fatal(err)
	}
	for fault.CodeOf(err) != fault.NotFound {
		if time.Sleep(figurePause); time.Since(began) > 4*time.Minute {
			w.Fatal("it does not go")
		}
		_, err = w.client.Get(w.Context(), project, name)
	}
	return took
}
