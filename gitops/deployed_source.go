package gitops

// AppSource is a source of an application, without any value that is set there.
type AppSource struct {
	// Repository is its URL, without a user's name and password.
	Repository string
	// Chart is the Helm chart's name; "" where the source is a Git repository.
	Chart string
	// Target is what the Application says which revision is wanted: a branch, a
	// tag, a commit, a version or a range of these; "" is the default branch.
	Target string
	// Path is the folder in a Git repository, "." for its root; "" where no
	// manifests come from it.
	Path string
	// Ref is what other sources call it, who take files of values from it.
	Ref string
	// Release is what a chart is released as, "" for the application's name.
	Release string
	// Values are the files of Helm values, the strongest last: relative to Path, or
	// from another source as $REF/path. Lenient tells that those that are missing
	// are left out.
	Values  []string
	Lenient bool
	// Plugin tells that a plugin makes the manifests.
	Plugin bool
	// Overrides are what the Application sets by itself.
	Overrides []AppOverride
}

// AppOverride is something that an Application sets over what files say.
type AppOverride struct {
	// In says where, Name what: a parameter, a path of values, an image, a
	// resource.
	In, Name string
}

// Where an Application may set something.
const (
	InHelmParameters    = "helm.parameters"
	InHelmValues        = "helm.values"
	InKustomizeImages   = "kustomize.images"
	InKustomizeReplicas = "kustomize.replicas"
	InKustomizePatches  = "kustomize.patches"
)
