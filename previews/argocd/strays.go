package argocd

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

// made is an application that carries this deployer's mark, or a namespace that
// does and is bare of one.
type made struct {
	Application
	id       string // of its preview
	in       string // the name of the Argo CD
	instance *Instance
	bare     bool // a namespace alone
}

// made are the applications that carry this deployer's mark, and those of a
// preview alone where id is one. Where an Argo CD does not answer, those of
// the others are given beside the error.
func (d *Deployer) made(ctx context.Context, id string) (out []made, err error) {
	labels := map[string]string{labelManaged: managedBy, labelMadeBy: d.opts.Mark}
	if id != "" {
		labels[labelPreview] = id
	}
	for _, name := range slices.Sorted(maps.Keys(d.opts.Instances)) {
		i := d.opts.Instances[name]
		apps, failure := i.List(ctx, d.projectOf(i), labels)
		if failure != nil {
			err = errors.Join(err, explained(failure))
		}
		for _, app := range apps {
			// Looked at again: what is deleted is not left to another's selection.
			of := app.Metadata.Labels
			if of[labelManaged] == managedBy && of[labelMadeBy] == d.opts.Mark && label.MatchString(of[labelPreview]) && (id == "" || of[labelPreview] == id) {
				out = append(out, made{Application: app, id: of[labelPreview], in: name, instance: i})
			}
		}
	}
	return out, err
}

// bare are the namespaces that carry this deployer's mark and of whose preview
// no Argo CD has an application, and those of a preview alone where id is one.
func (d *Deployer) bare(ctx context.Context, id string, apps []made) (out []made, err error) {
	labels := map[string]string{labelMadeBy: d.opts.Mark}
	if id != "" {
		labels[labelPreview] = id
	}
	for _, name := range slices.Sorted(maps.Keys(d.opts.Instances)) {
		i := d.opts.Instances[name]
		if i.Finder == nil || i.Cluster == nil {
			continue
		}
		all, failure := i.Finder.Namespaces(ctx, labels)
		err = errors.Join(err, failure)
		for _, ns := range all {
			m := made{id: ns.Labels[labelPreview], in: name, instance: i, bare: true, Application: Application{Metadata: ns.metadata()}}
			if ns.Labels[labelMadeBy] != d.opts.Mark || !label.MatchString(m.id) || id != "" && m.id != id {
				continue
			}
			known := slices.ContainsFunc(apps, func(o made) bool { return o.id == m.id })
			twice := slices.ContainsFunc(out, func(o made) bool { return o.Metadata.Name == ns.Name }) // two Argo CDs of one cluster
			if !known && !twice {
				out = append(out, m)
			}
		}
	}
	return out, err
}

// metadata is what is known of an object, as of an application.
func (l *Live) metadata() Metadata {
	m := Metadata{Name: l.Name, Labels: l.Labels, Annotations: l.Annotations, CreationTimestamp: l.MadeAt.Format(time.RFC3339)}
	if !l.DeletedAt.IsZero() {
		m.DeletionTimestamp = l.DeletedAt.Format(time.RFC3339)
	}
	return m
}

// Strays are the previews that known does not know and of which an Argo CD has
// an application with this deployer's mark, or a cluster that is at hand a
// namespace alone.
func (d *Deployer) Strays(ctx context.Context, known func(id string) bool) ([]previews.Stray, error) {
	all, err := d.made(ctx, "")
	if err != nil {
		return nil, err
	}
	bare, err := d.bare(ctx, "", all)
	if err != nil {
		return nil, err
	}
	var out []previews.Stray
	at := map[string]int{}
	for _, m := range slices.Concat(all, bare) {
		if i, there := at[m.id]; there {
			out[i].What = append(out[i].What, m.what())
			continue
		}
		if known(m.id) {
			continue
		}
		at[m.id] = len(out)
		out = append(out, previews.Stray{ID: m.id, Wish: m.wish(), What: []string{m.what()}, Since: instant(m.Metadata.CreationTimestamp)})
	}
	return out, nil
}

// RemoveStray has all applications of a preview deleted that carry this
// deployer's mark, with everything that they made, and its namespaces once
// there is no application.
func (d *Deployer) RemoveStray(ctx context.Context, id string) error {
	if !label.MatchString(id) {
		return fault.New(fault.Invalid, "%q is no id of a preview", id).WithFix("Name one that the list of strays shows.")
	}
	all, err := d.made(ctx, id)
	if err == nil && len(all) == 0 {
		all, err = d.bare(ctx, id, nil)
	}
	for _, m := range all {
		if m.Metadata.DeletionTimestamp != "" {
			continue
		}
		if failure := m.remove(ctx); failure != nil && fault.CodeOf(failure) != fault.NotFound {
			err = errors.Join(err, explained(failure))
		}
	}
	return err
}

// remove begins to delete it, with everything that it made.
func (m *made) remove(ctx context.Context) error {
	if m.bare {
		return m.instance.Cluster.DeleteNamespace(ctx, m.Metadata.Name)
	}
	return m.instance.Delete(ctx, m.Spec.Project, m.Metadata.Name, true)
}

// what names it, for people.
func (m *made) what() string {
	text := "namespace " + m.Metadata.Name + " in the cluster of Argo CD " + m.in + ", without an Application"
	if !m.bare {
		text = "Application " + m.Metadata.Name + " of Argo CD " + m.in + ", with namespace " + m.Spec.Destination.Namespace
	}
	if m.Metadata.DeletionTimestamp != "" {
		text += ", which is being deleted since " + m.Metadata.DeletionTimestamp
	}
	return text
}

// wish is what an application was made for, as far as its annotations say.
func (m *made) wish() previews.Wish {
	said := func(key string) string { return m.Metadata.Annotations["fairlead.dev/"+key] }
	return previews.Wish{ID: m.id, Service: said("service"), Owner: said("owner"), Person: said("person"), Agent: said("agent"), Commit: said("commit"), ExpiresAt: instant(said("expires-at"))}
}

// instant reads a time, the zero time where there is none.
func instant(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}
