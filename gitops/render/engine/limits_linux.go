package engine

import (
	"golang.org/x/sys/unix"

	"github.com/fairlead-dev/fairlead/gitops/render/wire"
)

// limit has the system hold the process to its bounds. It is best effort: who
// started it looks at the clock, too.
func limit() {
	for what, most := range map[int]uint64{unix.RLIMIT_DATA: wire.MaxMemory * 3 / 2, unix.RLIMIT_CPU: maxCPU, unix.RLIMIT_FSIZE: 0, unix.RLIMIT_CORE: 0} {
		_ = unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most})
	}
}
