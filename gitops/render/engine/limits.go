package engine

import (
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/fairlead-dev/fairlead/gitops/render/wire"
)

// The most that the process takes, besides memory.
const (
	maxStack = 64 << 20 // bytes
	maxCPU   = 60       // seconds
)

// confine bounds what this process takes, and cuts it off from the network:
// none of what is rendered here asks for it, and Kustomize could by accident.
func confine() {
	log.SetOutput(io.Discard) // of what charts warn
	http.DefaultTransport = nowhere{}
	os.Clearenv()           // programs are not found
	debug.SetGCPercent(400) // there is little garbage, and little time
	debug.SetMaxStack(maxStack)
	debug.SetMemoryLimit(wire.MaxMemory * 3 / 4)
	limit()
	go watch()
}

// nowhere refuses to ask anything.
type nowhere struct{}

var errNowhere = errors.New("nothing is fetched here")

// RoundTrip is that of http.RoundTripper.
func (nowhere) RoundTrip(*http.Request) (*http.Response, error) { return nil, errNowhere }

// watch ends the process where it takes more memory than it may. What grows too
// fast for it ends at what the system allows.
func watch() {
	took := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for range time.Tick(10 * time.Millisecond) {
		metrics.Read(took)
		if took[0].Value.Uint64()-took[1].Value.Uint64() > wire.MaxMemory {
			os.Exit(wire.ExitMemory)
		}
	}
}
