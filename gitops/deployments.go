package gitops

import (
	"context"
	"time"
)

// Deployments is one Argo CD, as far as it tells what is deployed. What it
// gives holds no values, parameters or environment of an application.
type Deployments interface {
	// Find names the applications that a selector of labels picks.
	Find(ctx context.Context, selector string, namespace string) ([]string, error)
	// Application is one as Argo CD last compared it; look has it compared anew
	// first.
	Application(ctx context.Context, at AppName, look bool) (*Application, error)
	// Wanted are the images that an application has at revisions, one for each
	// source.
	Wanted(ctx context.Context, at AppName, revisions []string) ([]DeployedImage, error)
	// Running is what there is of it in its cluster.
	Running(ctx context.Context, at AppName) (*Running, error)
}

// Listing is one Argo CD, as far as it tells of all its applications at once.
type Listing interface {
	// ListApplications gives all that may be seen, of each what Application gives but
	// messages, what differs and what Argo CD complains of. It says which of the selectors
	// of labels pick it.
	ListApplications(ctx context.Context, selectors []string) ([]ListedApplication, error)
}

// ListedApplication is one of all.
type ListedApplication struct {
	Application
	// At names it; its namespace is always given.
	At AppName
	// Images are those that run, by name, tag and digest.
	Images []DeployedImage
	// Selectors are those that pick it.
	Selectors []string
}

// AppName names an application; Namespace is the one that its Application is
// in, "" for Argo CD's own.
type AppName struct{ Name, Namespace string }

// Application is an application as Argo CD last compared it.
type Application struct {
	// Revisions are what was compared with, one for each source: commits, or
	// versions of charts.
	Revisions []string
	// ComparedAt is when that was, to the second.
	ComparedAt time.Time
	// Sync is Synced, OutOfSync or Unknown; Health is Healthy, Progressing,
	// Degraded, Suspended, Missing or Unknown, since HealthSince, zero where
	// that is not known.
	Sync, Health, HealthMessage string
	HealthSince                 time.Time
	// Automated tells that what differs is synced without being asked.
	Automated bool
	// Deleting and Pending tell that it is being deleted, and that an operation
	// is asked for that has not begun.
	Deleting, Pending bool
	// Operation is the last one that began, nil where there was none.
	Operation *Operation
	// History are the revisions that were synced, oldest first.
	History []PastDeployment
	// Troubles are what Argo CD complains of: a kind and a message.
	Troubles []Trouble
	// Differing are the resources that are not as wanted.
	Differing []UnwellResource
	// Namespace is where it deploys to.
	Namespace string
	// Sources are where its manifests come from, in the order of Revisions.
	Sources []AppSource
}

// The phases of an operation.
const (
	OperationRunning     = "Running"
	OperationTerminating = "Terminating"
	OperationSucceeded   = "Succeeded"
	OperationFailed      = "Failed"
	OperationError       = "Error"
)

// Operation is a sync.
type Operation struct {
	Phase      string    `json:"phase" jsonschema:"Running, Terminating, Succeeded, Failed or Error"`
	Message    string    `json:"message,omitempty"`
	Revision   string    `json:"revision,omitempty"`
	StartedAt  time.Time `json:"startedAt,omitzero"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
	By         string    `json:"by,omitempty" jsonschema:"who asked for it; absent where Argo CD did by itself"`
}

// PastDeployment is a revision that was synced once.
type PastDeployment struct {
	Revision string    `json:"revision"`
	At       time.Time `json:"at"`
	By       string    `json:"by,omitempty"`
}

// Trouble is a condition of an application. Blind tells that it keeps Argo CD
// from comparing.
type Trouble struct {
	Kind, Message string
	Blind         bool
}

// Running is what there is of an application in its cluster.
type Running struct {
	// Unwell are the resources that are not healthy, the most telling first.
	Unwell []UnwellResource
	Images []DeployedImage
}

// UnwellResource is a resource that is not healthy or not as wanted.
type UnwellResource struct {
	Resource string `json:"resource" jsonschema:"kind, and name, with its namespace where that is another than the application's"`
	Health   string `json:"health,omitempty"`
	Sync     string `json:"sync,omitempty"`
	Message  string `json:"message,omitempty"`
}

// DeployedImage is an image of a container. What is not known for certain is
// absent.
type DeployedImage struct {
	Name    string `json:"name"`
	Tag     string `json:"tag,omitempty"`
	Digest  string `json:"digest,omitempty" jsonschema:"of what runs, or is pinned"`
	Commit  string `json:"commit,omitempty" jsonschema:"of its source, as its annotations or labels tell"`
	BuiltBy string `json:"builtBy,omitempty"`
	// Source is the repository of that commit.
	Source string `json:"source,omitempty"`
}
