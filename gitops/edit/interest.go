package edit

import (
	"math"
	"slices"
	"strings"
)

// interest is what of a file a change needs to see: all of it, what is on a
// path, or the collections that have a word in them.
type interest struct {
	path []step
	word string
	// keys are keys whose values are always seen.
	keys []string
	// skip says that documents without the word need not be seen at all.
	skip bool
}

func (in interest) all() bool { return in.path == nil && in.word == "" }

// named is what has to be seen, too, where documents are told by their names.
func (in interest) named() interest {
	if !in.all() {
		in.keys, in.skip = append(slices.Clone(in.keys), "metadata"), false
	}
	return in
}

// below is what is left of a path behind a key, nil off the path. At its end it
// is empty.
func (in interest) below(steps []step, key string) []step {
	if len(steps) == 0 || steps[0].index != byKey || steps[0].key != key {
		return nil
	}
	return steps[1:]
}

// lines are the beginnings of the lines that have the word, and of those that
// they stand below: what is on other lines, and all below it, is of no interest.
func (in interest) lines(text string) map[int]bool {
	if in.word == "" {
		return nil
	}
	out := map[int]bool{}
	for at := 0; ; {
		i := strings.Index(text[at:], in.word)
		if i < 0 {
			return out
		}
		at += i
		ascend(text, at, out)
		at = endOfLine(text, at+len(in.word))
	}
}

// ascend notes the line of an offset and those above it that it is below, by
// how far they are indented.
func ascend(text string, at int, lines map[int]bool) {
	below, dashed := math.MaxInt, false
	for end := at; end >= 0; {
		start := strings.LastIndexByte(text[:end], '\n') + 1
		in := start
		for in < len(text) && text[in] == ' ' {
			in++
		}
		dash := in+1 < len(text) && text[in] == '-' && (text[in+1] == ' ' || text[in+1] == '\n' || text[in+1] == '\r')
		content := in < len(text) && text[in] != '\n' && text[in] != '\r' && text[in] != '#'
		if content && in-start <= below && lines[start] || !content && below == math.MaxInt {
			return // from here on it has been done, or the word is in a comment
		}
		if content && (in-start < below || in-start == below && dashed && !dash) {
			lines[start] = true
			below, dashed = in-start, dash
			if below == 0 && !dash {
				return
			}
		}
		end = start - 1
	}
}

// interest of an image is the last part of its name.
func (im Image) interest() interest {
	name := strings.TrimSuffix(im.Name, pinned)
	return interest{word: name[strings.LastIndexByte(name, '/')+1:], keys: []string{"images"}, skip: true}
}

// interest of replicas is in the keys, which all have this in them.
func (Replicas) interest() interest { return interest{word: "eplica"} }

// interest is in what the path leads through.
func (s Set) interest() interest {
	steps, err := parsePath(s.Path)
	if err != nil {
		return interest{}
	}
	return interest{path: steps, keys: []string{"metadata"}}
}

// root reads a document.
func (o *outliner) root() *node {
	o.steps = o.interest.path
	whole := o.s[o.at:]
	if i := strings.Index(whole, "\n---"); i >= 0 {
		whole = whole[:i]
	}
	if !o.interest.skip || o.at < surveyed || strings.Contains(whole, o.interest.word) {
		return o.block(o.at, o.indent, -1, 0)
	}
	o.mute = true
	n := o.block(o.at, o.indent, -1, 0)
	o.mute = false
	if !o.failed {
		n = o.unread(n)
	}
	return n
}

// unread makes of what was read without nodes the one that says where it is.
func (o *outliner) unread(n *node) *node {
	n = o.node(unread, n.style, n.start, n.end)
	n.value = o.s[n.start:n.end]
	return n
}

// valueOf reads the value of a key, and keeps of one that is of no interest no
// more than where it is.
func (o *outliner) valueOf(key *node, colon, column, depth int) *node {
	if o.mute {
		return o.behindColon(colon, column, depth)
	}
	steps := o.steps
	o.steps = o.interest.below(steps, key.value)
	defer func() { o.steps = steps }()
	if p := o.blanks(colon + 1); p < o.end && o.s[p] != '#' || o.wanted(key) {
		return o.behindColon(colon, column, depth)
	}
	o.mute = true
	n := o.behindColon(colon, column, depth)
	o.mute = false
	if o.failed {
		return n
	}
	if n.kind == scalar {
		out := &node{style: n.style, start: n.start, end: n.end, odd: n.style == literal || n.style == folded}
		if n.start < n.end && !out.odd {
			out.value = n.value
		}
		return out
	}
	return o.unread(n)
}

// wanted tells whether the value of a key is of interest.
func (o *outliner) wanted(key *node) bool {
	switch {
	case o.interest.all(), key.start < surveyed, slices.Contains(o.interest.keys, key.value):
		return true
	case o.interest.path != nil:
		return o.steps != nil
	}
	return o.lines[strings.LastIndexByte(o.s[:key.start], '\n')+1]
}

// surveyed is how much of a file's beginning is kept in any case, in bytes, to
// see how it is written.
const surveyed = 4096
