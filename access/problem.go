package access

import (
	"fmt"
	"strings"
)

// Problem is one thing that is wrong in configuration or in a rules file.
type Problem struct {
	// File is the rules file's name; "" where the caller knows the file.
	File string
	// Line and Column are 1-based; 0 where they are not known.
	Line, Column int
	// Path is the field, for example auth.tokens[1].subject.
	Path string
	// Message says what is wrong, with the offending value unless it is secret.
	Message string
	// Fix says how to put it right.
	Fix string
}

// String gives the problem on one line: file:line:column: path: message (fix).
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File + ":")
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, "%d:%d:", p.Line, p.Column)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	if p.Fix != "" {
		b.WriteString(" (" + p.Fix + ")")
	}
	return b.String()
}

// Problems are all that was found wrong at once, in order of appearance. An
// empty list is never returned as an error.
type Problems []Problem

// Error gives one problem a line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].String()
	}
	return strings.Join(lines, "\n")
}

// err gives the list as an error, nil if it is empty.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

func (p *Problems) add(path, fix, format string, args ...any) {
	*p = append(*p, Problem{Path: path, Message: fmt.Sprintf(format, args...), Fix: fix})
}
