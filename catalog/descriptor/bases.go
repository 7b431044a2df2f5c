package descriptor

import (
	"iter"
	"strings"
)

// Bases are the base locations of many sources, among which those that hold a
// location are found without trying each. The zero value holds none. It may be
// read by many at once, not while it is added to.
type Bases[T any] struct {
	// byRoot are the bases that are URLs, by what begins all locations in them.
	byRoot map[string][]basis[T]
	rest   []basis[T]
}

type basis[T any] struct {
	at    Location
	value T
}

// Add adds a base location and what belongs to it.
func (b *Bases[T]) Add(p *Processor, base Location, value T) {
	root, ok := p.root(base)
	if !ok {
		b.rest = append(b.rest, basis[T]{base, value})
		return
	}
	if b.byRoot == nil {
		b.byRoot = map[string][]basis[T]{}
	}
	b.byRoot[root] = append(b.byRoot[root], basis[T]{base, value})
}

// Holding gives what belongs to the bases that a location is within, in no
// order, each with the location's name in it: see Processor.Within.
func (b *Bases[T]) Holding(p *Processor, at Location) iter.Seq2[T, string] {
	return func(yield func(T, string) bool) {
		for _, some := range b.near(p, at) {
			for _, one := range some {
				if name, ok := p.Within(one.at, at); ok && !yield(one.value, name) {
					return
				}
			}
		}
	}
}

// near are the bases that may hold a location.
func (b *Bases[T]) near(p *Processor, at Location) [][]basis[T] {
	out := [][]basis[T]{b.rest}
	full, ok := p.full(at)
	if !ok {
		return out
	}
	full += "/"
	for i := 0; i < len(full); i++ {
		if full[i] == '/' {
			if some := b.byRoot[full[:i+1]]; some != nil {
				out = append(out, some)
			}
		}
	}
	return out
}

// root is what the full names of all locations within a base begin with; ok is
// false for what is no URL.
func (p *Processor) root(base Location) (root string, ok bool) {
	return p.named(base, func(path string) string { return strings.TrimSuffix(path, "/") + "/" })
}

// full is the name of a location in the form that is the same however its URL
// is written.
func (p *Processor) full(at Location) (name string, ok bool) {
	return p.named(at, func(path string) string { return path })
}

func (p *Processor) named(at Location, form func(path string) string) (string, bool) {
	if at.Type != TypeURL {
		return "", false
	}
	origin, path, ok := p.urlParts(at.Target)
	if !ok {
		return "", false
	}
	path, err := decode(form(neutral(path)))
	return origin + path, err == nil
}
