package argocd

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

// The labels and annotations of what previews consist of.
const (
	labelPreview = "fairlead.dev/preview"
	labelMadeBy  = "fairlead.dev/made-by"
	labelManaged = "app.kubernetes.io/managed-by"
	managedBy    = "fairlead"
	// annotationWish is a digest of what an application was last made from, and
	// annotationChecked of what its manifests were checked as.
	annotationWish    = "fairlead.dev/wish"
	annotationChecked = "fairlead.dev/checked"
	finalizer         = "resources-finalizer.argocd.argoproj.io"
	guardName         = "fairlead-preview"
)

// plan is what is to be of a preview.
type plan struct {
	instance  *Instance
	project   string
	name      string // of the application and the namespace
	app       *Application
	url       string
	wish      string // digest of everything
	checked   string // digest of what decides on the manifests
	manifests Source
}

// planOf makes a plan of a wish.
func (d *Deployer) planOf(w *previews.Wish) (*plan, error) {
	if !label.MatchString(w.ID) {
		return nil, fault.New(fault.Invalid, "%q is no id of a preview", w.ID).WithFix("Use lower-case letters, digits and hyphens, at most 43.")
	}
	s, err := settingsOf(w)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the settings of preview %s cannot be read", w.ID).WithFix("Create the preview again.").Because(err)
	}
	p := &plan{name: d.cfg.NamePrefix + w.ID}
	name := s.Instance
	if name == "" {
		name = d.cfg.Instance
	}
	instance, f := d.instance(name)
	if f != nil {
		return nil, f
	}
	p.instance, p.project = instance, d.projectOf(instance)
	if p.manifests, err = d.source(w, s, p.name); err != nil {
		return nil, err
	}
	p.url = expand(w, p.name).text(cmp.Or(s.URL, d.cfg.URL))
	guards, err := d.guards(w, p.name)
	if err != nil {
		return nil, err
	}
	p.app = d.application(w, p, guards)
	p.checked = digest([]any{p.project, p.manifests, p.app.Spec.Destination})
	p.wish = digest(p.app)
	p.app.Metadata.Annotations[annotationChecked] = p.checked
	p.app.Metadata.Annotations[annotationWish] = p.wish
	return p, nil
}

// projectOf is the project of previews in an Argo CD.
func (d *Deployer) projectOf(i *Instance) string { return cmp.Or(i.Project, d.cfg.Project) }

// application is a preview's application.
func (d *Deployer) application(w *previews.Wish, p *plan, guards Source) *Application {
	annotations := told(w)
	return &Application{
		Metadata: Metadata{Name: p.name, Finalizers: []string{d.finalizer()}, Annotations: annotations,
			Labels: map[string]string{labelManaged: managedBy, labelPreview: w.ID, labelMadeBy: d.opts.Mark}},
		Spec: Spec{Project: p.project, Sources: []Source{p.manifests, guards}, Destination: d.destination(p.name), RevisionHistoryLimit: 1,
			SyncPolicy: &SyncPolicy{Automated: &Automated{Prune: true, SelfHeal: true},
				Retry: &Retry{Limit: 5, Backoff: Backoff{Duration: "5s", Factor: 2, MaxDuration: "1m"}}}},
	}
}

// paused is an application that Argo CD looks at and does not sync.
func (p *plan) paused() *Application {
	app := *p.app
	app.Spec.SyncPolicy = nil
	annotations := map[string]string{}
	for k, v := range p.app.Metadata.Annotations {
		if k != annotationWish && k != annotationChecked {
			annotations[k] = v
		}
	}
	// Said, so that an earlier value does not stay.
	annotations[annotationWish], annotations[annotationChecked] = "unchecked", "unchecked"
	app.Metadata.Annotations = annotations
	return &app
}

// told are the annotations that say whose a preview is.
func told(w *previews.Wish) map[string]string {
	out := map[string]string{}
	for key, value := range map[string]string{"service": w.Service, "owner": w.Owner, "person": w.Person, "agent": w.Agent, "commit": w.Commit,
		"expires-at": w.ExpiresAt.UTC().Format(time.RFC3339)} {
		if value != "" {
			out["fairlead.dev/"+key] = value
		}
	}
	return out
}

func (d *Deployer) finalizer() string {
	if d.cfg.Background {
		return finalizer + "/background"
	}
	return finalizer
}

func (d *Deployer) destination(namespace string) Destination {
	if strings.Contains(d.cfg.Cluster, "://") {
		return Destination{Server: d.cfg.Cluster, Namespace: namespace}
	}
	return Destination{Name: d.cfg.Cluster, Namespace: namespace}
}

// source is where the manifests of the service are.
func (d *Deployer) source(w *previews.Wish, s Settings, namespace string) (Source, error) {
	put := expand(w, namespace)
	src := Source{RepoURL: d.rewritten(put.text(cmp.Or(s.Repository, d.cfg.Repository))), TargetRevision: put.text(s.Revision)}
	own := s.Repository == "" && (d.cfg.Repository == "{repository}" || d.rewritten(w.Repository) == src.RepoURL)
	switch {
	case own && s.Revision == "":
		src.TargetRevision = w.Commit
	case s.Revision == "":
		src.TargetRevision = "HEAD"
	}
	folder := d.cfg.Path
	if s.Path != "" {
		folder = "{dir}/" + s.Path
		if !own {
			folder = s.Path
		}
	}
	src.Path = strings.TrimPrefix(path.Clean("/"+put.text(folder)), "/")
	if src.Path == "" {
		src.Path = "."
	}
	if err := put.into(s.Kustomize, &src.Kustomize); err != nil {
		return src, err
	}
	if src.Kustomize != nil {
		src.Kustomize.Namespace = namespace
	}
	if err := put.into(s.Helm, &src.Helm); err != nil {
		return src, err
	}
	src.Directory = s.Directory
	return src, nil
}

// rewritten is how Argo CD reads a repository.
func (d *Deployer) rewritten(url string) string {
	for _, r := range d.cfg.Rewrite {
		if rest, ok := strings.CutPrefix(url, r.From); ok {
			return r.To + rest
		}
	}
	return url
}

// digest tells things apart.
func digest(of any) string {
	text, err := json.Marshal(of)
	if err != nil { // it is made of texts alone
		panic(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}
