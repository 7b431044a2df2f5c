package argo

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews/argocd"
)

var _ argocd.Secrets = (*Cluster)(nil)

// Secret is a Secret's metadata; the cluster does not send what it holds.
func (c *Cluster) Secret(ctx context.Context, namespace, name string) (*argocd.Live, error) {
	o, err := c.objects.Resource(corev1.SchemeGroupVersion.WithResource("secrets")).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, c.explainSecret("reading", namespace, name, err)
	}
	return liveOf(argocd.Ref{Version: "v1", Kind: "Secret", Namespace: namespace, Name: name}, o), nil
}

// PutSecret makes a Secret, or has one that is there hold what it is to hold
// and nothing else.
func (c *Cluster) PutSecret(ctx context.Context, s argocd.Secret) error {
	o := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name, Labels: s.Labels}, Type: corev1.SecretTypeOpaque, Data: map[string][]byte{}}
	for _, g := range s.Holds {
		o.Data[g.Env] = []byte(g.Value.Reveal())
	}
	in := c.plain.CoreV1().Secrets(s.Namespace)
	_, err := in.Create(ctx, o, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = in.Update(ctx, o, metav1.UpdateOptions{})
	}
	if err != nil {
		return c.explainSecret("writing", s.Namespace, s.Name, err)
	}
	return nil
}

// explainSecret is an error of a cluster's about a Secret in our terms. What
// the cluster said is left out: it might repeat what it was sent.
func (c *Cluster) explainSecret(doing, namespace, name string, err error) error {
	doing += " Secret " + name + " in " + namespace
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return fault.New(fault.Unavailable, "%s: the namespace is being deleted", doing).WithFix("Create another preview.")
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return fault.New(fault.Unavailable, "%s: the kubeconfig of Argo CD %s does not allow it", doing, c.instance).
			WithFix("Have its user allowed create on secrets, and get and update on those called %s.", name)
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		return fault.New(fault.FailedPrecondition, "%s: the cluster does not take it: %s", doing, apierrors.ReasonForError(err)).
			WithFix("Look at the admission rules of the cluster for Secrets.")
	}
	return c.explain(doing, err)
}
