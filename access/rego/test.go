package rego

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
)

// testWithin is how long one test may take.
const testWithin = 5 * time.Second

// Outcome is how one test of a policy went.
type Outcome struct {
	// Name is the rule's with its package, File and Line where it is.
	Name string `json:"name"`
	File string `json:"file"`
	Line int    `json:"line"`
	// Passed tells whether it was true; Message says why not.
	Passed  bool   `json:"passed"`
	Message string `json:"message,omitempty"`
}

// Test runs the tests of a folder of policies: its rules whose names begin with
// test_, in the order of files and lines. The error is an access.Problems where
// the policies themselves are wrong.
func Test(ctx context.Context, dir string) ([]Outcome, error) {
	if _, err := Load(ctx, dir); err != nil { // as the server reads them
		return nil, err
	}
	f, err := readFolder(dir)
	if err != nil {
		return nil, err
	}
	return f.test(ctx)
}

// test compiles everything and runs the tests.
func (f *folder) test(ctx context.Context) ([]Outcome, error) {
	compiler, err := f.compile()
	if err != nil {
		return nil, err
	}
	store, out := inmem.NewFromObject(f.data), f.tests()
	for i := range out {
		out[i].Passed, out[i].Message = passes(ctx, opa.New(opa.Query("data."+out[i].Name), opa.Compiler(compiler), opa.Store(store), opa.StrictBuiltinErrors(true)))
	}
	return out, nil
}

// tests finds the tests, in order.
func (f *folder) tests() []Outcome {
	out := []Outcome{}
	for _, m := range f.modules {
		for _, r := range m.Rules {
			if name := string(r.Head.Name); strings.HasPrefix(name, "test_") {
				out = append(out, Outcome{Name: strings.TrimPrefix(m.Package.Path.String(), "data.") + "." + name, File: r.Location.File, Line: r.Location.Row})
			}
		}
	}
	slices.SortFunc(out, func(a, b Outcome) int { return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line) })
	return slices.CompactFunc(out, func(a, b Outcome) bool { return a.Name == b.Name })
}

// passes runs one test.
func passes(ctx context.Context, r *opa.Rego) (ok bool, message string) {
	ctx, cancel := context.WithTimeout(ctx, testWithin)
	defer cancel()
	set, err := r.Eval(ctx)
	var wrong *ast.Error
	switch {
	case ctx.Err() != nil:
		return false, fmt.Sprintf("took longer than %s", testWithin)
	case errors.As(err, &wrong):
		return false, wrong.Message
	case err != nil:
		return false, err.Error()
	case len(set) == 0 || set[0].Expressions[0].Value != true:
		return false, "is not true"
	}
	return true, ""
}
