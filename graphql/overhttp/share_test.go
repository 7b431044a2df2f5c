package overhttp

import (
	"fmt"
	"testing"
)

// TestWaiters: what is dropped is the oldest of an address that has too many,
// else of the address that has most.
func TestWaiters(t *testing.T) {
	var w waiters
	dropped := make(chan string, 10)
	enter := func(address, name string) *waiter {
		return w.enter(address, 4, 2, func() { dropped <- name })
	}
	gone := func(want string) {
		t.Helper()
		if got := <-dropped; got != want {
			t.Errorf("%s was dropped, not %s", got, want)
		}
	}
	enter("192.0.2.1:1", "a1")
	a2 := enter("[::ffff:192.0.2.1]:2", "a2")
	enter("192.0.2.1:3", "a3")
	gone("a1")
	enter("[2001:db8::1]:1", "b1")
	enter("[2001:db8::ffff]:1", "b2")
	enter("[2001:db8::2]:1", "b3")
	gone("b1")
	w.leave(a2)
	w.leave(a2) // twice is once
	enter("192.0.2.9:1", "c1")
	enter("192.0.2.8:1", "d1")
	gone("b2")
	for i := range 100 {
		w.leave(enter(fmt.Sprintf("192.0.2.%d:1", i), ""))
	}
	if w.open > 4 || len(w.of) > 4 {
		t.Errorf("%d waiting, of %d addresses", w.open, len(w.of))
	}
}
