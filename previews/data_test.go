package previews_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/previewstest"
)

var database = previews.DataTemplate{Name: "db", Kind: "postgres", Server: "main", Env: "DATABASE_URL"}

func TestContractOfFakeData(t *testing.T) {
	previewstest.DataContract(t, func(*testing.T) previewstest.DataSubject {
		f := &previewstest.FakeData{}
		return previewstest.DataSubject{Data: f, Restarted: func() previews.Data { return f }, Template: database, Wish: previews.Wish{ID: "shop-1"},
			Use: func(context.Context, string) error {
				if f.There() == 0 {
					return errors.New("there is none")
				}
				return nil
			}}
	})
}

// TestDataOfItsOwn follows a preview with a database through its life.
func TestDataOfItsOwn(t *testing.T) {
	w := onSQLite(t)
	c := w.reconciler(w.store)
	w.add("a", time.Hour, database)
	w.drive(c, "a", previews.Ready)
	const url = "fake://a:secret@data.test/db"
	if got := w.fake.Given("a"); got["DATABASE_URL"] != url {
		t.Errorf("given %v", got)
	}
	w.data.Lose("a")
	w.drive(c, "a", previews.Degraded)
	if r := w.get("a"); !strings.Contains(r.Reason, "db (postgres at main)") {
		t.Errorf("degraded because %s", r.Reason)
	}
	w.drive(c, "a", previews.Ready)
	var calls []string
	record := func(call, _ string) error { calls = append(calls, call); return nil }
	w.fake.Hook = record
	w.data.Hook = func(call, id string) error {
		if call == "observe data" { // at a time with the deployer
			return nil
		}
		return record(call, id)
	}
	w.pass(time.Hour)
	w.drive(c, "a", previews.Gone)
	if at := slices.Index(calls, "remove data"); at < 2 || slices.Contains(calls[at:], "remove") || w.data.There() > 0 {
		t.Errorf("called %v; there are %d", calls, w.data.There())
	}
	events, err := w.store.PreviewEvents(t.Context(), "a", 50)
	if err != nil || len(events) < 5 || !strings.Contains(events[1].Text, "its data is being made: db (postgres at main)") {
		t.Errorf("events %+v, %v", events, err)
	}
}

func TestDataFails(t *testing.T) {
	w := onSQLite(t)
	c := w.reconciler(w.store)
	w.data.Hook = func(call, _ string) error {
		if call == "fill" {
			return fault.New(fault.FailedPrecondition, "db/seed.sql:3 is wrong").WithFix("Correct it.")
		}
		return nil
	}
	w.add("a", time.Hour, database)
	if r := w.drive(c, "a", previews.Failed); r.Reason != "provide failed at try 1: db (postgres at main): db/seed.sql:3 is wrong. Correct it." {
		t.Error(r.Reason)
	}
	if made := w.fake.Made("a"); made != 0 {
		t.Errorf("begun %d times without its data", made)
	}
	w.data.Hook = nil
	w.add("b", time.Hour, database)
	w.drive(c, "b", previews.Ready)
	w.data.Break("b", "it has outgrown its limit")
	if r := w.drive(c, "b", previews.Failed); !strings.Contains(r.Reason, "outgrown its limit") {
		t.Error(r.Reason)
	}
	w.data.Hook = func(call, _ string) error {
		if call == "remove data" {
			return fault.New(fault.Unavailable, "the server is down").WithFix("Start it.")
		}
		return nil
	}
	w.pass(time.Hour)
	for range 40 {
		again, err := c.Turn(t.Context(), previews.Turn{ID: "b", Number: w.get("b").Turn})
		if err != nil {
			t.Fatal(err)
		}
		if again < 0 {
			again = 10 * time.Second
			if _, err := c.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		w.pass(again)
	}
	if r := w.get("b"); r.Phase != previews.Deleting || !strings.Contains(r.Reason, "the server is down. Start it.") || !slices.Contains(r.Remains, "data db") {
		t.Errorf("%s: %s; %v", r.Phase, r.Reason, r.Remains)
	}
	w.data.Hook = nil
	w.drive(c, "b", previews.Gone)
}
