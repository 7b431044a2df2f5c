// Package heap decides how much memory a starting server may take to be
// ready sooner.
package heap

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// While everything is read for the first time most of what is allocated
// stays, so that looking for garbage is mostly in vain: none is looked for
// below room, and little above. Afterwards the catalog is held, requests leave
// little behind, and the heap may grow only a little, in percent of what is in
// use.
const (
	room          = 192 << 20 // bytes
	growthAtFirst = 200
	growthLater   = 50
)

// Start lets the heap grow until the function is called that it returns, which
// also gives back what is free. Growth is a matter of the whole process. Who
// sets GOGC decides for themselves.
func Start() (end func()) {
	if os.Getenv("GOGC") != "" {
		return sync.OnceFunc(debug.FreeOSMemory)
	}
	debug.SetGCPercent(-1)
	stop := make(chan struct{})
	var watching beside.All
	watching.Go(func() { watch(stop) })
	return sync.OnceFunc(func() {
		close(stop)
		watching.Wait()
		debug.SetGCPercent(growthLater)
		debug.FreeOSMemory()
	})
}

// watch has garbage collected once the heap has outgrown its room.
func watch(stop <-chan struct{}) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		if inUse() > room {
			debug.SetGCPercent(growthAtFirst)
			return
		}
	}
}

// inUse is how much of the heap is taken, garbage included, in bytes.
func inUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return room + 1 // unknown: be careful
	}
	return sample[0].Value.Uint64()
}
