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

// made is an application that carries this deployer's mark.
type made struct {
	Application
	id       string // of its preview
	in       string // the name of the Argo CD
	instance *Instance
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
				out = append(out, made{app, of[labelPreview], name, i})
			}
		}
	}
	return out, err
}

// Strays are the previews that known does not know and of which an Argo CD has
// an application with this deployer's mark.
func (d *Deployer) Strays(ctx context.Context, known func(id string) bool) ([]previews.Stray, error) {
	all, err := d.made(ctx, "")
	if err != nil {
		return nil, err
	}
	var out []previews.Stray
	at := map[string]int{}
	for _, m := range all {
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
// deployer's mark, with everything that they made.
func (d *Deployer) RemoveStray(ctx context.Context, id string) error {
	if !label.MatchString(id) {
		return fault.New(fault.Invalid, "%q is no id of a preview", id).WithFix("Name one that the list of strays shows.")
	}
	all, err := d.made(ctx, id)
	for _, m := range all {
		if m.Metadata.DeletionTimestamp != "" {
			continue
		}
		if failure := m.instance.Delete(ctx, m.Spec.Project, m.Metadata.Name, true); failure != nil && fault.CodeOf(failure) != fault.NotFound {
			err = errors.Join(err, explained(failure))
		}
	}
	return err
}

// what names an application, for people.
func (m *made) what() string {
	text := "Application " + m.Metadata.Name + " of Argo CD " + m.in + ", with namespace " + m.Spec.Destination.Namespace
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
