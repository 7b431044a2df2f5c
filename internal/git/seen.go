package git

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"

	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

// freshFor is how long what a look has shown is good for a fetch: the list of
// refs need not be asked for twice.
const freshFor = time.Minute

// seen is what a look at a server over HTTP has shown, as far as fetching the
// commit needs it.
type seen struct {
	refs   *packp.AdvRefs // of the ref alone
	commit objects.ID
	base   url.URL
	at     time.Time
}

// usedCapabilities are those that requests depend on.
func usedCapabilities() []capability.Capability {
	return []capability.Capability{capability.Shallow, capability.OFSDelta, capability.NoProgress, capability.Sideband64k, capability.Sideband, capability.Filter}
}

// only makes a list of one ref, with the capabilities that are used.
func only(ref string, n named, able *capability.List) *packp.AdvRefs {
	out := packp.NewAdvRefs()
	name, want := candidates(ref)[0], plumbing.Hash(n.want)
	out.References[name] = want
	if name == "HEAD" {
		out.Head = &want
	}
	if n.commit != n.want {
		out.Peeled[name] = plumbing.Hash(n.commit)
	}
	for _, c := range usedCapabilities() {
		if able.Supports(c) {
			_ = out.Capabilities.Set(c) // these take no arguments
		}
	}
	return out
}

// saw notes what a look has shown. A commit that was seen before most likely
// has been fetched, too, so nothing is kept for it; thousands of repositories
// that stay as they are cost no memory.
func (r *remote) saw(w wire, n named, able *capability.List) {
	h, ok := w.(*httpWire)
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.looked
	r.looked = n.commit
	if !ok || able == nil || before == n.commit {
		r.seen = nil
		return
	}
	r.seen = &seen{refs: only(r.cfg.Ref, n, able), commit: n.commit, base: h.base, at: time.Now()}
}

// recall gives what the last look has shown, once, if it is of a commit and
// fresh.
func (r *remote) recall(id objects.ID) *seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.seen
	r.seen = nil
	if s == nil || s.commit != id || time.Since(s.at) > freshFor {
		return nil
	}
	return s
}

// refsFor gives the refs to fetch a commit by: those that the last look has
// shown, or those that the server lists now.
func (r *remote) refsFor(ctx context.Context, w wire, last *seen) (*packp.AdvRefs, error) {
	h, ok := w.(*httpWire)
	if !ok {
		return w.advertise(ctx)
	}
	refs, err := (*packp.AdvRefs)(nil), error(nil)
	if last != nil {
		h.base, refs = last.base, last.refs
	} else if refs, err = w.advertise(ctx); err != nil {
		return nil, err
	}
	base := h.base
	r.base.Store(&base)
	return refs, nil
}

// refused tells that the server has said no; what it was asked for may have
// been there a moment ago.
func refused(err error) bool {
	var line *pktline.ErrorLine
	return errors.As(err, &line)
}
