package argocd

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/previews"
)

// ErrUntaken is in the chain of errors that say that Argo CD has not taken up
// what was put, where that takes its time.
var ErrUntaken = errors.New("not taken up yet")

// ConditionUntaken is the type of a condition that says so of an application.
const ConditionUntaken = "Untaken"

// Applications are those of one Argo CD.
type Applications interface {
	// Get is an application. not_found means for certain that there is none of
	// that name in that project.
	Get(ctx context.Context, project, name string) (*Application, error)
	// Put makes an application, or has one that is there be like it.
	// failed_precondition where Argo CD will not have it.
	Put(ctx context.Context, app *Application) error
	// Delete begins to delete an application, with everything that it made if
	// cascade says so.
	Delete(ctx context.Context, project, name string, cascade bool) error
	// Manifests are what an application would deploy. failed_precondition where
	// none can be made, an error with ErrUntaken in its chain where they would
	// not be those of what was put last.
	Manifests(ctx context.Context, project, name string) ([]Manifest, error)
}

// Lister finds applications of one Argo CD.
type Lister interface {
	// List are the applications of a project that carry all of these labels.
	List(ctx context.Context, project string, labels map[string]string) ([]Application, error)
}

// Resources are what applications of one Argo CD made.
type Resources interface {
	// Tree is what Argo CD last saw of an application.
	Tree(ctx context.Context, project, name string) ([]Node, error)
	// Live is an object of an application as it is now; not_found.
	Live(ctx context.Context, project, name string, o Ref) (*Live, error)
	// Release takes the finalizers of an object away.
	Release(ctx context.Context, project, name string, o Ref) error
	// Logs are the last lines that a Pod wrote.
	Logs(ctx context.Context, project, name string, pod Ref, tail int) ([]previews.LogLine, error)
}

// Cluster is the cluster that an Argo CD deploys previews to, asked itself.
type Cluster interface {
	// Namespace is a namespace; not_found.
	Namespace(ctx context.Context, name string) (*Live, error)
	// Within is everything in a namespace, at most so many.
	Within(ctx context.Context, namespace string, most int) ([]Live, error)
	// DeleteNamespace begins to delete a namespace.
	DeleteNamespace(ctx context.Context, name string) error
	// Unblock takes the finalizers of an object away.
	Unblock(ctx context.Context, o Ref) error
}

// Finder finds what is in the cluster of previews that an Argo CD deploys to.
type Finder interface {
	// Namespaces are those that carry all of these labels, none where nobody
	// lets them be listed.
	Namespaces(ctx context.Context, labels map[string]string) ([]Live, error)
}

// Secrets are those of previews in the cluster that an Argo CD deploys them to.
type Secrets interface {
	// Secret is a Secret without what it holds, which is not even read;
	// not_found.
	Secret(ctx context.Context, namespace, name string) (*Live, error)
	// PutSecret makes a Secret, or has one that is there be like it.
	PutSecret(ctx context.Context, s Secret) error
}

// Secret is a Secret of a cluster with what it holds, by the names of variables.
type Secret struct {
	Namespace, Name string
	Labels          map[string]string
	Holds           []previews.Given
}

// Instance is one Argo CD.
type Instance struct {
	Applications
	Resources
	Lister
	// Cluster is nil where Argo CD's word has to do.
	Cluster Cluster
	// Secrets and Finder are there where Cluster is; without them previews have
	// no data of their own, and namespaces without an application are not found.
	Secrets Secrets
	Finder  Finder
	// Project is its project of previews, "" for the deployer's.
	Project string
	// URL is where people see it.
	URL string
}

// Manifest names an object that an application would deploy.
type Manifest struct{ Ref }

// Node is an object in an application's tree.
type Node struct {
	Ref
	Health Health
	// Root tells that the application's sources hold it; others follow from it.
	Root bool
	// Waits says why a Pod does not run, "" where it does.
	Waits string
}

// Live is an object as it is.
type Live struct {
	Ref
	Labels      map[string]string
	Annotations map[string]string
	Finalizers  []string
	// MadeAt is when it was made.
	MadeAt time.Time
	// DeletedAt is when its deletion began, zero if it has not.
	DeletedAt time.Time
	// Note is what hinders its deletion, in the cluster's words.
	Note string
}
