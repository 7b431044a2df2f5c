package argo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// Annotations of Pods that tell of their image, where they have only one.
const (
	revisionAnnotation = "org.opencontainers.image.revision"
	builderAnnotation  = "fairlead.dev/built-by"
)

// maxPods is how many Pods are read for the digests that they run.
const maxPods = 6

// pods is what is read of whatever makes Pods, and of these: nothing of their
// environment.
type pods struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		podSpec
		Template    *podTemplate `json:"template"`
		JobTemplate *struct {
			Spec struct {
				Template *podTemplate `json:"template"`
			} `json:"spec"`
		} `json:"jobTemplate"`
	} `json:"spec"`
	Status struct {
		Containers []struct {
			Name    string `json:"name"`
			ImageID string `json:"imageID"`
		} `json:"containerStatuses"`
	} `json:"status"`
}

type podTemplate struct {
	Metadata struct {
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec podSpec `json:"spec"`
}

type podSpec struct {
	Containers []struct {
		Name  string `json:"name"`
		Image string `json:"image"`
	} `json:"containers"`
}

// images are those of the containers.
func (p *pods) images() []gitops.DeployedImage {
	spec, annotations := p.Spec.podSpec, p.Metadata.Annotations
	t := p.Spec.Template
	if p.Spec.JobTemplate != nil {
		t = p.Spec.JobTemplate.Spec.Template
	}
	if t != nil {
		spec, annotations = t.Spec, t.Metadata.Annotations
	}
	var out []gitops.DeployedImage
	for _, c := range spec.Containers {
		if c.Image == "" {
			continue
		}
		i := imageOf(c.Image)
		for _, s := range p.Status.Containers {
			if _, digest, ok := strings.Cut(s.ImageID, "@"); ok && s.Name == c.Name {
				i.Digest = digest
			}
		}
		if len(spec.Containers) == 1 { // of several nobody can say whose it is
			i.Commit, i.BuiltBy = annotations[revisionAnnotation], annotations[builderAnnotation]
		}
		out = append(out, i)
	}
	return out
}

// imageOf takes a reference apart.
func imageOf(ref string) gitops.DeployedImage {
	name, digest, _ := strings.Cut(ref, "@")
	i := gitops.DeployedImage{Name: name, Digest: digest}
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		i.Name, i.Tag = name[:colon], name[colon+1:]
	}
	return i
}

// distinct are images, each once, by name.
func distinct(all []gitops.DeployedImage) []gitops.DeployedImage {
	slices.SortFunc(all, func(a, b gitops.DeployedImage) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Tag, b.Tag), strings.Compare(a.Digest, b.Digest), strings.Compare(a.Commit, b.Commit))
	})
	return slices.Compact(all)
}

// Wanted are the images at revisions, as Argo CD renders them.
func (c *Client) Wanted(ctx context.Context, at gitops.AppName, revisions []string) ([]gitops.DeployedImage, error) {
	q := &application.ApplicationManifestQuery{Name: &at.Name, AppNamespace: given(at.Namespace)}
	if len(revisions) == 1 {
		q.Revision = &revisions[0]
	} else {
		q.Revisions = revisions
		for i := range revisions {
			q.SourcePositions = append(q.SourcePositions, int64(i+1))
		}
	}
	got, err := c.apps.GetManifests(ctx, q)
	if err != nil {
		return nil, c.unreadable("rendering the manifests of "+at.Name, err)
	}
	var out []gitops.DeployedImage
	for _, text := range got.Manifests {
		var p pods
		if json.Unmarshal([]byte(text), &p) == nil { // what has another form makes no Pods
			out = append(out, p.images()...)
		}
	}
	return distinct(out), nil
}

// Running is what is there of an application.
func (c *Client) Running(ctx context.Context, at gitops.AppName) (*gitops.Running, error) {
	tree, err := c.apps.ResourceTree(ctx, &application.ResourcesQuery{ApplicationName: &at.Name, AppNamespace: given(at.Namespace)})
	if err != nil {
		return nil, c.unreadable("reading the resources of "+at.Name, err)
	}
	out := &gitops.Running{Unwell: unwell(tree.Nodes)}
	out.Images = distinct(c.running(ctx, at, tree.Nodes))
	return out, nil
}

// running are the images of Pods: as their containers run, of one Pod for each
// set of images, and as they are asked for where a Pod cannot be read.
func (c *Client) running(ctx context.Context, at gitops.AppName, nodes []v1alpha1.ResourceNode) []gitops.DeployedImage {
	of := map[string]*v1alpha1.ResourceNode{}
	for i := range nodes {
		n := &nodes[i]
		if n.Kind != "Pod" || n.Group != "" || len(n.Images) == 0 || ended(n) {
			continue
		}
		key := strings.Join(n.Images, " ")
		if was := of[key]; was == nil || better(n, was) {
			of[key] = n
		}
	}
	var mu sync.Mutex
	var all []gitops.DeployedImage
	var reads beside.All
	read := 0
	for _, n := range of {
		read++
		once := read <= maxPods
		reads.Go(func() {
			images := asked(n)
			if once {
				if p, err := c.pod(ctx, at, n); err == nil {
					images = p.images()
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, images...)
		})
	}
	reads.Wait()
	return all
}

func asked(n *v1alpha1.ResourceNode) []gitops.DeployedImage {
	var out []gitops.DeployedImage
	for _, ref := range n.Images {
		out = append(out, imageOf(ref))
	}
	return out
}

// ended tells whether a Pod has done what it was for.
func ended(n *v1alpha1.ResourceNode) bool {
	return slices.ContainsFunc(n.Info, func(i v1alpha1.InfoItem) bool {
		return i.Name == "Status Reason" && (i.Value == "Completed" || i.Value == "Succeeded")
	})
}

// better tells whether a Pod tells more than another with the same images.
func better(a, b *v1alpha1.ResourceNode) bool {
	well := func(n *v1alpha1.ResourceNode) bool { return n.Health != nil && n.Health.Status == "Healthy" }
	if well(a) != well(b) {
		return well(a)
	}
	return a.CreatedAt != nil && b.CreatedAt != nil && b.CreatedAt.Before(a.CreatedAt)
}

func (c *Client) pod(ctx context.Context, at gitops.AppName, n *v1alpha1.ResourceNode) (*pods, error) {
	got, err := c.apps.GetResource(ctx, &application.ApplicationResourceRequest{Name: &at.Name, AppNamespace: given(at.Namespace),
		Namespace: &n.Namespace, ResourceName: &n.Name, Version: &n.Version, Group: &n.Group, Kind: &n.Kind})
	if err != nil {
		return nil, err
	}
	p := &pods{}
	return p, json.Unmarshal([]byte(got.GetManifest()), p)
}

// unwell are the resources that are not healthy; those that say the same are
// told once.
func unwell(nodes []v1alpha1.ResourceNode) []gitops.UnwellResource {
	type sick struct {
		gitops.UnwellResource
		kind string
		more int
	}
	var all []*sick
	for i := range nodes {
		n := &nodes[i]
		if n.Health == nil || n.Health.Status == "Healthy" || n.Health.Status == "" {
			continue
		}
		s := &sick{kind: n.Kind, UnwellResource: gitops.UnwellResource{Resource: named(n.Kind, "", n.Name, ""), Health: string(n.Health.Status), Message: cmp.Or(waits(n), n.Health.Message)}}
		if j := slices.IndexFunc(all, func(o *sick) bool { return o.kind == s.kind && o.Health == s.Health && o.Message == s.Message }); j >= 0 {
			all[j].more++
			continue
		}
		all = append(all, s)
	}
	order := []string{"Degraded", "Missing", "Unknown", "Progressing", "Suspended"}
	slices.SortStableFunc(all, func(a, b *sick) int {
		return cmp.Or(slices.Index(order, a.Health)-slices.Index(order, b.Health), told(b.Message)-told(a.Message), isPod(b.kind)-isPod(a.kind), strings.Compare(a.Resource, b.Resource))
	})
	out := make([]gitops.UnwellResource, len(all))
	for i, s := range all {
		out[i] = s.UnwellResource
		if s.more > 0 {
			out[i].Resource += fmt.Sprintf(" and %d more", s.more)
		}
	}
	return out
}

func told(message string) int { return min(len(message), 1) }

func isPod(kind string) int {
	if kind == "Pod" {
		return 1
	}
	return 0
}
