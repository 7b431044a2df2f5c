package argocd

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

func TestPrepares(t *testing.T) {
	d := deployer(t, Config{Instance: "main"})
	obj, list := entity.Obj, func(of ...any) (l entity.List) {
		for _, v := range of {
			l = append(l, entity.Item{Value: v})
		}
		return l
	}
	for name, c := range map[string]struct {
		said       *entity.Object
		key, wrong string
	}{
		"kustomize":           {obj("instance", "far", "path", "k8s", "kustomize", obj("images", list("a=b:{commit}"))), "", ""},
		"an unknown instance": {obj("instance", "nowhere"), "instance", "no Argo CD is called"},
		"a wrong type":        {obj("instance", "main", "path", 3.0), "path", "cannot be read"},
		"an unknown field":    {obj("instance", "main", "kustomize", obj("image", "x")), "kustomize", `unknown field "image"`},
		"a namespace":         {obj("instance", "main", "kustomize", obj("namespace", "prod")), "kustomize", "must not say a namespace"},
		"two ways":            {obj("instance", "main", "helm", obj(), "directory", obj()), "", "cannot stand beside"},
		"out of the folder":   {obj("instance", "main", "path", "../other"), "path", "is no folder"},
		"no commit":           {obj("instance", "main", "repository", "https://git.example.com/deploy.git"), "repository", "nothing says the commit"},
		"a placeholder":       {obj("instance", "main", "url", "https://{name}.example.com"), "url", "{name}"},
		"a huge text":         {obj("instance", strings.Repeat("x", 1<<20)), "instance", "no Argo CD is called"},
	} {
		settings, key, wrong := d.Prepare(&catalog.Entity{}, c.said)
		if (c.wrong == "") != (wrong == "") || !strings.Contains(wrong, c.wrong) || c.key != "" && key != c.key {
			t.Errorf("%s: %s %s, want %s %s", name, key, wrong, c.key, c.wrong)
		}
		var s Settings
		if c.wrong == "" && (json.Unmarshal(settings, &s) != nil || s.Instance != "far" || s.Kustomize.Images[0] != "a=b:{commit}") {
			t.Errorf("%s: %s", name, settings)
		}
	}
}
