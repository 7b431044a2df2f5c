package argocd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

// Remove has Argo CD delete the application with everything that it made. A
// namespace that stayed behind is deleted where the cluster is at hand.
func (d *Deployer) Remove(ctx context.Context, w previews.Wish) error {
	p, err := d.planOf(&w)
	if err != nil {
		return err
	}
	app, err := p.find(ctx)
	switch {
	case err != nil:
		return err
	case app != nil && app.Metadata.DeletionTimestamp != "":
		return nil
	case app != nil:
		if err := p.instance.Delete(ctx, p.project, p.name, true); fault.CodeOf(err) != fault.NotFound {
			return explained(err)
		}
		return nil
	case p.instance.Cluster == nil:
		return nil
	}
	ns, err := p.instance.Cluster.Namespace(ctx, p.name)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return nil
	case err != nil:
		return err
	case !ns.DeletedAt.IsZero():
		return nil
	case ns.Labels[labelPreview] != w.ID:
		return fault.New(fault.FailedPrecondition, "the namespace %s is there, and is not the preview's", p.name).
			WithFix("Have an operator look whose it is, and delete it if nobody needs it.")
	}
	return p.instance.Cluster.DeleteNamespace(ctx, p.name)
}

// patience is how long a removal may take before it is looked for what hinders
// it, and most how many such things are looked for.
const patience, most = 8 * time.Second, 40

// going tells of a preview whose application is being deleted.
func (d *Deployer) going(ctx context.Context, p *plan, app *Application) (previews.Observed, error) {
	o := previews.Observed{Exists: true, Reason: "It is being removed", Remains: []string{"Application " + p.name}}
	for _, c := range app.Status.Conditions {
		if c.Type == "DeletionError" {
			what, fix, _ := explain(c.Message)
			o.Reason = sentences("Argo CD cannot delete it: "+what, fix)
			o.Remains[0] += " (Argo CD cannot delete it: " + what + ")"
		}
	}
	if !d.takesLong(app.Metadata.DeletionTimestamp) {
		return o, nil
	}
	blocked, err := d.blocked(ctx, p)
	if err != nil {
		f := fault.From(err)
		o.Reason += "; what hinders it cannot be seen: " + f.Message
		return o, nil
	}
	for _, l := range blocked {
		o.Remains = append(o.Remains, d.describe(&l))
	}
	return o, nil
}

// takesLong tells whether what began at a time is worth a closer look.
func (d *Deployer) takesLong(began string) bool {
	at, err := time.Parse(time.RFC3339, began)
	return err == nil && d.opts.Now().Sub(at) >= patience
}

// blocked are the objects of a preview that are still there.
func (d *Deployer) blocked(ctx context.Context, p *plan) ([]Live, error) {
	if c := p.instance.Cluster; c != nil {
		var out []Live
		ns, err := c.Namespace(ctx, p.name)
		if fault.CodeOf(err) == fault.NotFound {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		within, err := c.Within(ctx, p.name, most)
		if err != nil {
			return nil, err
		}
		for _, l := range within {
			if len(l.Finalizers) > 0 || l.DeletedAt.IsZero() {
				out = append(out, l)
			}
		}
		return append(out, *ns), nil
	}
	nodes, err := p.instance.Tree(ctx, p.project, p.name)
	if err != nil {
		return nil, err
	}
	var out []Live
	for _, n := range nodes[:min(len(nodes), most)] {
		l, err := p.instance.Live(ctx, p.project, p.name, n.Ref)
		switch {
		case fault.CodeOf(err) == fault.NotFound:
		case err != nil:
			return out, err
		default:
			out = append(out, *l)
		}
	}
	return out, nil
}

// left describes a namespace that stayed, and what is in it.
func (d *Deployer) left(ctx context.Context, p *plan, ns *Live) []string {
	out := []string{d.describe(ns)}
	if ns.DeletedAt.IsZero() || d.opts.Now().Sub(ns.DeletedAt) < patience {
		return out
	}
	within, err := p.instance.Cluster.Within(ctx, p.name, most)
	if err != nil && ctx.Err() == nil {
		d.opts.Logger.WarnContext(ctx, "a namespace cannot be looked into", "namespace", p.name, "error", err)
	}
	for _, l := range within {
		out = append(out, d.describe(&l))
	}
	return out
}

// describe says what an object is, and what keeps it.
func (d *Deployer) describe(l *Live) string {
	text := l.String()
	var why []string
	if len(l.Finalizers) > 0 {
		why = append(why, "finalizer "+strings.Join(l.Finalizers, ", "))
	}
	if !l.DeletedAt.IsZero() {
		why = append(why, fmt.Sprintf("being deleted for %s", d.opts.Now().Sub(l.DeletedAt).Round(time.Second)))
	}
	if len(why) == 0 {
		return text
	}
	return text + " (" + strings.Join(why, "; ") + ")"
}

// Force takes away the finalizers of everything that is being deleted and does
// not go, and tells what that was. If nothing can be seen of what is left,
// such as when the cluster is gone, Argo CD is told to forget the application,
// and what may be left is named.
func (d *Deployer) Force(ctx context.Context, w previews.Wish) ([]string, error) {
	p, err := d.planOf(&w)
	if err != nil {
		return nil, err
	}
	app, err := p.find(ctx)
	if err != nil {
		return nil, err
	}
	blocked, err := d.blocked(ctx, p)
	if err != nil && app != nil && app.Metadata.DeletionTimestamp != "" {
		if e := p.instance.Delete(ctx, p.project, p.name, false); e != nil && fault.CodeOf(e) != fault.NotFound {
			return nil, explained(e)
		}
		return []string{"Application " + p.name + ", which Argo CD was told to forget: what it made in namespace " + p.name + " may still be there"}, nil
	}
	if err != nil {
		return nil, err
	}
	var done []string
	for _, l := range blocked {
		if l.DeletedAt.IsZero() || len(l.Finalizers) == 0 {
			continue
		}
		if err := p.release(ctx, app, l.Ref); err != nil && fault.CodeOf(err) != fault.NotFound {
			return done, err
		}
		done = append(done, d.describe(&l))
	}
	return done, nil
}

// release takes the finalizers of an object away, by Argo CD where it knows the
// object, else by the cluster.
func (p *plan) release(ctx context.Context, app *Application, o Ref) error {
	c := p.instance.Cluster
	if app == nil && c == nil {
		return nil
	}
	var err error
	if app != nil {
		if err = p.instance.Release(ctx, p.project, p.name, o); err == nil {
			return nil
		}
	}
	if c == nil {
		return err
	}
	return c.Unblock(ctx, o)
}
