package argocd

import (
	"cmp"
	"embed"
	"encoding/json"
	"io/fs"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

//go:embed guards
var guardFiles embed.FS

// GuardFiles are the files of the kustomization that makes a preview's
// namespace, quota, limits and network policy. They are the same for each
// preview: what differs is in the patches of its application.
func GuardFiles() (map[string][]byte, error) {
	out := map[string][]byte{}
	err := fs.WalkDir(guardFiles, "guards", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		out[path], err = guardFiles.ReadFile(path)
		return err
	})
	return out, err
}

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// guards is the source of a preview's namespace and of what bounds it.
func (d *Deployer) guards(w *previews.Wish, namespace string) (Source, error) {
	src := Source{RepoURL: d.cfg.Guards.Repository, Path: cmp.Or(d.cfg.Guards.Path, "guards"), TargetRevision: cmp.Or(d.cfg.Guards.Revision, "HEAD")}
	if src.RepoURL == "" {
		if d.opts.Guards == nil {
			return src, fault.New(fault.FailedPrecondition, "nobody serves the guards of previews").WithFix("Configure previews.deployers.argocd.guards.")
		}
		src.RepoURL, src.TargetRevision = d.opts.Guards()
	}
	src.Kustomize = &Kustomize{}
	for _, g := range []struct {
		group, version, kind string
		ops                  []operation
	}{
		{"", "v1", "Namespace", []operation{{"replace", "/metadata/name", namespace}}},
		{"", "v1", "ResourceQuota", []operation{{"add", "/metadata/namespace", namespace}, {"replace", "/spec/hard", d.cfg.Quota}}},
		{"", "v1", "LimitRange", []operation{{"add", "/metadata/namespace", namespace}, {"replace", "/spec/limits", d.limits()}}},
		{"networking.k8s.io", "v1", "NetworkPolicy", []operation{{"add", "/metadata/namespace", namespace}, {"replace", "/spec", d.network()}}},
	} {
		ops := append([]operation{}, g.ops...)
		ops = append(ops, operation{"add", "/metadata/labels/fairlead.dev~1preview", w.ID})
		if g.kind == "Namespace" {
			ops = append(ops, operation{"add", "/metadata/labels/fairlead.dev~1made-by", d.opts.Mark})
			for key, value := range told(w) {
				ops = append(ops, operation{"add", "/metadata/annotations/" + strings.ReplaceAll(key, "/", "~1"), value})
			}
		}
		sortOperations(ops)
		text, err := json.Marshal(ops)
		if err != nil {
			return src, err
		}
		src.Kustomize.Patches = append(src.Kustomize.Patches, Patch{Patch: string(text), Target: &Target{Group: g.group, Version: g.version, Kind: g.kind}})
	}
	return src, nil
}

// limits are those of containers that say nothing.
func (d *Deployer) limits() any {
	c := d.cfg.Container
	return []any{map[string]any{"type": "Container", "default": map[string]string{"cpu": c.CPU, "memory": c.Memory},
		"defaultRequest": map[string]string{"cpu": c.RequestCPU, "memory": c.RequestMemory}}}
}

// private are the networks that previews do not reach unless they are told to,
// that of cloud metadata included.
func private() []string {
	return []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10"}
}

// network is the specification of the network policy.
func (d *Deployer) network() any {
	type object = map[string]any
	n := d.cfg.Network
	spec := object{"podSelector": object{}, "policyTypes": []string{"Ingress", "Egress"}}
	if n.Open {
		spec["ingress"], spec["egress"] = []any{object{}}, []any{object{}}
		return spec
	}
	from := []any{object{"podSelector": object{}}}
	for _, labels := range n.From {
		from = append(from, object{"namespaceSelector": object{"matchLabels": labels}})
	}
	spec["ingress"] = []any{object{"from": from}}
	if len(n.From) == 0 {
		spec["ingress"] = []any{object{}}
	}
	to := []any{object{"podSelector": object{}}}
	for _, cidr := range n.To {
		to = append(to, object{"ipBlock": object{"cidr": cidr}})
	}
	if len(n.To) == 0 {
		to = append(to, object{"ipBlock": object{"cidr": "0.0.0.0/0", "except": private()}})
	}
	dns := []any{object{"protocol": "UDP", "port": 53}, object{"protocol": "TCP", "port": 53}}
	spec["egress"] = []any{object{"to": to}, object{"ports": dns}}
	return spec
}

// sortOperations brings operations on the same place into a fixed order.
func sortOperations(ops []operation) {
	slices.SortStableFunc(ops, func(a, b operation) int { return strings.Compare(a.Path, b.Path) })
}
