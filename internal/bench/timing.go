package main

import (
	"slices"
	"syscall"
	"time"
)

// timing is what calls of one kind took: by the clock, and of the whole
// process's CPU time, which other programs on the machine hardly change.
type timing struct{ Wall, CPU []time.Duration }

// call times a call.
func (t *timing) call(f func() error) error {
	start, before := time.Now(), usage()
	err := f()
	t.Wall, t.CPU = append(t.Wall, time.Since(start)), append(t.CPU, usage()-before)
	return err
}

// usage is this process's CPU time so far, more exact than cpuOf.
func usage() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// timing prints a line of what calls took.
func (r report) timing(name string, t timing, goal string) {
	three := func(times []time.Duration) string {
		s := slices.Sorted(slices.Values(times))
		return millis(quantile(s, 0.5)) + " / " + millis(quantile(s, 0.99)) + " / " + millis(quantile(s, 1))
	}
	r.line(name, three(t.Wall)+"; CPU "+three(t.CPU), goal)
}
