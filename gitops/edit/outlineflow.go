package edit

import "strings"

// quoted reads a quoted scalar that ends on its line.
func (o *outliner) quoted(at int) (*node, int) {
	line := o.s[at:o.end]
	end := quotedEnd(line, 0, line[0])
	if end < 0 {
		return o.fail(), at
	}
	inside := line[1 : end-1]
	n := o.node(scalar, single, at, at+end)
	if line[0] == '\'' {
		n.value = strings.ReplaceAll(inside, "''", "'")
		return n, at + end
	}
	n.style = double
	if strings.IndexByte(inside, '\\') >= 0 {
		var ok bool
		if inside, ok = unescaped(inside); !ok {
			return o.fail(), at
		}
	}
	n.value = inside
	return n, at + end
}

// unescaped reads the escapes that are common.
func unescaped(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		switch s[i] {
		case '"', '\\':
			b.WriteByte(s[i])
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		default:
			return "", false
		}
	}
	return b.String(), true
}

// flow reads brackets that close on their line.
func (o *outliner) flow(at, depth int) (*node, int) {
	if depth > deepest {
		return o.fail(), at
	}
	k, closes := mapping, byte('}')
	if o.s[at] == '[' {
		k, closes = sequence, ']'
	}
	n := o.node(k, flow, at, at)
	height := len(o.stack)
	p := o.blanks(at + 1)
	for first := true; !o.failed; first = false {
		if p < o.end && o.s[p] == closes && first {
			break
		}
		if k == mapping {
			p = o.flowKey(p)
		}
		if o.failed {
			break
		}
		var item *node
		item, p = o.flowNode(p, depth)
		o.push(item)
		p = o.blanks(p)
		if p < o.end && o.s[p] == closes {
			break
		}
		if p >= o.end || o.s[p] != ',' {
			return o.fail(), at
		}
		p = o.blanks(p + 1)
	}
	if o.failed || p >= o.end {
		return o.fail(), at
	}
	return o.take(n, k, flow, at, p+1, height), p + 1
}

// flowKey reads a key and its colon and gives the place of the value.
func (o *outliner) flowKey(at int) int {
	n, p := o.flowNode(at, deepest)
	if o.failed || n.kind != scalar || p-at > longestKey || p+1 >= o.end || o.s[p] != ':' || o.s[p+1] != ' ' || n.value == "<<" {
		o.fail()
		return at
	}
	o.push(n)
	return o.blanks(p + 1)
}

// flowNode reads one value within brackets.
func (o *outliner) flowNode(at, depth int) (*node, int) {
	if at >= o.end {
		return o.fail(), at
	}
	switch o.s[at] {
	case '"', '\'':
		return o.quoted(at)
	case '{', '[':
		return o.flow(at, depth+1)
	}
	p := at
	for p < o.end && flowPlain(o.s[p]) && (o.s[p] != ':' || p+1 < o.end && o.s[p+1] != ':' && o.s[p+1] != ' ' && flowPlain(o.s[p+1])) {
		p++
	}
	value := strings.TrimRight(o.s[at:p], " ")
	if !startsPlain(value) || value[0] == ':' {
		return o.fail(), at
	}
	n := o.node(scalar, plain, at, at+len(value))
	n.value = value
	return n, at + len(value)
}

// flowPlain tells characters that may stand in a plain scalar within brackets.
func flowPlain(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= '-' && c <= ':', c >= 'A' && c <= 'Z', c >= '(' && c <= '+':
		return true
	case c == '_', c == ' ', c == '=', c == '@', c == '%', c == '~', c == '$', c == '<', c == '>':
		return true
	}
	return false
}

// text reads a block of text; what it says is not worked out.
func (o *outliner) text(at, parent int) *node {
	n := o.node(scalar, literal, at, o.end)
	if o.s[at] == '>' {
		n.style = folded
	}
	n.odd = true
	p := at + 1
	keep := p < o.end && o.s[p] == '+'
	if p < o.end && (o.s[p] == '+' || o.s[p] == '-') {
		p++
	}
	if !o.bare(p) {
		return o.fail()
	}
	indent, blank := -1, 0
	for o.pos < len(o.s) {
		start, end, after := o.pos, len(o.s), len(o.s)
		if i := strings.IndexByte(o.s[start:], '\n'); i >= 0 {
			end, after = start+i, start+i+1
		}
		if end > start && o.s[end-1] == '\r' {
			end--
		}
		in := start
		for in < end && o.s[in] == ' ' {
			in++
		}
		switch in -= start; {
		case start+in == end:
			blank = max(blank, in)
			if keep || indent >= 0 && in > indent { // blanks beyond the indentation are text
				n.end = end
			}
		case indent < 0 && (in <= max(parent, 0) || blank > in):
			return o.fail()
		case indent < 0:
			indent, n.end = in, end
		case in < indent:
			o.next()
			return n
		default:
			n.end = end
		}
		o.pos = after
	}
	if indent < 0 {
		return o.fail()
	}
	o.done = true
	return n
}
