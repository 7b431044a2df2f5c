package forge

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// rate is what a host says of a window that ends after d.
func rateHeaders(limit, remaining int, d time.Duration) http.Header {
	h := http.Header{}
	h.Set("X-Ratelimit-Limit", strconv.Itoa(limit))
	h.Set("X-Ratelimit-Remaining", strconv.Itoa(remaining))
	h.Set("X-Ratelimit-Reset", strconv.FormatInt(time.Now().Add(d).Unix(), 10))
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	return h
}

// try asks for room and gives it back; it tells the error and the wait.
func try(b *Budget, p Priority) (time.Duration, error) {
	start := time.Now()
	release, err := b.acquire(context.Background(), "core", p)
	if err == nil {
		release()
	}
	return time.Since(start), err
}

func TestReserveIsForInteractiveWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget("host", Limits{})
		b.observe("core", rateHeaders(100, 11, time.Hour), http.StatusOK)
		if d, err := try(b, Background); err != nil || d != 0 {
			t.Errorf("above the reserve: %s, %v", d, err)
		}
		b.observe("core", rateHeaders(100, 10, time.Hour), http.StatusOK)
		_, err := try(b, Background)
		f := fault.From(err)
		if f == nil || f.Code != fault.QuotaExceeded || f.RetryAfter != time.Hour || !strings.Contains(f.Message, "2000-01-01T01:00:00Z") {
			t.Errorf("at the reserve: %v", err)
		}
		if d, err := try(b, Interactive); err != nil || d != 0 {
			t.Errorf("someone who waits: %s, %v", d, err)
		}
		b.observe("core", rateHeaders(100, 0, time.Hour), http.StatusOK)
		if _, err := try(b, Interactive); fault.CodeOf(err) != fault.QuotaExceeded {
			t.Errorf("with nothing left: %v", err)
		}
		time.Sleep(time.Hour + time.Second)
		if d, err := try(b, Background); err != nil || d != 0 {
			t.Errorf("in the next window: %s, %v", d, err)
		}
	})
}

func TestRequestsInFlightCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget("host", Limits{Concurrency: 8})
		b.observe("core", rateHeaders(100, 13, 30*time.Second), http.StatusOK)
		var held []func()
		for range 3 {
			release, err := b.acquire(t.Context(), "core", Background)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, release)
		}
		start := time.Now()
		release, err := b.acquire(t.Context(), "core", Background)
		if err != nil || time.Since(start) < 30*time.Second {
			t.Errorf("the fourth of three waited %s, %v", time.Since(start), err)
		}
		for _, done := range append(held, release) {
			done()
		}
	})
}

func TestLateAnswersRaiseNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget("host", Limits{})
		for _, h := range []http.Header{rateHeaders(100, 50, time.Hour), rateHeaders(100, 60, time.Hour), rateHeaders(100, 99, time.Hour+time.Second), rateHeaders(100, 100, 0)} {
			b.observe("core", h, http.StatusOK)
		}
		if f := b.Figures()[0]; f.Remaining != 50 || f.Limit != 100 || f.Resource != "core" || f.Host != "host" {
			t.Errorf("%+v", f)
		}
		b.observe("core", rateHeaders(100, 99, 2*time.Hour), http.StatusOK)
		if f := b.Figures()[0]; f.Remaining != 99 {
			t.Errorf("in a later window: %+v", f)
		}
		b.observe("core", rateHeaders(5000, 4000, time.Hour), http.StatusOK)
		if f := b.Figures()[0]; f.Limit != 5000 || f.Remaining != 4000 {
			t.Errorf("of another account: %+v", f)
		}
	})
}

func TestPausesGrowAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget("host", Limits{Wait: time.Hour})
		for _, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 15 * time.Minute, 15 * time.Minute} {
			b.refusedBy("core", http.Header{})
			if b.Figures()[0].Blocked.IsZero() {
				t.Error("the pause is in no figure")
			}
			if d, err := try(b, Interactive); err != nil || d < want || d > want+20*time.Second {
				t.Errorf("waited %s, not %s: %v", d, want, err)
			}
		}
		b.succeeded()
		b.refusedBy("core", http.Header{"Retry-After": {"7"}})
		if d, err := try(b, Background); err != nil || d < 7*time.Second || d > 30*time.Second {
			t.Errorf("waited %s, not the 7s that the host asks for: %v", d, err)
		}
		if f := b.Figures()[0]; f.Limited != 7 || !f.Blocked.IsZero() || f.Waited == 0 {
			t.Errorf("%+v", f)
		}
	})
}

func TestPaceSlowsAfterALimitAndRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget("host", Limits{RequestsPerMinute: 600, Concurrency: 1})
		spend := func(n int) time.Duration {
			start := time.Now()
			for range n {
				if _, err := try(b, Background); err != nil {
					t.Fatal(err)
				}
			}
			return time.Since(start)
		}
		spend(5)
		if d := spend(10); d < 900*time.Millisecond || d > 1100*time.Millisecond {
			t.Errorf("ten at ten a second took %s", d)
		}
		b.refusedBy("core", http.Header{"Retry-After": {"0"}})
		if d := spend(10); d < 1900*time.Millisecond || d > 2100*time.Millisecond {
			t.Errorf("ten at half the pace took %s", d)
		}
		for range 100 {
			b.succeeded()
		}
		if d := spend(10); d < 900*time.Millisecond || d > 1100*time.Millisecond {
			t.Errorf("ten at the full pace again took %s", d)
		}
	})
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget("host", Limits{Wait: time.Hour})
		b.refusedBy("core", http.Header{"Retry-After": {"600"}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := b.acquire(ctx, "core", Interactive); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("%v", err)
		}
		time.Sleep(10 * time.Minute)
		if d, err := try(b, Background); err != nil || d != 0 {
			t.Errorf("afterwards: %s, %v", d, err)
		}
	})
}

func TestBudgetsAreSharedByAccount(t *testing.T) {
	var all Budgets
	one, two, other := all.Of("a", "host", Limits{}), all.Of("a", "host", Limits{}), all.Of("b", "a host", Limits{})
	if one != two || one == other {
		t.Error("accounts are mixed up")
	}
	if f := all.Figures(); len(f) != 2 || f[0].Host != "a host" {
		t.Errorf("%+v", f)
	}
}

func FuzzRateHeaders(f *testing.F) {
	f.Add("5000", "4999", "1700000000", "60", "Mon, 02 Jan 2006 15:04:05 GMT")
	f.Add("-1", "99999999999999999999", "-5", "Mon, 02 Jan 2006 15:04:05 GMT", "")
	f.Fuzz(func(t *testing.T, limit, remaining, reset, retry, date string) {
		h := http.Header{"X-Ratelimit-Limit": {limit}, "Ratelimit-Remaining": {remaining}, "X-Ratelimit-Remaining": {remaining}, "X-Ratelimit-Reset": {reset}, "Retry-After": {retry}, "Date": {date}}
		b := NewBudget("host", Limits{Wait: time.Nanosecond})
		b.observe("core", h, http.StatusOK)
		b.refusedBy("core", h)
		_, err := try(b, Interactive)
		if f := fault.From(err); f != nil && (f.Code != fault.QuotaExceeded || f.RetryAfter < 0 || f.RetryAfter > 25*time.Hour) {
			t.Errorf("%v after %s", err, f.RetryAfter)
		}
		for _, one := range b.Figures() {
			if one.Limit < 0 || one.Remaining < 0 || one.Remaining > one.Limit {
				t.Error(fmt.Sprint(one))
			}
		}
	})
}
