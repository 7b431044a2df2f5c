package yamldoc

import "github.com/fairlead-dev/fairlead/catalog/entity"

// diagnosis walks through the tokens of a structure that yaml.v3 refused and
// finds the first that cannot stand where it does.
type diagnosis struct {
	marks  []mark
	levels []blockLevel
	flow   []mark // open brackets
	// expects says that a value may begin: behind ":", "-" and "?" and at the
	// start of the document.
	expects bool
	// done says that the root has had its value.
	done  bool
	line  uint32
	keyed bool // the line has had a ":"
	last  byte // kind of the token before
	found *entity.Problem
}

// blockLevel is one open block collection.
type blockLevel struct {
	column uint32
	list   bool
	at     entity.Position // of its first token
}

// findMistake says what is wrong with the structure, if it can tell.
func (s *scanner) findMistake() (entity.Problem, bool) {
	d := diagnosis{marks: s.marks, expects: true}
	for i := range d.marks {
		if len(d.flow) > 0 {
			d.inFlow(&d.marks[i])
		} else {
			d.inBlock(i)
		}
		if d.found != nil {
			return *d.found, true
		}
		d.last = d.marks[i].kind
	}
	return entity.Problem{}, false
}

func (d *diagnosis) tell(m *mark, fix, format string, args ...any) {
	p := problemAt(m.at, fix, format, args...)
	d.found = &p
}

func (d *diagnosis) inFlow(m *mark) {
	open := d.flow[len(d.flow)-1]
	closed := d.last == '"' || d.last == '*' || d.last == ']' || d.last == '}'
	switch m.kind {
	case '"', '*', '[', '{', '&', '!':
		if closed {
			d.tell(m, `Put a "," between the two, or quotes around both.`, "there is no comma between two items of the %q of line %d", open.kind, open.at.Line)
		}
		if m.kind == '[' || m.kind == '{' {
			d.flow = append(d.flow, *m)
		}
	case ',':
		if d.last == ',' || d.last == '[' || d.last == '{' {
			d.tell(m, "Remove the comma.", "there is nothing before the comma")
		}
	case ']', '}':
		d.flow = d.flow[:len(d.flow)-1]
	}
}

func (d *diagnosis) inBlock(i int) {
	m := &d.marks[i]
	if m.line != d.line {
		d.line, d.keyed = m.line, false
		if m.kind != 'm' {
			d.beginLine(i)
			return
		}
	}
	d.within(i)
}

// within checks a token that is not the first of its line.
func (d *diagnosis) within(i int) {
	m := &d.marks[i]
	switch m.kind {
	case '-', '?':
		if d.last != '-' && d.last != '?' {
			d.tell(m, "Put the list on the lines below, indented.", "%q cannot stand here: a list or a key starts on a line of its own", m.kind)
			return
		}
		d.push(m, m.kind == '-')
	case ':':
		d.colon(m)
	default:
		d.node(i)
	}
}

// node checks a scalar, alias, anchor, tag or bracket.
func (d *diagnosis) node(i int) {
	m := &d.marks[i]
	if m.kind == 'm' || m.kind == '&' || m.kind == '!' {
		return
	}
	if (d.last == '-' || d.last == '?') && d.isKey(i) {
		d.push(m, false)
	}
	if !d.expects && (d.last == '"' || d.last == '*' || d.last == ']' || d.last == '}') {
		d.tell(m, "Quote the whole value, or remove what is behind it.", "there is text behind the end of the value")
		return
	}
	d.expects, d.done = false, true
	if m.kind == '[' || m.kind == '{' {
		d.flow = append(d.flow, *m)
	}
}

func (d *diagnosis) colon(m *mark) {
	if d.keyed {
		d.tell(m, `Quote the value if the ":" belongs to it, or put the inner mapping on the lines below, indented.`,
			`a second "key:" cannot stand on the same line`)
		return
	}
	if len(d.levels) == 0 {
		d.tell(m, `Put the mapping on the lines below the "---".`, `a key cannot stand on the line of the "---"`)
		return
	}
	d.keyed, d.expects = true, true
}

// isKey says whether the node that starts at mark i has a ":" behind it on its
// line.
func (d *diagnosis) isKey(i int) bool {
	depth := 0
	for j := i; j < len(d.marks) && d.marks[j].line == d.marks[i].line; j++ {
		switch d.marks[j].kind {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ':':
			if depth == 0 {
				return true
			}
		}
	}
	return false
}

func (d *diagnosis) push(m *mark, list bool) {
	d.levels = append(d.levels, blockLevel{column: m.column, list: list, at: m.at})
	d.expects, d.done = true, true
}

// beginLine checks the first token of a line against the levels it may belong
// to.
func (d *diagnosis) beginLine(i int) {
	m := &d.marks[i]
	list, key := m.kind == '-', m.kind == '?' || m.kind == ':' || d.isKey(i)
	below := false
	for n := len(d.levels); n > 0 && d.levels[n-1].column > m.column; n-- {
		d.levels, below = d.levels[:n-1], true
	}
	if !list && !key {
		d.text(i, below)
		return
	}
	if d.belongs(m, list, below) {
		if m.kind == '"' || m.kind == '*' || m.kind == '[' || m.kind == '{' {
			d.node(i)
		} else {
			d.expects, d.keyed = true, m.kind == ':'
		}
	}
}

// belongs finds the level of a list item or key, or opens it.
func (d *diagnosis) belongs(m *mark, list, below bool) bool {
	what, other := "key", `list item`
	if list {
		what, other = other, what
	}
	n := len(d.levels)
	if n == 0 {
		if !d.done {
			d.push(m, list)
		} else if below {
			d.tell(m, "Indent all lines of the outermost level alike.", "the %s is indented less than the document's first line", what)
		} else {
			d.tell(m, `Put a "---" before it if it is a document of its own.`, "there is a %s behind the end of the document's value", what)
		}
		return d.found == nil
	}
	top := d.levels[n-1]
	switch {
	case top.column == m.column && top.list == list:
		return true
	case top.column == m.column && list && d.expects:
		d.push(m, true)
		return true
	case top.column == m.column && n > 1 && top.list && d.levels[n-2].column == m.column && !list:
		d.levels = d.levels[:n-1]
		return true
	case top.column == m.column:
		d.tell(m, "Indent the line to where it belongs.", "a %s stands where line %d has begun with a %s", what, top.at.Line, other)
	case below || !d.expects:
		d.tell(m, "Indent the line like its neighbours.", "the %s starts in column %d and lines up with nothing above it that could go on; line %d starts in column %d",
			what, m.column, top.at.Line, top.column)
	default:
		d.push(m, list)
		return true
	}
	return false
}

// text checks a line that is neither key nor list item.
func (d *diagnosis) text(i int, below bool) {
	m := &d.marks[i]
	switch {
	case m.kind == '&' || m.kind == '!':
	case d.expects && !below:
		d.node(i)
	case len(d.levels) == 0:
		d.tell(m, `Put a "---" before it if it is a document of its own.`, "there is text behind the end of the document's value")
	default:
		d.tell(m, `Write "key: value", or indent and quote it if it goes on with the value above.`, `the line has no ":" and belongs to no value above it`)
	}
}
