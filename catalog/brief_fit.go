package catalog

import (
	"encoding/json"
	"time"
)

// tokens estimates a size: four bytes a token.
func tokens(bytes int) int { return (bytes + 3) / 4 }

// fits tells whether the text is within max tokens and the structured form
// within twice as many.
func (b *Brief) fits(maxTokens int) bool {
	if tokens(len(b.Text())) > maxTokens {
		return false
	}
	enc, err := json.Marshal(b)
	return err == nil && tokens(len(enc)) <= 2*maxTokens
}

// mostFacts is how many facts a brief of so many tokens may hold; more of them
// are certain to exceed it.
func mostFacts(maxTokens int) int {
	_, least := (&Fact{Name: "dependsOn", Value: "api:a/b", Kind: Declared}).least()
	return 2 * 4 * maxTokens / least
}

// exceeds tells, without writing it down, whether a brief is certainly over a
// budget: what it has to say at the least is.
func (b *Brief) exceeds(maxTokens int) bool {
	text, structure := 0, 0
	count := func(facts ...Fact) {
		for i := range facts {
			t, s := facts[i].least()
			text, structure = text+t, structure+s
		}
	}
	for _, l := range [][]Fact{b.Rules, b.Environments, b.DependsOn, b.DependencyOf, b.SLOs, b.Runbooks, b.Dashboards} {
		count(l...)
	}
	for _, p := range b.Problems {
		text, structure = text+len(p), structure+len(p)
	}
	text, structure = text+len(b.Description), structure+len(b.Description)
	return tokens(text) > maxTokens || tokens(structure) > 2*maxTokens
}

// least is how many bytes a fact takes at the least in the text and in the
// structured form.
func (f *Fact) least() (text, structure int) {
	text = len("- []\n") + len(f.Name) + max(len(f.Value), len(f.Handle))/2 + len(f.Source.Path)
	structure = len(`{"value":"","kind":"","source":{},"verifiedAt":""},`) + len(time.RFC3339) - len("07:00") + len(f.Value) + len(f.Kind)
	for _, m := range []struct{ key, value string }{
		{`"name":"",`, f.Name}, {`"path":"",`, f.Path}, {`"app":"",`, f.App}, {`"handle":"",`, f.Handle}, {`"owner":"",`, f.Owner}, {`"stale":"",`, f.Stale},
		{`"repo":"",`, f.Source.Repo}, {`"commit":"",`, f.Source.Commit}, {`"path":"",`, f.Source.Path},
	} {
		if m.value != "" {
			structure += len(m.key) + len(m.value) - 1 // the last of a mapping has no comma
		}
	}
	return text, structure
}

// fit drops detail until the brief fits, least needed first: dashboards,
// what depends on the service, problems, dependencies, SLOs, runbooks,
// environments, description, rules, deploy repository, then the commands for
// one test, setup, lint and run. Owner, on-call, repository, build and test stay as long as any
// answer can hold them.
func (b *Brief) fit(maxTokens int) {
	rest := b.sheddable()
	if b.cut { // as the whole of it would have been
		if len(b.Dashboards) > 0 {
			b.Dashboards = nil
			b.omit("dashboards")
		}
		b.omit("dependencyOf")
	}
	for b.exceeds(maxTokens) || !b.fits(maxTokens) {
		for len(rest) > 0 && !rest[0].shed() {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return
		}
		b.omit(rest[0].name)
	}
}

// omit notes what is left out, once where it is several pieces.
func (b *Brief) omit(name string) {
	if n := len(b.Omitted); n == 0 || b.Omitted[n-1] != name {
		b.Omitted = append(b.Omitted, name)
	}
}

// shedding is one kind of detail that can go, a piece at a time.
type shedding struct {
	name string
	shed func() bool
}

func (b *Brief) sheddable() []shedding {
	return []shedding{
		{"dashboards", half(&b.Dashboards)},
		{"dependencyOf", half(&b.DependencyOf)},
		{"problems", half(&b.Problems)},
		{"dependsOn", half(&b.DependsOn)},
		{"slos", half(&b.SLOs)},
		{"runbooks", half(&b.Runbooks)},
		{"environments", half(&b.Environments)},
		{"description", whole(&b.Description)},
		{"unknown", half(&b.Unknown)},
		{"deployRepo", whole(&b.DeployRepo)},
		{"rules", half(&b.Rules)},
		{"commands.testOne", b.command(func(c *Commands) **Fact { return &c.TestOne })},
		{"commands.run", b.command(func(c *Commands) **Fact { return &c.Run })},
		{"commands.lint", b.command(func(c *Commands) **Fact { return &c.Lint })},
		{"commands.setup", b.command(func(c *Commands) **Fact { return &c.Setup })},
		{"oncall", whole(&b.Oncall)},
		{"repository", whole(&b.Repository)},
		{"commands.build", b.command(func(c *Commands) **Fact { return &c.Build })},
		{"commands.test", b.command(func(c *Commands) **Fact { return &c.Test })},
		{"title", whole(&b.Title)},
		{"owner", whole(&b.Owner)},
	}
}

// half drops the second half of a list, at least one.
func half[T any](l *[]T) func() bool {
	return func() bool {
		if len(*l) == 0 {
			return false
		}
		*l = (*l)[:len(*l)/2]
		return true
	}
}

func whole[T comparable](v *T) func() bool {
	return func() bool {
		var zero T
		had := *v != zero
		*v = zero
		return had
	}
}

func (b *Brief) command(of func(*Commands) **Fact) func() bool {
	return func() bool {
		if b.Commands == nil || *of(b.Commands) == nil {
			return false
		}
		*of(b.Commands) = nil
		return true
	}
}
