package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is the unit of CPU times in /proc on Linux.
const ticksPerSecond = 100

// cpuOf is the CPU time that a process has used so far, user and system.
func cpuOf(pid int) (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name of the program, in parentheses, may hold anything.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat is too short", pid)
	}
	var ticks int64
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// residentOf is how much memory a process holds now and has held at most, in
// bytes.
func residentOf(pid int) (now, peak int64, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(data)) {
		key, rest, _ := strings.Cut(line, ":")
		f := strings.Fields(rest)
		if len(f) != 2 || key != "VmRSS" && key != "VmHWM" {
			continue
		}
		n, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil {
			return 0, 0, err
		}
		if key == "VmRSS" {
			now = n << 10
		} else {
			peak = n << 10
		}
	}
	return now, peak, nil
}

// settled waits until the resident memory of a process has not fallen for
// two seconds, fifteen at most, and gives it.
func settled(ctx context.Context, pid int) (now, peak int64, err error) {
	var least int64
	since := time.Now()
	for end := since.Add(15 * time.Second); time.Now().Before(end) && time.Since(since) < 2*time.Second; {
		if now, peak, err = residentOf(pid); err != nil {
			return 0, 0, err
		}
		if least == 0 || now < least-least/200 {
			least, since = now, time.Now()
		}
		select {
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return now, peak, nil
}

// loadAverage is the system's load over the last minute, "?" where unknown.
func loadAverage() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "?"
	}
	load, _, _ := strings.Cut(string(data), " ")
	return load
}
