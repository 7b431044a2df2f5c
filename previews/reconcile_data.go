package previews

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// lookAtData asks what there is of a preview's data.
func (c *Reconciler) lookAtData(ctx context.Context, r *Record) (s dataSight) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	for _, d := range r.Template.Data {
		var o DataObserved
		err := bounded(ctx, "the server of "+d.String(), lookTimeout, func(ctx context.Context) error {
			at, err := c.data(d)
			if err == nil {
				o, err = at.Observe(ctx, r.Wish, d)
			}
			return err
		})
		switch {
		case err != nil:
			s.Trouble = "it cannot be seen what there is of " + d.String() + ": " + explain(err)
			c.Logger.WarnContext(ctx, "data of a preview cannot be observed", "preview", r.ID, "data", d.String(), "error", err)
		case o.Failed:
			s.Failed = d.String() + ": " + clip(o.Reason, maxReason)
		case !o.Ready:
			s.Awaited = "its data is awaited: " + d.String() + ": " + clip(o.Reason, maxReason)
		}
		if o.Exists && len(o.Remains) == 0 {
			s.There = append(s.There, d.String())
		}
		for _, what := range o.Remains[:min(len(o.Remains), 4)] {
			s.There = append(s.There, clip(what, 200))
		}
	}
	return s
}

// data finds what makes data of a preview that was accepted.
func (c *Reconciler) data(d DataTemplate) (Data, error) {
	if at, ok := serverOf(c.Data, d.Kind, d.Server); ok {
		return at.Data, nil
	}
	return nil, fault.New(fault.Unavailable, "the %s server %q is not configured here any more", d.Kind, d.Server).
		WithFix("Configure previews.data.%s again until its previews are gone.", d.Kind)
}

// provide makes a preview's data, or puts it right, and gives what it is
// reached by.
func (c *Reconciler) provide(ctx context.Context, r *Record) ([]Given, error) {
	var out []Given
	for _, d := range r.Template.Data {
		at, err := c.data(d)
		if err != nil {
			return nil, err
		}
		url, err := at.Provide(ctx, r.Wish, d)
		if err != nil {
			return nil, about(d, err)
		}
		out = append(out, Given{d.Env, url})
		if p, ok := at.(Prefixed); ok {
			out = append(out, Given{d.PrefixEnv(), access.NewSecret(p.Prefix(r.Wish, d))})
		}
	}
	return out, nil
}

// withdraw removes a preview's data, as much of it as goes.
func (c *Reconciler) withdraw(ctx context.Context, r *Record) error {
	var errs []error
	for _, d := range r.Template.Data {
		at, err := c.data(d)
		if err == nil {
			err = at.Remove(ctx, r.Wish, d)
		}
		if err != nil {
			errs = append(errs, about(d, err))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return fault.From(errs[0]).Because(errors.Join(errs...))
}

// about says which data an error is about.
func about(d DataTemplate, err error) error {
	f := fault.From(err)
	return fault.New(f.Code, "%s: %s", d, f.Message).WithFix("%s", f.Fix).Because(fmt.Errorf("%s: %w", d, err))
}
