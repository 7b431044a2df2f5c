package objects

import (
	"container/list"
	"sync"
)

// cache keeps the contents that were used last, up to a number of bytes. What
// it gives out must not be changed.
type cache[K comparable] struct {
	limit int64

	mu    sync.Mutex
	size  int64
	order *list.List // newest first
	items map[K]*list.Element
}

type cached[K comparable] struct {
	key  K
	kind Kind
	data []byte
}

// itemCost is about what one entry costs beside its content.
const itemCost = 200

func newCache[K comparable](limit int64) *cache[K] {
	return &cache[K]{limit: limit, order: list.New(), items: map[K]*list.Element{}}
}

func (c *cache[K]) get(key K) (Kind, []byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[key]
	if !ok {
		return 0, nil, false
	}
	c.order.MoveToFront(e)
	item := e.Value.(*cached[K])
	return item.kind, item.data, true
}

func (c *cache[K]) put(key K, kind Kind, data []byte) {
	cost := int64(len(data)) + itemCost
	if cost > c.limit/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.items[key]; there {
		return
	}
	c.items[key] = c.order.PushFront(&cached[K]{key, kind, data})
	c.size += cost
	for c.size > c.limit {
		last := c.order.Back()
		item := c.order.Remove(last).(*cached[K])
		delete(c.items, item.key)
		c.size -= int64(len(item.data)) + itemCost
	}
}

func (c *cache[K]) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.order.Init()
	clear(c.items)
	c.size = 0
}
