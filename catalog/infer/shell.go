package infer

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// statement is one line of a script as one would type it.
type statement struct {
	text string
	// dir is where it runs, relative to where the script starts.
	dir  string
	line int
	// calls are the programs that it runs with their arguments, in order.
	calls [][]string
	// piped tells that another program reads what it prints.
	piped bool
	// open tells that a part of it is only known when it runs.
	open bool
}

// statements splits a script at its top level. Lines number from first. What
// is no shell is tried line by line, and left out where that fails too.
func statements(script string, first int) []statement {
	file, err := parse(script)
	if err == nil {
		return gather(script, file, first)
	}
	var out []statement
	for i, line := range strings.Split(script, "\n") {
		if f, err := parse(line); err == nil {
			out = append(out, gather(line, f, first+i)...)
		}
	}
	return out
}

func parse(script string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
}

func gather(script string, file *syntax.File, first int) []statement {
	var out []statement
	dir := ""
	for _, s := range file.Stmts {
		st, to := read(script, s, dir)
		if to != "" && len(st.calls) == 0 { // a line that only changes the folder
			dir = to
			continue
		}
		if len(st.calls) == 0 {
			continue
		}
		st.line = first + int(s.Pos().Line()) - 1
		out = append(out, st)
	}
	return out
}

// read takes one statement apart; to is the folder that it leaves the shell in.
func read(script string, s *syntax.Stmt, dir string) (st statement, to string) {
	st.dir = dir
	from, until := s.Pos().Offset(), s.End().Offset()
	node := s
	for { // `cd x && y` is y in x
		b, ok := node.Cmd.(*syntax.BinaryCmd)
		if !ok || b.Op != syntax.AndStmt {
			break
		}
		target, leads := changesFolder(leftmost(b))
		if !leads {
			break
		}
		st.dir = join(st.dir, target)
		node, from = without(b)
		to = st.dir
	}
	if target, only := changesFolder(node); only {
		return statement{}, join(st.dir, target)
	}
	st.text = squeeze(script[from:until])
	collect(node, &st)
	if len(st.calls) > 0 {
		to = ""
	}
	return st, to
}

// leftmost is the first statement of a chain.
func leftmost(b *syntax.BinaryCmd) *syntax.Stmt {
	for {
		inner, ok := b.X.Cmd.(*syntax.BinaryCmd)
		if !ok {
			return b.X
		}
		b = inner
	}
}

// without is a chain less its first statement, and where that begins.
func without(b *syntax.BinaryCmd) (*syntax.Stmt, uint) {
	inner, ok := b.X.Cmd.(*syntax.BinaryCmd)
	if !ok {
		return b.Y, b.Y.Pos().Offset()
	}
	rest, from := without(inner)
	copied := *b
	copied.X = rest
	return &syntax.Stmt{Cmd: &copied, Position: rest.Position}, from
}

// changesFolder tells whether a statement is `cd` to a folder that is written
// out.
func changesFolder(s *syntax.Stmt) (string, bool) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) != 2 || call.Args[0].Lit() != "cd" {
		return "", false
	}
	to, open := literal(call.Args[1])
	if open || to == "-" || strings.HasPrefix(to, "~") || strings.HasPrefix(to, "/") {
		return "", false
	}
	return to, true
}

func join(dir, to string) string {
	if j := path.Join(dir, to); j != "." {
		return j
	}
	return ""
}

// collect gathers the calls of a chain. Loops, branches and functions are
// programs of their own, and left alone.
func collect(s *syntax.Stmt, st *statement) {
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		collect(c.X, st)
		st.piped = st.piped || c.Op == syntax.Pipe || c.Op == syntax.PipeAll
		if c.Op == syntax.AndStmt || c.Op == syntax.OrStmt {
			collect(c.Y, st)
		}
	case *syntax.Subshell:
		for _, inner := range c.Stmts {
			collect(inner, st)
		}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			collect(c.Stmt, st)
		}
	case *syntax.CallExpr:
		call(c, st)
	}
}

func call(c *syntax.CallExpr, st *statement) {
	if len(c.Args) == 0 {
		return
	}
	args := make([]string, 0, len(c.Args))
	for i, w := range c.Args {
		text, open := literal(w)
		if open && i == 0 {
			st.open = true
			return
		}
		args = append(args, text)
	}
	st.calls = append(st.calls, args)
}

// literal is a word's text; open tells that part of it is only known at run
// time.
func literal(w *syntax.Word) (text string, open bool) {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			inner, o := literal(&syntax.Word{Parts: p.Parts})
			b.WriteString(inner)
			open = open || o
		default:
			b.WriteString("$")
			open = true
		}
	}
	return b.String(), open
}

// squeeze puts a statement on one line: continued lines are joined.
func squeeze(s string) string {
	s = strings.ReplaceAll(s, "\\\r\n", " ")
	s = strings.ReplaceAll(s, "\\\n", " ")
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		lines := strings.Split(s, "\n")
		for i := range lines {
			lines[i] = strings.TrimSpace(lines[i])
		}
		s = strings.Join(lines, "; ")
	}
	s = strings.Join(strings.Fields(s), " ")
	return strings.TrimSuffix(s, ";")
}
