package limit

import "github.com/vektah/gqlparser/v2/ast"

// counts is what stands in a document, each fragment counted where it is
// written and not where it is used.
type counts struct{ selections, aliases, directives int }

func (l Limits) count(doc *ast.QueryDocument) error {
	if n := len(doc.Operations) + len(doc.Fragments); n > l.Definitions {
		return tooMuch("has %d operations and fragments", n, l.Definitions)
	}
	var c counts
	for _, op := range doc.Operations {
		c.directives += len(op.Directives)
		c.add(op.SelectionSet)
	}
	for _, f := range doc.Fragments {
		c.directives += len(f.Directives)
		c.add(f.SelectionSet)
	}
	switch {
	case c.selections > l.Selections:
		return tooMuch("has %d selections", c.selections, l.Selections)
	case c.aliases > l.Aliases:
		return tooMuch("has %d aliases", c.aliases, l.Aliases)
	case c.directives > l.Directives:
		return tooMuch("has %d directives", c.directives, l.Directives)
	}
	return nil
}

func (c *counts) add(set ast.SelectionSet) {
	c.selections += len(set)
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			if s.Alias != s.Name {
				c.aliases++
			}
			c.directives += len(s.Directives)
			c.add(s.SelectionSet)
		case *ast.InlineFragment:
			c.directives += len(s.Directives)
			c.add(s.SelectionSet)
		case *ast.FragmentSpread:
			c.directives += len(s.Directives)
		}
	}
}
