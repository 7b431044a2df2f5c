package argo

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/fairlead-dev/fairlead/internal/argo/instance"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews/argocd"
)

// Cluster asks a cluster itself what there is. It is safe for concurrent use.
type Cluster struct {
	instance string
	plain    kubernetes.Interface
	objects  metadata.Interface

	mu    sync.Mutex
	kinds []schema.GroupVersionResource // kinds that belong to namespaces
	names map[schema.GroupVersionResource]string
	until time.Time
}

var (
	_ argocd.Cluster = (*Cluster)(nil)
	_ argocd.Finder  = (*Cluster)(nil)
)

// kindsKept is how long the list of a cluster's kinds is taken to hold.
const kindsKept = 5 * time.Minute

// Reach makes a client of the cluster that an instance's kubeconfig names;
// nothing is sent.
func Reach(cfg instance.Config) (*Cluster, error) {
	conf, err := clientcmd.BuildConfigFromFlags("", cfg.KubeconfigFile)
	if err != nil {
		return nil, badKubeconfig(&cfg, err)
	}
	conf.QPS, conf.Burst, conf.UserAgent = 50, 100, "fairlead"
	return reach(cfg, conf)
}

func reach(cfg instance.Config, conf *rest.Config) (*Cluster, error) {
	plain, err := kubernetes.NewForConfig(conf)
	if err != nil {
		return nil, badKubeconfig(&cfg, err)
	}
	objects, err := metadata.NewForConfig(conf)
	if err != nil {
		return nil, badKubeconfig(&cfg, err)
	}
	return &Cluster{instance: cfg.Name, plain: plain, objects: objects}, nil
}

func badKubeconfig(cfg *instance.Config, err error) error {
	return fault.New(fault.FailedPrecondition, "Argo CD %s: the kubeconfig %s cannot be used", cfg.Name, cfg.KubeconfigFile).
		WithFix("Name a kubeconfig of the cluster that previews go to by kubeconfigFile, or leave it out.").Because(err)
}

// Namespace is a namespace, with what hinders its deletion.
func (c *Cluster) Namespace(ctx context.Context, name string) (*argocd.Live, error) {
	ns, err := c.plain.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, c.explain("reading namespace "+name, err)
	}
	l := liveOf(argocd.Ref{Version: "v1", Kind: "Namespace", Name: name}, ns)
	for _, cond := range ns.Status.Conditions {
		if cond.Status == "True" && cond.Message != "" {
			l.Note += cond.Message + " "
		}
	}
	for _, f := range ns.Spec.Finalizers {
		if f != "kubernetes" {
			l.Finalizers = append(l.Finalizers, string(f))
		}
	}
	return l, nil
}

// Namespaces are those that carry all of these labels. Where the kubeconfig may
// not list namespaces, there are none to be found.
func (c *Cluster) Namespaces(ctx context.Context, of map[string]string) (out []argocd.Live, err error) {
	opts := metav1.ListOptions{LabelSelector: labels.SelectorFromSet(of).String(), Limit: 500}
	for {
		list, err := c.objects.Resource(corev1.SchemeGroupVersion.WithResource("namespaces")).List(ctx, opts)
		switch {
		case apierrors.IsForbidden(err):
			return nil, nil
		case err != nil:
			return nil, c.explain("listing namespaces", err)
		}
		for i := range list.Items {
			out = append(out, *liveOf(argocd.Ref{Version: "v1", Kind: "Namespace", Name: list.Items[i].Name}, &list.Items[i]))
		}
		if opts.Continue = list.Continue; opts.Continue == "" {
			return out, nil
		}
	}
}

func liveOf(ref argocd.Ref, o metav1.Object) *argocd.Live {
	l := &argocd.Live{Ref: ref, Labels: o.GetLabels(), Annotations: o.GetAnnotations(), Finalizers: o.GetFinalizers(), MadeAt: o.GetCreationTimestamp().UTC()}
	if at := o.GetDeletionTimestamp(); at != nil {
		l.DeletedAt = at.UTC()
	}
	return l
}

// Within is everything in a namespace that can be listed, those first that
// have finalizers. Kinds that the kubeconfig may not list are left out.
func (c *Cluster) Within(ctx context.Context, namespace string, most int) ([]argocd.Live, error) {
	kinds, names, err := c.namespaced()
	if err != nil {
		return nil, c.explain("listing the kinds of the cluster", err)
	}
	var out []argocd.Live
	for _, kind := range kinds {
		list, err := c.objects.Resource(kind).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: int64(most)})
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case apierrors.IsForbidden(err), apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err):
			continue
		case err != nil:
			return nil, c.explain("listing "+kind.Resource+" in "+namespace, err)
		}
		for i := range list.Items {
			o := &list.Items[i]
			out = append(out, *liveOf(argocd.Ref{Group: kind.Group, Version: kind.Version, Kind: names[kind], Namespace: namespace, Name: o.Name}, o))
		}
	}
	slices.SortStableFunc(out, func(a, b argocd.Live) int { return len(b.Finalizers) - len(a.Finalizers) })
	return out[:min(len(out), most)], nil
}

// namespaced lists the kinds that belong to namespaces.
func (c *Cluster) namespaced() ([]schema.GroupVersionResource, map[schema.GroupVersionResource]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Now().Before(c.until) {
		return c.kinds, c.names, nil
	}
	lists, err := c.plain.Discovery().ServerPreferredNamespacedResources()
	var partly *discovery.ErrGroupDiscoveryFailed
	if err != nil && !errors.As(err, &partly) {
		return nil, nil, err
	}
	c.kinds, c.names = nil, map[schema.GroupVersionResource]string{}
	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			continue
		}
		for _, r := range l.APIResources {
			if slices.Contains(r.Verbs, "list") && r.Kind != "Event" {
				kind := gv.WithResource(r.Name)
				c.kinds, c.names[kind] = append(c.kinds, kind), r.Kind
			}
		}
	}
	c.until = time.Now().Add(kindsKept)
	return c.kinds, c.names, nil
}

// DeleteNamespace begins to delete a namespace.
func (c *Cluster) DeleteNamespace(ctx context.Context, name string) error {
	err := c.plain.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return c.explain("deleting namespace "+name, err)
	}
	return nil
}

// Unblock takes the finalizers of an object away, those of a namespace's
// specification included.
func (c *Cluster) Unblock(ctx context.Context, o argocd.Ref) error {
	kinds, names, err := c.namespaced()
	if err != nil {
		return c.explain("listing the kinds of the cluster", err)
	}
	at := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	if o.Kind != "Namespace" {
		i := slices.IndexFunc(kinds, func(k schema.GroupVersionResource) bool { return k.Group == o.Group && names[k] == o.Kind })
		if i < 0 {
			return fault.New(fault.NotFound, "the cluster knows no kind %s", o.Kind)
		}
		at = kinds[i]
	}
	var in metadata.ResourceInterface = c.objects.Resource(at)
	if o.Namespace != "" {
		in = c.objects.Resource(at).Namespace(o.Namespace)
	}
	_, err = in.Patch(ctx, o.Name, types.MergePatchType, []byte(noFinalizers), metav1.PatchOptions{})
	if err != nil {
		return c.explain("taking the finalizers of "+o.String(), err)
	}
	return nil
}

// explain is an error of a cluster's in our terms.
func (c *Cluster) explain(doing string, err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case apierrors.IsNotFound(err):
		return fault.New(fault.NotFound, "%s: there is none", doing).Because(err)
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return fault.New(fault.Unavailable, "%s: the kubeconfig of Argo CD %s does not allow it", doing, c.instance).
			WithFix("Have its user allowed get on namespaces, and list and patch on what is in them.").Because(err)
	default:
		return fault.New(fault.Unavailable, "%s: the cluster of Argo CD %s does not answer", doing, c.instance).
			WithFix("Check that the cluster is there, and kubeconfigFile in the section argocd.").Because(err)
	}
}
