package previews

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// record is an admitted preview of an hour, in a phase since some time.
func kept(p Phase, since time.Duration) *Record {
	r := &Record{CreatedAt: noon.Add(-10 * time.Minute)}
	r.ExpiresAt = noon.Add(50 * time.Minute)
	r.ID, r.Phase, r.Since, r.AdmittedAt, r.Template.Deployer = "x-1", p, noon.Add(-since), r.CreatedAt, "fake"
	return r
}

func TestNext(t *testing.T) {
	expired := func(r *Record) *Record { r.ExpiresAt = noon; return r }
	deleted := func(r *Record) *Record { r.EndedAt, r.EndedBy = noon, "user:default/alice"; return r }
	waiting := func(r *Record) *Record { r.AdmittedAt = time.Time{}; return r }
	onto := func(r *Record) *Record { r.Applied, r.Commit = "aaaa", "bbbb"; return r }
	tried := func(r *Record) *Record { r.Tries = 2; return r }
	there, none := Observed{Exists: true, Reason: "starting"}, Observed{}
	for name, c := range map[string]struct {
		r      *Record
		s      sight
		phase  Phase
		move   move
		reason string
	}{
		"waits for room":                {waiting(kept(Pending, 0)), sight{}, Pending, rest, ""},
		"is begun":                      {kept(Pending, 0), sight{}, Creating, apply, "by fake"},
		"was begun, nothing there":      {kept(Creating, time.Second), sight{Observed: none}, Creating, apply, ""},
		"is starting":                   {kept(Creating, time.Second), sight{Observed: there}, Creating, rest, "starting"},
		"cannot be seen while starting": {kept(Creating, time.Second), sight{Trouble: "no cluster"}, Creating, rest, "no cluster"},
		"is ready":                      {kept(Creating, time.Second), sight{Observed: Observed{Exists: true, Ready: true}}, Ready, rest, ""},
		"fails":                         {kept(Creating, time.Second), sight{Observed: Observed{Exists: true, Failed: true, Reason: "exit 1"}}, Failed, rest, "exit 1"},
		"never starts":                  {kept(Creating, 11*time.Minute), sight{Observed: there}, Failed, rest, "not ready within 10m0s; at last: starting"},
		"stays ready":                   {kept(Ready, time.Hour), sight{Observed: Observed{Exists: true, Ready: true}}, Ready, rest, ""},
		"stops answering":               {kept(Ready, time.Minute), sight{Observed: there}, Degraded, rest, "starting"},
		"vanishes":                      {kept(Ready, time.Minute), sight{Observed: none}, Degraded, apply, "does not answer"},
		"crashes":                       {kept(Ready, time.Minute), sight{Observed: Observed{Exists: true, Failed: true, Reason: "exit 2"}}, Degraded, apply, "exit 2"},
		"cannot be seen":                {kept(Ready, time.Minute), sight{Trouble: "no cluster"}, Degraded, rest, "no cluster"},
		"recovers":                      {kept(Degraded, time.Minute), sight{Observed: Observed{Exists: true, Ready: true}}, Ready, rest, ""},
		"does not recover":              {kept(Degraded, 11*time.Minute), sight{Observed: there}, Failed, rest, "not ready again within 10m0s"},
		"failed stays":                  {kept(Failed, time.Minute), sight{Observed: none}, Failed, rest, ""},
		"expires":                       {expired(kept(Ready, time.Minute)), sight{Observed: Observed{Exists: true, Ready: true}}, Deleting, remove, "expired at 2026-01-31T12:00:00Z"},
		"expires after failing":         {expired(kept(Failed, time.Minute)), sight{}, Deleting, remove, "expired"},
		"expires unseen":                {expired(kept(Creating, time.Minute)), sight{Trouble: "no cluster"}, Deleting, remove, "expired"},
		"expires in the queue":          {expired(waiting(kept(Pending, time.Minute))), sight{}, Gone, rest, "nothing of it was ever there"},
		"is deleted":                    {deleted(kept(Ready, time.Minute)), sight{Observed: there}, Deleting, remove, "deleted by user:default/alice"},
		"is deleted before it began":    {deleted(kept(Pending, 0)), sight{}, Deleting, remove, "deleted"},
		"is going":                      {deleted(tried(kept(Deleting, time.Second))), sight{Observed: Observed{Exists: true, Remains: []string{"pod a"}}}, Deleting, remove, "still there: pod a"},
		"absent after one removal":      {deleted(kept(Deleting, time.Second)), sight{}, Deleting, remove, ""},
		"is ready and stale":            {kept(Ready, time.Minute), sight{Observed: Observed{Exists: true, Ready: true, Stale: true}}, Ready, apply, ""},
		"is starting and stale":         {kept(Creating, time.Second), sight{Observed: Observed{Exists: true, Stale: true, Reason: "half"}}, Creating, apply, "half"},
		"is degraded and stale":         {kept(Degraded, time.Second), sight{Observed: Observed{Exists: true, Stale: true}}, Degraded, apply, ""},
		"is stuck for somebody":         {deleted(kept(Deleting, time.Hour)), sight{Observed: Observed{Exists: true, Remains: []string{"pod a"}}}, Deleting, remove, "an operator should look into it"},
		"tells how it is known gone":    {deleted(tried(kept(Deleting, time.Second))), sight{Observed: Observed{Reason: "The cluster says so"}}, Gone, rest, "seen to be absent: the cluster says so"},
		"is gone":                       {deleted(tried(kept(Deleting, time.Second))), sight{}, Gone, rest, "seen to be absent"},
		"unseen is not gone":            {deleted(tried(kept(Deleting, time.Second))), sight{Trouble: "no cluster"}, Deleting, remove, "no cluster"},
		"leftovers are not gone":        {deleted(tried(kept(Deleting, time.Second))), sight{Observed: Observed{Remains: []string{"namespace x"}}}, Deleting, remove, "namespace x"},
		"is stuck":                      {deleted(tried(kept(Deleting, 3*time.Minute))), sight{Observed: Observed{Exists: true, Remains: []string{"finalizer f of pod a"}}}, Deleting, remove, "stuck: not gone 3m0s after its removal began"},
		"a removal is never taken back": {tried(kept(Deleting, time.Second)), sight{Observed: there}, Deleting, remove, ""},
		"goes on to another commit":     {onto(kept(Ready, time.Minute)), sight{Observed: Observed{Exists: true, Ready: true}}, Creating, apply, "being brought to commit bbbb"},
		"goes on after failing":         {onto(kept(Failed, time.Minute)), sight{Observed: Observed{Exists: true, Failed: true}}, Creating, apply, "commit bbbb"},
		"goes on while it is created":   {onto(kept(Creating, time.Minute)), sight{Observed: there}, Creating, apply, "starting"},
		"failed at the commit before":   {onto(kept(Creating, time.Minute)), sight{Observed: Observed{Exists: true, Failed: true, Reason: "exit 1"}}, Creating, apply, "exit 1"},
		"ready at the commit before":    {onto(kept(Creating, time.Minute)), sight{Observed: Observed{Exists: true, Ready: true}}, Creating, apply, ""},
		"never takes the commit on":     {onto(kept(Creating, 11*time.Minute)), sight{Observed: there}, Failed, rest, "not ready within"},
		"stays gone":                    {expired(kept(Gone, time.Second)), sight{Observed: there}, Gone, rest, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := next(c.r, c.s, noon, Deadlines{}.withDefaults())
			if d.Phase != c.phase || d.Move != c.move || !strings.Contains(d.Reason, c.reason) {
				t.Errorf("decided %+v", d)
			}
			if (d.After < 0) != (d.Phase == Gone) || d.After == 0 {
				t.Errorf("looks again after %s", d.After)
			}
		})
	}
}

func TestNextWarnsOnce(t *testing.T) {
	r := kept(Ready, time.Minute)
	r.ExpiresAt = noon.Add(5 * time.Minute)
	s := sight{Observed: Observed{Exists: true, Ready: true}}
	r.CreatedAt = noon.Add(-time.Hour)
	if d := next(r, s, noon, Deadlines{}.withDefaults()); !d.Warn {
		t.Error("nobody is warned")
	}
	r.WarnedOf = r.ExpiresAt
	if d := next(r, s, noon, Deadlines{}.withDefaults()); d.Warn {
		t.Error("warned twice")
	}
	r.ExpiresAt = r.ExpiresAt.Add(time.Minute) // put off
	if d := next(r, s, noon, Deadlines{}.withDefaults()); !d.Warn {
		t.Error("nobody is warned of the new end")
	}
}

// TestEndsInGone has a preview meet whatever may be seen: as long as anything
// may be there it is not gone, and once nothing is, it is soon.
func TestEndsInGone(t *testing.T) {
	for seed := range uint64(3000) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		c := &Reconciler{}
		r := kept(Pending, 0)
		now := r.CreatedAt
		c.Now = func() time.Time { return now }
		r.ExpiresAt = now.Add(time.Duration(rnd.IntN(7200)) * time.Second)
		there, turns := false, 0
		for now.Before(r.ExpiresAt.Add(time.Hour)) && r.Phase != Gone && turns < 20_000 {
			s := anything(rnd, there)
			d := next(r, s, now, Deadlines{}.withDefaults())
			if d.Phase == Gone && there {
				t.Fatalf("seed %d: gone while something is there: %+v", seed, r)
			}
			c.decide(r, s, d)
			switch {
			case d.Move == apply && rnd.IntN(3) > 0:
				there = true
			case d.Move == remove && rnd.IntN(3) == 0:
				there = false
			}
			turns++
			now = now.Add(max(d.After, 0) + time.Duration(rnd.IntN(3000))*time.Millisecond) // late, or after a restart
		}
		if r.Phase != Gone || there {
			t.Fatalf("seed %d: an hour after its end it is %s: %s", seed, r.Phase, r.Reason)
		}
		if d := next(r, anything(rnd, true), now, Deadlines{}.withDefaults()); d.Phase != Gone || d.Move != rest || d.After >= 0 {
			t.Fatalf("seed %d: after gone came %+v", seed, d)
		}
	}
}

// anything is what may be seen: never absence of what is there.
func anything(rnd *rand.Rand, there bool) sight {
	if rnd.IntN(5) == 0 {
		return sight{Trouble: "no cluster", Observed: Observed{Ready: rnd.IntN(2) == 0}}
	}
	if !there {
		return sight{}
	}
	return sight{Observed: Observed{Exists: true, Ready: rnd.IntN(2) == 0, Failed: rnd.IntN(4) == 0, Remains: []string{"pod"}[:rnd.IntN(2)]}}
}
