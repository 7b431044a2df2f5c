package argocd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/previews"
)

// Settings are what a service says for this deployer under
// spec.fairlead.preview. Placeholders are replaced in every text.
type Settings struct {
	// Instance is the Argo CD; see Config.
	Instance string `json:"instance,omitempty"`
	// Repository, Revision and Path are where the manifests are: by default in
	// the service's own repository, at the commit. Another repository's
	// revision is HEAD unless it is said.
	Repository string `json:"repository,omitempty"`
	Revision   string `json:"revision,omitempty"`
	Path       string `json:"path,omitempty"`
	// URL is where it answers.
	URL string `json:"url,omitempty"`
	// Kustomize, Helm and Directory say how manifests are made; Argo CD finds
	// out by itself where none is there.
	Kustomize *Kustomize `json:"kustomize,omitempty"`
	Helm      *Helm      `json:"helm,omitempty"`
	Directory *Directory `json:"directory,omitempty"`
}

var _ previews.Preparer = (*Deployer)(nil)

// Keys are what this deployer reads under spec.fairlead.preview.
func (d *Deployer) Keys() []string {
	return []string{"instance", "repository", "revision", "path", "url", "kustomize", "helm", "directory"}
}

// Prepare reads a service's settings and finds out which Argo CD it goes to.
// wrong names the key at fault and says what is wrong with it.
func (d *Deployer) Prepare(e *catalog.Entity, said *entity.Object) (settings json.RawMessage, key, wrong string) {
	var s Settings
	for key, into := range map[string]any{"instance": &s.Instance, "repository": &s.Repository, "revision": &s.Revision, "path": &s.Path, "url": &s.URL,
		"kustomize": &s.Kustomize, "helm": &s.Helm, "directory": &s.Directory} {
		v, there := said.Lookup(key)
		if !there {
			continue
		}
		text := entity.AppendJSON(nil, v)
		if wrong := decode(text, into); wrong != "" {
			return nil, key, wrong
		}
		if word := unknownPlaceholder(string(text)); word != "" && key != "helm" && key != "kustomize" {
			return nil, key, fmt.Sprintf("names the placeholder {%s}, which there is not; there are %s", word, placeholderList())
		}
	}
	if s.Instance == "" {
		s.Instance = instanceOf(e)
	}
	if s.Instance == "" {
		s.Instance = d.cfg.Instance
	}
	if _, err := d.instance(s.Instance); err != nil {
		return nil, "instance", "leads to no Argo CD: " + err.Message
	}
	if key, wrong := s.check(); wrong != "" {
		return nil, key, wrong
	}
	settings, err := json.Marshal(s)
	if err != nil {
		return nil, "deployer", "cannot be kept"
	}
	return settings, "", ""
}

// decode reads JSON strictly.
func decode(text []byte, into any) (wrong string) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return "cannot be read: " + strings.TrimPrefix(err.Error(), "json: ")
	}
	return ""
}

// check tells what does not go together.
func (s *Settings) check() (key, wrong string) {
	n := 0
	for k, there := range map[string]bool{"kustomize": s.Kustomize != nil, "helm": s.Helm != nil, "directory": s.Directory != nil} {
		if there {
			n++
			key = k
		}
	}
	switch {
	case n > 1:
		return key, "cannot stand beside another of kustomize, helm and directory"
	case s.Kustomize != nil && s.Kustomize.Namespace != "":
		return "kustomize", "must not say a namespace: each preview has its own"
	case strings.HasPrefix(s.Path, "/") || strings.Contains(s.Path, ".."):
		return "path", "is no folder of the repository"
	case s.Repository != "" && !s.carriesCommit():
		return "repository", "is another repository, and nothing says the commit to it; write {commit} or {shortCommit} in an image or a parameter"
	}
	return "", ""
}

// carriesCommit tells whether the commit stands in what is told to the
// manifests.
func (s *Settings) carriesCommit() bool {
	text, err := json.Marshal(s)
	return err == nil && (bytes.Contains(text, []byte("{commit}")) || bytes.Contains(text, []byte("{shortCommit}")))
}

// instanceOf is the Argo CD that an entity's catalog file names: by annotation,
// or for an environment that is not protected.
func instanceOf(e *catalog.Entity) string {
	if name := e.Annotation("argocd/instance-name"); name != "" {
		return name
	}
	for _, it := range e.Spec().Object("fairlead").List("environments") {
		env, _ := it.Value.(*entity.Object)
		if protected, _ := env.Get("protected").(bool); protected {
			continue
		}
		if name := env.Object("argocd").String("instance"); name != "" {
			return name
		}
	}
	return ""
}

// settingsOf reads what Prepare made.
func settingsOf(w *previews.Wish) (s Settings, err error) {
	if len(w.Template.Settings) == 0 {
		return s, nil
	}
	err = json.Unmarshal(w.Template.Settings, &s)
	return s, err
}
