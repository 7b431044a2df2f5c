package app

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/previewstest"
)

// forcing is a deployer whose previews hang until they are forced.
type forcing struct {
	*previewstest.Fake
	forced atomic.Int32
}

// Remove does nothing before it was forced.
func (f *forcing) Remove(ctx context.Context, w previews.Wish) error {
	if f.forced.Load() == 0 {
		return fault.New(fault.Unavailable, "a finalizer hangs").WithFix("Force it.")
	}
	return f.Fake.Remove(ctx, w)
}

// Force takes away what makes them hang.
func (f *forcing) Force(context.Context, previews.Wish) ([]string, error) {
	f.forced.Add(1)
	return []string{"ConfigMap held"}, nil
}

// TestPreviewForced has a stuck preview forced by a person with that right, and
// by nobody else.
func TestPreviewForced(t *testing.T) {
	f := &forcing{Fake: &previewstest.Fake{}}
	s := startPreviews(t, f.Fake, "previews: {deadlines: {remove: 100ms}}\n", map[string]previews.Deployer{"local": f})
	var p previews.Preview
	s.send("developer", http.MethodPost, "/api/v1/previews", `{"service":"checkout","ttl":"30m","wait":"20s"}`).decode(t, &p)
	path := "/api/v1/previews/" + p.ID
	force := func(role, body string) answer { return s.send(role, http.MethodPost, path+"/force-removal", body) }
	if a := force("sre", `{"why":"too early"}`); a.status != http.StatusUnprocessableEntity {
		t.Errorf("one that is ready was forced: %d %s", a.status, a.body)
	}
	s.send("developer", http.MethodDelete, path, "")
	s.await("it is stuck, and its owner named", func() bool {
		return slices.ContainsFunc(s.preview("developer", p.ID).Events, func(e previews.Event) bool {
			return strings.HasPrefix(e.Text, "stuck:") && strings.Contains(e.Text, p.Owner)
		})
	})
	for _, c := range []struct {
		role, body string
		want       int
	}{{"agent", `{"why":"because"}`, http.StatusForbidden}, {"developer", `{"why":"it is mine"}`, http.StatusForbidden}, {"sre", `{"why":" "}`, http.StatusBadRequest}, {"sre", `{}`, http.StatusBadRequest}} {
		if a := force(c.role, c.body); a.status != c.want || f.forced.Load() > 0 {
			t.Errorf("%s with %s: %d %s, want %d", c.role, c.body, a.status, a.body, c.want)
		}
	}
	if a := force("sre", `{"why":"nobody answers to it"}`); a.status != http.StatusOK || f.forced.Load() != 1 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	s.await("it is gone", func() bool { return s.preview("developer", p.ID).Phase == previews.Gone })
	audit := s.send("sre", http.MethodGet, "/api/v1/audit?action=previews.force", "")
	if !strings.Contains(audit.body, p.ID) || strings.Count(audit.body, `"outcome":"done"`) == 0 && !strings.Contains(audit.body, "ok") {
		t.Error(audit.body)
	}
}
