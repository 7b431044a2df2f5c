package external

import (
	"slices"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/knowledge"
)

// maxKept is how many answers are kept.
const maxKept = 1000

// entry is an answer that is kept; it is not changed.
type entry struct {
	found []knowledge.ExternalHit
	at    time.Time
}

// hits make an answer that is the caller's own.
func (e *entry) hits(provider string, cached bool) *knowledge.ExternalHits {
	return &knowledge.ExternalHits{Provider: provider, FetchedAt: e.at, Cached: cached, Hits: slices.Clone(e.found)}
}

// cache keeps the newest answers.
type cache struct {
	mu      sync.Mutex
	entries map[string]*entry
}

// get gives what was kept since a time.
func (c *cache) get(key string, since time.Time) (*entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	return e, ok && e.at.After(since)
}

// put keeps an answer, in the place of the oldest where there are too many.
func (c *cache) put(key string, e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[string]*entry{}
	}
	c.entries[key] = e
	if len(c.entries) > maxKept {
		delete(c.entries, c.oldest())
	}
}

func (c *cache) oldest() string {
	var oldest string
	for k, e := range c.entries {
		if oldest == "" || e.at.Before(c.entries[oldest].at) {
			oldest = k
		}
	}
	return oldest
}
