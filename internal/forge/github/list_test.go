package github_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge"
	"github.com/fairlead-dev/fairlead/internal/forge/github"
)

func list(t *testing.T, c *github.Client) []forge.Repository {
	t.Helper()
	out, err := c.Repositories(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTenThousandRepositoriesWithinTheBudget(t *testing.T) {
	h := newHost(t, 10_000)
	server := httptest.NewServer(h)
	defer server.Close()
	c := client(t, server.URL, nil)
	got := list(t, c)
	if len(got) != 10_000 || got[4711].Head != commit(4711) || got[4711].CloneURL != server.URL+"/acme/service-04711.git" {
		t.Fatalf("%d repositories, %+v", len(got), got[4711])
	}
	if used := h.windows["graphql"].used; used != 100 {
		t.Errorf("the whole list costs %d points, not 100", used)
	}
	list(t, c) // learns what to compare with
	before := fmt.Sprint(h.windows["graphql"].used, h.windows["core"].used)
	for range 20 {
		list(t, c)
	}
	if after := fmt.Sprint(h.windows["graphql"].used, h.windows["core"].used); after != before {
		t.Errorf("twenty lists without a change cost points: %s, then %s", before, after)
	}
	h.fair()
}

func TestPushesCostOnePage(t *testing.T) {
	h := newHost(t, 1000)
	server := httptest.NewServer(h)
	defer server.Close()
	c := client(t, server.URL, nil)
	list(t, c)
	list(t, c)
	before := h.count("POST")
	for _, i := range []int{7, 500, 999} {
		h.repos[i].head, h.repos[i].pushed = commit(5000+i), time.Unix(1_800_000_000, 0)
	}
	got := list(t, c)
	for _, i := range []int{7, 500, 999} {
		if got[i].Head != commit(5000+i) {
			t.Errorf("%s is still at %s", got[i].FullName, got[i].Head)
		}
	}
	if n := h.count("POST") - before; n != 1 {
		t.Errorf("three pushes cost %d requests", n)
	}
}

func TestRepositoriesComeAndGo(t *testing.T) {
	h := newHost(t, 250)
	server := httptest.NewServer(h)
	defer server.Close()
	c := client(t, server.URL, nil)
	list(t, c)
	list(t, c)
	h.repos = append(h.repos[:3], h.repos[4:]...)
	if got := list(t, c); len(got) != 249 || got[3].FullName != "acme/service-00004" {
		t.Errorf("after one is deleted: %d", len(got))
	}
	h.repos[0].archived, h.repos[1].pushed = true, time.Unix(1_900_000_000, 0)
	if got := list(t, c); len(got) != 248 || got[0].FullName != "acme/service-00001" {
		t.Errorf("after one is archived: %d", len(got))
	}
	h.repos[1].name = "renamed"
	c.Relist()
	if got := list(t, c); got[0].FullName != "acme/renamed" {
		t.Errorf("after one is renamed and the webhook told: %s", got[0].FullName)
	}
}

func TestFiltersReachTheHost(t *testing.T) {
	h := newHost(t, 6)
	h.repos[1].archived, h.repos[2].fork, h.repos[3].visibility = true, true, "PUBLIC"
	h.repos[4].topics, h.repos[5].head = []string{"zeta", "backstage"}, ""
	server := httptest.NewServer(h)
	defer server.Close()
	for _, tc := range []struct {
		filter forge.Filter
		want   string
	}{
		{forge.Filter{}, "0 3 4 5"},
		{forge.Filter{Archived: true, Forks: true}, "0 1 2 3 4 5"},
		{forge.Filter{Visibility: "public"}, "3"},
		{forge.Filter{Topics: forge.Choice{Include: []string{"Backstage"}}}, "4"},
		{forge.Filter{Topics: forge.Choice{Exclude: []string{"backstage"}}}, "0 3 5"},
		{forge.Filter{Names: forge.Choice{Include: []string{"*-0000[3-9]"}, Exclude: []string{"*5"}}}, "3 4"},
	} {
		c := client(t, server.URL, func(cfg *github.Config) { cfg.Filter = tc.filter })
		var got []string
		for _, r := range list(t, c) {
			got = append(got, strings.TrimPrefix(r.FullName, "acme/service-0000"))
		}
		if s := strings.Join(got, " "); s != tc.want {
			t.Errorf("%+v: %s, not %s", tc.filter, s, tc.want)
		}
	}
}

func TestRepositoryIsTold(t *testing.T) {
	h := newHost(t, 1)
	h.repos[0].topics = []string{"zeta", "alpha"}
	server := httptest.NewServer(h)
	defer server.Close()
	got := list(t, client(t, server.URL, nil))
	want := []forge.Repository{{FullName: "acme/service-00000", CloneURL: server.URL + "/acme/service-00000.git", WebURL: "https://github.example.com/acme/service-00000",
		DefaultBranch: "main", Head: commit(0), Topics: []string{"alpha", "zeta"}, Updated: time.Unix(1_700_000_000, 0)}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestReserveIsLeftForPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, 10_000)
		h.windows["graphql"] = &window{limit: 60, length: time.Hour}
		h.reserve = 6
		c := client(t, "http://127.0.0.1:1", nil, github.WithTransport(h))
		_, err := c.Repositories(t.Context())
		f := fault.From(err)
		if f.Code != fault.QuotaExceeded || f.RetryAfter < 59*time.Minute || f.RetryAfter > time.Hour || !strings.Contains(f.Message, "graphql") {
			t.Errorf("%v, after %s", err, f.RetryAfter)
		}
		if used := h.windows["graphql"].used; used != 54 {
			t.Errorf("%d of 60 points are used", used)
		}
		h.fair()
		figures := c.Budget().Figures()
		if len(figures) != 1 || figures[0].Remaining != 6 || figures[0].Refused != 1 || figures[0].Requests != 54 {
			t.Errorf("%+v", figures)
		}
	})
}

func TestShortWindowsAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, 10_000)
		h.windows["graphql"] = &window{limit: 30, length: 40 * time.Second}
		h.reserve = 3
		c := client(t, "http://127.0.0.1:1", nil, github.WithTransport(h))
		if got := list(t, c); len(got) != 10_000 {
			t.Errorf("%d repositories", len(got))
		}
		h.fair()
	})
}

func TestSecondaryLimitsAreWaitedFor(t *testing.T) {
	slow := func(header, message string, status int, pause time.Duration) func(h *host) http.HandlerFunc {
		return func(h *host) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				h.quiet = time.Now().Add(pause)
				if header != "" {
					w.Header().Set("Retry-After", header)
				}
				if status == http.StatusOK {
					say(w, map[string]any{"errors": []any{map[string]string{"message": message}}})
					return
				}
				fail(w, status, message)
			}
		}
	}
	const words = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
	for name, answer := range map[string]func(*host) http.HandlerFunc{
		"told how long":  slow("20", "slow down", http.StatusForbidden, 20*time.Second),
		"429":            slow("5", "slow down", http.StatusTooManyRequests, 5*time.Second),
		"words alone":    slow("", words, http.StatusForbidden, time.Minute),
		"as an answer":   slow("", words, http.StatusOK, time.Minute),
		"at a full stop": slow("60", words, http.StatusOK, time.Minute),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHost(t, 1000)
				h.answers = []http.HandlerFunc{nil, nil, answer(h)}
				c := client(t, "http://127.0.0.1:1", nil, github.WithTransport(h))
				if got := list(t, c); len(got) != 1000 {
					t.Errorf("%d repositories", len(got))
				}
				h.fair()
			})
		})
	}
}

func TestLongSecondaryLimitIsToldNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, 1000)
		h.answers = []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) {
			h.quiet = time.Now().Add(10 * time.Minute)
			w.Header().Set("Retry-After", "600")
			fail(w, http.StatusForbidden, "secondary rate limit")
		}}
		c := client(t, "http://127.0.0.1:1", nil, github.WithTransport(h))
		_, err := c.Repositories(t.Context())
		if f := fault.From(err); f.Code != fault.QuotaExceeded || f.RetryAfter < 599*time.Second {
			t.Errorf("%v after %s", err, f.RetryAfter)
		}
		time.Sleep(10*time.Minute + time.Second)
		if got := list(t, c); len(got) != 1000 {
			t.Errorf("%d repositories", len(got))
		}
		h.fair()
	})
}

func TestPaceIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, 10_000)
		c := client(t, "http://127.0.0.1:1", func(cfg *github.Config) { cfg.Limits.RequestsPerMinute = 60 }, github.WithTransport(h))
		start := time.Now()
		list(t, c)
		if d := time.Since(start); d < 95*time.Second || d > 105*time.Second {
			t.Errorf("a hundred requests at one a second took %s", d)
		}
	})
}
