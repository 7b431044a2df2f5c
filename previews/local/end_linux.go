package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// look holds the preview to its limits and its time; the phase that it ends
// in is "" while all is well.
func (s *supervisor) look(ctx context.Context) (phase, reason string) {
	now := time.Now()
	if s.state.Phase == starting && now.Sub(s.began) > s.p.Config.HealthTimeout {
		_, why, _ := strings.Cut(s.state.Reason, ": ")
		return failed, fmt.Sprintf("It did not become healthy within %s: %s", s.p.Config.HealthTimeout, why)
	}
	if s.late(now) {
		if p, ok, err := s.f.plan(); ok && err == nil {
			s.p.Wish.ExpiresAt = p.Wish.ExpiresAt // it may have been put off
		}
		if s.late(now) {
			return stopped, "Its time was up."
		}
	}
	if _, err := os.Lstat(s.f.at("plan.json")); err != nil {
		return stopped, "Its folder was removed."
	}
	if reason := s.overrun(); reason != "" {
		return failed, reason
	}
	return s.disk(ctx, now)
}

// late tells that Fairlead should have removed the preview by now. One that
// was begun late gets as long as that takes, too.
func (s *supervisor) late(now time.Time) bool {
	end := s.p.Wish.ExpiresAt
	if end.IsZero() {
		return false
	}
	if end.Before(s.began) {
		end = s.began
	}
	return now.After(end.Add(expiryGrace))
}

// expiryGrace leaves it to Fairlead to remove what has run out.
const expiryGrace = 10 * time.Second

// overrun looks after processes and memory where the kernel does not.
func (s *supervisor) overrun() string {
	if s.cage.pids && s.cage.memory {
		return ""
	}
	l := s.p.Config.Limits
	n, pages := 0, int64(0)
	for _, p := range descendants(os.Getpid()) {
		n++
		pages += p.pages
	}
	if n > l.Processes+shell(s.p.Isolation) && !s.cage.pids {
		return fmt.Sprintf("It had %d processes, more than %d, the limit.", n, l.Processes)
	}
	if used := pages * int64(os.Getpagesize()); used > l.MemoryBytes && !s.cage.memory {
		return fmt.Sprintf("It used %d bytes of memory, more than %d, the limit.", used, l.MemoryBytes)
	}
	return ""
}

func (s *supervisor) disk(ctx context.Context, now time.Time) (phase, reason string) {
	if now.Sub(s.looked) < max(diskPause, diskShare*s.tookDisk) {
		return "", ""
	}
	used, err := diskUse(ctx, string(s.f))
	s.looked, s.tookDisk = time.Now(), time.Since(now)
	if err == nil && used > s.p.Config.Limits.DiskBytes {
		return failed, fmt.Sprintf("It used %d bytes of disk, more than %d, the limit.", used, s.p.Config.Limits.DiskBytes)
	}
	return "", ""
}

// finish ends every descendant and tells how the preview ended.
func (s *supervisor) finish(phase, reason string) {
	s.end()
	if s.pump != nil {
		select {
		case <-s.pump:
		case <-time.After(time.Second): // something outside holds the other end
			s.out.Close()
		}
	}
	if err := s.log.close(); err != nil {
		fmt.Fprintln(os.Stderr, "fairlead: the log:", err)
	}
	if phase == failed {
		reason += s.lastWords()
	}
	if s.state.Phase == phase {
		s.state.Phase = "" // so that it is told
	}
	for _, p := range s.left() {
		s.state.Remains = append(s.state.Remains, p.String())
	}
	s.turn(phase, reason)
	openCages(s.cage.dirs)
}

// lastWords are the last lines of the log, for the reason of a failure.
func (s *supervisor) lastWords() string {
	lines, err := readLog(s.f, 5)
	if err != nil || len(lines) == 0 {
		return " It wrote nothing."
	}
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = fmt.Sprintf("%.300s", l.Text)
	}
	return " It wrote last: " + strings.Join(texts, " | ")
}

// end asks every process to end, and kills those that have not after the
// grace.
func (s *supervisor) end() {
	s.reap()
	left := s.left()
	if s.main != 0 {
		told := false
		for _, p := range left {
			if s.depth(p, left) >= shell(s.p.Isolation) {
				told = endProcess(p.pid, p.start, false) || told
			}
		}
		if told { // else the command has not begun
			s.await(s.p.Config.Grace, func() bool { return s.main == 0 })
		}
	}
	s.await(supervisorGrace, func() bool {
		killCages(s.cage.dirs)
		if s.main != 0 && s.p.Isolation != None {
			_ = unix.Kill(s.main, unix.SIGKILL) // not reaped yet, so the number is its own; all in its namespace end with it
		}
		left := s.left()
		killGroups(left)
		for _, p := range left { // first all are held still, so that none can start another one
			signalProcess(p.pid, p.start, unix.SIGSTOP)
		}
		for _, p := range left {
			endProcess(p.pid, p.start, true)
		}
		s.reap()
		return s.main == 0 && len(s.left()) == 0
	})
}

// await waits for a condition, and reaps meanwhile.
func (s *supervisor) await(limit time.Duration, done func() bool) {
	for until := time.Now().Add(limit); ; time.Sleep(3 * time.Millisecond) {
		if s.reap(); done() || time.Now().After(until) {
			return
		}
	}
}

// left are the processes of the preview that have not ended: descendants, all
// of which this process adopts, and those in the control groups.
func (s *supervisor) left() []process {
	var out []process
	seen := map[int]bool{os.Getpid(): true}
	add := func(p process) {
		if !seen[p.pid] && !p.dead {
			seen[p.pid] = true
			out = append(out, p)
		}
	}
	for _, p := range descendants(os.Getpid()) {
		add(p)
	}
	for _, pid := range inCages(s.cage.dirs) {
		if p, ok := look(pid); ok {
			add(p)
		}
	}
	return out
}

// depth is how many of the processes are above one.
func (s *supervisor) depth(p process, all []process) int {
	parents := map[int]int{}
	for _, q := range all {
		parents[q.pid] = q.ppid
	}
	n := 0
	for at := p.ppid; at != os.Getpid() && n <= len(all); n++ {
		up, ok := parents[at]
		if !ok {
			return n + 1
		}
		at = up
	}
	return n
}

// killedForMemory is how many processes the kernel has killed because the
// groups were full.
func (c *cage) killedForMemory() int {
	for _, dir := range c.dirs {
		for _, file := range []string{"memory.events", "memory.oom_control"} {
			data, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				continue
			}
			for line := range strings.Lines(string(data)) {
				if f := strings.Fields(line); len(f) == 2 && f[0] == "oom_kill" {
					if n, err := strconv.Atoi(f[1]); err == nil && n > 0 {
						return n
					}
				}
			}
		}
	}
	return 0
}
