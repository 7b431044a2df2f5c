package edit

import "slices"

type kind uint8

const (
	scalar kind = iota
	mapping
	sequence
	alias
	// unread is a collection that nobody asked about; value is its text.
	unread
)

// style is how a scalar is written; for collections plain stands for block
// style.
type style uint8

const (
	plain style = iota
	single
	double
	literal
	folded
	flow
)

// node is a node of a document with the bytes that it is written in, whichever
// parser found it.
type node struct {
	kind  kind
	style style
	// odd marks a scalar whose value is not known here, only its bytes.
	odd bool
	// tag is an explicit tag; anchor the node's own anchor.
	tag, anchor string
	// value is a scalar's, or the anchor that an alias stands for.
	value string
	// start and end are offsets in the text, properties left out; end is -1
	// where it could not be told. What was planned to be added has no place.
	start, end int
	// items are a sequence's, or a mapping's keys and values by turns.
	items  []*node
	parent *node
}

// nowhere is the place of nodes that are not in the text.
const nowhere = -1

// null tells an empty or null value.
func (n *node) null() bool {
	return n.kind == scalar && n.style == plain && n.tag == "" && n.shortTag() == "!!null"
}

// shortTag is the type of a scalar, as yaml.v3 has it.
func (n *node) shortTag() string {
	if n.tag != "" || n.kind != scalar {
		return n.tag
	}
	if n.style != plain {
		return "!!str"
	}
	return shortTag(n.value)
}

// get gives the value of a key, nil where there is none; of a key that is
// there twice the first.
func (n *node) get(key string) *node {
	if i := n.find(key); i >= 0 {
		return n.items[i+1]
	}
	return nil
}

// find gives the index of a key in items, -1 without.
func (n *node) find(key string) int {
	if n == nil || n.kind != mapping {
		return -1
	}
	for i := 0; i+1 < len(n.items); i += 2 {
		if k := n.items[i]; k.kind == scalar && k.value == key {
			return i
		}
	}
	return -1
}

// text is a scalar's value below a key, "" without.
func (n *node) text(key string) string {
	if v := n.get(key); v != nil && v.kind == scalar {
		return v.value
	}
	return ""
}

// at follows keys; nil where one is missing.
func (n *node) at(keys ...string) *node {
	for _, k := range keys {
		if n = n.get(k); n == nil {
			return nil
		}
	}
	return n
}

// adopt adds children.
func (n *node) adopt(children ...*node) {
	for _, c := range children {
		c.parent = n
	}
	n.items = append(n.items, children...)
}

// insert adds children at an index.
func (n *node) insert(index int, children ...*node) {
	for _, c := range children {
		c.parent = n
	}
	n.items = slices.Insert(n.items, index, children...)
}

// newScalar, newMapping and newSequence make nodes to be added.
func newScalar(value string, s style) *node {
	return &node{kind: scalar, style: s, value: value, start: nowhere, end: nowhere}
}

func newMapping(items ...*node) *node {
	n := &node{kind: mapping, start: nowhere, end: nowhere}
	n.adopt(items...)
	return n
}

func newSequence(items ...*node) *node {
	n := &node{kind: sequence, start: nowhere, end: nowhere}
	n.adopt(items...)
	return n
}
