package bind_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/graphql/bind"
	"github.com/fairlead-dev/fairlead/graphql/engine"
	"github.com/fairlead-dev/fairlead/graphql/overhttp"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

const sdl = `
scalar JSON
scalar Filter
scalar Time
type Query { echo(ref: String! number: Int flag: Boolean list: [String!] filter: Filter raw: JSON first: Int after: String): Echo nothing: Echo fails: Echo }
type Echo { ref: String! number: Int flag: Boolean! list: [String!]! raw: JSON maybe: Boolean at: Time none: Time one: Inner many: [Inner!]! entity: Thing whole: Thing }
type Inner { x: Int! }
type Thing { name: String! }
`

type inner struct {
	X int `json:"x"`
}

type input struct {
	Ref    string          `json:"ref"`
	Number int             `json:"number,omitempty"`
	Flag   bool            `json:"flag,omitempty"`
	List   []string        `json:"list,omitempty"`
	Filter []string        `json:"filter,omitempty"`
	Raw    json.RawMessage `json:"raw,omitempty"`
	Limit  int             `json:"limit,omitempty"`
	Cursor string          `json:"cursor,omitempty"`
	Hidden string          `json:"hidden,omitempty" jsonschema:"-"`
}

type output struct {
	Ref    string          `json:"ref"`
	Number int64           `json:"number,omitempty"`
	Flag   bool            `json:"flag,omitempty"`
	List   []string        `json:"list"`
	Raw    json.RawMessage `json:"raw,omitempty"`
	Maybe  *bool           `json:"maybe,omitempty"`
	At     time.Time       `json:"at"`
	None   time.Time       `json:"none,omitzero"`
	One    *inner          `json:"one,omitempty"`
	Many   []inner         `json:"many"`
	Whole  *catalog.Entity `json:"whole"`
	inside string
}

// thing is what the entities of these answers are seen as.
type thing struct{ Name string }

type near struct{ bytes *int }

func (near) Link(ref string) any {
	return func(context.Context) (*thing, error) { return &thing{"linked " + ref}, nil }
}

func (near) Given(e *catalog.Entity) any {
	if e == nil {
		return (*thing)(nil)
	}
	return &thing{"given"}
}

func (n near) Count(bytes int) { *n.bytes += bytes }

type root struct{ query any }

func (r *root) Query() any { return r.query }

// silent records nothing.
type silent struct{ targets *[]string }

func (s silent) Begin(ctx context.Context, c access.Call) (context.Context, func(error)) {
	*s.targets = append(*s.targets, c.Target)
	return ctx, func(error) {}
}

func echo(_ context.Context, who access.Caller, in input) (*output, error) {
	yes := true
	return &output{Ref: who.Subject(), Number: int64(in.Number + in.Limit), Flag: in.Flag, List: append(in.List, append(in.Filter, in.Cursor)...), Raw: in.Raw,
		Maybe: &yes, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), One: &inner{1}, Many: []inner{{2}, {3}}, Whole: &catalog.Entity{}, inside: "x"}, nil
}

// TestOperation runs operations of every kind of argument and field.
func TestOperation(t *testing.T) {
	var bytes int
	var targets []string
	b := &bind.Binder{
		Recorder: silent{&targets}, Link: reflect.TypeFor[func(context.Context) (*thing, error)](), Node: reflect.TypeFor[*thing](),
		Near: func(context.Context) (bind.Near, func()) { return near{&bytes}, func() {} },
	}
	empty := func(context.Context, access.Caller, struct{}) (*output, error) { return &output{}, nil }
	fails := func(context.Context, access.Caller, struct{}) (*output, error) {
		return nil, fault.New(fault.Conflict, "no").WithFix("Yes.")
	}
	e, err := engine.New(engine.Config{Schema: sdl, Root: &root{bind.Resolver(map[string]any{
		"echo":    bind.Operation(b, "echo", access.ReadCatalog, echo),
		"nothing": bind.Operation(b, "nothing", access.ReadCatalog, empty),
		"fails":   bind.Operation(b, "fails", access.ReadCatalog, fails),
	})}})
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		`{echo(ref: "r", number: 40, flag: true, list: ["a"], filter: {kind: "api"}, raw: {k: 1}, first: 2, after: "c") {ref number flag list raw maybe at none one {x} many {x} entity {name} whole {name}}}`: `{"echo":{"ref":"user:default/rolf","number":42,"flag":true,"list":["a","kind=api","c"],"raw":{"k":1},"maybe":true,"at":"2026-01-02T03:04:05Z","none":null,"one":{"x":1},"many":[{"x":2},{"x":3}],"entity":{"name":"linked user:default/rolf"},"whole":{"name":"given"}}}`,
		`{nothing {ref number flag list raw maybe at one {x} many {x} whole {name}}}`: `{"nothing":{"ref":"","number":null,"flag":false,"list":[],"raw":null,"maybe":null,"at":null,"one":null,"many":[],"whole":null}}`,
		`{fails {ref}}`:                     `{"fails":null} conflict`,
		`{echo(ref: "r", filter: 1) {ref}}`: `{"echo":null} invalid`,
	} {
		op, refused := e.Prepare(t.Context(), accesstest.As("user:default/rolf"), overhttp.Params{Query: query})
		if refused != nil {
			t.Fatalf("%s: %+v", query, refused.Errors)
		}
		resp := op.Run(t.Context())
		got := string(resp.Data)
		for _, e := range resp.Errors {
			got += " " + string(e.Extensions["code"].(fault.Code))
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", query, got, want)
		}
	}
	if bytes == 0 {
		t.Error("no text was counted")
	}
	for _, target := range targets {
		if target != "r" && target != "" {
			t.Errorf("a call is about %q", target)
		}
	}
}

// TestWhatCannotBeSeen: a type that GraphQL has no way to show is a defect
// that is found when the door is made.
func TestWhatCannotBeSeen(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a map was bound")
		}
	}()
	type bad struct {
		M map[string]string `json:"m"`
	}
	bind.Operation(&bind.Binder{}, "bad", access.ReadCatalog, func(context.Context, access.Caller, struct{}) (*bad, error) { return nil, nil })
}
