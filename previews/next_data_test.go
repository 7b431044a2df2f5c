package previews

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// wanting is a record that asks for a database.
func wanting(r *Record) *Record {
	r.Template.Data = []DataTemplate{{Name: "db", Kind: "postgres", Server: "main"}}
	return r
}

func TestNextWithData(t *testing.T) {
	deleted := func(r *Record) *Record { r.EndedAt, r.EndedBy, r.Tries = noon, "user:default/alice", 2; return r }
	running := Observed{Exists: true, Ready: true}
	awaited, there := dataSight{Awaited: "its data is awaited: db"}, dataSight{There: []string{"database x"}}
	unseen, spoilt := dataSight{Trouble: "the server of db is down"}, dataSight{Failed: "db has outgrown its limit", There: []string{"database x"}}
	for name, c := range map[string]struct {
		r      *Record
		s      sight
		phase  Phase
		move   move
		reason string
	}{
		"begins with its data":              {kept(Pending, 0), sight{}, Creating, provide, "its data is being made: db (postgres at main)"},
		"its data is not there":             {kept(Creating, time.Second), sight{Data: awaited}, Creating, provide, "its data is awaited: db"},
		"its data cannot be seen":           {kept(Creating, time.Second), sight{Data: unseen}, Creating, rest, "is down"},
		"its data never comes":              {kept(Creating, 11*time.Minute), sight{Data: awaited}, Failed, rest, "not ready within 10m0s; at last: its data is awaited"},
		"its data is spoilt":                {kept(Creating, time.Second), sight{Data: spoilt}, Failed, rest, "outgrown"},
		"its data is there":                 {kept(Creating, time.Second), sight{Data: there}, Creating, apply, ""},
		"answers without its data":          {kept(Creating, time.Second), sight{Observed: running, Data: awaited}, Creating, provide, "its data is awaited"},
		"is ready":                          {kept(Creating, time.Second), sight{Observed: running, Data: there}, Ready, rest, ""},
		"loses its data":                    {kept(Ready, time.Minute), sight{Observed: running, Data: awaited}, Degraded, provide, "its data is awaited"},
		"its data cannot be seen any more":  {kept(Ready, time.Minute), sight{Observed: running, Data: unseen}, Degraded, rest, "is down"},
		"crashes while its data is unseen":  {kept(Ready, time.Minute), sight{Observed: Observed{Exists: true, Failed: true}, Data: unseen}, Degraded, rest, "is down"},
		"its data is spoilt later":          {kept(Ready, time.Minute), sight{Observed: running, Data: spoilt}, Failed, rest, "outgrown"},
		"keeps its data while it is there":  {deleted(kept(Deleting, time.Second)), sight{Observed: Observed{Exists: true}, Data: there}, Deleting, remove, ""},
		"keeps its data while it is unseen": {deleted(kept(Deleting, time.Second)), sight{Trouble: "no cluster", Data: there}, Deleting, remove, "no cluster"},
		"its data goes last":                {deleted(kept(Deleting, time.Second)), sight{Data: there}, Deleting, withdraw, "its data is being removed: database x"},
		"unseen data is not gone":           {deleted(kept(Deleting, time.Second)), sight{Data: unseen}, Deleting, withdraw, "is down"},
		"its data does not go":              {deleted(kept(Deleting, 3*time.Minute)), sight{Data: there}, Deleting, withdraw, "stuck: not gone 3m0s after its removal began"},
		"is gone with its data":             {deleted(kept(Deleting, time.Second)), sight{Data: awaited}, Gone, rest, "seen to be absent"},
	} {
		t.Run(name, func(t *testing.T) {
			d := next(wanting(c.r), c.s, noon, Deadlines{}.withDefaults())
			if d.Phase != c.phase || d.Move != c.move || !strings.Contains(d.Reason, c.reason) {
				t.Errorf("decided %+v", d)
			}
		})
	}
}

// TestEndsInGoneWithData is TestEndsInGone with data: it goes, it goes last,
// and nothing is begun without it.
func TestEndsInGoneWithData(t *testing.T) {
	for seed := range uint64(500) {
		rnd := rand.New(rand.NewPCG(seed, 11))
		c := &Reconciler{}
		r := wanting(kept(Pending, 0))
		now := r.CreatedAt
		c.Now = func() time.Time { return now }
		r.ExpiresAt = now.Add(time.Duration(rnd.IntN(7200)) * time.Second)
		there, data := false, false
		for now.Before(r.ExpiresAt.Add(time.Hour)) && r.Phase != Gone {
			s := anything(rnd, there)
			s.Data = anyData(rnd, data)
			d := next(r, s, now, Deadlines{}.withDefaults())
			switch {
			case d.Phase == Gone && (there || data):
				t.Fatalf("seed %d: gone while something is there: %+v", seed, r)
			case d.Move == apply && !data:
				t.Fatalf("seed %d: begun without its data", seed)
			case d.Move == withdraw && there:
				t.Fatalf("seed %d: its data is taken away while it is there", seed)
			}
			c.decide(r, s, d)
			switch {
			case d.Move == provide && rnd.IntN(3) > 0:
				data = true
			case d.Move == apply && rnd.IntN(3) > 0:
				there = true
			case d.Move == remove && rnd.IntN(3) == 0:
				there = false
			case d.Move == withdraw && rnd.IntN(3) == 0:
				data = false
			}
			now = now.Add(max(d.After, 0) + time.Duration(rnd.IntN(3000))*time.Millisecond)
		}
		if r.Phase != Gone || there || data {
			t.Fatalf("seed %d: an hour after its end it is %s: %s", seed, r.Phase, r.Reason)
		}
	}
}

// anyData is what may be seen of data: never absence of what is there, nor
// presence of what is not.
func anyData(rnd *rand.Rand, there bool) dataSight {
	switch {
	case rnd.IntN(6) == 0:
		return dataSight{Trouble: "no server"}
	case !there:
		return dataSight{Awaited: "db"}
	case rnd.IntN(9) == 0:
		return dataSight{Failed: "spoilt", There: []string{"db"}}
	default:
		return dataSight{There: []string{"db"}}
	}
}
