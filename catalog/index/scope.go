package index

import (
	"sync"

	"github.com/fairlead-dev/fairlead/access"
)

// maxScopes is how many scopes a snapshot keeps the sets of.
const maxScopes = 256

// scopeCache keeps the set of entities of each scope that was asked for.
type scopeCache struct {
	mu   sync.RWMutex
	sets map[string]scopeSet
	// sources are where the entities of a scope came from, by its key.
	sources map[string]map[string]bool
}

type scopeSet struct {
	scope access.Scope
	set   bitset // shared: never changed
}

func newScopeCache() *scopeCache {
	return &scopeCache{sets: map[string]scopeSet{}, sources: map[string]map[string]bool{}}
}

// from gives the sources of a scope, found once.
func (c *scopeCache) from(key string, find func() map[string]bool) map[string]bool {
	c.mu.RLock()
	known, ok := c.sources[key]
	c.mu.RUnlock()
	if ok {
		return known
	}
	known = find()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.sources) >= maxScopes {
		clear(c.sources)
	}
	c.sources[key] = known
	return known
}

// visible is the set of entities in scope. The caller must not change it.
func (s *Snapshot) visible(scope access.Scope) bitset {
	if scope.All() {
		return s.live
	}
	if scope.None() {
		return newBitset(s.slots.size)
	}
	c := s.scopes
	c.mu.RLock()
	known, ok := c.sets[scope.Key()]
	c.mu.RUnlock()
	if ok {
		return known.set
	}
	set := newBitset(s.slots.size)
	s.live.each(func(id uint32) bool {
		if scope.Allows(AttributesOf(s.slots.get(id).entity)) {
			set.set(id)
		}
		return true
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.sets) >= maxScopes {
		clear(c.sets)
	}
	c.sets[scope.Key()] = scopeSet{scope, set}
	return set
}

// follow carries the sets over to the next snapshot: only the entities that
// changed are looked at again.
func (c *scopeCache) follow(next *Snapshot, changed []uint32) *scopeCache {
	out := newScopeCache()
	c.mu.RLock()
	defer c.mu.RUnlock()
	for key, known := range c.sets {
		set := known.set.grow(next.slots.size)
		for _, id := range changed {
			set.unset(id)
			if next.live.has(id) && known.scope.Allows(AttributesOf(next.slots.get(id).entity)) {
				set.set(id)
			}
		}
		out.sets[key] = scopeSet{known.scope, set}
	}
	return out
}
