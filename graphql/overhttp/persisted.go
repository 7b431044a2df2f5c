package overhttp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// maxPersisted is how many documents are kept for clients that send hashes;
// with the default limit of their length they take at most 32 MiB.
const maxPersisted = 512

// persisted keeps documents by their SHA-256, the oldest leaving first:
// automatic persisted queries, as Apollo's clients send them.
type persisted struct {
	mu    sync.Mutex
	docs  map[string]string
	order []string
}

// find completes a request that names its document by hash. keep is to be
// called once the engine has accepted the document.
func (c *persisted) find(p Params) (_ Params, keep func(), err error) {
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
		c.mu.Lock()
		defer c.mu.Unlock()
		if p.Query = c.docs[hash]; p.Query == "" {
			return p, nothing, fault.New(fault.NotFound, "PersistedQueryNotFound").WithFix("Send the document together with its hash once.")
		}
		return p, nothing, nil
	}
	sum := sha256.Sum256([]byte(p.Query))
	if hex.EncodeToString(sum[:]) != hash {
		return p, nothing, fault.New(fault.Invalid, "the sha256Hash is not that of the document").WithFix("Hash the document as it is sent.")
	}
	return p, func() { c.add(hash, p.Query) }, nil
}

func (c *persisted) add(hash, doc string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.docs[hash]; known {
		return
	}
	if c.docs == nil {
		c.docs = map[string]string{}
	}
	if len(c.order) == maxPersisted {
		delete(c.docs, c.order[0])
		c.order = c.order[1:]
	}
	c.docs[hash] = doc
	c.order = append(c.order, hash)
}

// prepare has the engine check a request, whose document may be named by hash.
func (h *Handler) prepare(ctx context.Context, who access.Caller, p Params) (Operation, *Response) {
	p, keep, err := h.persisted.find(p)
	if err != nil {
		return nil, Refuse(err)
	}
	op, resp := h.Engine.Prepare(ctx, who, p)
	if resp == nil {
		keep()
	}
	return op, resp
}
