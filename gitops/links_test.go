package gitops_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/seal"
	"github.com/fairlead-dev/fairlead/internal/store"
)

// consent is a forge's OAuth, where whoever is asked agrees.
type consent struct {
	mu       sync.Mutex
	asked    map[string]string // verifier by code
	renewed  int
	lives    time.Duration
	refresh  string // the one that holds
	revoked  []string
	down     error
	noRevoke bool
	now      func() time.Time
}

func (c *consent) Ask(state, verifier, callback string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	code := "code-" + state[:8]
	c.asked[code] = verifier
	return callback + "?" + url.Values{"state": {state}, "code": {code}}.Encode()
}

func (c *consent) grant() *gitops.Grant {
	c.refresh = fmt.Sprint("refresh-secret-", c.renewed)
	g := &gitops.Grant{Token: gitops.NewToken(fmt.Sprint("access-secret-", c.renewed)), Account: "ada-there"}
	if c.lives != 0 {
		g.Refresh, g.Expires = gitops.NewToken(c.refresh), c.now().Add(c.lives)
	}
	return g
}

func (c *consent) Take(_ context.Context, code, verifier, _ string) (*gitops.Grant, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked[code] != verifier || verifier == "" {
		return nil, fault.New(fault.FailedPrecondition, "it does not take the code").WithFix("Link anew.")
	}
	return c.grant(), nil
}

func (c *consent) Renew(_ context.Context, refresh gitops.Token) (*gitops.Grant, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down != nil {
		return nil, c.down
	}
	if refresh.Reveal() != c.refresh {
		return nil, fault.New(fault.FailedPrecondition, "it does not take the refresh token").WithFix("Link anew.")
	}
	c.renewed++
	return c.grant(), nil
}

func (c *consent) Revoke(_ context.Context, g gitops.Grant) error {
	if c.noRevoke {
		return gitops.ErrNoRevoking
	}
	c.revoked = append(c.revoked, g.Token.Reveal())
	return nil
}

// linked is the room over SQLite.
type linked struct {
	*gitops.LinkService
	t     *testing.T
	forge *consent
	dir   string
	log   *accesstest.Log
	mu    sync.Mutex
	ahead time.Duration
	as    []string
}

func newLinked(t *testing.T, change ...func(*gitops.LinkConfig)) *linked {
	t.Helper()
	w := &linked{t: t, forge: &consent{asked: map[string]string{}}, dir: filepath.Join(t.TempDir(), "state")}
	w.forge.now = w.clock
	w.LinkService = w.open(change...)
	return w
}

// open gives a replica.
func (w *linked) open(change ...func(*gitops.LinkConfig)) *gitops.LinkService {
	w.t.Helper()
	s, err := store.Open(w.t.Context(), w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			w.t.Error(err)
		}
	})
	if _, err := s.Migrate(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	guard, log := accesstest.Guard(w.t, nil)
	w.log = log
	cfg := gitops.LinkConfig{Guard: guard, Links: s, Wishes: s, Sealer: sealer(w.t, 'k'), Forges: []string{"hub", "tea"}, Authorizers: map[string]gitops.Authorizer{"tea": w.forge},
		Callback: func() string { return "https://fairlead.example.com/back" },
		As: func(forge, person string, t gitops.Token) (gitops.Forge, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.as = append(w.as, forge+" "+person+" "+t.Reveal())
			return nil, nil
		},
		Now: w.clock}
	for _, c := range change {
		c(&cfg)
	}
	links, err := gitops.NewLinks(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	return links
}

func sealer(t *testing.T, letter byte) *seal.Box {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	writeFile(t, file, bytes.Repeat([]byte{letter}, 32))
	b, err := seal.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (w *linked) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.ahead)
}

func (w *linked) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ahead += d
}

// begin begins a link and gives what the callback will be given.
func (w *linked) begin(who access.Caller) (id, state, code string) {
	w.t.Helper()
	started, err := w.StartForgeLink(w.t.Context(), who, gitops.StartForgeLinkInput{Forge: "tea"})
	if err != nil {
		w.t.Fatal(err)
	}
	u, err := url.Parse(started.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	return started.ID, u.Query().Get("state"), u.Query().Get("code")
}

// link links an account.
func (w *linked) link(who access.Caller) *gitops.ForgeLink {
	w.t.Helper()
	id, state, code := w.begin(who)
	agreed, err := w.Agree(w.t.Context(), state, code, "")
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.Confirm(w.t.Context(), agreed.Confirm); err != nil {
		w.t.Fatal(err)
	}
	out, err := w.FinishForgeLink(w.t.Context(), who, gitops.FinishForgeLinkInput{ID: id})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *linked) wants(err error, code fault.Code, words string) {
	w.t.Helper()
	if f := fault.From(err); f == nil || f.Code != code || !strings.Contains(f.Message+" "+f.Fix, words) || f.Fix == "" {
		w.t.Errorf("%v is not %s with %q", err, code, words)
	}
}

func TestLinking(t *testing.T) {
	w := newLinked(t)
	if out := w.link(alice); out.Account != "ada-there" || out.Since.IsZero() {
		t.Errorf("%+v", out)
	}
	got, err := w.AccountOf(t.Context(), "user:default/alice", "tea")
	if err != nil || got.Name != "ada-there" || got.Token.Reveal() != "access-secret-0" || w.as[0] != "tea user:default/alice access-secret-0" {
		t.Errorf("%v %v %v", got, w.as, err)
	}
	for _, other := range [][2]string{{"user:default/eve", "tea"}, {"user:default/alice", "hub"}, {"", "tea"}} {
		if got, err := w.AccountOf(t.Context(), other[0], other[1]); got != nil || err != nil {
			t.Errorf("%v has %v, %v", other, got, err)
		}
	}
	listed, err := w.ListForgeLinks(t.Context(), accesstest.As("user:default/alice", accesstest.Agent("claude")), gitops.ListForgeLinksInput{})
	if err != nil || len(listed.Items) != 2 || listed.Items[0].Linkable || listed.Items[1].Account != "ada-there" || listed.Items[1].Pending != "" {
		t.Errorf("%+v %v", listed, err)
	}
	if text := fmt.Sprintf("%v %+v %#v", got, got, *got); strings.Contains(text, "access-secret") {
		t.Errorf("it prints as %s", text)
	}
}

func TestLinksAreRefused(t *testing.T) {
	w, ctx := newLinked(t), t.Context()
	start := func(s *gitops.LinkService, who access.Caller, forge string) error {
		_, err := s.StartForgeLink(ctx, who, gitops.StartForgeLinkInput{Forge: forge})
		return err
	}
	w.wants(start(nil, alice, "tea"), fault.FailedPrecondition, "forges")
	w.wants(start(w.LinkService, accesstest.As("user:default/alice", accesstest.Agent("claude")), "tea"), fault.Forbidden, "fairlead login --forge")
	w.wants(start(w.LinkService, alice, "none"), fault.NotFound, "hub, tea")
	w.wants(start(w.LinkService, alice, "hub"), fault.FailedPrecondition, "oauth")
	w.wants(start(w.LinkService, accesstest.Anonymous(), "tea"), fault.Unauthenticated, "")
	w.wants(start(w.open(func(c *gitops.LinkConfig) { c.Sealer = nil }), alice, "tea"), fault.FailedPrecondition, "tokenKeyFile")
	_, err := w.UnlinkForge(ctx, alice, gitops.UnlinkForgeInput{Forge: "tea"})
	w.wants(err, fault.NotFound, "")
}

// TestStatesCountOnce has what comes back from a forge come twice, late, for
// another, and before its time.
func TestStatesCountOnce(t *testing.T) {
	w, ctx := newLinked(t), t.Context()
	id, state, code := w.begin(alice)
	finish := func(who access.Caller, id string) error {
		_, err := w.FinishForgeLink(ctx, who, gitops.FinishForgeLinkInput{ID: id})
		return err
	}
	w.wants(finish(alice, id), fault.FailedPrecondition, "not been agreed")
	agreed, err := w.Agree(ctx, state, code, "")
	if err != nil || agreed.Person != "user:default/alice" || agreed.Account != "ada-there" {
		t.Fatalf("%+v %v", agreed, err)
	}
	_, err = w.Agree(ctx, state, code, "")
	w.wants(err, fault.NotFound, "Begin anew")
	w.wants(finish(alice, id), fault.FailedPrecondition, "confirmed")
	_, err = w.Confirm(ctx, state)
	w.wants(err, fault.NotFound, "")
	if _, err := w.Confirm(ctx, agreed.Confirm); err != nil {
		t.Fatal(err)
	}
	_, err = w.Confirm(ctx, agreed.Confirm)
	w.wants(err, fault.NotFound, "")
	w.wants(finish(accesstest.As("user:default/eve"), id), fault.NotFound, "")
	w.wants(finish(accesstest.As("user:default/alice", accesstest.Agent("claude")), id), fault.Forbidden, "")
	if err := finish(alice, id); err != nil {
		t.Error(err)
	}
	w.wants(finish(alice, id), fault.NotFound, "")

	_, state, code = w.begin(alice)
	w.pass(11 * time.Minute)
	_, err = w.Agree(ctx, state, code, "")
	w.wants(err, fault.NotFound, "expired")
	id, state, _ = w.begin(alice)
	_, err = w.Agree(ctx, state, "", "access_denied")
	w.wants(err, fault.FailedPrecondition, "access_denied")
	w.wants(finish(alice, id), fault.FailedPrecondition, "not agreed")
	id, state, _ = w.begin(alice)
	_, err = w.Agree(ctx, state, "code-of-somebody-else", "")
	w.wants(err, fault.FailedPrecondition, "does not take the code")
	w.wants(finish(alice, id), fault.FailedPrecondition, "not agreed")
	for _, s := range []string{"", "short", strings.Repeat("x", 60), strings.Repeat("x", 5000)} {
		_, err = w.Agree(ctx, s, "code", "")
		w.wants(err, fault.NotFound, "")
	}
}

// TestTokensAreRenewed has many want a token that ends, at two replicas.
func TestTokensAreRenewed(t *testing.T) {
	w, ctx := newLinked(t), t.Context()
	other := w.open()
	w.forge.lives = time.Hour
	w.link(alice)
	w.pass(58 * time.Minute)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			got, err := []*gitops.LinkService{w.LinkService, other}[i%2].AccountOf(ctx, "user:default/alice", "tea")
			if err != nil || got.Token.Reveal() != "access-secret-1" {
				t.Errorf("%v", err)
			}
		})
	}
	all.Wait()
	if got, err := other.AccountOf(ctx, "user:default/alice", "tea"); err != nil || got.Token.Reveal() != "access-secret-1" || w.forge.renewed != 1 {
		t.Errorf("renewed %d times, %v", w.forge.renewed, err)
	}
	w.pass(58 * time.Minute)
	w.forge.down = fault.New(fault.Unavailable, "it cannot be reached").WithFix("Try again.")
	_, err := w.AccountOf(ctx, "user:default/alice", "tea")
	w.wants(err, fault.Unavailable, "")
	w.forge.down, w.forge.refresh = nil, "revoked"
	_, err = w.AccountOf(ctx, "user:default/alice", "tea")
	w.wants(err, fault.FailedPrecondition, "fairlead login --forge tea")
	_, err = w.open(func(c *gitops.LinkConfig) { c.Sealer = sealer(t, 'x') }).AccountOf(ctx, "user:default/alice", "tea")
	w.wants(err, fault.FailedPrecondition, "fairlead login --forge tea")
	_, err = w.open(func(c *gitops.LinkConfig) { c.Sealer = nil }).AccountOf(ctx, "user:default/alice", "tea")
	w.wants(err, fault.FailedPrecondition, "tokenKeyFile")
}

func TestUnlinking(t *testing.T) {
	w, ctx := newLinked(t), t.Context()
	for _, can := range []bool{true, false} {
		w.forge.noRevoke = !can
		w.link(alice)
		out, err := w.UnlinkForge(ctx, alice, gitops.UnlinkForgeInput{Forge: "tea"})
		if err != nil || (len(out.Notes) == 0) != can || !can && !strings.Contains(out.Notes[0], "revoke it there") {
			t.Errorf("%+v, %v", out, err)
		}
		if got, err := w.AccountOf(ctx, "user:default/alice", "tea"); got != nil || err != nil {
			t.Errorf("still %v, %v", got, err)
		}
	}
	if len(w.forge.revoked) != 1 || w.forge.revoked[0] != "access-secret-0" {
		t.Errorf("revoked %v", w.forge.revoked)
	}
}

func writeFile(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
