package access_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// recorder keeps what it was told, and marks the context.
type recorder struct {
	calls []access.Call
	errs  []error
}

type marked struct{}

func (r *recorder) Begin(ctx context.Context, call access.Call) (context.Context, func(error)) {
	r.calls = append(r.calls, call)
	return context.WithValue(ctx, marked{}, true), func(err error) { r.errs = append(r.errs, err) }
}

func TestInvoke(t *testing.T) {
	call := access.Call{Door: "rest", Operation: "get_entity", Action: access.ReadCatalog, Who: alice(), Target: "component:default/x"}
	type do = func(context.Context, access.Caller, string) (*string, error)
	for _, tt := range []struct {
		name  string
		do    do
		code  fault.Code
		cause string
	}{
		{"an answer", func(ctx context.Context, who access.Caller, in string) (*string, error) {
			if ctx.Value(marked{}) == nil {
				t.Error("the recorder's context was dropped")
			}
			out := who.Subject() + " " + in
			return &out, nil
		}, "", ""},
		{"a fault", func(context.Context, access.Caller, string) (*string, error) {
			return new(string), fault.New(fault.NotFound, "no x")
		}, fault.NotFound, "no x"},
		{"an error", func(context.Context, access.Caller, string) (*string, error) {
			return nil, errors.New("disk on fire")
		}, fault.Internal, "disk on fire"},
		{"a panic", func(context.Context, access.Caller, string) (*string, error) { panic("boom " + canaryToken) }, fault.Internal, "panic in get_entity: boom [secret]"},
		{"an end of time", func(context.Context, access.Caller, string) (*string, error) {
			return nil, context.DeadlineExceeded
		}, fault.Unavailable, "deadline"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := &recorder{}
			out, err := access.Invoke(t.Context(), rec, call, "in", tt.do)
			if len(rec.calls) != 1 || rec.calls[0] != call || len(rec.errs) != 1 || !errors.Is(rec.errs[0], err) {
				t.Errorf("recorded %+v, %v", rec.calls, rec.errs)
			}
			if tt.code == "" {
				if err != nil || *out != "user:default/alice in" {
					t.Errorf("got %v, %v", out, err)
				}
				return
			}
			f := fault.From(err)
			if out != nil || f.Code != tt.code || !strings.Contains(f.Error(), tt.cause) || strings.Contains(f.Message, "boom") || strings.Contains(f.Message, "fire") {
				t.Errorf("got %v, %v", out, err)
			}
		})
	}
}

// TestInvokeCleansTheTarget hands the recorder what may stand in a log.
func TestInvokeCleansTheTarget(t *testing.T) {
	rec := &recorder{}
	call := access.Call{Operation: "get_entity", Target: "component:\x00" + canaryToken + " " + strings.Repeat("x", 1<<20)}
	_, err := access.Invoke(t.Context(), rec, call, "", func(context.Context, access.Caller, string) (*string, error) { return new(string), nil })
	if err != nil {
		t.Fatal(err)
	}
	if got := rec.calls[0].Target; len(got) > 1024 || strings.Contains(got, canaryToken) || strings.Contains(got, "\x00") || !strings.HasPrefix(got, "component:") {
		t.Errorf("the recorder got %d bytes: %.100q", len(got), got)
	}
}
