package yamldoc

import (
	"sort"
	"strconv"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// output is the structure that yaml.v3 reads, and where each of its tokens
// comes from.
type output struct {
	out   []byte
	marks []mark
	// fresh says that the next token is the first of its line; moved that the
	// columns of the line no longer are those of the file.
	fresh, moved bool
	outLine      uint32
	outStart     int
}

// mark says which token of the file a token of the output is.
type mark struct {
	line, column uint32 // in the output, from 1
	kind         byte
	at           entity.Position
}

// emit makes room for a token that stands at pos: block tokens that begin a
// line or a collection keep their column, all others are only kept apart.
func (s *scanner) emit(kind byte, pos int) {
	at := s.place(pos)
	switch {
	case s.fresh:
		if len(s.out) > 0 {
			s.out = append(s.out, '\n')
			s.outLine++
		}
		s.outStart = len(s.out)
		s.fresh, s.moved = false, false
		s.pad(int(at.Column) - 1)
	case !s.moved:
		s.pad(int(at.Column) - 1)
		if n := len(s.out); n > s.outStart && s.out[n-1] != ' ' {
			s.out = append(s.out, ' ')
		}
	default:
		s.out = append(s.out, ' ')
	}
	if n := len(s.marks); kind == ':' && n > 0 && s.marks[n-1].kind == '"' {
		s.scalars[len(s.scalars)-1].colon = true
	}
	s.marks = append(s.marks, mark{line: s.outLine + 1, column: uint32(len(s.out)-s.outStart) + 1, kind: kind, at: at})
	if !isIndicator(kind) {
		s.moved = true
	}
}

func (s *scanner) pad(column int) {
	for n := len(s.out) - s.outStart; n < column; n++ {
		s.out = append(s.out, ' ')
	}
}

func (s *scanner) emitNumber(kind byte, pos, n int) {
	s.emit(kind, pos)
	s.out = append(s.out, kind)
	s.out = strconv.AppendInt(s.out, int64(n), 10)
}

// emitScalar adds a scalar and writes a reference to it.
func (s *scanner) emitScalar(pos int, text string, style byte) {
	s.emit('"', pos)
	s.out = append(s.out, '"')
	s.out = strconv.AppendInt(s.out, int64(len(s.scalars)), 10)
	s.out = append(s.out, '"')
	s.scalars = append(s.scalars, scalar{text: text, style: style, at: s.marks[len(s.marks)-1].at})
}

// locate is where in the file something stands that has a place in the output:
// at a token, or behind one.
func (o *output) locate(line, column int) entity.Position {
	i := sort.Search(len(o.marks), func(i int) bool {
		m := &o.marks[i]
		return m.line > uint32(line) || m.line == uint32(line) && m.column > uint32(column)
	})
	if i == 0 {
		return entity.Position{}
	}
	return o.marks[i-1].at
}
