package overhttp

import (
	"fmt"
	"strings"
	"testing"
)

// TestPersistedIsBounded fills every shelf with the longest documents and
// counts what is kept.
func TestPersistedIsBounded(t *testing.T) {
	var c persisted
	text := strings.Repeat("x", 64<<10)
	for caller := range 100 {
		for doc := range 20 {
			c.add(fmt.Sprint(caller), fmt.Sprint(doc), text)
		}
	}
	bytes := 0
	for at := c.order.Front(); at != nil; at = at.Next() {
		sh := at.Value.(*shelf)
		if sh.bytes > persistedBytes || len(sh.docs) != sh.order.Len() {
			t.Errorf("%d documents of %d bytes on one shelf", len(sh.docs), sh.bytes)
		}
		bytes += sh.bytes
	}
	if bytes != c.bytes || bytes > persistedTotal || bytes < persistedTotal/2 || len(c.shelves) != c.order.Len() {
		t.Errorf("%d bytes on %d shelves, counted as %d", bytes, len(c.shelves), c.bytes)
	}
	// The shelf and the document used last stay longest.
	last := c.order.Back().Value.(*shelf)
	hash := last.order.Back().Value.(document).hash
	if c.get(last.caller, hash) == "" {
		t.Fatal("the document is not there")
	}
	for doc := range 6 {
		c.add(last.caller, fmt.Sprint("more", doc), text)
	}
	for caller := range 20 {
		c.add(fmt.Sprint("new", caller), "one", text)
	}
	if c.get(last.caller, hash) != text {
		t.Error("what was used last was dropped first")
	}
}
