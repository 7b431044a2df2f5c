package gitlab_test

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge"
	"github.com/fairlead-dev/fairlead/internal/forge/gitlab"
)

func TestGroupIsListedWithItsSubgroups(t *testing.T) {
	h := newHost(t, 1234)
	server := httptest.NewServer(h)
	defer server.Close()
	c := client(t, server.URL, nil)
	got := list(t, c)
	if len(got) != 1234 || len(h.queries) != 13 || !slices.IsSortedFunc(got, func(x, y forge.Repository) int { return strings.Compare(x.FullName, y.FullName) }) {
		t.Fatalf("%d projects by %d requests", len(got), len(h.queries))
	}
	want := forge.Repository{FullName: "acme/team-0/service-0000", CloneURL: server.URL + "/acme/team-0/service-0000.git", WebURL: "https://gitlab.example.com/acme/team-0/service-0000",
		DefaultBranch: "main", Topics: []string{}, Updated: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	if d := cmp.Diff(want, got[0]); d != "" {
		t.Error(d)
	}
	if again := list(t, c); len(again) != 1234 || h.same != 13 {
		t.Errorf("again: %d projects, %d of 13 pages unchanged", len(again), h.same)
	}
}

func TestFilters(t *testing.T) {
	h := newHost(t, 7)
	h.projects[1].archived, h.projects[2].fork, h.projects[3].visibility, h.projects[4].topic, h.projects[5].doomed = true, true, "internal", "backstage", true
	h.projects = append(h.projects, &project{id: 50, path: "alice/notes", visibility: "public"})
	server := httptest.NewServer(h)
	defer server.Close()
	for want, change := range map[string]func(*gitlab.Config){
		"0 3 4 6":     func(*gitlab.Config) {},
		"0 1 2 3 4 6": func(c *gitlab.Config) { c.Filter.Archived, c.Filter.Forks = true, true },
		"3":           func(c *gitlab.Config) { c.Filter.Visibility = "internal" },
		"4":           func(c *gitlab.Config) { c.Filter.Topics.Include = []string{"backstage"} },
		"0 3 6":       func(c *gitlab.Config) { c.Filter.Topics.Exclude = []string{"backstage"} },
		"6":           func(c *gitlab.Config) { c.Filter.Names.Include = []string{"*6"} },
		"1":           func(c *gitlab.Config) { c.Group, c.Filter.Archived = "acme/team-1", true },
		"notes":       func(c *gitlab.Config) { c.Group, c.User = "", "alice" },
	} {
		var got []string
		for _, r := range list(t, client(t, server.URL, change)) {
			name := r.FullName[strings.LastIndex(r.FullName, "/")+1:]
			got = append(got, strings.TrimPrefix(name, "service-000"))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s, not %s", s, want)
		}
	}
	for _, want := range []string{"archived=false", "visibility=internal", "topic=backstage"} {
		if !strings.Contains(strings.Join(h.queries, " "), want) {
			t.Errorf("%s is not asked for", want)
		}
	}
}

func TestDeletionWhileReadingHidesNobody(t *testing.T) {
	for _, untold := range []bool{false, true} {
		h := newHost(t, 350)
		server := httptest.NewServer(h)
		defer server.Close()
		c := client(t, server.URL, nil)
		h.untold = untold
		list(t, c)
		h.afterPage = func(int) {
			h.projects, h.afterPage = h.projects[1:], nil // the rest moves up by one
		}
		got := list(t, c)
		if !slices.ContainsFunc(got, func(r forge.Repository) bool { return strings.HasSuffix(r.FullName, "/service-0100") }) {
			t.Errorf("untold %v: the one that moved is missing", untold)
		}
		if got := list(t, c); len(got) != 349 {
			t.Errorf("untold %v: %d projects of 349", untold, len(got))
		}
	}
}

func TestSwapWhileReadingHidesNobody(t *testing.T) {
	h := newHost(t, 350)
	server := httptest.NewServer(h)
	defer server.Close()
	c := client(t, server.URL, nil)
	list(t, c)
	h.afterPage = func(int) {
		h.projects, h.afterPage = append(h.projects[1:], &project{id: 900, path: "acme/new", visibility: "private"}), nil
	}
	if got := list(t, c); !slices.ContainsFunc(got, func(r forge.Repository) bool { return strings.HasSuffix(r.FullName, "/service-0100") }) {
		t.Error("the one that moved is missing")
	}
}

func TestLimitsAreKept(t *testing.T) {
	h := newHost(t, 2000)
	h.limit = 10
	server := httptest.NewServer(h)
	defer server.Close()
	c := client(t, server.URL, func(cfg *gitlab.Config) { cfg.Limits.Wait = time.Second })
	_, err := c.Repositories(t.Context())
	if f := fault.From(err); f.Code != fault.QuotaExceeded || f.RetryAfter < 50*time.Second {
		t.Errorf("%v after %s", err, f.RetryAfter)
	}
	if h.used != 9 || h.refused != 0 {
		t.Errorf("%d of 10 requests used, %d refused", h.used, h.refused)
	}
}

func TestErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*host, *gitlab.Config)
		code   fault.Code
		words  string
	}{
		"revoked":             {func(h *host, _ *gitlab.Config) { h.revoked = true }, fault.Unauthenticated, "/token"},
		"no such group":       {func(_ *host, c *gitlab.Config) { c.Group = "nobody" }, fault.NotFound, "group nobody"},
		"too many":            {func(_ *host, c *gitlab.Config) { c.Limits.Repositories = 2 }, fault.FailedPrecondition, "limits.repositories"},
		"a name that is none": {func(h *host, _ *gitlab.Config) { h.projects[7].path = "acme/../../x" }, fault.Unavailable, "acme/../../x"},
		"never stands still": {func(h *host, _ *gitlab.Config) {
			h.afterPage = func(page int) {
				if page == 1 {
					h.projects = h.projects[1:]
				}
			}
		}, fault.Unavailable, "changes faster"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, 250)
			server := httptest.NewServer(h)
			defer server.Close()
			_, err := client(t, server.URL, func(c *gitlab.Config) { tc.change(h, c) }).Repositories(t.Context())
			f := fault.From(err)
			if f == nil || f.Code != tc.code || f.Fix == "" || !strings.Contains(f.Message+f.Fix, tc.words) {
				t.Fatalf("%v (fix %q)", err, f.Fix)
			}
			if strings.Contains(f.Error(), token) {
				t.Errorf("the token is in %s", f.Error())
			}
		})
	}
}

func TestConfigProblems(t *testing.T) {
	for field, cfg := range map[string]gitlab.Config{
		"group":             {Group: "a//b"},
		"user":              {User: "a b"},
		"host":              {Group: "a", Host: "gitlab.example.com/path"},
		"url":               {Group: "a", URL: "http://gitlab.example.com", TokenFile: "t"},
		"credentials":       {Group: "a", TokenFile: "t", TokenEnv: "T"},
		"filter.visibility": {Group: "a", Filter: forge.Filter{Visibility: "x"}},
	} {
		if ps := cfg.Validate(); len(ps) != 1 || ps[0].Field != field {
			t.Errorf("%s: %+v", field, ps)
		}
	}
	if ps := (&gitlab.Config{Group: "acme/platform"}).Validate(); len(ps) != 0 {
		t.Error(ps)
	}
}
