package overhttp

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// What is kept for clients that send hashes: so many documents of so many
// bytes for a caller, and so many bytes for all of them.
const (
	persistedEach  = 200
	persistedBytes = 512 << 10
	persistedTotal = 16 << 20
)

// persisted keeps documents by their SHA-256: automatic persisted queries, as
// Apollo's clients send them. Each caller has a shelf of their own, so that
// none learns what another asks, or pushes it out.
type persisted struct {
	mu      sync.Mutex
	shelves map[string]*list.Element // by caller; each holds a *shelf
	order   list.List                // of shelves, the one used last in front
	bytes   int
}

// shelf is what one caller has sent, the document used last in front.
type shelf struct {
	caller string
	docs   map[string]*list.Element // by hash; each holds a document
	order  list.List
	bytes  int
}

type document struct{ hash, text string }

// find completes a request that names its document by hash. keep is to be
// called once the engine has accepted the document.
func (c *persisted) find(who access.Caller, p Params) (_ Params, keep func(), err error) {
	nothing := func() {}
	if p.Extensions["persistedQuery"] == nil {
		return p, nothing, nil
	}
	ext, _ := p.Extensions["persistedQuery"].(map[string]any)
	hash, _ := ext["sha256Hash"].(string)
	if version, _ := ext["version"].(float64); version != 1 || hash == "" {
		return p, nothing, fault.New(fault.Invalid, "the persistedQuery extension is not of version 1 with a sha256Hash").
			WithFix("Send the document itself.")
	}
	if p.Query == "" {
		if p.Query = c.get(callerKey(who), hash); p.Query == "" {
			return p, nothing, fault.New(fault.NotFound, "PersistedQueryNotFound").WithFix("Send the document together with its hash once.")
		}
		return p, nothing, nil
	}
	sum := sha256.Sum256([]byte(p.Query))
	if hex.EncodeToString(sum[:]) != hash {
		return p, nothing, fault.New(fault.Invalid, "the sha256Hash is not that of the document").WithFix("Hash the document as it is sent.")
	}
	return p, func() { c.add(callerKey(who), hash, p.Query) }, nil
}

// get is a caller's document, "" if there is none.
func (c *persisted) get(caller, hash string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, known := c.shelves[caller]
	if !known {
		return ""
	}
	c.order.MoveToFront(at)
	sh := at.Value.(*shelf)
	doc, known := sh.docs[hash]
	if !known {
		return ""
	}
	sh.order.MoveToFront(doc)
	return doc.Value.(document).text
}

func (c *persisted) add(caller, hash, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sh := c.shelf(caller)
	if _, known := sh.docs[hash]; known {
		return
	}
	sh.docs[hash] = sh.order.PushFront(document{hash, text})
	c.grow(sh, overhead+len(text))
	for len(sh.docs) > persistedEach || sh.bytes > persistedBytes {
		old := sh.order.Remove(sh.order.Back()).(document)
		delete(sh.docs, old.hash)
		c.grow(sh, -overhead-len(old.text))
	}
	for c.bytes > persistedTotal {
		old := c.order.Remove(c.order.Back()).(*shelf)
		delete(c.shelves, old.caller)
		c.grow(old, -old.bytes)
	}
}

// overhead is what keeping a document takes besides its text, in bytes,
// generously.
const overhead = 512

// grow counts a document in or, with a negative size, out.
func (c *persisted) grow(sh *shelf, size int) {
	sh.bytes += size
	c.bytes += size
}

// shelf is a caller's, made if there is none, and in front.
func (c *persisted) shelf(caller string) *shelf {
	if at, known := c.shelves[caller]; known {
		c.order.MoveToFront(at)
		return at.Value.(*shelf)
	}
	if c.shelves == nil {
		c.shelves = map[string]*list.Element{}
	}
	sh := &shelf{caller: caller, docs: map[string]*list.Element{}}
	c.shelves[caller] = c.order.PushFront(sh)
	return sh
}

// prepare has the engine check a request, whose document may be named by hash.
func (h *Handler) prepare(ctx context.Context, who access.Caller, p Params) (Operation, *Response) {
	p, keep, err := h.persisted.find(who, p)
	if err != nil {
		return nil, Refuse(err)
	}
	op, resp := h.Engine.Prepare(ctx, who, p)
	if resp == nil {
		keep()
	}
	return op, resp
}
