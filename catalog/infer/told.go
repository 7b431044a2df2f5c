package infer

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// openMark begins a name to fill in, in the arguments of a call: in a text it
// stands in angle brackets, which a shell would take for redirections.
const openMark = "‹"

var (
	angled = regexp.MustCompile(`<([A-Za-z][^<>\n]{0,60})>`)
	marked = strings.NewReplacer(openMark, "<", "›", ">", "·", " ")
)

// written splits what a text shows of a shell, in which names to fill in
// stand in angle brackets.
func written(script string, first int) []statement {
	if strings.Contains(script, "<") && !strings.Contains(script, "<<") {
		script = angled.ReplaceAllStringFunc(script, func(s string) string {
			return openMark + strings.ReplaceAll(s[1:len(s)-1], " ", "·") + "›"
		})
	}
	out := statements(script, first)
	for i := range out {
		if strings.Contains(out[i].text, openMark) {
			out[i].text = marked.Replace(out[i].text)
		}
	}
	return out
}

// updateScore is what a way to run the tests counts less for that writes what
// is expected anew, or does not end.
const updateScore = plainScore

// add keeps a statement whose purpose is known.
func (p *proseReader) add(st statement, bonus int, lead string) {
	dir := join(p.dir(), st.dir)
	v, ok := judge(st, dir)
	if !ok {
		v, ok = p.told(st, dir, lead, bonus)
	}
	if stems(lead, Lint) && (v.role == Build && !stems(lead, Build) || isCheck(v) && !stems(lead, Test)) {
		v.role = Lint // what compiles may do so only to check
	}
	if !ok || len(st.text) > maxText || strings.HasPrefix(dir, "..") {
		return
	}
	if strings.HasPrefix(strings.TrimLeft(lead, " -—–:*_"), "all ") {
		v.narrow = v.narrow && v.one // whatever its name says
	}
	c := Command{Role: v.role, Text: st.text, Dir: dir, Within: join(p.from, st.dir), Origin: p.origin, Place: Place{Path: p.at, Line: st.line}, Score: v.score + bonus, Needs: v.needs}
	if says(p.heading, v.role) {
		c.Score += sameHeading
	}
	if says(lead, v.role) {
		c.Score += leadComment
	}
	open := stand.MatchString(c.Text + " ")
	switch {
	case open && v.role == Test:
		v.one, v.narrow = true, true
		c.Score-- // one that is written out is better
		v.project = v.project || says(lead, Test) && !says(lead, TestOne)
	case open && v.role == Run:
		c.Score -= 2
	case open:
		c.Score += standIn
	}
	if st.piped {
		c.Score -= pipedScore
	}
	if v.role == Test && v.one && says(lead, TestOne) {
		c.Score += leadComment
	}
	if v.role == Test && anyArg(strings.Fields(c.Text), "-u", "-update", "--update", "--updateSnapshot", "--update-snapshots", "--snapshot-update", "--watch") {
		c.Score -= updateScore
	}
	if strings.Contains(strings.SplitN(c.Text, " ", 2)[0], "=") {
		c.Score--
	}
	p.out = append(p.out, c.roles(v)...)
}

// isCheck tells whether a target is one that may be tests or linters.
func isCheck(v verdict) bool {
	return v.role == Test && len(v.needs) == 1 && v.needs[0].Name == "check"
}

// roles gives a command its role. One for a project as a whole is a way to run
// the tests of one, and the way to run the tests where there is no better.
func (c Command) roles(v verdict) []Command {
	whole := c
	c.narrow(v)
	if !v.project || c.Role != TestOne {
		return []Command{c}
	}
	whole.Score -= plainScore
	return []Command{c, whole}
}

// told judges a target or script whose name says nothing by what the text says
// of it: the beginning of its comment or label, or a heading that is about
// nothing else.
func (p *proseReader) told(st statement, dir, lead string, bonus int) (verdict, bool) {
	if len(st.calls) != 1 {
		return verdict{}, false
	}
	call := unwrap(st.calls[0])
	v := classify(call)
	if len(call) > 0 && len(v.needs) == 0 && v.role == "" && program(call, v) == "make" && !anyArg(call, "-C", "-f") { // whatever is its first target
		v.role, v.score = toldBy(lead, ""), vagueScore
		return v, v.role != ""
	}
	if len(v.needs) != 1 || v.role != "" || misleading(v.needs[0].Name) {
		return verdict{}, false
	}
	name := v.needs[0].Name
	v.needs[0].Dir = join(dir, v.needs[0].Dir)
	if r := toldBy(lead, name); r != "" {
		v.role, v.score = r, vagueScore
	} else if r := topic(p.heading); r != "" && bonus >= atStart && (p.alone || strings.Contains(name, string(r))) && !tellsOther(lead, r) {
		v.role, v.score = r, vagueScore
	}
	if v.role == Test && selectsTests(st.calls[0]) {
		v.one, v.narrow = true, true
	}
	return v, v.role != ""
}

// toldBy is the role that the beginning of a comment or label gives a target.
func toldBy(lead, name string) Role {
	words := strings.Fields(strings.TrimLeft(lead, " -—–:*_"))
	begin := strings.Join(words[:min(3, len(words))], " ")
	if begin == "" || stems(lead, Build) && stems(lead, Test) {
		return ""
	}
	for _, r := range []Role{Build, Test, Lint, Setup} {
		if r == Build && strings.Contains(name, "test") || r == Setup && !preparing(lead, name) {
			continue
		}
		if stems(begin, r) {
			return r
		}
	}
	return ""
}

// preparing tells whether a target that installs something installs what is
// needed to work, rather than the product.
func preparing(lead, name string) bool {
	return (name == "install" || strings.Contains(name, "setup")) && contains(lead, []string{"dependenc", "requirements", "tools", "hooks", "environment", "packages"})
}

// topic is the one role that a short heading is about.
func topic(heading string) Role {
	if len(strings.Fields(heading)) > 4 || misleading(heading) {
		return ""
	}
	var out Role
	for _, r := range []Role{Build, Test, Lint} {
		if !stems(heading, r) {
			continue
		}
		if out != "" {
			return ""
		}
		out = r
	}
	return out
}

func tellsOther(lead string, r Role) bool {
	return slices.ContainsFunc([]Role{Build, Test, Lint}, func(other Role) bool { return other != r && stems(lead, other) })
}

// stems tells whether a text speaks of a role in so many words: whole words or
// the beginnings of words.
func stems(text string, r Role) bool {
	return begins(text, map[Role][]string{
		Setup: {"setup", "set up", "install", "bootstrap"}, Build: {"build", "compil"}, Test: {"test", "suite"},
		Lint: {"lint", "code quality", "static analysis", "static check", "type check", "type-check", "typecheck"},
	}[r])
}

// says tells whether a heading, label or comment speaks of a role.
func says(text string, r Role) bool {
	return contains(text, map[Role][]string{
		Setup: {"setup", "set up", "prerequisite", "getting started", "dependenc", "bootstrap"},
		Build: {"build", "compil"}, Test: {"test"}, TestOne: {"single", "specific", "one ", "individual", "filter"},
		Lint: {"lint", "quality", "static analysis", "style", "check"}, Run: {"run", "start", "serv", "develop"},
	}[r])
}

func begins(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		for at := 0; ; {
			i := strings.Index(text[at:], w)
			if i < 0 {
				return false
			}
			at += i
			before, _ := utf8.DecodeLastRuneInString(text[:at])
			if at == 0 || !unicode.IsLetter(before) {
				return true
			}
			at += len(w)
		}
	})
}

func contains(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}
