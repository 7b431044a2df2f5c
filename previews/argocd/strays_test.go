package argocd

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

// shelf is an Argo CD that has applications, and gives all of a project
// whatever labels are asked for.
type shelf struct {
	Applications
	apps    []Application
	away    bool
	deleted []string
}

func (s *shelf) List(_ context.Context, project string, _ map[string]string) ([]Application, error) {
	if s.away {
		return nil, fault.New(fault.Unavailable, "Argo CD far does not answer")
	}
	return slices.DeleteFunc(slices.Clone(s.apps), func(a Application) bool { return a.Spec.Project != project }), nil
}

func (s *shelf) Delete(_ context.Context, project, name string, cascade bool) error {
	if !cascade {
		return fault.New(fault.Invalid, "%s is forgotten and not deleted", name)
	}
	s.deleted = append(s.deleted, project+"/"+name)
	if strings.Contains(name, "raced") {
		return fault.New(fault.NotFound, "no application %s", name)
	}
	return nil
}

// shelved are Argo CDs with applications of ours, and with some of others.
func shelved(t *testing.T) (d *Deployer, near, far *shelf) {
	t.Helper()
	d = deployer(t, Config{Instance: "main"})
	app := func(id, project string, change func(*Application)) Application {
		w := wish(t, Settings{})
		w.ID = id
		p, err := d.planOf(&w)
		if err != nil {
			t.Fatal(err)
		}
		p.app.Spec.Project, p.app.Metadata.CreationTimestamp = project, "2026-01-01T02:03:04Z"
		if change != nil {
			change(p.app)
		}
		return *p.app
	}
	near = &shelf{apps: []Application{
		app("known", "previews", nil), app("stray", "previews", nil), app("elsewhere", "another", nil),
		app("going", "previews", func(a *Application) { a.Metadata.DeletionTimestamp = "2026-01-02T00:00:00Z" }),
		app("of-another-fairlead", "previews", func(a *Application) { a.Metadata.Labels[labelMadeBy] = "ghijkl.argocd" }),
		app("of-another-deployer", "previews", func(a *Application) { a.Metadata.Labels[labelMadeBy] = "abcdef.gitops" }),
		app("of-nobody", "previews", func(a *Application) { delete(a.Metadata.Labels, labelMadeBy) }),
		app("of-a-person", "previews", func(a *Application) { a.Metadata.Labels[labelManaged] = "Helm" }),
		app("no-id", "previews", func(a *Application) { a.Metadata.Labels[labelPreview] = "../x" }),
		app("told-nothing", "previews", func(a *Application) { a.Metadata.Annotations, a.Metadata.CreationTimestamp = nil, "" }),
	}}
	far = &shelf{apps: []Application{app("stray", "far-previews", nil), app("raced", "far-previews", nil)}}
	for name, s := range map[string]*shelf{"main": near, "far": far} {
		d.opts.Instances[name].Applications, d.opts.Instances[name].Lister = s, s
	}
	return d, near, far
}

func TestStrays(t *testing.T) {
	d, near, far := shelved(t)
	found, err := d.Strays(t.Context(), func(id string) bool { return id == "known" })
	if err != nil {
		t.Fatal(err)
	}
	goldenStrays(t, found)
	far.away = true
	if found, err := d.Strays(t.Context(), func(string) bool { return false }); fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("while one is away: %+v, %v", found, err)
	}
	if len(near.deleted)+len(far.deleted) > 0 {
		t.Errorf("a look has deleted %q and %q", near.deleted, far.deleted)
	}
}

func goldenStrays(t *testing.T, found []previews.Stray) {
	t.Helper()
	const file = "testdata/strays.golden.json"
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetIndent("", "  ")
	if err := enc.Encode(found); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("FAIRLEAD_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || !bytes.Equal(want, text.Bytes()) {
		t.Errorf("%s (%v) is not\n%s", file, err, text.Bytes())
	}
}

func TestRemovesStrays(t *testing.T) {
	for id, want := range map[string]string{
		"stray": "previews/preview-stray far-previews/preview-stray", "raced": "far-previews/preview-raced", "going": "", "elsewhere": "", "unheard-of": "",
		"of-another-fairlead": "", "of-another-deployer": "", "of-nobody": "", "of-a-person": "",
	} {
		d, near, far := shelved(t)
		err := d.RemoveStray(t.Context(), id)
		if got := strings.Join(append(near.deleted, far.deleted...), " "); err != nil || got != want {
			t.Errorf("%s: deleted %q, %v, want %q", id, got, err, want)
		}
	}
	for _, id := range []string{"", "../x", "a,b", strings.Repeat("x", 1000)} {
		d, near, far := shelved(t)
		if err := d.RemoveStray(t.Context(), id); fault.CodeOf(err) != fault.Invalid || len(near.deleted)+len(far.deleted) > 0 {
			t.Errorf("%.20q: %v", id, err)
		}
	}
	d, near, far := shelved(t)
	far.away = true
	if err := d.RemoveStray(t.Context(), "stray"); fault.CodeOf(err) != fault.Unavailable || len(near.deleted) != 1 {
		t.Errorf("while one is away: %v, deleted %q", err, near.deleted)
	}
}

func TestMarks(t *testing.T) {
	for _, m := range []string{"", "A", "a b", "-a", strings.Repeat("a", 64)} {
		if _, err := New(Config{}, Options{Mark: m}); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%.10q: %v", m, err)
		}
	}
}

// wild is a cluster that has namespaces, and gives them all whatever labels are
// asked for.
type wild struct {
	Cluster
	all     []Live
	deleted []string
}

func (l *wild) Namespaces(context.Context, map[string]string) ([]Live, error) { return l.all, nil }

func (l *wild) DeleteNamespace(_ context.Context, name string) error {
	l.deleted = append(l.deleted, name)
	return nil
}

// TestStrayNamespaces finds and removes namespaces that no application has.
func TestStrayNamespaces(t *testing.T) {
	d, near, far := shelved(t)
	ns := func(id, by string) Live {
		return Live{Ref: Ref{Kind: "Namespace", Name: "preview-" + id}, Labels: map[string]string{labelPreview: id, labelMadeBy: by}, Annotations: map[string]string{"fairlead.dev/service": "component:default/checkout"}}
	}
	l := &wild{all: []Live{ns("alone", d.opts.Mark), ns("stray", d.opts.Mark), ns("known-alone", d.opts.Mark), ns("other", "ghijkl.argocd"), ns("../x", d.opts.Mark)}}
	for _, i := range d.opts.Instances { // two Argo CDs of one cluster
		i.Cluster, i.Finder = l, l
	}
	found, err := d.Strays(t.Context(), func(id string) bool { return strings.HasPrefix(id, "known") })
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(found, func(s previews.Stray) bool { return s.ID == "alone" })
	if i < 0 || len(found[i].What) != 1 || !strings.HasPrefix(found[i].What[0], "namespace preview-alone in the cluster of Argo CD far, without an Application") || found[i].Wish.Service != "component:default/checkout" {
		t.Errorf("%+v", found)
	}
	if slices.ContainsFunc(found, func(s previews.Stray) bool { return s.ID == "known-alone" || s.ID == "other" || s.ID == "../x" }) {
		t.Errorf("%+v", found)
	}
	for _, id := range []string{"stray", "other", "nobody", "alone"} {
		if err := d.RemoveStray(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	if got := strings.Join(l.deleted, " "); got != "preview-alone" || len(near.deleted)+len(far.deleted) != 2 {
		t.Errorf("deleted namespaces %q, applications %q %q", got, near.deleted, far.deleted)
	}
}
