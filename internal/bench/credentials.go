package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/internal/demo"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// What the part credentials does.
const (
	loansInTurn   = 200 // by each of both ways
	loansAtOnce   = 100 // asked for at once
	loansRoom     = 50  // of those there is room for
	loansBound    = 4   // to each preview
	loansPreviews = 5   // that end
)

// lending is a server that lends users of a PostgreSQL which a Vault makes.
type lending struct {
	*server
	vault    *realtest.VaultServer
	database string
	policy   string // of accounts, as Fairlead has written it
	plain    *http.Client
}

// credentials measures credentials on loan, of a real Vault that nobody has
// prepared, beside the same calls to Vault alone.
func (s settings) credentials(ctx context.Context, r report, dir string) error {
	if s.server == "" {
		return errors.New("the part credentials needs -server")
	}
	database, drop, err := realtest.NewDatabase()
	if err != nil {
		return err
	}
	dir = filepath.Join(dir, "credentials")
	l := &lending{database: database, plain: &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}}
	if err = os.MkdirAll(filepath.Join(dir, "vault"), 0o700); err == nil {
		var stop func()
		if l.vault, stop, err = realtest.NewVault(ctx, filepath.Join(dir, "vault")); err == nil {
			err = l.serve(ctx, r, s.server, dir)
			stop()
		}
	}
	return errors.Join(err, drop())
}

// serve starts the server and measures it.
func (l *lending) serve(ctx context.Context, r report, program, dir string) error {
	config, err := l.configure(ctx, dir)
	if err != nil {
		return err
	}
	if l.server, err = startServer(ctx, program, config.Config); err != nil {
		return err
	}
	l.token, l.client = config.Tokens["sre"], &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: loansAtOnce}, Timeout: time.Minute}
	if err = l.ready(ctx); err == nil {
		r.section("Credentials of PostgreSQL on loan from a real Vault that nobody has prepared, state in SQLite")
		err = errors.Join(l.inTurn(ctx, r), l.crowd(ctx, r), l.bound(ctx, r))
	}
	return errors.Join(err, l.endPreviews(context.WithoutCancel(ctx)), l.stop())
}

// configure has Vault make users, and a server lend them.
func (l *lending) configure(ctx context.Context, dir string) (*demo.Set, error) {
	file := filepath.Join(dir, "vault", "token")
	err := errors.Join(l.vault.MountDatabase(ctx, "database", l.database), l.vault.AddDatabaseRole(ctx, "database", "checkout-ro", time.Hour, 2*time.Hour), os.WriteFile(file, []byte(l.vault.RootToken), 0o600))
	set, failure := previewDemo(ctx, filepath.Join(dir, "demo"), fmt.Sprintf(`previews: {deployers: {local: {}}}
vault: {address: %q, auth: {tokenFile: %q}}
secrets: {limits: {perAgent: 1000, perPerson: 1000, perService: %d}}
`, l.vault.Address, file, loansRoom))
	return set, errors.Join(err, failure)
}

// ending gives back what was borrowed.
type ending func(ctx context.Context) error

// leaseID is what is read of leases.
type leaseID struct{ Lease string }

// borrow has Fairlead lend another credential.
func (l *lending) borrow(ctx context.Context, boundTo string) (lease string, err error) {
	body := fmt.Sprintf(`{"service":"checkout","name":"db-readonly","new":true,"boundTo":%q}`, boundTo)
	var loan leaseID
	data, err := l.ask(ctx, request{method: http.MethodPost, path: "/api/v1/credentials", body: body, header: jsonBody(), holds: `"unwrapURL"`})
	if err == nil {
		err = json.Unmarshal(data, &loan)
	}
	return loan.Lease, err
}

// lend is borrow with what ends it.
func (l *lending) lend(ctx context.Context) (ending, error) {
	lease, err := l.borrow(ctx, "")
	return l.asking(request{method: http.MethodDelete, path: "/api/v1/credentials/" + lease, holds: `"revoked"`}), err
}

// asking is an ending by a request.
func (l *lending) asking(r request) ending {
	return func(ctx context.Context) error {
		_, err := l.ask(ctx, r)
		return err
	}
}

// account is what Vault makes of a token.
type account struct {
	Auth struct {
		Accessor    string
		ClientToken string `json:"client_token"`
	}
}

// draw has Vault alone do what it does when Fairlead lends.
func (l *lending) draw(ctx context.Context) (ending, error) {
	meta := map[string]string{}
	for i := range 9 {
		meta[fmt.Sprint("key", i)] = "component:default/checkout"
	}
	var made account
	if err := l.vault.Ask(ctx, http.MethodPut, "auth/token/create/fairlead", map[string]any{"policies": []string{l.policy}, "no_default_policy": true,
		"meta": meta, "display_name": "fairlead", "ttl": "900s", "explicit_max_ttl": "3600s", "renewable": true}, &made); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		return l.vault.Ask(ctx, http.MethodPut, "auth/token/revoke-accessor", map[string]string{"accessor": made.Auth.Accessor}, nil)
	}, l.drawBy(ctx, made.Auth.ClientToken)
}

// drawBy has a token draw the credential, wrapped.
func (l *lending) drawBy(ctx context.Context, token string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.vault.Address+"/v1/database/creds/checkout-ro", nil)
	if err != nil {
		return err
	}
	req.Header.Set("X-Vault-Token", token)
	req.Header.Set("X-Vault-Wrap-TTL", "120s")
	res, err := l.plain.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && !bytes.Contains(text, []byte(`"wrap_info":{"token"`)) {
		err = fmt.Errorf("drawing: %s: %.200s", res.Status, text)
	}
	return err
}

// noUsers is a statement that ends when PostgreSQL has none of Vault's users.
const noUsers = `set statement_timeout = '60s'; do $$ begin while exists (select from pg_roles where rolname like 'v-%') loop perform pg_sleep(0.002); end loop; end $$`

// watch tells when PostgreSQL has no users left.
func (l *lending) watch(ctx context.Context) <-chan error {
	gone := make(chan error, 1)
	go func() {
		_, err := realtest.SQL(ctx, l.database, noUsers)
		gone <- err
	}()
	return gone
}

// untilGone ends something and adds how long it takes until PostgreSQL has no
// users left, looking included.
func (l *lending) untilGone(ctx context.Context, times *[]time.Duration, end ending) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began, gone := time.Now(), l.watch(ctx)
	err := end(ctx)
	if err != nil {
		cancel()
	}
	err = errors.Join(err, <-gone)
	*times = append(*times, time.Since(began))
	return err
}

// turns are how long lending and giving back took by one way.
type turns struct{ lent, gone []time.Duration }

// turn borrows once and gives back.
func (l *lending) turn(ctx context.Context, t *turns, way func(context.Context) (ending, error)) error {
	began := time.Now()
	end, err := way(ctx)
	if err == nil {
		t.lent = append(t.lent, time.Since(began))
		err = l.untilGone(ctx, &t.gone, end)
	}
	return err
}

// inTurn borrows again and again, by Fairlead and by Vault alone.
func (l *lending) inTurn(ctx context.Context, r report) error {
	var by, alone turns
	if err := errors.Join(l.turn(ctx, &turns{}, l.lend), l.learn(ctx)); err != nil { // the first prepares Vault
		return err
	}
	before, err := cpuOf(l.cmd.Process.Pid)
	for i := 0; i < loansInTurn && err == nil; i++ {
		if i%2 == 0 {
			err = errors.Join(l.turn(ctx, &by, l.lend), l.turn(ctx, &alone, l.draw))
		} else {
			err = errors.Join(l.turn(ctx, &alone, l.draw), l.turn(ctx, &by, l.lend))
		}
	}
	if err != nil {
		return err
	}
	after, err := cpuOf(l.cmd.Process.Pid)
	r.beside(fmt.Sprintf("lent over REST, of %d in turn: p50 / p99", loansInTurn), by.lent, alone.lent, "3 ms")
	r.beside("given back until the user is gone: p50 / p99", by.gone, alone.gone, "")
	r.line("processor of the server for each loan and its end", millis((after-before)/loansInTurn), "")
	return err
}

// beside prints what something took by Fairlead and by Vault alone.
func (r report) beside(name string, by, alone []time.Duration, goal string) {
	slices.Sort(by)
	slices.Sort(alone)
	two := func(at func(q float64) time.Duration) string { return millis(at(.5)) + " / " + millis(at(.99)) }
	r.line(name, two(func(q float64) time.Duration { return quantile(by, q) }), "")
	r.line("  Vault alone, in between", two(func(q float64) time.Duration { return quantile(alone, q) }), "")
	r.line("  what Fairlead adds", two(func(q float64) time.Duration { return quantile(by, q) - quantile(alone, q) }), goal)
}

// learn finds out which policy Fairlead has written.
func (l *lending) learn(ctx context.Context) error {
	var list struct{ Data struct{ Keys []string } }
	err := l.vault.Ask(ctx, "LIST", "sys/policies/acl", nil, &list)
	at := slices.IndexFunc(list.Data.Keys, func(name string) bool { return strings.HasPrefix(name, "fairlead/draw/") })
	if at < 0 {
		return errors.Join(err, fmt.Errorf("no policy was written: %s", list.Data.Keys))
	}
	l.policy = list.Data.Keys[at]
	return err
}

// crowd asks for more at once than there is room for, and ends all.
func (l *lending) crowd(ctx context.Context, r report) error {
	began := time.Now()
	lent, refused, err := l.rush(ctx)
	took := time.Since(began)
	live, e := l.live(ctx)
	if err = errors.Join(err, e); err != nil {
		return err
	}
	known := 0
	for _, lease := range lent {
		if slices.Contains(live, leaseID{lease}) {
			known++
		}
	}
	users, err := l.users(ctx)
	r.line(fmt.Sprintf("%d at once, room for %d: lent / refused / lost", loansAtOnce, loansRoom), fmt.Sprintf("%d / %d / %d, after %s", len(lent), refused, len(lent)-known, seconds(took)), fmt.Sprintf("%d, none lost", loansRoom))
	r.line("in the ledger / in PostgreSQL", fmt.Sprintf("%d / %s", len(live), users), "the same")
	var gone []time.Duration
	e = l.untilGone(ctx, &gone, l.asking(request{method: http.MethodPost, path: "/api/v1/credentials/revoke-all", body: `{"service":"checkout","reason":"measuring"}`, header: jsonBody()}))
	r.line("all of the service revoked, until the last user is gone", seconds(gone[0]), "2 s")
	return errors.Join(err, e)
}

// rush borrows many times at once.
func (l *lending) rush(ctx context.Context) (lent []string, refused int, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range loansAtOnce {
		wg.Go(func() {
			lease, one := l.borrow(ctx, "")
			mu.Lock()
			defer mu.Unlock()
			switch {
			case one == nil:
				lent = append(lent, lease)
			case strings.Contains(one.Error(), `"quota_exceeded"`):
				refused++
			default:
				err = errors.Join(err, one)
			}
		})
	}
	wg.Wait()
	return lent, refused, err
}

// users is how many PostgreSQL has of Vault's.
func (l *lending) users(ctx context.Context) (string, error) {
	n, err := realtest.SQL(ctx, l.database, `select count(*) from pg_roles where rolname like 'v-%'`)
	return strings.TrimSpace(n), err
}

// live are the leases that are.
func (l *lending) live(ctx context.Context) ([]leaseID, error) {
	var page struct{ Items []leaseID }
	data, err := l.ask(ctx, request{method: http.MethodGet, path: "/api/v1/credentials?state=live&limit=200"})
	if err == nil {
		err = json.Unmarshal(data, &page)
	}
	return page.Items, err
}

// bound has previews end to which credentials are bound.
func (l *lending) bound(ctx context.Context, r report) error {
	var times []time.Duration
	for i := range loansPreviews {
		p, err := l.create(ctx, fmt.Sprintf("bound-%d", i), "60s")
		for range loansBound {
			_, one := l.borrow(ctx, "preview:"+p.ID)
			err = errors.Join(err, one)
		}
		if err != nil {
			return err
		}
		if err = l.untilGone(ctx, &times, l.asking(request{method: http.MethodDelete, path: "/api/v1/previews/" + p.ID})); err != nil {
			return err
		}
	}
	r.line(fmt.Sprintf("a preview with %d ended, until they are gone: min/p50/max", loansBound), spread(times), "2 s")
	return nil
}
