// Package limit weighs a GraphQL document before anything expensive is done
// with it: validation and execution of a hostile document can cost a thousand
// times what reading it does.
package limit

import (
	"errors"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Limits bound what one request may ask for. The zero value of a field means
// the default.
type Limits struct {
	// Bytes is the length of the document, 64 KiB by default.
	Bytes int
	// Tokens is the number of lexical tokens, 10,000 by default.
	Tokens int
	// Selections is the number of fields and fragment spreads written in the
	// document, 1,500 by default.
	Selections int
	// Aliases is the number of renamed fields, 100 by default.
	Aliases int
	// Directives is the number of directives, 50 by default.
	Directives int
	// Definitions is the number of operations and fragments, 50 by default.
	Definitions int
	// Depth is how deep fields may nest, 20 by default.
	Depth int
	// Cost is the estimated number of fields in the answer, 50,000 by default.
	Cost int
	// ListSize is the number of items assumed of a list that no argument
	// sizes, 10 by default.
	ListSize int
	// Answer is the size of an answer in bytes, 8 MiB by default.
	Answer int
}

// WithDefaults fills the fields that are zero.
func (l Limits) WithDefaults() Limits {
	for _, f := range []struct {
		field *int
		value int
	}{
		{&l.Bytes, 64 << 10}, {&l.Tokens, 10_000}, {&l.Selections, 1500}, {&l.Aliases, 100}, {&l.Directives, 50},
		{&l.Definitions, 50}, {&l.Depth, 20}, {&l.Cost, 50_000}, {&l.ListSize, 10}, {&l.Answer, 8 << 20},
	} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	return l
}

// Operation is the operation of a document that a request asks to run.
type Operation struct {
	*ast.OperationDefinition
	// Cost is the estimated number of fields in the answer.
	Cost int
	// Depth is how deep its fields nest.
	Depth int
	// Keys is the estimated number of bytes that names take in the answer.
	Keys int
	// Copies is how often one value can stand below one field of the root, by
	// way of aliases.
	Copies int
	// Introspects tells that it asks for the schema itself.
	Introspects bool

	asked map[*ast.FieldDefinition]bool
}

// Asks tells whether the operation asks anywhere for a field, as the schema
// defines it.
func (o *Operation) Asks(field *ast.FieldDefinition) bool { return o.asked[field] }

// Check reads a document, picks the operation that name stands for ("" where
// there is only one) and weighs it. The errors are syntax errors with
// locations (*gqlerror.Error) and faults.
func (l Limits) Check(schema *ast.Schema, query, name string, vars map[string]any) (*Operation, error) {
	if len(query) > l.Bytes {
		return nil, tooMuch("is %d bytes long", len(query), l.Bytes)
	}
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: query}, l.Tokens)
	if err != nil {
		return nil, l.syntax(err)
	}
	if err := l.count(doc); err != nil {
		return nil, err
	}
	def, err := pick(doc, name)
	if err != nil {
		return nil, err
	}
	return l.weigh(schema, doc, def, vars)
}

func tooMuch(what string, n, limit int) error {
	return fault.New(fault.Invalid, "the GraphQL document "+what+", the limit is %d", n, limit).
		WithFix("Split it into several requests, or ask for less at once.")
}

func (l Limits) syntax(err error) error {
	var g *gqlerror.Error
	switch {
	case !errors.As(err, &g):
		return fault.New(fault.Invalid, "the GraphQL document cannot be read").Because(err)
	case strings.HasPrefix(g.Message, "exceeded token limit"):
		return fault.New(fault.Invalid, "the GraphQL document has more than %d tokens", l.Tokens).WithFix("Split it into several requests.")
	}
	return g
}

func pick(doc *ast.QueryDocument, name string) (*ast.OperationDefinition, error) {
	switch {
	case len(doc.Operations) == 0:
		return nil, fault.New(fault.Invalid, "the GraphQL document holds no operation").
			WithFix("Write a query, a mutation or a subscription.")
	case name == "" && len(doc.Operations) > 1:
		return nil, fault.New(fault.Invalid, "the GraphQL document holds %d operations and operationName names none", len(doc.Operations)).
			WithFix("Set operationName to the one to run.")
	case name == "":
		return doc.Operations[0], nil
	}
	if def := doc.Operations.ForName(name); def != nil {
		return def, nil
	}
	return nil, fault.New(fault.Invalid, "the GraphQL document holds no operation named %q", name).
		WithFix("Set operationName to one that is in the document.")
}
