package heap

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// growth is the setting in force.
func growth() int {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int(int64(sample[0].Value.Uint64()))
}

func TestStart(t *testing.T) {
	t.Setenv("GOGC", "")
	before := growth()
	t.Cleanup(func() { debug.SetGCPercent(before) })
	end := Start()
	if g := growth(); g != -1 {
		t.Errorf("growth at first %d", g)
	}
	end()
	end()
	if g := growth(); g != growthLater {
		t.Errorf("growth later %d", g)
	}
}

func TestRoomIsBounded(t *testing.T) {
	t.Setenv("GOGC", "")
	before := growth()
	t.Cleanup(func() { debug.SetGCPercent(before) })
	defer Start()()
	held := make([]byte, room+1)
	for growth() != growthAtFirst {
		time.Sleep(time.Millisecond)
	}
	runtime.KeepAlive(held)
}

func TestWhoSetsGOGCDecides(t *testing.T) {
	t.Setenv("GOGC", "100")
	before := growth()
	end := Start()
	end()
	if g := growth(); g != before {
		t.Errorf("growth %d, was %d", g, before)
	}
}
