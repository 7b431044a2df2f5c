package infer

import (
	"path"
	"regexp"
	"strings"
)

var (
	makeRule    = regexp.MustCompile(`^([A-Za-z0-9_./%$(){} -]+?)\s*::?(?:\s|$)`)
	makeInclude = regexp.MustCompile(`^\s*-?s?include\s+(.*)$`)
	makeLiteral = regexp.MustCompile(`^(?:export\s+)?([A-Za-z_][\w-]*)\s*(?:[:?]|::)?=\s*([\w./-]+)\s*(?:#.*)?$`)
	makeVar     = regexp.MustCompile(`\$[({]([A-Za-z_][\w-]*)[)}]`)
)

// isMakeFragment tells whether a file is one that Makefiles include.
func isMakeFragment(_, base string) bool { return path.Ext(base) == ".mk" }

// readMakeFragment lists the targets of what counts only where it is included.
func readMakeFragment(at string, data []byte) Reading {
	r := readMakefile(at, data)
	r.OnlyCalled = true
	return r
}

// makeReader reads one Makefile.
type makeReader struct {
	at       string
	lines    []string
	literals map[string]string
	out      Reading
	// endless tells that no definition ends below.
	endless bool
}

// readMakefile lists the targets of a Makefile. A variable in the name of one
// is put in where its value is written out; patterns are not followed, and
// that they are there is said.
func readMakefile(at string, data []byte) Reading {
	m := makeReader{at: at, lines: strings.Split(string(data), "\n"), literals: map[string]string{}}
	for i := 0; i < len(m.lines) && len(m.out.Targets) < maxFindings; i++ {
		line := strings.TrimRight(m.lines[i], "\r")
		if strings.HasPrefix(line, "define ") && !m.endless {
			i = m.endOf(i)
			continue
		}
		start := i
		for strings.HasSuffix(line, "\\") && i+1 < len(m.lines) && !strings.HasPrefix(line, "\t") && len(line) < maxLine {
			i++
			line = strings.TrimSuffix(line, "\\") + " " + strings.TrimRight(m.lines[i], "\r")
		}
		m.line(line, start, m.lines[i+1:])
	}
	m.out.dedupe()
	return m.out
}

// maxLine bounds a line that goes on in others, in bytes.
const maxLine = 16 << 10

// endOf is the line that ends a definition begun at line i, or i itself.
func (m *makeReader) endOf(i int) int {
	for j := i + 1; j < len(m.lines); j++ {
		if strings.HasPrefix(m.lines[j], "endef") {
			return j
		}
	}
	m.endless = true
	return i
}

func (m *makeReader) line(line string, at int, below []string) {
	if inc := makeInclude.FindStringSubmatch(line); inc != nil {
		m.include(inc[1])
		return
	}
	if lit := makeLiteral.FindStringSubmatch(line); lit != nil {
		m.literals[lit[1]] = lit[2]
		return
	}
	rule := makeRule.FindStringSubmatch(line)
	if rule == nil || isAssignment(line[len(rule[1]):]) {
		return
	}
	deps := m.deps(line[len(rule[1]):])
	for name := range strings.FieldsSeq(m.fill(rule[1])) {
		switch {
		case strings.ContainsAny(name, "%$(){}"):
			m.out.Open = true
		case strings.HasPrefix(name, "."):
		default:
			before := len(m.out.Targets)
			m.out.task(m.at, at+1, "make", name, "make "+name, m.fill(recipe(below)))
			m.out.Targets[before].Deps = deps
		}
	}
}

// fill puts the values of variables in that are written out.
func (m *makeReader) fill(s string) string {
	if !strings.Contains(s, "$") {
		return s
	}
	return makeVar.ReplaceAllStringFunc(s, func(v string) string {
		if lit, ok := m.literals[v[2:len(v)-1]]; ok {
			return lit
		}
		return v
	})
}

// include notes the files that a line includes. One whose name is only known
// when it runs may define any target.
func (m *makeReader) include(list string) {
	list, _, _ = strings.Cut(list, "#")
	for name := range strings.FieldsSeq(m.fill(list)) {
		if strings.ContainsAny(name, "$*%(){}") || path.IsAbs(name) || len(m.out.Calls) >= maxCalls {
			m.out.Open = true
			continue
		}
		m.out.Calls = append(m.out.Calls, join(folder(m.at), name))
	}
}

// deps are the targets that stand behind the colon of a rule.
func (m *makeReader) deps(rest string) []string {
	rest = strings.TrimLeft(rest, " \t:")
	rest, _, _ = strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, ";")
	var out []string
	for d := range strings.FieldsSeq(strings.ReplaceAll(m.fill(rest), "|", " ")) {
		if !strings.ContainsAny(d, "%$(){}") && len(out) < maxSame {
			out = append(out, d)
		}
	}
	return out
}

func isAssignment(rest string) bool {
	rest = strings.TrimLeft(rest, " \t:")
	return strings.HasPrefix(rest, "=")
}

// recipe is what a rule runs first.
func recipe(lines []string) string {
	var parts []string
	for _, l := range lines {
		if !strings.HasPrefix(l, "\t") {
			if strings.TrimSpace(l) == "" && len(parts) == 0 {
				continue
			}
			break
		}
		l = strings.TrimLeft(strings.TrimSpace(l), "@-+")
		if l != "" && !strings.HasPrefix(l, "#") {
			parts = append(parts, l)
		}
		if len(parts) > 5 {
			break
		}
	}
	return strings.ReplaceAll(strings.Join(parts, "\n"), "$$", "$")
}
