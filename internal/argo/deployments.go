package argo

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

var _ gitops.Deployments = (*Client)(nil)

// maxFound is how many applications a selector is told of.
const maxFound = 20

// Find names the applications that labels select.
func (c *Client) Find(ctx context.Context, selector, namespace string) ([]string, error) {
	got, err := c.apps.List(ctx, &application.ApplicationQuery{Selector: &selector, AppNamespace: given(namespace)})
	if err != nil {
		return nil, c.unreadable("finding the applications that are labelled "+selector, err)
	}
	var out []string
	for i := range got.Items[:min(len(got.Items), maxFound)] {
		out = append(out, got.Items[i].Name)
	}
	return out, nil
}

// Application is one as it was last compared. Of what Argo CD gives, only what
// is named here goes on: nothing of the application's sources but revisions.
func (c *Client) Application(ctx context.Context, at gitops.AppName, look bool) (*gitops.Application, error) {
	q := &application.ApplicationQuery{Name: &at.Name, AppNamespace: given(at.Namespace)}
	if look {
		normal := string(v1alpha1.RefreshTypeNormal)
		q.Refresh = &normal
	}
	app, err := c.apps.Get(ctx, q)
	if err != nil {
		return nil, c.unreadable("reading the application "+at.Name, err)
	}
	return applicationOf(app), nil
}

// unreadable is an error of reading in our terms. What Argo CD says of an
// application's sources could hold its values, and stays here.
func (c *Client) unreadable(doing string, err error) error {
	switch s, _ := status.FromError(err); s.Code() {
	case codes.PermissionDenied, codes.NotFound:
		return fault.New(fault.Unavailable, "%s: Argo CD %s has none that Fairlead's account may see, or cannot read its applications now", doing, c.cfg.Name).
			WithFix("Correct the application in the catalog, or have the account allowed get on applications of its project.").Because(err)
	case codes.Canceled, codes.DeadlineExceeded, codes.Unavailable, codes.Unauthenticated:
		return c.explain(doing, err)
	default:
		return fault.New(fault.Unavailable, "%s: Argo CD %s could not do it", doing, c.cfg.Name).WithFix("See the application in Argo CD.").Because(err)
	}
}

// given is what a request says, nil for nothing.
func given(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func applicationOf(app *v1alpha1.Application) *gitops.Application {
	st := &app.Status
	clean := newScrubber(app)
	out := outline(app, clean)
	for _, cond := range st.Conditions {
		if !strings.HasSuffix(cond.Type, "Warning") || cond.Type == v1alpha1.ApplicationConditionSharedResourceWarning {
			out.Troubles = append(out.Troubles, gitops.Trouble{Kind: cond.Type, Message: clean.text(cond.Message), Blind: blinds(cond.Type)})
		}
	}
	for i := range st.Resources {
		r := &st.Resources[i]
		if r.Hook || r.Status == v1alpha1.SyncStatusCodeSynced || r.Status == "" {
			continue
		}
		u := gitops.UnwellResource{Resource: named(r.Kind, r.Namespace, r.Name, out.Namespace), Sync: string(r.Status)}
		if r.RequiresPruning {
			u.Message = "it is not wanted any more and waits to be pruned"
		}
		if r.Health != nil {
			u.Health, u.Message = string(r.Health.Status), clean.text(cmp.Or(r.Health.Message, u.Message))
		}
		out.Differing = append(out.Differing, u)
	}
	return out
}

// outline is what is told of an application in any case.
func outline(app *v1alpha1.Application, clean *scrubber) *gitops.Application {
	st := &app.Status
	out := &gitops.Application{
		Revisions: revisions(st.Sync.Revision, st.Sync.Revisions), ComparedAt: utc(st.ReconciledAt),
		Sync: string(st.Sync.Status), Health: string(st.Health.Status), HealthMessage: clean.text(st.Health.Message), HealthSince: utc(st.Health.LastTransitionTime),
		Automated: app.Spec.SyncPolicy != nil && app.Spec.SyncPolicy.Automated != nil,
		Deleting:  app.DeletionTimestamp != nil, Pending: app.Operation != nil && (st.OperationState == nil || st.OperationState.Phase.Completed()),
		Namespace: app.Spec.Destination.Namespace,
	}
	if op := st.OperationState; op != nil {
		out.Operation = &gitops.Operation{Phase: string(op.Phase), Message: clean.text(op.Message), StartedAt: op.StartedAt.UTC(), FinishedAt: utc(op.FinishedAt), By: by(op.Operation.InitiatedBy)}
		if op.SyncResult != nil {
			out.Operation.Revision = strings.Join(revisions(op.SyncResult.Revision, op.SyncResult.Revisions), ", ")
		} else if op.Operation.Sync != nil {
			out.Operation.Revision = strings.Join(revisions(op.Operation.Sync.Revision, op.Operation.Sync.Revisions), ", ")
		}
	}
	for i := range st.History {
		h := &st.History[i]
		out.History = append(out.History, gitops.PastDeployment{Revision: strings.Join(revisions(h.Revision, h.Revisions), ", "), At: h.DeployedAt.UTC(), By: by(h.InitiatedBy)})
	}
	for _, source := range app.Spec.GetSources() {
		out.Sources = append(out.Sources, sourceOf(&source))
	}
	return out
}

// blinds tells whether a condition keeps Argo CD from comparing.
func blinds(kind string) bool {
	return kind == v1alpha1.ApplicationConditionComparisonError || kind == v1alpha1.ApplicationConditionInvalidSpecError || kind == v1alpha1.ApplicationConditionUnknownError
}

// revisions are those of several sources, else that of the only one.
func revisions(one string, several []string) []string {
	if len(several) > 0 {
		return several
	}
	if one == "" {
		return nil
	}
	return []string{one}
}

func by(who v1alpha1.OperationInitiator) string {
	if who.Automated {
		return ""
	}
	return who.Username
}

func utc(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// named is a resource as people say it; home is the namespace that need not be
// told.
func named(kind, namespace, name, home string) string {
	if namespace != "" && namespace != home {
		name = namespace + "/" + name
	}
	return kind + " " + name
}
