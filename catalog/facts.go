package catalog

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// factory makes the facts that one entity declares.
type factory struct {
	e *Entity
	// verified is when and at which commit the entity's source was last seen.
	verified Sighting
	// files lists the files of the entity's repository that a pattern
	// matches; nil where nothing is known of them.
	files    func(pattern string) ([]string, bool)
	problems []string
	// failing says that the source cannot be read, "" if it can.
	failing string
	now     time.Time
	// ground is where the entity stands in its own repository, at the path in
	// it that is asked about, "" for the whole of it.
	ground ground
	at     string
}

func (f *factory) fact(value string, at entity.Position) Fact {
	// What is older than its file was last true at the commit it was read from.
	stale := f.e.From.StaleSince != ""
	commit, verified := f.verified.Commit, f.verified.At
	if commit == "" || stale {
		commit = f.e.From.Commit
	}
	line := int(at.Line)
	if line == 0 {
		line = int(f.e.From.Line)
	}
	if verified.IsZero() || stale {
		verified = f.e.From.VerifiedAt
	}
	changed, _ := f.e.From.History.Last()
	fact := Fact{Value: value, Kind: Declared, VerifiedAt: verified, ChangedAt: changed.At, Stale: f.failing,
		Source: FactSource{Repo: f.e.From.Repository, Commit: commit, Path: f.e.From.Path, Line: line}}
	fact.aged(f.now)
	return fact
}

func (f *factory) problem(at entity.Position, text string) {
	if at.Line > 0 {
		text = f.e.From.Path + ":" + itoa(at.Line) + ": " + text
	}
	f.problems = append(f.problems, text)
}

// fairlead is the mapping spec.fairlead.
func (f *factory) fairlead() *entity.Object { return f.e.Spec().Object("fairlead") }

// text is a string below o, a problem where it is there and no string.
func (f *factory) text(o *entity.Object, key, where string) *Fact {
	v, there := o.Lookup(key)
	if !there {
		return nil
	}
	s, ok := v.(string)
	if !ok || strings.TrimSpace(s) == "" {
		f.problem(o.Position(key), where+"."+key+" must be a non-empty text")
		return nil
	}
	fact := f.fact(s, o.Position(key))
	return &fact
}

// list gives the items of a list below o with their places.
func (f *factory) list(o *entity.Object, key, where string) entity.List {
	v, there := o.Lookup(key)
	if !there {
		return nil
	}
	l, ok := v.(entity.List)
	if !ok {
		f.problem(o.Position(key), where+"."+key+" must be a list")
	}
	return l
}

func (f *factory) commands() *Commands {
	const where = "spec.fairlead.commands"
	o := f.fairlead().Object("commands")
	c := &Commands{}
	c.Setup, c.Build, c.Test = f.text(o, "setup", where), f.text(o, "build", where), f.text(o, "test", where)
	c.TestOne, c.Lint, c.Run = f.text(o, "testOne", where), f.text(o, "lint", where), f.text(o, "run", where)
	f.unknown(o, where, "setup", "build", "test", "testOne", "lint", "run")
	if *c == (Commands{}) {
		return nil
	}
	return c
}

// unknown reports keys that mean nothing to Fairlead.
func (f *factory) unknown(o *entity.Object, where string, known ...string) {
	if o == nil {
		return
	}
	for _, m := range o.Members {
		if !slices.Contains(known, m.Key) {
			f.problem(m.At, where+"."+m.Key+" is not known; known: "+strings.Join(known, ", "))
		}
	}
}

func (f *factory) environments() []Fact {
	var out []Fact
	for _, it := range f.list(f.fairlead(), "environments", "spec.fairlead") {
		o, ok := it.Value.(*entity.Object)
		if !ok || o.String("name") == "" {
			f.problem(it.At, "each of spec.fairlead.environments must be a mapping with a name")
			continue
		}
		f.unknown(o, "spec.fairlead.environments", "name", "path", "argocd", "url", "protected")
		fact := f.fact(o.String("url"), o.Position("name"))
		fact.Name, fact.Path = o.String("name"), o.String("path")
		fact.Protected, _ = o.Get("protected").(bool)
		if a := o.Object("argocd"); a != nil {
			fact.App = strings.TrimPrefix(a.String("instance")+"/"+a.String("app"), "/")
			fact.argo.instance = a.String("instance")
		}
		out = append(out, fact)
	}
	if len(out) == 0 {
		out = f.argoAnnotation()
	}
	return out
}

// argoAnnotation is the one environment that Argo CD's plug-ins know of.
func (f *factory) argoAnnotation() []Fact {
	fact := f.annotation("argocd/app-name")
	if fact == nil {
		fact = f.annotation("argocd/app-selector")
		if fact == nil {
			return nil
		}
		fact.argo.selector = true
	}
	fact.Name, fact.App = "argocd", fact.Value
	if instance := f.e.Annotation("argocd/instance-name"); instance != "" {
		fact.App = instance + "/" + fact.App
		fact.argo.instance = instance
	}
	fact.argo.namespace = f.e.Annotation("argocd/app-namespace")
	fact.Value = ""
	return []Fact{*fact}
}

// annotation is an annotation that the author wrote; generated ones have no
// place in the file.
func (f *factory) annotation(key string) *Fact {
	a := f.e.Metadata().Object("annotations")
	v := a.String(key)
	if v == "" || a.Position(key).Line == 0 {
		return nil
	}
	fact := f.fact(v, a.Position(key))
	return &fact
}

// paths are files that the entity points to, relative to its catalog file,
// globs included; what is not there is a problem.
func (f *factory) paths(key string) []Fact {
	var out []Fact
	for _, it := range f.list(f.fairlead(), key, "spec.fairlead") {
		s, ok := it.Value.(string)
		if !ok || s == "" {
			f.problem(it.At, "each of spec.fairlead."+key+" must be a path")
			continue
		}
		if strings.Contains(s, "://") {
			out = append(out, f.fact(s, it.At))
			continue
		}
		full := path.Join(path.Dir(f.e.From.Path), s)
		found, known := f.lookUp(full)
		if known && len(found) == 0 {
			f.problem(it.At, "spec.fairlead."+key+": nothing matches "+s+" in the repository")
			continue
		}
		for _, p := range found {
			fact := f.fact(p, it.At)
			if known && key == "runbooks" {
				fact.Handle = handleOf(f.e.From.Source, p)
			}
			out = append(out, fact)
		}
	}
	return out
}

// handleOf names a file of a source as a document.
func handleOf(source, file string) string {
	parts := strings.Split(file, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return "doc://" + strings.ReplaceAll(url.PathEscape(source), "%2F", "/") + "/" + strings.Join(parts, "/")
}

func (f *factory) lookUp(pattern string) ([]string, bool) {
	if f.files == nil {
		return []string{pattern}, false
	}
	found, known := f.files(pattern)
	if !known {
		return []string{pattern}, false
	}
	return found, true
}

func (f *factory) dashboards() []Fact {
	var out []Fact
	for _, it := range f.list(f.fairlead(), "dashboards", "spec.fairlead") {
		o, ok := it.Value.(*entity.Object)
		if !ok || o.String("url") == "" {
			f.problem(it.At, "each of spec.fairlead.dashboards must be a mapping with a url")
			continue
		}
		fact := f.fact(o.String("url"), o.Position("url"))
		fact.Name = o.String("title")
		out = append(out, fact)
	}
	if a := f.annotation("grafana/dashboard-selector"); a != nil {
		a.Name = "grafana/dashboard-selector"
		out = append(out, *a)
	}
	return append(out, f.links("dashboard")...)
}

// links are metadata.links whose type, title or icon says what they are.
func (f *factory) links(words ...string) []Fact {
	var out []Fact
	for _, it := range f.e.Metadata().List("links") {
		o, ok := it.Value.(*entity.Object)
		if !ok || !says(o, words) {
			continue
		}
		fact := f.fact(o.String("url"), o.Position("url"))
		fact.Name = o.String("title")
		out = append(out, fact)
	}
	return out
}

// says tells whether a link's type, title or icon holds one of the words, in
// the singular or the plural.
func says(link *entity.Object, words []string) bool {
	parts := strings.FieldsFunc(strings.ToLower(link.String("type")+" "+link.String("title")+" "+link.String("icon")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	text := " " + strings.Join(parts, " ") + " "
	return slices.ContainsFunc(words, func(w string) bool {
		return strings.Contains(text, " "+w+" ") || strings.Contains(text, " "+w+"s ")
	})
}

func (f *factory) oncall() *Fact {
	if o := f.fairlead().Object("oncall"); o != nil {
		if fact := f.text(o, "url", "spec.fairlead.oncall"); fact != nil {
			return fact
		}
	}
	for _, key := range []string{"pagerduty.com/service-id", "opsgenie.com/component-selector", "grafana.com/oncall-schedule", "splunk.com/on-call-team"} {
		if fact := f.annotation(key); fact != nil {
			fact.Name = key
			return fact
		}
	}
	if l := f.links("oncall", "on call", "pagerduty", "opsgenie"); len(l) > 0 {
		return &l[0]
	}
	return nil
}

func (f *factory) repository() *Fact {
	if a := f.annotation("backstage.io/source-location"); a != nil {
		a.Value = strings.TrimPrefix(a.Value, "url:")
		return a
	}
	for _, host := range []string{"github.com", "gitlab.com"} {
		if a := f.annotation(host + "/project-slug"); a != nil {
			a.Value = "https://" + host + "/" + a.Value
			return a
		}
	}
	if f.e.From.Repository == "" {
		return nil
	}
	fact := f.fact(f.e.From.Repository, entity.Position{})
	fact.Kind = Inferred
	return &fact
}
