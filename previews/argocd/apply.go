package argocd

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

// Apply makes the application of a preview, or has it be as it should. What it
// would deploy is looked at before Argo CD deploys any of it: a manifest that
// names a namespace of its own would otherwise overwrite what is there.
func (d *Deployer) Apply(ctx context.Context, w previews.Wish) error {
	p, err := d.planOf(&w)
	if err == nil {
		err = p.bringAbout(ctx)
	}
	if err == nil && len(w.Given) > 0 {
		err = p.give(ctx, &w)
	}
	return err
}

// bringAbout has the application be as it should.
func (p *plan) bringAbout(ctx context.Context) error {
	have, err := p.find(ctx)
	switch {
	case err != nil:
		return err
	case have != nil && have.Metadata.DeletionTimestamp != "":
		return fault.New(fault.Unavailable, "the application %s is being deleted", p.name).WithFix("Create another preview.")
	case have != nil && have.Metadata.Annotations[annotationWish] == p.wish && automated(have):
		return nil
	case have == nil || have.Metadata.Annotations[annotationChecked] != p.checked:
		if err := p.look(ctx, have); errors.Is(err, ErrUntaken) {
			return nil // it is stale until then, and so applied again
		} else if err != nil {
			return err
		}
	}
	return explained(p.instance.Put(ctx, p.app))
}

// find is the preview's application, nil where there is none. One that is
// somebody else's is failed_precondition.
func (p *plan) find(ctx context.Context) (*Application, error) {
	app, err := p.instance.Get(ctx, p.project, p.name)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return nil, nil //nolint:nilnil // there being none is an answer
	case err != nil:
		return nil, err
	case app.Metadata.Labels[labelManaged] != managedBy || app.Metadata.Labels[labelPreview] != p.app.Metadata.Labels[labelPreview]:
		return nil, fault.New(fault.FailedPrecondition, "the application %s is there already and is none of Fairlead's", p.name).
			WithFix("Have an operator look whose it is, and choose another namePrefix for previews.")
	}
	return app, nil
}

func automated(a *Application) bool {
	return a.Spec.SyncPolicy != nil && a.Spec.SyncPolicy.Automated != nil
}

// look has Argo CD make the manifests, without deploying them, and checks them.
func (p *plan) look(ctx context.Context, have *Application) error {
	if have == nil || automated(have) {
		if err := p.instance.Put(ctx, p.paused()); err != nil {
			return explained(err)
		}
	}
	manifests, err := p.instance.Manifests(ctx, p.project, p.name)
	if errors.Is(err, ErrUntaken) {
		return err
	}
	if err != nil {
		return explained(err)
	}
	return p.check(manifests)
}

// check refuses manifests that reach beyond the preview's namespace.
func (p *plan) check(manifests []Manifest) error {
	var wrong []string
	own, taken, service := false, false, 0
	for _, m := range manifests {
		if m.Name != guardName && (m.Kind != "Namespace" || m.Group != "") {
			service++
		}
		switch {
		case m.Kind == "Namespace" && m.Group == "":
			own = own || m.Name == p.name
			if m.Name != p.name {
				wrong = append(wrong, m.String()+", which is not the preview's own")
			}
		case clusterWide(m.Ref):
			wrong = append(wrong, m.String()+", which belongs to the whole cluster")
		case m.Namespace != "" && m.Namespace != p.name:
			wrong = append(wrong, m.String()+" in namespace "+m.Namespace)
		case m.Kind == "Secret" && m.Group == "" && m.Name == SecretName:
			taken = true
		}
	}
	switch {
	case len(wrong) > 0:
		if more := len(wrong) - 5; more > 0 {
			wrong = append(wrong[:5], "and more")
		}
		return fault.New(fault.FailedPrecondition, "%s at %.12s would deploy beyond the preview's namespace %s: %s", p.manifests.Path, p.manifests.TargetRevision, p.name, strings.Join(wrong, "; ")).
			WithFix("Leave namespaces and what belongs to the whole cluster out of what is previewed; for a kustomization say kustomize: {} in spec.fairlead.preview, and its namespace is replaced.")
	case taken:
		return fault.New(fault.FailedPrecondition, "%s at %.12s holds a Secret %s, and that is the one in which Fairlead gives previews what reaches their data", p.manifests.Path, p.manifests.TargetRevision, SecretName).
			WithFix("Leave it out of what is previewed, or give it another name.")
	case !own:
		return fault.New(fault.FailedPrecondition, "the guards of previews hold no Namespace").
			WithFix("Have an operator put the kustomization there that the guide on previews by Argo CD shows, or leave previews.deployers.argocd.guards out.")
	case service == 0:
		return fault.New(fault.FailedPrecondition, "%s at %.12s holds no manifests", p.manifests.Path, p.manifests.TargetRevision).
			WithFix("Set spec.fairlead.preview.path to the folder that holds them.")
	}
	return nil
}

// clusterWide tells whether a kind belongs to no namespace, as far as that is
// known without asking the cluster. The AppProject refuses the rest.
func clusterWide(r Ref) bool {
	kinds := map[string][]string{
		"":                             {"Node", "PersistentVolume"},
		"rbac.authorization.k8s.io":    {"ClusterRole", "ClusterRoleBinding"},
		"apiextensions.k8s.io":         {"CustomResourceDefinition"},
		"apiregistration.k8s.io":       {"APIService"},
		"admissionregistration.k8s.io": {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"},
		"storage.k8s.io":               {"StorageClass", "CSIDriver", "CSINode", "VolumeAttachment"},
		"networking.k8s.io":            {"IngressClass"},
		"scheduling.k8s.io":            {"PriorityClass"},
		"node.k8s.io":                  {"RuntimeClass"},
		"flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
		"certificates.k8s.io":          {"CertificateSigningRequest"},
		"argoproj.io":                  {"Application", "ApplicationSet", "AppProject"},
	}
	return slices.Contains(kinds[r.Group], r.Kind)
}
