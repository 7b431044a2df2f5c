package argo

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews/argocd"
)

var (
	_ argocd.Applications = (*Client)(nil)
	_ argocd.Lister       = (*Client)(nil)
)

// Get is an application. Argo CD answers PermissionDenied to who asks for an
// unknown one by name alone; with the project it says that there is none.
func (c *Client) Get(ctx context.Context, project, name string) (*argocd.Application, error) {
	app, err := c.apps.Get(ctx, &application.ApplicationQuery{Name: &name, Project: []string{project}})
	if err != nil {
		return nil, c.explain("reading the application "+name, err)
	}
	app.ManagedFields = nil
	out := &argocd.Application{}
	return out, c.copied(app, out, false)
}

// List are the applications of a project that carry labels. Argo CD leaves
// out those that the account may not get.
func (c *Client) List(ctx context.Context, project string, with map[string]string) ([]argocd.Application, error) {
	selector := labels.SelectorFromSet(with).String()
	got, err := c.apps.List(ctx, &application.ApplicationQuery{Selector: &selector, Projects: []string{project}})
	if err != nil {
		return nil, c.explain("listing the applications of project "+project, err)
	}
	out := make([]argocd.Application, len(got.Items))
	for i := range got.Items {
		got.Items[i].ManagedFields = nil
		if err := c.copied(&got.Items[i], &out[i], false); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Put makes an application or changes the one that is there. Whether Argo CD
// can read its repositories shows later, in its conditions.
func (c *Client) Put(ctx context.Context, app *argocd.Application) error {
	in := &v1alpha1.Application{}
	if err := c.copied(app, in, true); err != nil {
		return err
	}
	upsert, validate := true, false
	_, err := c.apps.Create(ctx, &application.ApplicationCreateRequest{Application: in, Upsert: &upsert, Validate: &validate})
	if err != nil {
		return c.explain("making the application "+app.Metadata.Name, err)
	}
	return nil
}

// Delete begins to delete an application. The finalizer that it has decides how
// what it made is deleted.
func (c *Client) Delete(ctx context.Context, project, name string, cascade bool) error {
	in := &application.ApplicationDeleteRequest{Name: &name, Project: &project, Cascade: &cascade}
	if cascade {
		policy, err := c.propagation(ctx, project, name)
		if err != nil {
			return err
		}
		in.PropagationPolicy = &policy
	}
	if _, err := c.apps.Delete(ctx, in); err != nil {
		return c.explain("deleting the application "+name, err)
	}
	return nil
}

// propagation is the policy that an application's finalizer names, so that
// deleting it does not add another.
func (c *Client) propagation(ctx context.Context, project, name string) (string, error) {
	app, err := c.Get(ctx, project, name)
	if err != nil {
		return "", err
	}
	for _, f := range app.Metadata.Finalizers {
		if f == v1alpha1.BackgroundPropagationPolicyFinalizer {
			return "background", nil
		}
	}
	return "foreground", nil
}

// Manifests are what an application would deploy. Only what names them is
// kept.
func (c *Client) Manifests(ctx context.Context, project, name string) ([]argocd.Manifest, error) {
	got, err := c.apps.GetManifests(ctx, &application.ApplicationManifestQuery{Name: &name, Project: &project})
	if err != nil {
		return nil, c.explain("making the manifests of "+name, err)
	}
	out := make([]argocd.Manifest, 0, len(got.Manifests))
	for _, text := range got.Manifests {
		var m object
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return nil, fault.New(fault.Unavailable, "Argo CD %s made a manifest that cannot be read", c.cfg.Name).Because(err)
		}
		out = append(out, argocd.Manifest{Ref: m.ref()})
	}
	return out, nil
}

// copied copies by way of Argo CD's JSON. strict refuses what the other side
// does not know.
func (c *Client) copied(from, to any, strict bool) error {
	text, err := json.Marshal(from)
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(text))
		if strict {
			dec.DisallowUnknownFields()
		}
		err = dec.Decode(to)
	}
	if err != nil {
		return fault.New(fault.Invalid, "an application of Argo CD %s cannot be written in its terms", c.cfg.Name).
			WithFix("Correct what spec.fairlead.preview says for Argo CD.").Because(err)
	}
	return nil
}
