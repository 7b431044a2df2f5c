package argocd

import (
	"context"
	"slices"

	"github.com/fairlead-dev/fairlead/previews"
)

// maxPods is how many Pods of a preview are asked for their logs.
const maxPods = 8

// Logs are the last lines that the Pods of a preview wrote.
func (d *Deployer) Logs(ctx context.Context, w previews.Wish, tail int) ([]previews.LogLine, error) {
	p, err := d.planOf(&w)
	if err != nil {
		return nil, err
	}
	app, err := p.find(ctx)
	if err != nil || app == nil {
		return nil, err
	}
	nodes, err := p.instance.Tree(ctx, p.project, p.name)
	if err != nil {
		return nil, err
	}
	pods := slices.DeleteFunc(nodes, func(n Node) bool { return n.Kind != "Pod" || n.Group != "" || n.Namespace != p.name })
	var lines []previews.LogLine
	for _, n := range pods[:min(len(pods), maxPods)] {
		of, e := p.instance.Logs(ctx, p.project, p.name, n.Ref, tail)
		if e != nil {
			err = e
			continue
		}
		for _, l := range of {
			if len(pods) > 1 {
				l.Text = n.Name + ": " + l.Text
			}
			lines = append(lines, l)
		}
	}
	if len(lines) == 0 {
		return nil, err
	}
	slices.SortStableFunc(lines, func(a, b previews.LogLine) int { return a.At.Compare(b.At) })
	return lines[max(0, len(lines)-tail):], nil
}
