package knowledge_test

import (
	"testing"
	"time"
)

// await waits for a condition, for up to half a minute.
func await(t testing.TB, holds func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			t.Fatal("waited in vain")
		case <-tick.C:
		}
	}
}
