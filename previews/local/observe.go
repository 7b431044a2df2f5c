package local

import (
	"context"
	"fmt"

	"github.com/fairlead-dev/fairlead/previews"
)

// Observe tells what there is, from the preview's folder alone; it is cheap
// and changes nothing.
func (d *Deployer) Observe(ctx context.Context, w previews.Wish) (previews.Observed, error) {
	f, err := d.folder(w.ID)
	if err != nil {
		return previews.Observed{}, err
	}
	if err := ctx.Err(); err != nil {
		return previews.Observed{}, err
	}
	if !f.exists() {
		return d.gone(w.ID), nil
	}
	p, s, complete := f.read()
	switch {
	case !complete:
		return previews.Observed{Exists: true, Reason: "It was left incomplete.", Remains: d.remains(f, p, s)}, nil
	case p.Removing:
		return previews.Observed{Exists: true, Reason: "It is being removed.", Remains: d.remains(f, p, s)}, nil
	case !p.Checked:
		return previews.Observed{Exists: true, Reason: "The revision is being checked out."}, nil
	default:
		return d.observed(f, p, s), nil
	}
}

// gone is what is told of a preview without a folder.
func (d *Deployer) gone(id string) previews.Observed {
	if port, ok := d.portOf(id); ok {
		return previews.Observed{Exists: true, Reason: "Its port is still taken.", Remains: []string{"port " + itoa(port)}}
	}
	return previews.Observed{Reason: "There is nothing of it."}
}

func (d *Deployer) observed(f folder, p plan, s state) previews.Observed {
	o := previews.Observed{Exists: true, Reason: s.Reason}
	switch {
	case s.Phase == failed, s.Phase == stopped:
		o.Failed = s.Phase == failed
		return o
	case !alive(f):
		o.Reason = "Its supervisor ended unexpectedly."
		return o
	}
	o.Commit = p.Wish.Commit
	switch s.Phase {
	case ready:
		o.Ready, o.URL = true, d.url(p.Wish.ID)
	case degraded:
		o.URL = d.url(p.Wish.ID)
	case "":
		o.Reason = "Its command is being started."
	}
	return o
}

// url is where a preview is reached, through Fairlead.
func (d *Deployer) url(id string) string {
	host := id + hostSuffix
	if port := d.opts.Port(); port != 0 && port != 80 {
		host = fmt.Sprintf("%s:%d", host, port)
	}
	return "http://" + host + "/"
}

// remains names what is still there of a preview.
func (d *Deployer) remains(f folder, p plan, s state) []string {
	var out []string
	if alive(f) {
		out = append(out, fmt.Sprintf("the supervisor, process %d", s.PID))
	}
	for _, left := range leftovers(f, p.Mark, s) {
		out = append(out, "process "+left.String())
	}
	if p.Port != 0 && !portFree(p.Port) {
		out = append(out, fmt.Sprintf("port %d, at which something listens", p.Port))
	}
	return append(out, "the folder "+string(f))
}
