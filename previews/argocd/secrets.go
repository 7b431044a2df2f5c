package argocd

import (
	"context"
	"slices"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

// SecretName is the name of the Secret that holds what reaches a preview's
// data, in the preview's namespace, by the names of variables. It is made in
// the cluster itself, so that neither Argo CD nor a repository has any of it,
// and goes with the namespace.
const SecretName = "fairlead-preview-data"

// labelVariables tells which variables a Secret holds, as a digest.
const labelVariables = "fairlead.dev/variables"

// Carries is nil where the cluster is at hand, to put a Secret there.
func (d *Deployer) Carries(w previews.Wish) error {
	s, err := settingsOf(&w)
	if err != nil {
		return fault.New(fault.Invalid, "the settings of the preview cannot be read").WithFix("Create the preview again.").Because(err)
	}
	if s.Instance == "" {
		s.Instance = d.cfg.Instance
	}
	i, f := d.instance(s.Instance)
	switch {
	case f != nil:
		return f
	case i.Secrets == nil:
		return fault.New(fault.FailedPrecondition, "the preview of %s asks for data of its own, and what reaches it goes to the cluster itself and never through Argo CD; Argo CD %s is configured without its cluster", w.Service, s.Instance).
			WithFix("Have the operators name a kubeconfig by kubeconfigFile in the section argocd, whose user may create secrets and get and update those called %s, or take data out of spec.fairlead.preview.", SecretName)
	}
	return nil
}

// variablesOf are the variables that a preview is given, in order.
func variablesOf(w *previews.Wish) (names []string) {
	for _, d := range w.Template.Data {
		names = append(names, d.Envs()...)
	}
	slices.Sort(names)
	return names
}

// give puts what a wish is given into the preview's namespace, once Argo CD has
// made that. Until then the preview is stale, and so applied again.
func (p *plan) give(ctx context.Context, w *previews.Wish) error {
	if err := p.reaches(w); err != nil {
		return err
	}
	there, err := p.own(ctx, w)
	if err != nil || !there {
		return err
	}
	have, err := p.instance.Secrets.Secret(ctx, p.name, SecretName)
	switch {
	case err != nil && fault.CodeOf(err) != fault.NotFound:
		return err
	case err == nil && have.Labels[labelPreview] != w.ID:
		return fault.New(fault.FailedPrecondition, "the Secret %s in namespace %s is there already and is none of Fairlead's", SecretName, p.name).
			WithFix("Have whoever made it remove it; Fairlead needs the name.")
	}
	return p.instance.Secrets.PutSecret(ctx, Secret{Namespace: p.name, Name: SecretName, Holds: w.Given,
		Labels: map[string]string{labelManaged: managedBy, labelPreview: w.ID, labelVariables: digest(variablesOf(w))}})
}

// reaches refuses where the cluster is not at hand any more.
func (p *plan) reaches(w *previews.Wish) error {
	if p.instance.Secrets == nil || p.instance.Cluster == nil {
		return fault.New(fault.Unavailable, "the cluster of preview %s is not configured any more", w.ID).
			WithFix("Configure kubeconfigFile in the section argocd again until its previews are gone.")
	}
	return nil
}

// own tells whether the preview's namespace is there and stays. One that is not
// the preview's is failed_precondition: nothing of it is put there.
func (p *plan) own(ctx context.Context, w *previews.Wish) (there bool, err error) {
	ns, err := p.instance.Cluster.Namespace(ctx, p.name)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return false, nil
	case err != nil:
		return false, err
	case ns.Labels[labelPreview] != w.ID:
		return false, fault.New(fault.FailedPrecondition, "the namespace %s is there, and is not the preview's", p.name).
			WithFix("Have an operator look whose it is, and delete it if nobody needs it.")
	}
	return ns.DeletedAt.IsZero(), nil
}

// given adds to what is seen of a preview whether it has what reaches its data.
func (p *plan) given(ctx context.Context, w *previews.Wish, o *previews.Observed) error {
	if len(w.Template.Data) == 0 {
		return nil
	}
	if err := p.reaches(w); err != nil {
		return err
	}
	s, err := p.instance.Secrets.Secret(ctx, p.name, SecretName)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		o.Reason = "The Secret " + SecretName + " that reaches its data is not in its namespace yet. " + o.Reason
	case err != nil:
		return err
	case s.Labels[labelPreview] == w.ID && s.Labels[labelVariables] == digest(variablesOf(w)):
		return nil
	}
	there, err := p.own(ctx, w)
	o.Ready, o.Stale = false, o.Stale || there
	return err
}
