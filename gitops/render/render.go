package render

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/render/wire"
)

// Config is what a Renderer is made of. Program is needed.
type Config struct {
	// Program is fairlead-render, as it is started.
	Program string
	// Patience is how long it may take, 10 s by default.
	Patience time.Duration
	// MaxFiles and MaxBytes bound what it may read of a repository, 4,000 files
	// and 32 MiB by default.
	MaxFiles, MaxBytes int
	// MaxDiff bounds the diff in bytes, 256 KiB by default.
	MaxDiff int
	// AtOnce is how many may run at once, 2 by default.
	AtOnce int
}

// Renderer has manifests rendered.
type Renderer struct {
	cfg   Config
	free  *semaphore.Weighted
	spare *spare
}

var _ gitops.Renderer = (*Renderer)(nil)

// New makes a Renderer; Close ends it.
func New(cfg Config) (*Renderer, error) {
	if cfg.Program == "" {
		return nil, errors.New("render: Program is needed")
	}
	cfg.MaxFiles, cfg.MaxBytes = cmp.Or(cfg.MaxFiles, 4000), cmp.Or(cfg.MaxBytes, 32<<20)
	cfg.MaxDiff, cfg.AtOnce, cfg.Patience = cmp.Or(cfg.MaxDiff, 256<<10), cmp.Or(cfg.AtOnce, 2), cmp.Or(cfg.Patience, 10*time.Second)
	return &Renderer{cfg, semaphore.NewWeighted(int64(cfg.AtOnce)), newSpare()}, nil
}

// Close ends the process that waits for the next change.
func (r *Renderer) Close() error {
	r.spare.close()
	return nil
}

// Render is that of gitops.Renderer. An error is one of the repository, or says
// that the caller has gone.
func (r *Renderer) Render(ctx context.Context, in gitops.Rendering) (*gitops.Rendered, error) {
	order, err := orderOf(ctx, in)
	if err != nil || order == nil {
		return nil, err
	}
	order.MaxDiff = r.cfg.MaxDiff
	if err := r.free.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer r.free.Release(1)
	s := &session{cfg: &r.cfg, in: in, order: order, side: -1, read: map[string]bool{}}
	if err := s.run(ctx, r.spare); err != nil {
		return nil, err
	}
	r.spare.refill(r.cfg.Program)
	return s.rendered(), nil
}

// rendered is what a session came to.
func (s *session) rendered() *gitops.Rendered {
	a := s.answer
	out := &gitops.Rendered{Tool: s.order.Tool, OK: a.Before == "" && a.After == "", Changed: a.Changed, Added: a.Added, Removed: a.Removed, Unstable: a.Unstable, Diff: a.Diff, Omitted: a.Omitted}
	switch {
	case a.After == "" && a.Before != "":
		out.Error = "before the change: " + a.Before
	case a.After != "":
		out.Error, out.Broken = a.After, a.Before == "" && !a.Beyond
	}
	return out
}

// orderOf is what is to be rendered; nil where a folder is neither a
// kustomization nor a chart.
func orderOf(ctx context.Context, in gitops.Rendering) (*wire.Order, error) {
	names, err := in.Before.List(ctx, in.Dir)
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", in.Dir, err)
	}
	order := &wire.Order{Dir: in.Dir, Edited: in.Edited, Release: in.Release, Namespace: in.Namespace, Lenient: in.Lenient}
	switch {
	case slices.ContainsFunc(names, isKustomization):
		order.Tool = wire.Kustomize
	case slices.Contains(names, "Chart.yaml"):
		order.Tool, order.Values = wire.Helm, in.Values
		if in.Values == nil {
			order.Values = conventional(in, names)
		}
	default:
		return nil, nil
	}
	return order, nil
}

func isKustomization(name string) bool {
	return name == "kustomization.yaml" || name == "kustomization.yml" || name == "Kustomization"
}

// conventional are the files of values beside a chart that have the
// environment in their name. The chart's own values.yaml it takes by itself.
func conventional(in gitops.Rendering, names []string) (out []string) {
	for _, name := range names {
		ext := path.Ext(name)
		words := strings.FieldsFunc(strings.ToLower(strings.TrimSuffix(name, ext)), func(r rune) bool { return r == '-' || r == '_' || r == '.' })
		if (ext == ".yaml" || ext == ".yml") && slices.Contains(words, strings.ToLower(in.Environment)) {
			out = append(out, path.Join(in.Dir, name))
		}
	}
	return out
}
