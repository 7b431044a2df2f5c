package git

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Branch gives the name of the branch that the source reads: its ref, or what
// the repository's HEAD names. It is a failed_precondition where that is no
// branch.
func (s *Source) Branch(ctx context.Context) (string, error) {
	switch r := s.reader.(type) {
	case *local:
		if r.ref != "" && r.ref != "HEAD" {
			return strings.TrimPrefix(r.ref, "refs/heads/"), nil
		}
		return r.headBranch(ctx)
	case *remote:
		if r.cfg.Ref != "" && r.cfg.Ref != "HEAD" {
			return strings.TrimPrefix(r.cfg.Ref, "refs/heads/"), nil
		}
		return r.headBranch(ctx)
	default:
		return "", errors.ErrUnsupported
	}
}

func (l *local) headBranch(ctx context.Context) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	at, err := openLayout(l.path)
	if err != nil {
		return "", err
	}
	text, err := readSmall(filepath.Join(at.git, "HEAD"))
	name, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: refs/heads/")
	if err != nil || !ok || !safeRef(name) {
		return "", noBranch(l.name)
	}
	return name, nil
}

func (r *remote) headBranch(ctx context.Context) (name string, err error) {
	err = r.within(ctx, "listing the refs of", func(ctx context.Context) error {
		w, err := r.dial(ctx)
		if err != nil {
			return err
		}
		defer w.close()
		refs, err := w.advertise(ctx)
		if err != nil {
			return err
		}
		to, ok := strings.CutPrefix(headOf(refs), headsPrefix)
		if !ok || !safeRef(to) {
			return noBranch(r.name())
		}
		name = to
		return nil
	})
	return name, err
}

// headOf is the full name of the ref that a server's HEAD names; "" for none, or
// where the server does not tell.
func headOf(refs *packp.AdvRefs) string {
	for _, symbolic := range refs.Capabilities.Get(capability.SymRef) {
		if to, ok := strings.CutPrefix(symbolic, "HEAD:"); ok {
			return to
		}
	}
	return ""
}

func noBranch(name string) error {
	return fault.New(fault.FailedPrecondition, "the HEAD of %s names no branch", name).WithFix("Name a branch by ref.")
}
