package app

import (
	"os"
	"runtime/debug"
)

// How much the heap may grow, in percent of what is in use, before garbage is
// collected: much while everything is read for the first time, when most of
// what is allocated stays, and little afterwards, when the catalog is held
// and requests leave little behind.
const (
	growthAtFirst = 200
	growthLater   = 50
)

// roomToStart lets the heap grow while everything is read for the first time;
// what it returns ends that and gives back what is free. Who sets GOGC
// decides for themselves.
func roomToStart() (end func()) {
	if os.Getenv("GOGC") != "" {
		return debug.FreeOSMemory
	}
	debug.SetGCPercent(growthAtFirst)
	return func() {
		debug.SetGCPercent(growthLater)
		debug.FreeOSMemory()
	}
}
