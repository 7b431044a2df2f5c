package argo

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/argocd"
)

var _ argocd.Resources = (*Client)(nil)

// object is what is read of any object of Kubernetes.
type object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name              string            `json:"name"`
		Namespace         string            `json:"namespace"`
		Labels            map[string]string `json:"labels"`
		Finalizers        []string          `json:"finalizers"`
		DeletionTimestamp *time.Time        `json:"deletionTimestamp"`
	} `json:"metadata"`
}

func (o *object) ref() argocd.Ref {
	group, version, found := strings.Cut(o.APIVersion, "/")
	if !found {
		group, version = "", group
	}
	return argocd.Ref{Group: group, Version: version, Kind: o.Kind, Namespace: o.Metadata.Namespace, Name: o.Metadata.Name}
}

func (o *object) live() *argocd.Live {
	l := &argocd.Live{Ref: o.ref(), Labels: o.Metadata.Labels, Finalizers: o.Metadata.Finalizers}
	if o.Metadata.DeletionTimestamp != nil {
		l.DeletedAt = o.Metadata.DeletionTimestamp.UTC()
	}
	return l
}

// Tree is what Argo CD last saw of an application.
func (c *Client) Tree(ctx context.Context, project, name string) ([]argocd.Node, error) {
	tree, err := c.apps.ResourceTree(ctx, &application.ResourcesQuery{ApplicationName: &name, Project: &project})
	if err != nil {
		return nil, c.explain("reading the resources of "+name, err)
	}
	out := make([]argocd.Node, 0, len(tree.Nodes))
	for i := range tree.Nodes {
		n := &tree.Nodes[i]
		node := argocd.Node{Ref: refOf(n.ResourceRef), Root: len(n.ParentRefs) == 0, Waits: waits(n)}
		if n.Health != nil {
			node.Health = argocd.Health{Status: string(n.Health.Status), Message: n.Health.Message}
		}
		out = append(out, node)
	}
	return out, nil
}

func refOf(r v1alpha1.ResourceRef) argocd.Ref {
	return argocd.Ref{Group: r.Group, Version: r.Version, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

// waits says why a Pod does not run, as Argo CD tells it: where all is well
// that is how it is, Running or Completed.
func waits(n *v1alpha1.ResourceNode) string {
	if n.Kind != "Pod" || n.Group != "" {
		return ""
	}
	for _, i := range n.Info {
		if i.Name == "Status Reason" && !slices.Contains([]string{"Running", "Completed", "Succeeded", "ContainerCreating", "PodInitializing", "Pending"}, i.Value) {
			if n.Health != nil && n.Health.Message != "" {
				return i.Value + ": " + n.Health.Message
			}
			return i.Value
		}
	}
	return ""
}

// Live is an object as it is now.
func (c *Client) Live(ctx context.Context, project, name string, o argocd.Ref) (*argocd.Live, error) {
	got, err := c.apps.GetResource(ctx, &application.ApplicationResourceRequest{Name: &name, Project: &project, Namespace: &o.Namespace, ResourceName: &o.Name,
		Version: &o.Version, Group: &o.Group, Kind: &o.Kind})
	if err != nil {
		return nil, c.explain("reading "+o.String(), err)
	}
	var l object
	if err := json.Unmarshal([]byte(got.GetManifest()), &l); err != nil {
		return nil, fault.New(fault.Unavailable, "Argo CD %s gave an object that cannot be read", c.cfg.Name).Because(err)
	}
	return l.live(), nil
}

// Release takes the finalizers of an object away.
func (c *Client) Release(ctx context.Context, project, name string, o argocd.Ref) error {
	patch, kind := noFinalizers, "application/merge-patch+json"
	_, err := c.apps.PatchResource(ctx, &application.ApplicationResourcePatchRequest{Name: &name, Project: &project, Namespace: &o.Namespace, ResourceName: &o.Name,
		Version: &o.Version, Group: &o.Group, Kind: &o.Kind, Patch: &patch, PatchType: &kind})
	if err != nil {
		return c.explain("taking the finalizers of "+o.String(), err)
	}
	return nil
}

// noFinalizers is the patch that takes them away.
const noFinalizers = `{"metadata":{"finalizers":null}}`

// Logs are the last lines that the first container of a Pod wrote.
func (c *Client) Logs(ctx context.Context, project, name string, pod argocd.Ref, tail int) ([]previews.LogLine, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	last, follow := int64(tail), false
	stream, err := c.apps.PodLogs(ctx, &application.ApplicationPodLogsQuery{Name: &name, Project: &project, Namespace: &pod.Namespace, PodName: &pod.Name, TailLines: &last, Follow: &follow})
	if err != nil {
		return nil, c.explain("reading the log of "+pod.String(), err)
	}
	var out []previews.LogLine
	for len(out) < tail {
		e, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, c.explain("reading the log of "+pod.String(), err)
		case e.GetLast():
			return out, nil
		}
		at, err := time.Parse(time.RFC3339Nano, e.GetTimeStampStr())
		if err != nil || at.IsZero() { // what the cluster answered in the place of a log
			return nil, fault.New(fault.Unavailable, "the cluster gives no log of %s", pod).WithFix("Try again once it runs.").Because(errors.New(e.GetContent()))
		}
		out = append(out, previews.LogLine{At: at.UTC(), Text: e.GetContent()})
	}
	return out, nil
}
