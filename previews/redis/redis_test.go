package redis

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/previewstest"
)

var template = previews.DataTemplate{Name: "cache", Kind: "redis", Server: "main", Env: "REDIS_URL"}

func wish(id string) previews.Wish {
	return previews.Wish{ID: id, Service: "component:default/shop"}
}

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// server is a real server, seen by its user default and by an administrator
// with no more rights than the fix of explain names.
type server struct {
	*realtest.RedisServer
	super *redis.Client
}

const adminRules = "ACL SETUSER fairlead on >admin-secret ~pv:* &* +acl +info +module|list +command +scan +unlink"

func startServer(t *testing.T) server {
	t.Helper()
	s := server{RedisServer: realtest.Redis(t)}
	s.super = redis.NewClient(&redis.Options{Addr: s.Address, Password: s.Password, Protocol: 2})
	t.Cleanup(func() { _ = s.super.Close() })
	s.do(t, adminRules)
	return s
}

// do runs a command as the user default.
func (s server) do(t *testing.T, command string) any {
	t.Helper()
	out, err := run(t.Context(), s.super, command)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return out
}

func run(ctx context.Context, c *redis.Client, command string) (any, error) {
	var args []any
	for _, f := range strings.Fields(command) {
		args = append(args, strings.ReplaceAll(f, "·", " "))
	}
	return c.Do(ctx, args...).Result()
}

func (s server) provider(t *testing.T, change ...func(*Config)) *Provider {
	t.Helper()
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("admin-secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := Config{Name: "main", URL: "redis://fairlead@" + s.Address, PasswordFile: file}
	for _, c := range change {
		c(&cfg)
	}
	p, err := New(cfg, access.NewSecret("a key of this test"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// client is who a URL lets in.
func client(t *testing.T, url string) *redis.Client {
	t.Helper()
	opts, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	opts.Protocol, opts.MaxRetries = 2, -1
	c := redis.NewClient(opts)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func provide(t *testing.T, p *Provider, id string) (*redis.Client, string) {
	t.Helper()
	url, err := p.Provide(t.Context(), wish(id), template)
	if err != nil {
		t.Fatalf("%v: %+v", err, fault.From(err))
	}
	return client(t, url.Reveal()), p.Prefix(wish(id), template)
}

func TestContract(t *testing.T) {
	s := startServer(t)
	names := s.provider(t)
	provider := func() previews.Data { return s.provider(t) } // open until after the parts
	previewstest.DataContract(t, func(*testing.T) previewstest.DataSubject {
		return previewstest.DataSubject{Data: provider(), Restarted: provider, Wish: wish("shop-contract"), Template: template,
			Use: func(ctx context.Context, url string) error {
				opts, err := redis.ParseURL(url)
				if err != nil {
					return err
				}
				opts.MaxRetries = -1
				c := redis.NewClient(opts)
				defer func() { _ = c.Close() }()
				id, _, _ := strings.Cut(strings.TrimPrefix(opts.Username, names.users("")), "_")
				return c.Set(ctx, names.Prefix(wish(id), template)+"k", "v", 0).Err()
			}}
	})
	if left := fmt.Sprint(s.do(t, "ACL USERS"), s.do(t, "DBSIZE")); left != "[default fairlead] 0" {
		t.Errorf("there is still %s", left)
	}
}

// TestKeptApart has a preview try what it must not be able to do, beside what
// it may.
func TestKeptApart(t *testing.T) {
	s := startServer(t)
	p := s.provider(t)
	c, mine := provide(t, p, "mine-1")
	other, theirs := provide(t, p, "mine-1x")
	if err := other.Set(t.Context(), theirs+"secret", "theirs", 0).Err(); err != nil {
		t.Fatal(err)
	}
	s.do(t, "SET shared theirs")
	expand := strings.NewReplacer("MINE:", mine, "THEIRS:", theirs).Replace
	for _, command := range strings.Split(strings.TrimSpace(refusedCommands), "\n") {
		out, err := run(t.Context(), c, expand(strings.TrimSpace(command)))
		if err == nil || !refusal.MatchString(err.Error()) {
			t.Errorf("%s: %v, %v", command, out, err)
		}
	}
	for _, command := range strings.Split(strings.TrimSpace(allowedCommands), "\n") {
		if out, err := run(t.Context(), c, expand(strings.TrimSpace(command))); err != nil {
			t.Errorf("%s: %v, %v", command, out, err)
		}
	}
	if _, err := run(t.Context(), c, "AUTH default guess"); err == nil {
		t.Error("let in as default")
	}
	if got := s.do(t, "GET shared"); got != "theirs" {
		t.Errorf("what is shared is %v", got)
	}
	// RESET makes a connection the user default's, who is asked for a password.
	conn := c.Conn()
	defer func() { _ = conn.Close() }()
	_ = conn.Do(t.Context(), "RESET").Err()
	if out, err := conn.Do(t.Context(), "GET", "shared").Result(); err == nil {
		t.Errorf("after RESET it reads %v", out)
	}
	s.endsWithConnections(t, p, c, mine)
}

// refusal is how Redis refuses, from scripts too; DEBUG is off for everybody.
var refusal = regexp.MustCompile("NOPERM|can't (run|access)|not allowed")

// endsWithConnections has connections of a preview wait and write while it is
// removed.
func (s server) endsWithConnections(t *testing.T, p *Provider, c *redis.Client, mine string) {
	t.Helper()
	sub := c.PSubscribe(t.Context(), mine+"*")
	defer func() { _ = sub.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	done := make(chan error, 2)
	go func() { done <- c.BLPop(ctx, 0, mine+"waits").Err() }()
	go func() {
		for i := 0; ; i++ {
			if err := c.Set(ctx, fmt.Sprintf("%sw%d", mine, i), "x", 0).Err(); err != nil {
				done <- err
				return
			}
		}
	}()
	for s.do(t, "EXISTS "+mine+"w99") == int64(0) {
		if ctx.Err() != nil {
			t.Fatal("nothing is written")
		}
	}
	pipe := s.super.Pipeline()
	for i := range 5000 { // more than one batch
		pipe.Set(ctx, fmt.Sprintf("%sn%d", mine, i), "x", 0)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	if err := p.Remove(ctx, wish("mine-1"), template); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-done; err == nil || ctx.Err() != nil {
			t.Errorf("a connection ended with %v", err)
		}
	}
	if o, err := p.Observe(ctx, wish("mine-1"), template); err != nil || o.Exists {
		t.Errorf("there is %+v, %v", o, err)
	}
	if n := s.do(t, "DBSIZE"); n != int64(2) {
		t.Errorf("%v keys are left of 2", n)
	}
	if clients := fmt.Sprint(s.do(t, "CLIENT LIST")); strings.Contains(clients, "user=pv_"+p.installation+"_mine-1_cache") {
		t.Errorf("connected is %s", clients)
	}
}

// TestServerStartsAgain has a server that keeps keys and no users forget them.
func TestServerStartsAgain(t *testing.T) {
	s := startServer(t)
	p := s.provider(t)
	c, mine := provide(t, p, "shop-1")
	if err := c.Set(t.Context(), mine+"k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	if _, err := p.Observe(t.Context(), wish("shop-1"), template); fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("of a server that is down: %v", err)
	}
	s.Start(t)
	if _, err := p.Observe(t.Context(), wish("shop-1"), template); !strings.Contains(fmt.Sprint(err), "does not let Fairlead's administrator in") {
		t.Errorf("without its administrator: %v", err)
	}
	s.do(t, adminRules)
	if o, err := p.Observe(t.Context(), wish("shop-1"), template); err != nil || o.Ready || fmt.Sprint(o.Remains) != "[keys "+mine+"*]" {
		t.Errorf("there is %+v, %v", o, err)
	}
	c, _ = provide(t, p, "shop-1")
	if got := c.Get(t.Context(), mine+"k").Val(); got != "v" {
		t.Errorf("read %q", got)
	}
	s.do(t, "ACL SETUSER pv_"+p.installation+"_shop-1_cache off")
	if o, err := p.Observe(t.Context(), wish("shop-1"), template); err != nil || o.Ready || !o.Exists {
		t.Errorf("closed it is %+v, %v", o, err)
	}
}

func TestStrays(t *testing.T) {
	s := startServer(t)
	p := s.provider(t)
	for _, id := range []string{"known-1", "lost-1", "lost-1x"} {
		c, prefix := provide(t, p, id)
		if err := c.Set(t.Context(), prefix+"k", "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	s.do(t, "SET pv:00000000:others:cache:k v")
	s.do(t, "ACL SETUSER pv_00000000_others_cache")
	s.do(t, "ACL DELUSER pv_"+p.installation+"_lost-1x_cache")
	strays := func() string {
		found, err := p.Strays(t.Context(), func(id string) bool { return id == "known-1" })
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, f := range found {
			out = append(out, fmt.Sprint(f.ID, f.What))
		}
		return strings.ReplaceAll(strings.Join(out, "; "), p.installation, "I")
	}
	if got := strays(); got != "lost-1[user pv_I_lost-1_cache of Redis server main 1 keys pv:I:lost-1:*]; lost-1x[1 keys pv:I:lost-1x:*]" {
		t.Error(got)
	}
	if err := p.RemoveStray(t.Context(), "lost-1"); err != nil {
		t.Fatal(err)
	}
	if got := strays(); got != "lost-1x[1 keys pv:I:lost-1x:*]" {
		t.Error(got)
	}
	if err := p.RemoveStray(t.Context(), "*"); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("a pattern for an id: %v", err)
	}
	if _, err := p.Provide(t.Context(), wish("a*"), template); fault.CodeOf(err) != fault.Internal {
		t.Errorf("a pattern in a wish: %v", err)
	}
}

func TestServersThatAreRefused(t *testing.T) {
	s := startServer(t)
	s.do(t, "ACL SETUSER default nopass")
	if _, err := s.provider(t).Provide(t.Context(), wish("a"), template); fault.CodeOf(err) != fault.FailedPrecondition || !strings.Contains(err.Error(), "lets anybody in") {
		t.Errorf("without a password: %v", err)
	}
	s.do(t, "ACL SETUSER default resetpass >"+s.Password)
	s.do(t, "ACL SETUSER fairlead -acl")
	if _, err := s.provider(t).Provide(t.Context(), wish("a"), template); fault.CodeOf(err) != fault.FailedPrecondition || !strings.Contains(err.Error(), "not allowed") {
		t.Errorf("without the right: %v", err)
	}
	t.Setenv("REDIS_TEST_PASSWORD", "wrong-password")
	wrong := s.provider(t, func(c *Config) { c.PasswordFile, c.PasswordEnv = "", "REDIS_TEST_PASSWORD" })
	if _, err := wrong.Provide(t.Context(), wish("a"), template); fault.CodeOf(err) != fault.Unavailable || strings.Contains(fmt.Sprintf("%+v", err), "wrong-password") {
		t.Errorf("with another password: %v", err)
	}
}
