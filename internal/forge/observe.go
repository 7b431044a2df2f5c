package forge

import (
	"net/http"
	"strconv"
	"time"
)

// observe learns from an answer what the host's limits are. A resource's
// window only ever has less left until it is reset, whatever order the answers
// come in.
func (b *Budget) observe(resource string, h http.Header, status int) {
	now := time.Now()
	seen, ok := rateOf(h, now)
	b.mu.Lock()
	defer b.mu.Unlock()
	if status == http.StatusNotModified {
		b.counts.notModified++
	}
	if ok {
		b.window(resource).learn(seen, now)
	}
}

// slack is how far apart a host may tell the end of one window.
const slack = 2 * time.Second

func (w *window) learn(seen window, now time.Time) {
	same := now.Before(w.reset) && seen.limit == w.limit && seen.reset.Sub(w.reset).Abs() <= slack
	if now.Before(w.reset) && seen.limit == w.limit && seen.reset.Before(w.reset.Add(-slack)) {
		return // an answer of the window before, come late
	}
	if same {
		seen.remaining = min(seen.remaining, w.remaining)
	}
	w.limit, w.remaining, w.reset = seen.limit, seen.remaining, seen.reset
}

// rateOf reads the headers that tell a limit: GitHub's X-RateLimit-* and
// GitLab's RateLimit-*.
func rateOf(h http.Header, now time.Time) (window, bool) {
	for _, prefix := range []string{"X-Ratelimit-", "Ratelimit-"} {
		limit, err1 := strconv.Atoi(h.Get(prefix + "Limit"))
		remaining, err2 := strconv.Atoi(h.Get(prefix + "Remaining"))
		if err1 != nil || err2 != nil || limit <= 0 {
			continue
		}
		w := window{limit: limit, remaining: min(max(remaining, 0), limit)}
		w.reset = resetOf(h, h.Get(prefix+"Reset"), now)
		return w, true
	}
	return window{}, false
}

// resetOf is when a window ends by this machine's clock: the host's clock
// counts from the answer's Date. Hosts write either a point in time or, as the
// drafts of the standard have it, seconds from now.
func resetOf(h http.Header, text string, now time.Time) time.Time {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return now.Add(time.Minute)
	}
	const sinceEpoch = 100_000_000 // larger numbers are points in time
	if n < sinceEpoch {
		return now.Add(min(time.Duration(n)*time.Second, 24*time.Hour))
	}
	in := time.Unix(n, 0).Sub(hostTime(h, now))
	return now.Add(min(max(in, 0), 24*time.Hour))
}

func hostTime(h http.Header, now time.Time) time.Time {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		return date
	}
	return now
}

// refusedBy tells the budget that the host refused a request because of a
// limit. Where the host says how long to wait, that counts; where its window
// is used up, the window; else the pause grows each time. The pace is halved.
func (b *Budget) refusedBy(resource string, h http.Header) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts.limited++
	wait, told := retryAfter(h, now)
	w := b.window(resource)
	switch {
	case told:
	case w.limit > 0 && now.Before(w.reset) && w.remaining == 0:
		return // the window says it all
	default:
		b.pause = min(max(2*b.pause, firstPause), maxPause)
		wait = b.pause
	}
	if until := now.Add(wait); until.After(b.blocked) {
		b.blocked = until
	}
	b.pace.SetLimit(max(b.pace.Limit()/2, b.fullPace()/16))
}

// succeeded lets the pace grow again after the host has answered.
func (b *Budget) succeeded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pause = 0
	if full := b.fullPace(); b.pace.Limit() < full {
		b.pace.SetLimit(min(b.pace.Limit()*1.05, full))
	}
}

// retryAfter reads the header Retry-After: seconds, or a date by the host's
// clock.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	text := h.Get("Retry-After")
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
		return min(time.Duration(min(n, 1<<30))*time.Second, 24*time.Hour), true
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(hostTime(h, now)), 0), 24*time.Hour), true
	}
	return 0, false
}
