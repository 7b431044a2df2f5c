package forge

import (
	"bytes"
	"container/list"
	"io"
	"maps"
	"net/http"
	"sync"
)

// maxKnown is how many bytes of answers a client keeps for the next time.
const maxKnown = 8 << 20

// answer is one that the host gave a name to, its ETag, so that it need not
// send it again. It is used with the token that it was given to alone.
type answer struct {
	etag   string
	token  [32]byte
	header http.Header
	body   []byte
}

// response is the answer once more; the rate headers are the new ones.
func (a *answer) response(req *http.Request, fresh http.Header) *http.Response {
	h := maps.Clone(a.header)
	maps.Copy(h, fresh)
	h.Set("X-From-Cache", "1")
	return &http.Response{Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: req}
}

// memory keeps answers by URL; those used longest ago go first.
type memory struct {
	mu    sync.Mutex
	by    map[string]*list.Element
	order *list.List // of *entry, latest first
	size  int
}

type entry struct {
	url string
	*answer
}

func newMemory() *memory { return &memory{by: map[string]*list.Element{}, order: list.New()} }

func (m *memory) get(url string, token [32]byte) *answer {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, ok := m.by[url]
	if !ok || at.Value.(*entry).token != token {
		return nil
	}
	m.order.MoveToFront(at)
	return at.Value.(*entry).answer
}

func (m *memory) put(url string, a *answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.by[url]; ok {
		m.drop(old)
	}
	if len(a.body) > maxKnown/4 {
		return
	}
	m.by[url] = m.order.PushFront(&entry{url, a})
	m.size += len(a.body)
	for m.size > maxKnown {
		m.drop(m.order.Back())
	}
}

func (m *memory) drop(at *list.Element) {
	e := m.order.Remove(at).(*entry)
	delete(m.by, e.url)
	m.size -= len(e.body)
}
