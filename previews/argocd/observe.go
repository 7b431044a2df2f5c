package argocd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

// Observe tells what there is of a preview. It is ready once Argo CD has seen
// it healthy at the commit after the sync that brought it there.
func (d *Deployer) Observe(ctx context.Context, w previews.Wish) (previews.Observed, error) {
	p, err := d.planOf(&w)
	if err != nil {
		return previews.Observed{}, err
	}
	app, err := p.find(ctx)
	switch {
	case err != nil:
		return previews.Observed{}, err
	case app == nil:
		return d.absent(ctx, p)
	case app.Metadata.DeletionTimestamp != "":
		return d.going(ctx, p, app)
	}
	o := previews.Observed{Exists: true}
	o.Stale = app.Metadata.Annotations[annotationWish] != p.wish || !automated(app)
	if !automated(app) {
		o.Reason = cmp.Or(untaken(app), "Its manifests are being checked.")
		return o, nil
	}
	d.living(ctx, p, app, &w, &o)
	return o, p.given(ctx, &w, &o)
}

// living tells how one is that is not being removed.
func (d *Deployer) living(ctx context.Context, p *plan, app *Application, w *previews.Wish, o *previews.Observed) {
	s := &app.Status
	at := slices.Index(revisions(s.Sync.Revisions), p.manifests.TargetRevision) == 0 || s.comparedTo(p.manifests)
	if at {
		o.Commit = w.Commit
	}
	switch complaint, lasting := complaintOf(s); {
	case complaint != "":
		o.Reason, o.Failed = complaint, lasting
	case !at:
		o.Reason = cmp.Or(untaken(app), "Argo CD has not looked at it yet.")
	case s.OperationState == nil:
		o.Reason = "Argo CD is about to deploy it."
	case s.OperationState.Phase == "Running":
		o.Reason = cmp.Or(unsynced(s.OperationState), "It is being deployed.")
	case s.OperationState.Phase != "Succeeded":
		what, fix, _ := explain(cmp.Or(unsynced(s.OperationState), s.OperationState.Message))
		o.Reason, o.Failed = sentences("Deploying it failed: "+what, fix), true
	case !s.synced(p):
		o.Reason = "Not everything is deployed yet: " + strings.Join(s.outOfSync(p), ", ") + "."
	case later(s.OperationState.FinishedAt, s.ReconciledAt):
		o.Reason = "It is deployed; Argo CD has not looked at it since."
	case s.Health.Status != "Healthy":
		d.unhealthy(ctx, p, app, o)
	default:
		o.Ready = true
		d.address(p, app, o)
	}
}

// untaken says that Argo CD has not taken an application up, "" where it has.
func untaken(app *Application) string {
	for _, c := range app.Status.Conditions {
		if c.Type == ConditionUntaken {
			return c.Message
		}
	}
	return ""
}

func revisions(all []string) []string { return all[:min(1, len(all))] }

// comparedTo tells whether what Argo CD last compared was made of this source.
func (s *Status) comparedTo(src Source) bool {
	c := s.Sync.ComparedTo.Sources
	return len(c) > 0 && len(s.Sync.Revisions) > 0 && digest(c[0]) == digest(src)
}

// complaintOf is the first thing that Argo CD complains of, and whether it
// lasts.
func complaintOf(s *Status) (text string, lasting bool) {
	for _, c := range s.Conditions {
		if !strings.HasSuffix(c.Type, "Error") {
			continue
		}
		what, fix, lasting := explain(c.Message)
		return sentences(what, fix), lasting
	}
	return "", false
}

func sentences(what, fix string) string {
	return strings.TrimSpace(strings.TrimSuffix(what, ".") + ". " + fix)
}

// unsynced names what a sync could not deploy, and why.
func unsynced(s *OperationState) string {
	if s.SyncResult == nil {
		return ""
	}
	var out []string
	for _, r := range s.SyncResult.Resources {
		if r.Status == "SyncFailed" || r.HookPhase == "Failed" || r.HookPhase == "Error" {
			out = append(out, r.String()+": "+plain(r.Message))
		}
	}
	return strings.Join(out[:min(3, len(out))], "; ")
}

// outOfSync are the resources of the service that are not as they should be.
// What guards it may lag behind, such as when its end is put off.
func (s *Status) outOfSync(p *plan) []string {
	var out []string
	for _, r := range s.Resources {
		if r.Status == "OutOfSync" && r.Name != guardName && (r.Kind != "Namespace" || r.Name != p.name) {
			out = append(out, r.String())
		}
	}
	return out
}

func (s *Status) synced(p *plan) bool {
	return s.Sync.Status == "Synced" || s.Sync.Status == "OutOfSync" && len(s.Resources) > 0 && len(s.outOfSync(p)) == 0
}

// later tells whether a time is after another.
func later(a, b string) bool {
	x, errA := time.Parse(time.RFC3339, a)
	y, errB := time.Parse(time.RFC3339, b)
	return errA != nil || errB != nil || x.After(y)
}

// unhealthy names what is not well.
func (d *Deployer) unhealthy(ctx context.Context, p *plan, app *Application, o *previews.Observed) {
	var out []string
	for _, r := range app.Status.Resources {
		if r.Health != nil && r.Health.Status != "Healthy" && r.Health.Status != "" {
			out = append(out, fmt.Sprintf("%s is %s%s", r.Ref, strings.ToLower(r.Health.Status), because(r.Health.Message)))
		}
	}
	nodes, err := p.instance.Tree(ctx, p.project, p.name)
	if err != nil && ctx.Err() == nil {
		d.opts.Logger.WarnContext(ctx, "the tree of an application cannot be read", "application", p.name, "error", err)
	}
	for _, n := range nodes {
		if n.Waits != "" || n.Kind == "Pod" && n.Health.Status == "Degraded" {
			out = append(out, n.String()+": "+plain(cmp.Or(n.Waits, n.Health.Message)))
		}
	}
	state := strings.ToLower(cmp.Or(app.Status.Health.Status, "unknown"))
	o.Reason = fmt.Sprintf("Argo CD calls it %s: %s.", state, cmp.Or(strings.Join(out[:min(4, len(out))], "; "), "nothing is said why"))
	o.Failed = app.Status.Health.Status == "Degraded"
}

func because(message string) string {
	if message == "" {
		return ""
	}
	return " (" + plain(message) + ")"
}

// address finds where one that is ready answers.
func (d *Deployer) address(p *plan, app *Application, o *previews.Observed) {
	o.URL = p.url
	for _, u := range app.Status.Summary.ExternalURLs {
		if o.URL == "" && (strings.HasPrefix(u, "https://") || strings.HasPrefix(u, "http://")) {
			o.URL = u
		}
	}
	if o.URL != "" {
		return
	}
	for _, r := range app.Status.Resources {
		if r.Kind == "Service" && r.Group == "" {
			o.URL = "http://" + r.Name + "." + p.name + ".svc/"
			o.Reason = "It has no Ingress: it answers within the cluster alone."
			return
		}
	}
	o.URL = p.instance.URL + "/applications/" + p.name
	o.Reason = "It has neither an Ingress nor a Service: the URL shows it in Argo CD."
}

// absent tells of a preview without an application.
func (d *Deployer) absent(ctx context.Context, p *plan) (previews.Observed, error) {
	c := p.instance.Cluster
	if c == nil {
		return previews.Observed{Reason: "Argo CD has no application of it any more, which it lets go of once all that it made is deleted; the cluster itself was not asked"}, nil
	}
	ns, err := c.Namespace(ctx, p.name)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return previews.Observed{Reason: "Argo CD has no application of it, and the cluster no namespace " + p.name}, nil
	case err != nil:
		return previews.Observed{}, err
	}
	return previews.Observed{Exists: true, Reason: "The application is gone and the namespace is not" + because(ns.Note), Remains: d.left(ctx, p, ns)}, nil
}
