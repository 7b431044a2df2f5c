package catalog

import "slices"

// folders are the components of a repository by the folders they live in.
type folders map[string]crowd

// crowd is who lives in a folder: mostly one, so that there is no map for it.
type crowd struct {
	first string
	more  map[string]struct{}
}

func (f folders) add(dir, ref string) {
	c := f[dir]
	switch c.first {
	case "", ref:
		c.first = ref
	default:
		if c.more == nil {
			c.more = map[string]struct{}{}
		}
		c.more[ref] = struct{}{}
	}
	f[dir] = c
}

func (f folders) remove(dir, ref string) {
	c := f[dir]
	if delete(c.more, ref); c.first == ref {
		c.first = ""
		for other := range c.more {
			c.first = other
			delete(c.more, other)
			break
		}
	}
	if f[dir] = c; c.first == "" {
		delete(f, dir)
	}
}

// count is how many there are, counted up to a bound.
func (f folders) count(most int) int {
	n := 0
	for _, c := range f {
		if n += 1 + len(c.more); n >= most {
			return n
		}
	}
	return n
}

func (c crowd) refs() []string {
	if c.first == "" {
		return nil
	}
	out := make([]string, 0, 1+len(c.more))
	out = append(out, c.first)
	for ref := range c.more {
		out = append(out, ref)
	}
	slices.Sort(out)
	return out
}

func (c crowd) any(test func(ref string) bool) bool {
	if c.first != "" && test(c.first) {
		return true
	}
	for ref := range c.more {
		if test(ref) {
			return true
		}
	}
	return false
}

// kept are those that a test keeps, sorted.
func (c crowd) kept(keep func(ref string) bool) []string {
	return slices.DeleteFunc(c.refs(), func(ref string) bool { return !keep(ref) })
}
