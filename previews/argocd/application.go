package argocd

import "encoding/json"

// Application is what Argo CD keeps of a preview, as far as it matters here,
// in Argo CD's own JSON.
type Application struct {
	Metadata Metadata `json:"metadata"`
	Spec     Spec     `json:"spec"`
	Status   Status   `json:"status,omitzero"`
}

// Metadata names an application and tells whose it is.
type Metadata struct {
	Name              string            `json:"name"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
	Finalizers        []string          `json:"finalizers,omitempty"`
	CreationTimestamp string            `json:"creationTimestamp,omitempty"`
	DeletionTimestamp string            `json:"deletionTimestamp,omitempty"`
}

// Spec is what an application is to bring about.
type Spec struct {
	Project              string      `json:"project"`
	Sources              []Source    `json:"sources"`
	Destination          Destination `json:"destination"`
	SyncPolicy           *SyncPolicy `json:"syncPolicy,omitempty"`
	RevisionHistoryLimit int         `json:"revisionHistoryLimit,omitempty"`
}

// Source is a folder of a repository at a revision, and how manifests are made
// of it; Argo CD finds out by itself where nothing is said.
type Source struct {
	RepoURL        string     `json:"repoURL"`
	Path           string     `json:"path,omitempty"`
	TargetRevision string     `json:"targetRevision,omitempty"`
	Kustomize      *Kustomize `json:"kustomize,omitempty"`
	Helm           *Helm      `json:"helm,omitempty"`
	Directory      *Directory `json:"directory,omitempty"`
}

// Kustomize are changes to a kustomization.
type Kustomize struct {
	Images            []string          `json:"images,omitempty"`
	NamePrefix        string            `json:"namePrefix,omitempty"`
	NameSuffix        string            `json:"nameSuffix,omitempty"`
	Namespace         string            `json:"namespace,omitempty"`
	CommonLabels      map[string]string `json:"commonLabels,omitempty"`
	CommonAnnotations map[string]string `json:"commonAnnotations,omitempty"`
	// LabelWithoutSelector leaves selectors without the common labels.
	LabelWithoutSelector bool      `json:"labelWithoutSelector,omitempty"`
	Components           []string  `json:"components,omitempty"`
	Replicas             []Replica `json:"replicas,omitempty"`
	Patches              []Patch   `json:"patches,omitempty"`
}

// Replica sets how many there are of a workload.
type Replica struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Patch changes what Target selects.
type Patch struct {
	Path    string          `json:"path,omitempty"`
	Patch   string          `json:"patch,omitempty"`
	Target  *Target         `json:"target,omitempty"`
	Options map[string]bool `json:"options,omitempty"`
}

// Target selects manifests.
type Target struct {
	Group              string `json:"group,omitempty"`
	Version            string `json:"version,omitempty"`
	Kind               string `json:"kind,omitempty"`
	Name               string `json:"name,omitempty"`
	Namespace          string `json:"namespace,omitempty"`
	AnnotationSelector string `json:"annotationSelector,omitempty"`
	LabelSelector      string `json:"labelSelector,omitempty"`
}

// Helm are the values of a chart.
type Helm struct {
	ReleaseName  string          `json:"releaseName,omitempty"`
	Parameters   []Parameter     `json:"parameters,omitempty"`
	Values       string          `json:"values,omitempty"`
	ValuesObject json.RawMessage `json:"valuesObject,omitempty"`
	ValueFiles   []string        `json:"valueFiles,omitempty"`
	SkipCrds     bool            `json:"skipCrds,omitempty"`
	SkipTests    bool            `json:"skipTests,omitempty"`
}

// Parameter is one value of a chart.
type Parameter struct {
	Name        string `json:"name"`
	Value       string `json:"value"`
	ForceString bool   `json:"forceString,omitempty"`
}

// Directory says which files of a folder are manifests.
type Directory struct {
	Recurse bool   `json:"recurse,omitempty"`
	Include string `json:"include,omitempty"`
	Exclude string `json:"exclude,omitempty"`
}

// Destination is the cluster, by its URL or its name, and the namespace.
type Destination struct {
	Server    string `json:"server,omitempty"`
	Name      string `json:"name,omitempty"`
	Namespace string `json:"namespace"`
}

// SyncPolicy has Argo CD sync by itself.
type SyncPolicy struct {
	Automated *Automated `json:"automated,omitempty"`
	Retry     *Retry     `json:"retry,omitempty"`
}

// Automated syncs whatever differs.
type Automated struct {
	Prune    bool `json:"prune"`
	SelfHeal bool `json:"selfHeal"`
}

// Retry is how often a sync that failed is tried.
type Retry struct {
	Limit   int     `json:"limit"`
	Backoff Backoff `json:"backoff"`
}

// Backoff are the pauses between tries, as durations such as 5s.
type Backoff struct {
	Duration    string `json:"duration"`
	Factor      int    `json:"factor"`
	MaxDuration string `json:"maxDuration"`
}

// Status is what Argo CD saw last.
type Status struct {
	Sync           SyncStatus      `json:"sync,omitzero"`
	Health         Health          `json:"health,omitzero"`
	Conditions     []Condition     `json:"conditions,omitempty"`
	ReconciledAt   string          `json:"reconciledAt,omitempty"`
	OperationState *OperationState `json:"operationState,omitempty"`
	Summary        Summary         `json:"summary,omitzero"`
	Resources      []Resource      `json:"resources,omitempty"`
}

// SyncStatus is whether what is there is what is wished for.
type SyncStatus struct {
	Status     string   `json:"status"`
	Revisions  []string `json:"revisions,omitempty"`
	ComparedTo struct {
		Sources []Source `json:"sources,omitempty"`
	} `json:"comparedTo,omitzero"`
}

// Health is how something is: Healthy, Progressing, Degraded, Suspended,
// Missing or Unknown.
type Health struct {
	Status  string `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
}

// Condition is something that Argo CD complains of.
type Condition struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// OperationState is the last sync.
type OperationState struct {
	Phase      string      `json:"phase"`
	Message    string      `json:"message,omitempty"`
	FinishedAt string      `json:"finishedAt,omitempty"`
	SyncResult *SyncResult `json:"syncResult,omitempty"`
}

// SyncResult is what a sync has done.
type SyncResult struct {
	Revisions []string `json:"revisions,omitempty"`
	Resources []struct {
		Ref
		Status    string `json:"status,omitempty"`
		HookPhase string `json:"hookPhase,omitempty"`
		Message   string `json:"message,omitempty"`
	} `json:"resources,omitempty"`
}

// Summary is what Argo CD found out about an application.
type Summary struct {
	ExternalURLs []string `json:"externalURLs,omitempty"`
}

// Resource is one of an application's own resources.
type Resource struct {
	Ref
	Status string  `json:"status,omitempty"`
	Health *Health `json:"health,omitempty"`
}

// Ref names an object of a cluster.
type Ref struct {
	Group     string `json:"group,omitempty"`
	Version   string `json:"version,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String is kind and name.
func (r Ref) String() string { return r.Kind + " " + r.Name }

// Same tells whether two references name one object, in whichever version.
func (r Ref) Same(o Ref) bool {
	return r.Group == o.Group && r.Kind == o.Kind && r.Namespace == o.Namespace && r.Name == o.Name
}
