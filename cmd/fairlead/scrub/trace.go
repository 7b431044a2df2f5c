package scrub

// trace finds where a value begins of which the automaton has found the end.
// It goes over the text again, but over no byte twice.
type trace struct {
	set *Set
	// at and next are the nodes that are reached, and the first place from
	// which each is; place is where in next a node stands.
	at, next []reached
	place    []int32
	// done is up to where the text has been gone over.
	done int
}

type reached struct {
	node  int32
	began int
}

// start gives the first place at which a value begins that ends at to. Before
// quiet nothing was begun.
func (t *trace) start(text []byte, quiet, to int) int {
	if t.place == nil {
		t.place = make([]int32, len(t.set.deep))
	}
	if t.done < quiet {
		t.at, t.done = t.at[:0], quiet
	}
	found := to
	for ; t.done < to; t.done++ {
		found = t.follow(text[t.done], t.done)
	}
	return found
}

// follow takes one byte, and gives the first place at which a value begins that
// it ends; behind it if there is none.
func (t *trace) follow(c byte, i int) int {
	t.next = t.next[:0]
	found := i + 1
	for _, r := range t.at {
		for e := t.set.first[r.node]; e < t.set.first[r.node+1]; e++ {
			if t.set.by[e] == c {
				found = min(found, t.meet(t.set.to[e], r.began, found))
			}
		}
	}
	for _, n := range t.set.starts[c] {
		found = min(found, t.meet(n, i, found))
	}
	t.at, t.next = t.next, t.at
	return found
}

// meet notes that a node is reached, and gives the beginning if it is the end
// of a value.
func (t *trace) meet(n int32, began, none int) int {
	if n == acceptNode {
		return began
	}
	if p := int(t.place[n]); p < len(t.next) && t.next[p].node == n {
		t.next[p].began = min(t.next[p].began, began)
		return none
	}
	t.place[n] = int32(len(t.next)) //nolint:gosec // no more than there are nodes
	t.next = append(t.next, reached{n, began})
	return none
}

// shift follows the text as it is handed on.
func (t *trace) shift(by int) {
	t.done = max(t.done-by, 0)
	for i := range t.at {
		t.at[i].began = max(t.at[i].began-by, 0)
	}
}
