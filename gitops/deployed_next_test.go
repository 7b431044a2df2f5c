package gitops

import (
	"strings"
	"testing"
	"time"
)

// story is what an Argo CD tells of an application, one sighting after another,
// and what is on record of it.
type story struct {
	t    *testing.T
	now  time.Time
	app  Application
	past []Deployed // newest first
	rows int
}

func newStory(t *testing.T) *story {
	return &story{t: t, now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
}

// sync has a revision be synced now; images run once it is well.
func (s *story) sync(revision string) {
	s.now = s.now.Add(time.Minute)
	s.app.Revisions, s.app.Sync, s.app.Health, s.app.HealthSince = []string{revision}, "Synced", "Progressing", s.now
	s.app.History = append(s.app.History, PastDeployment{Revision: revision, At: s.now})
	s.app.Operation = &Operation{Phase: OperationSucceeded, Revision: revision, StartedAt: s.now.Add(-time.Second), FinishedAt: s.now}
	s.app.ComparedAt = s.now.Add(time.Second)
}

func (s *story) health(is string) {
	s.now = s.now.Add(time.Minute)
	s.app.Health, s.app.HealthSince, s.app.ComparedAt = is, s.now, s.now
}

// see has what is to be seen written down.
func (s *story) see(image string) {
	s.t.Helper()
	seen := &sighting{service: "shop", environment: "staging", application: "main/shop", app: &s.app, at: s.now.Add(5 * time.Second), images: []DeployedImage{{Name: "shop", Tag: image}}}
	for _, r := range seen.next(s.past) {
		s.rows++
		was := -1
		for i := range s.past {
			if s.past[i].ID == r.ID {
				was = i
			}
		}
		if was >= 0 {
			s.past[was] = r
		} else {
			s.past = append([]Deployed{r}, s.past...)
		}
	}
}

// text is the record, the oldest first.
func (s *story) text() string {
	var out []string
	for i := len(s.past) - 1; i >= 0; i-- {
		d := s.past[i]
		text := d.Revision
		for _, f := range []struct {
			mark string
			is   bool
		}{{"h", !d.HealthyAt.IsZero()}, {"d", !d.DegradedAt.IsZero()}, {"r", !d.RecoveredAt.IsZero()}, {"u", d.Undone}, {">" + d.ReplacedBy, !d.ReplacedAt.IsZero()}} {
			if f.is {
				text += " " + f.mark
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func TestWhatIsWrittenDown(t *testing.T) {
	for name, c := range map[string]struct {
		tell func(s *story)
		want string
	}{
		"nothing is known": {func(s *story) { s.see("1") }, ""},
		"it was there and never synced, and others commit": {func(s *story) {
			for _, revision := range []string{"a", "b", "c"} {
				s.app.Revisions, s.app.Sync, s.app.Health, s.app.ComparedAt = []string{revision}, "Synced", "Healthy", s.now
				s.see("1")
				s.now = s.now.Add(time.Hour)
			}
		}, "a h"},
		"others commit to the same repository": {func(s *story) {
			s.sync("a")
			s.health("Healthy")
			s.see("1")
			s.app.Revisions = []string{"other"}
			s.see("1")
		}, "a h"},
		"well, ill, and well again": {func(s *story) {
			s.sync("a")
			for _, is := range []string{"Progressing", "Healthy", "Degraded", "Progressing", "Healthy", "Degraded"} {
				s.health(is)
				s.see("1")
			}
		}, "a h d r"},
		"ill from the beginning, and taken back by another commit": {func(s *story) {
			s.sync("a")
			s.health("Healthy")
			s.see("1")
			s.sync("b")
			s.health("Degraded")
			s.see("2")
			s.sync("c")
			s.see("1")
			s.health("Healthy")
			s.see("1")
		}, "a h >b, b d u >c, c h"},
		"taken back in Argo CD": {func(s *story) {
			s.sync("a")
			s.health("Healthy")
			s.see("1")
			s.sync("b")
			s.health("Healthy")
			s.see("1")
			s.sync("a")
			s.health("Healthy")
			s.see("1")
		}, "a h >b, b h u >a, a h"},
		"it goes forward": {func(s *story) {
			for _, v := range []string{"1", "2", "3"} {
				s.sync(v)
				s.health("Healthy")
				s.see(v)
			}
		}, "1 h >2, 2 h >3, 3 h"},
		"nobody looked for a while": {func(s *story) {
			s.sync("a")
			s.health("Healthy")
			s.see("1")
			s.sync("b")
			s.sync("c")
			s.sync("c") // by hand once more
			s.health("Healthy")
			s.see("2")
		}, "a h >b, b >c, c h"},
		"it looks for the first time": {func(s *story) {
			s.sync("a")
			s.sync("b")
			s.health("Degraded")
			s.see("1")
		}, "a >b, b d"},
		"it was not looked at since its sync": {func(s *story) {
			s.sync("a")
			s.app.Health, s.app.ComparedAt = "Healthy", s.app.Operation.FinishedAt
			s.see("1")
		}, "a"},
		"a sync fails, and is done at last": {func(s *story) {
			s.sync("a")
			s.health("Healthy")
			s.see("1")
			s.now = s.now.Add(time.Minute)
			s.app.Sync, s.app.Revisions = "OutOfSync", []string{"b"}
			s.app.Operation = &Operation{Phase: OperationFailed, Revision: "b", StartedAt: s.now, FinishedAt: s.now}
			s.app.ComparedAt = s.now.Add(time.Second)
			s.see("1")
			s.see("1")
			s.sync("b")
			s.health("Healthy")
			s.see("2")
		}, "a h >b, b d r h"},
		"it drifts": {func(s *story) {
			s.sync("a")
			s.app.Sync = "OutOfSync"
			s.health("Healthy")
			s.see("1")
		}, "a"},
		"it is being deleted": {func(s *story) {
			s.sync("a")
			s.health("Degraded")
			s.app.Deleting = true
			s.see("1")
		}, "a"},
		"a sync runs": {func(s *story) {
			s.sync("a")
			s.health("Healthy")
			s.see("1")
			s.app.Operation = &Operation{Phase: OperationRunning, Revision: "b", StartedAt: s.now}
			s.app.Health = "Degraded"
			s.see("1")
		}, "a h"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			c.tell(s)
			want := strings.Replace(c.want, "d r h", "h d r", 1) // in the order of text
			if s.text() != want {
				t.Errorf("on record: %s", s.text())
			}
			if rows := s.rows; rows > 0 {
				s.see("1")
				if s.rows > rows {
					t.Errorf("%d rows more are written for what is known", s.rows-rows)
				}
			}
			for _, d := range s.past {
				if !d.HealthyAt.IsZero() && d.HealthyAt.Before(d.At) || !d.DegradedAt.IsZero() && d.DegradedAt.Before(d.At) || !d.RecoveredAt.IsZero() && d.RecoveredAt.Before(d.DegradedAt) || !d.ReplacedAt.IsZero() && d.ReplacedAt.Before(d.At) {
					t.Errorf("the order of times: %+v", d)
				}
			}
		})
	}
}

// TestDeployedWhen: what was seen late is dated as Argo CD dates it.
func TestDeployedWhen(t *testing.T) {
	s := newStory(t)
	s.sync("a")
	synced := s.now
	s.health("Healthy")
	well := s.now
	s.now = s.now.Add(3 * time.Hour)
	s.see("1")
	if d := s.past[0]; !d.At.Equal(synced) || !d.HealthyAt.Equal(well) || !d.SeenAt.Equal(s.now.Add(5*time.Second)) || len(d.Images) != 1 || d.Images[0].Tag != "1" {
		t.Errorf("%+v", d)
	}
	s.sync("b") // and healthy all the while
	s.app.Health, s.app.HealthSince = "Healthy", well
	s.see("2")
	if d := s.past[0]; d.Revision != "b" || !d.HealthyAt.Equal(d.At) {
		t.Errorf("%+v", d)
	}
}
