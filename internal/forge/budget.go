package forge

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Priority says who waits for a request's answer.
type Priority int

// The priorities.
const (
	// Background is work that nobody waits for; it leaves the reserve alone.
	Background Priority = iota
	// Interactive is work that a person or an agent waits for.
	Interactive
)

// The bounds of what is waited for after a host says that requests come too
// fast, and does not say how long to wait.
const (
	firstPause = time.Minute
	maxPause   = 15 * time.Minute
)

// Budget keeps the requests to one account of one host within the limits that
// the host tells. It is safe for concurrent use; clients of one account share
// one.
type Budget struct {
	host   string
	limits Limits
	slots  [2]*semaphore.Weighted
	pace   *rate.Limiter

	mu      sync.Mutex
	windows map[string]*window
	blocked time.Time     // no request before this
	pause   time.Duration // the last pause that was guessed; 0 after a success
	counts  counts
}

// window is what is known of one of a host's limits, by the host's name of it.
type window struct {
	limit, remaining int
	reset            time.Time
	inFlight         int
}

type counts struct {
	requests, notModified, limited, refused int64
	waited                                  time.Duration
}

// NewBudget makes the budget of an account of a host; host is its name for
// people.
func NewBudget(host string, limits Limits) *Budget {
	limits = limits.WithDefaults()
	slots := int64(limits.Concurrency)
	b := &Budget{host: host, limits: limits, windows: map[string]*window{}}
	b.slots = [2]*semaphore.Weighted{semaphore.NewWeighted(slots), semaphore.NewWeighted(slots)}
	b.pace = rate.NewLimiter(b.fullPace(), limits.Concurrency)
	return b
}

func (b *Budget) fullPace() rate.Limit { return rate.Limit(float64(b.limits.RequestsPerMinute) / 60) }

// Figures are what metrics tell of one of a host's limits.
type Figures struct {
	// Host is the host's name, and Resource the host's name of the limit; ""
	// before any answer, and where the host tells of no limit.
	Host, Resource string
	// Limit and Remaining count requests, or points, in the host's window,
	// which ends at Reset.
	Limit, Remaining int
	Reset            time.Time
	// Blocked is until when the host wants no request at all; zero if it
	// does not say so.
	Blocked time.Time
	// Requests were sent, NotModified of them were answered from what was
	// known, Limited were refused by the host, and Refused were never sent
	// since the budget was spent. These count the host's, not the limit's.
	Requests, NotModified, Limited, Refused int64
	// Waited is the time spent waiting for the budget.
	Waited time.Duration
}

// Figures tells of each limit that the host has told of, by name.
func (b *Budget) Figures() []Figures {
	b.mu.Lock()
	defer b.mu.Unlock()
	base := Figures{Host: b.host, Requests: b.counts.requests, NotModified: b.counts.notModified,
		Limited: b.counts.limited, Refused: b.counts.refused, Waited: b.counts.waited}
	if time.Now().Before(b.blocked) {
		base.Blocked = b.blocked
	}
	var out []Figures
	for name, w := range b.windows {
		if w.limit == 0 {
			continue
		}
		f := base
		f.Resource, f.Limit, f.Remaining, f.Reset = name, w.limit, w.left(time.Now()), w.reset
		out = append(out, f)
	}
	if len(out) == 0 {
		out = append(out, base)
	}
	slices.SortFunc(out, func(x, y Figures) int { return cmp.Compare(x.Resource, y.Resource) })
	return out
}

// acquire waits for room in the budget, for as long as the bound allows, and
// takes one request's worth. What it gives is called when the request is done.
func (b *Budget) acquire(ctx context.Context, resource string, p Priority) (release func(), err error) {
	start := time.Now()
	if err := b.slots[p].Acquire(ctx, 1); err != nil {
		return nil, err
	}
	if err := b.wait(ctx, resource, p, start); err != nil {
		b.slots[p].Release(1)
		return nil, err
	}
	return func() {
		b.mu.Lock()
		b.windows[resource].inFlight--
		b.mu.Unlock()
		b.slots[p].Release(1)
	}, nil
}

// wait returns once the request may go; it is counted as in flight then.
func (b *Budget) wait(ctx context.Context, resource string, p Priority, start time.Time) error {
	for {
		until, err := b.take(resource, p, start)
		if err != nil {
			return err
		}
		if until.IsZero() {
			break
		}
		if err := sleep(ctx, time.Until(until)); err != nil {
			return err
		}
	}
	if err := b.keepPace(ctx, start); err != nil {
		b.mu.Lock()
		b.windows[resource].inFlight--
		b.mu.Unlock()
		return err
	}
	b.mu.Lock()
	b.counts.requests++
	b.counts.waited += time.Since(start)
	b.mu.Unlock()
	return nil
}

// take counts a request as in flight, or tells until when there is no room.
func (b *Budget) take(resource string, p Priority, start time.Time) (until time.Time, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	w := b.window(resource)
	spare := 0
	if p == Background {
		spare = (w.limit*b.limits.ReservePercent + 99) / 100
	}
	if now.Before(b.blocked) {
		until = b.blocked
	}
	spent := w.limit > 0 && w.left(now)-w.inFlight <= spare
	if spent && w.reset.After(until) {
		until = w.reset
	}
	if until.IsZero() && spent { // what is in flight is all that is left
		until = now.Add(50 * time.Millisecond)
	}
	if until.IsZero() {
		w.inFlight++
		return time.Time{}, nil
	}
	if until.Sub(start) > b.limits.Wait {
		b.counts.refused++
		return time.Time{}, b.exhausted(resource, until, now)
	}
	return until, nil
}

// exhausted is the error of a request that is not sent.
func (b *Budget) exhausted(resource string, until, now time.Time) error {
	if resource != "" {
		resource = " (" + resource + ")"
	}
	return fault.New(fault.QuotaExceeded, "the request limit%s of %s is used up until %s", resource, b.host, until.UTC().Format(time.RFC3339)).
		WithFix("Wait until then; nothing is lost. If it happens often, look less often (catalog.refresh), configure webhooks, or use a token of its own.").
		After(until.Sub(now))
}

// keepPace spreads requests over time.
func (b *Budget) keepPace(ctx context.Context, start time.Time) error {
	r := b.pace.Reserve()
	delay := r.Delay()
	if delay+time.Since(start) > b.limits.Wait {
		r.Cancel()
		b.mu.Lock()
		b.counts.refused++
		b.mu.Unlock()
		return fault.New(fault.QuotaExceeded, "too many requests wait for %s", b.host).
			WithFix("Try again later; raise limits.requestsPerMinute if the host allows more.").After(delay)
	}
	return sleep(ctx, delay)
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func (b *Budget) window(resource string) *window {
	w := b.windows[resource]
	if w == nil {
		w = &window{}
		b.windows[resource] = w
	}
	return w
}

// left is what the window allows, all of it once it has been reset.
func (w *window) left(now time.Time) int {
	if !now.Before(w.reset) {
		return w.limit
	}
	return w.remaining
}

// Budgets are the budgets of a program's accounts. The zero value is ready.
type Budgets struct {
	mu sync.Mutex
	by map[string]*Budget
}

// Of gives the budget of an account, made on first use with limits; account
// says which, and host is its name for people.
func (b *Budgets) Of(account, host string, limits Limits) *Budget {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.by == nil {
		b.by = map[string]*Budget{}
	}
	if b.by[account] == nil {
		b.by[account] = NewBudget(host, limits)
	}
	return b.by[account]
}

// Figures tells of every budget.
func (b *Budgets) Figures() []Figures {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Figures
	for _, one := range b.by {
		out = append(out, one.Figures()...)
	}
	slices.SortFunc(out, func(x, y Figures) int {
		return cmp.Or(cmp.Compare(x.Host, y.Host), cmp.Compare(x.Resource, y.Resource))
	})
	return out
}
