package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// report prints figures, each beside its goal.
type report struct{ w io.Writer }

func (r report) section(format string, args ...any) {
	fmt.Fprintf(r.w, "\n"+format+"\n", args...)
}

func (r report) line(name, value, goal string) {
	if goal != "" {
		goal = "goal " + goal
	}
	fmt.Fprintf(r.w, "  %-56s %-44s %s\n", name, value, goal)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

func millis(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }

func megabytes(n int64) string { return fmt.Sprintf("%d MB", n/1_000_000) }

// spread is the least, the middle and the most of some times.
func spread(times []time.Duration) string {
	if len(times) == 0 {
		return "none"
	}
	s := slices.Sorted(slices.Values(times))
	return fmt.Sprintf("%s / %s / %s", millis(s[0]), millis(s[len(s)/2]), millis(s[len(s)-1]))
}

// quantile is the time that a share of some sorted times does not exceed.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
