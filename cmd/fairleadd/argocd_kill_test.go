package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/previews"
)

// TestArgoCDPreviewOutlivesKills ends the server before and after each call of
// Argo CD, so between every two steps of what brings a preview about and of what
// removes it: after a call, nothing has been put down of what it did.
func TestArgoCDPreviewOutlivesKills(t *testing.T) {
	a := realtest.ArgoCD(t)
	g := newGate(t, a)
	w := newWorld(t, realtest.Web(goodImage), settings{server: g.address})
	f := w.servers[0]
	commit := w.repo.Head(t)
	f.awaitReady()
	f.kill()
	p := previews.Preview{}
	outlive := func(calls ...call) {
		for _, at := range calls {
			told := g.arm(at, f.kill9)
			f.start()
			if p.ID == "" {
				p = f.create(map[string]any{"ttl": "100s"})
			}
			select {
			case <-told:
				_ = f.cmd.Wait() // it was killed
			case <-time.After(time.Minute):
				t.Fatalf("%s never came: %+v", at, f.get(p.ID))
			}
		}
		f.start()
	}
	// The application is made without being deployed, its manifests are looked
	// at, and then it is deployed.
	outlive(before("Get"), after("Get"), before("Create"), after("Create"), before("GetManifests"), after("GetManifests"), before("Create"), after("Create"), before("Get"), after("Get"))
	w.holdsReady(f.until(p.ID, "ready", 90*time.Second, in(previews.Ready)), commit)
	if status, text := f.try(http.MethodPost, "/api/v1/previews/"+p.ID+"/extend", map[string]string{"ttl": "5s"}, &p); status != http.StatusOK {
		t.Fatalf("extending: %d %s", status, text)
	}
	f.kill()
	end, err := time.Parse(time.RFC3339, p.ExpiresAt)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Until(end)) // its time, with nobody there to see it
	outlive(before("Get"), after("Get"), before("Delete"), after("Delete"), before("Get"), after("Get"))
	f.until(p.ID, "gone", 90*time.Second, in(previews.Gone))
	w.nothingLeft()
}

func before(name string) call { return call{name, false} }
func after(name string) call  { return call{name, true} }

// kill9 ends the server without waiting for its end.
func (f *fairleadServer) kill9() { _ = f.cmd.Process.Kill() }
