package engine

import (
	"errors"
	"net/url"
	"path"
	"strings"

	"gopkg.in/yaml.v3"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/fairlead-dev/fairlead/gitops/render/wire"
)

// root is where the repository is, as Kustomize sees it: what climbs out of it
// is nowhere.
const root = "/repository"

// kustomize renders a kustomization: with its files alone, no plugins, no
// charts, and nothing that is loaded from outside a kustomization's folder.
func (p *peer) kustomize(side int) ([]resource, error) {
	disk := &tree{FileSystem: filesys.MakeFsInMemory(), peer: p, side: side}
	k := krusty.MakeKustomizer(&krusty.Options{Reorder: krusty.ReorderOptionNone, LoadRestrictions: types.LoadRestrictionsRootOnly, PluginConfig: types.DisabledPluginConfig()})
	got, err := k.Run(disk, path.Join(root, p.order.Dir))
	if disk.refused != nil {
		return nil, disk.refused
	}
	if err != nil {
		return nil, err
	}
	text, err := got.AsYaml()
	if err != nil {
		return nil, err
	}
	return documents(string(text))
}

// warm has Kustomize read its schemas, which takes it longer than most that it
// renders.
func warm() {
	disk := filesys.MakeFsInMemory()
	_ = disk.WriteFile(root+"/kustomization.yaml", []byte("resources: [a.yaml]\nnamespace: a\nimages: [{name: a, newTag: b}]\n"))
	_ = disk.WriteFile(root+"/a.yaml", []byte("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{name: a, image: a}]}}}\n"))
	_, _ = krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, root) // nobody needs it
}

// tree is one side of the repository, brought over file by file as it is read.
type tree struct {
	filesys.FileSystem
	peer *peer
	side int
	// refused is why there is nothing to be had, however Kustomize words it.
	refused error
}

// bring has a path be there as it is in the repository.
func (t *tree) bring(at string) {
	at = path.Clean(at)
	rel, inside := strings.CutPrefix(at, root+"/")
	if t.refused != nil || t.FileSystem.Exists(at) {
		return
	}
	if !inside {
		if !strings.HasPrefix(root, at) {
			t.refused = beyond("it reaches out of the repository, to %s", at)
		}
		return
	}
	r, err := t.peer.stat(t.side, rel)
	switch {
	case err != nil:
		t.refused = err
	case r.Kind == wire.Folder:
		err = t.MkdirAll(at)
	case r.Kind == wire.File:
		if t.refused = elsewhere(rel, r.Data); t.refused == nil {
			err = t.WriteFile(at, r.Data)
		}
	}
	if err != nil && t.refused == nil {
		t.refused = err
	}
}

// errRefused stands for what tree.refused says.
var errRefused = errors.New("refused")

// CleanedAbs is that of filesys.FileSystem.
func (t *tree) CleanedAbs(at string) (filesys.ConfirmedDir, string, error) {
	if t.bring(at); t.refused != nil {
		return "", "", errRefused
	}
	return t.FileSystem.CleanedAbs(at)
}

// ReadFile is that of filesys.FileSystem.
func (t *tree) ReadFile(at string) ([]byte, error) {
	if t.bring(at); t.refused != nil {
		return nil, errRefused
	}
	return t.FileSystem.ReadFile(at)
}

// Exists is that of filesys.FileSystem.
func (t *tree) Exists(at string) bool {
	t.bring(at)
	return t.refused == nil && t.FileSystem.Exists(at)
}

// IsDir is that of filesys.FileSystem.
func (t *tree) IsDir(at string) bool {
	t.bring(at)
	return t.refused == nil && t.FileSystem.IsDir(at)
}

// elsewhere tells what a kustomization is made of that is not to be had here.
func elsewhere(at string, text []byte) error {
	switch path.Base(at) {
	case "kustomization.yaml", "kustomization.yml", "Kustomization":
	default:
		return nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil //nolint:nilerr // Kustomize says what is wrong with it
	}
	top := doc.Content[0]
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, v := top.Content[i], top.Content[i+1]
		switch key.Value {
		case "helmCharts", "helmChartInflationGenerator":
			return beyond("%s line %d has a chart inflated, which is not done here", at, key.Line)
		case "resources", "bases", "components", "crds", "configurations", "generators", "transformers", "validators", "patchesStrategicMerge":
			if n := remote(v, nil); n != nil {
				return beyond("%s line %d is made of %s, which is elsewhere and is not fetched", at, n.Line, nameless(n.Value))
			}
		case "patches", "patchesJson6902", "replacements", "openapi", "configMapGenerator", "secretGenerator":
			if n := remote(v, []string{"path", "files", "envs", "env"}); n != nil {
				return beyond("%s line %d is made of %s, which is elsewhere and is not fetched", at, n.Line, nameless(n.Value))
			}
		}
	}
	return nil
}

// remote finds a text that names something elsewhere; below mappings only in
// the keys that are named, if any are.
func remote(n *yaml.Node, keys []string) *yaml.Node {
	switch n.Kind {
	case yaml.ScalarNode:
		first, _, _ := strings.Cut(n.Value, "\n")
		if strings.Contains(first, "://") || strings.Contains(first, "?ref=") || strings.HasPrefix(first, "git@") || strings.HasPrefix(first, "git::") || strings.HasPrefix(first, "github.com/") {
			return n
		}
	case yaml.SequenceNode:
		for _, c := range n.Content {
			if c.Kind == yaml.ScalarNode && keys != nil {
				continue // it says nothing of a file
			}
			if found := remote(c, keys); found != nil {
				return found
			}
		}
	case yaml.MappingNode:
		for i := 0; keys != nil && i+1 < len(n.Content); i += 2 {
			for _, k := range keys {
				if n.Content[i].Value == k {
					if found := remote(n.Content[i+1], nil); found != nil {
						return found
					}
				}
			}
		}
	}
	return nil
}

// nameless is a place without who may read it.
func nameless(s string) string {
	if u, err := url.Parse(s); err == nil && u.User != nil {
		u.User, u.RawQuery = nil, ""
		s = u.String()
	}
	s = s[strings.LastIndexByte(s, '@')+1:]
	return s[:min(len(s), 200)]
}
