package registry

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// Bounds of what is asked and kept.
const (
	maxKept   = 10_000           // images
	maxLooks  = 4                // at once
	maxQueued = 200              // that wait
	longest   = 15 * time.Second // of one look
	// emptyFor is how long an image is known to tell nothing: provenance may be
	// attached later. brokenFor is how long one is let alone that could not be
	// read.
	emptyFor  = time.Hour
	brokenFor = 5 * time.Minute
)

// Client asks the registries that are configured. It is safe for concurrent use.
type Client struct {
	registries map[string]*guarded
	now        func() time.Time
	life       context.Context
	end        context.CancelFunc
	free       chan struct{}

	mu      sync.Mutex
	known   map[string]*known
	order   []string // of known, oldest first
	queued  int
	running beside.All
}

// known is what is known of an image.
type known struct {
	origin gitops.Origin
	// looking tells that it is being looked for; until is when it is looked for
	// again, zero for never.
	looking bool
	until   time.Time
}

var _ gitops.Origins = (*Client)(nil)

// New makes a client; nothing is sent. Close ends it.
func New(registries []Config) (*Client, error) {
	c := &Client{registries: map[string]*guarded{}, now: time.Now, known: map[string]*known{}, free: make(chan struct{}, maxLooks)}
	for _, cfg := range registries {
		if ps := cfg.Validate(); len(ps) > 0 {
			return nil, fault.New(fault.Invalid, "registry %q: %s: %s", cfg.Host, ps[0].Field, ps[0].Message)
		}
		g := newGuarded(cfg)
		if c.registries[g.host] != nil {
			return nil, fault.New(fault.Invalid, "the registry %q is there twice", cfg.Host).WithFix("Keep one.")
		}
		c.registries[g.host] = g
	}
	c.life, c.end = context.WithCancel(context.Background())
	return c, nil
}

// Close ends what is under way and waits for it.
func (c *Client) Close() error {
	c.mu.Lock()
	c.end()
	c.mu.Unlock()
	c.running.Wait()
	for _, g := range c.registries {
		g.base.CloseIdleConnections()
	}
	return nil
}

// Origin tells what is known of an image by now. It never waits: what is not
// known yet is looked for meanwhile.
func (c *Client) Origin(image, digest string) (gitops.Origin, bool) {
	ref, err := name.NewDigest(image + "@" + digest)
	if err != nil {
		return gitops.Origin{}, false
	}
	g := c.registries[ref.RegistryStr()]
	if g == nil {
		return gitops.Origin{}, false
	}
	key := ref.Name()
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.known[key]
	if k == nil || !k.looking && !k.until.IsZero() && c.now().After(k.until) {
		k = c.begin(key, g, ref)
	}
	if k == nil {
		return gitops.Origin{}, false
	}
	return k.origin, k.origin != gitops.Origin{}
}

// begin looks for an image, unless too many wait for that.
func (c *Client) begin(key string, g *guarded, ref name.Digest) *known {
	if c.queued >= maxQueued || c.life.Err() != nil {
		return c.known[key]
	}
	k := c.known[key]
	if k == nil {
		k = &known{}
		c.keep(key, k)
	}
	k.looking = true
	c.queued++
	c.running.Go(func() { c.look(g, ref, k) })
	return k
}

// keep adds an image, in the place of the oldest where there are too many.
func (c *Client) keep(key string, k *known) {
	if len(c.order) >= maxKept {
		delete(c.known, c.order[0])
		c.order = c.order[1:]
	}
	c.known[key], c.order = k, append(c.order, key)
}

// look asks a registry when it is this one's turn.
func (c *Client) look(g *guarded, ref name.Digest, k *known) {
	var origin gitops.Origin
	err := c.life.Err()
	select {
	case c.free <- struct{}{}:
		ctx, cancel := context.WithTimeout(c.life, longest)
		origin, err = asked(ctx, g, ref)
		cancel()
		<-c.free
	case <-c.life.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queued--
	k.looking, k.until = false, c.again(origin, err)
	if origin != (gitops.Origin{}) {
		k.origin = origin
	}
}

// again is when an image is looked for again: never, once all is known.
func (c *Client) again(origin gitops.Origin, err error) time.Time {
	switch {
	case err != nil:
		return c.now().Add(brokenFor)
	case origin.Commit == "" || origin.BuiltBy == "":
		return c.now().Add(emptyFor)
	}
	return time.Time{}
}

// asked asks a registry. What panics is an error like others: what registries
// say is others' input.
func asked(ctx context.Context, g *guarded, ref name.Digest) (o gitops.Origin, err error) {
	defer fault.Catch(&err, "asking for the origin of %s", ref)
	return g.origin(ctx, ref)
}

// oneLine is a text of others, in few characters.
func oneLine(s string, most int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if r := []rune(s); len(r) > most {
		s = string(r[:most])
	}
	return s
}
