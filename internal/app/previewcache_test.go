package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/previewstest"
)

// TestPreviewDataRedis has a preview use a cache of its own, of which at its
// end nothing is left.
func TestPreviewDataRedis(t *testing.T) {
	r := realtest.Redis(t)
	t.Setenv("TEST_REDIS_PASSWORD", r.Password)
	f := &previewstest.Fake{}
	s := startPreviews(t, f, "previews: {data: {redis: [{name: main, url: 'redis://"+r.Address+"', passwordEnv: TEST_REDIS_PASSWORD}]}}\n")
	s.declare("", "\n      data: [{name: cache, kind: redis}]\n")
	var p previews.Preview
	s.send("sre", http.MethodPost, "/api/v1/previews", `{"service":"mine","ttl":"10m"}`).decode(t, &p)
	s.awaitPhase(p.ID, previews.Ready)
	given := f.Given(p.ID)
	opts, err := redis.ParseURL(given["REDIS_URL"])
	if err != nil {
		t.Fatalf("given %d variables, %v", len(given), err)
	}
	c := redis.NewClient(opts)
	defer func() { _ = c.Close() }()
	if prefix := given["REDIS_URL_PREFIX"]; !strings.HasSuffix(prefix, ":"+p.ID+":cache:") || c.Set(t.Context(), prefix+"k", "v", 0).Err() != nil {
		t.Errorf("it cannot write below %q", prefix)
	}
	if err := c.Set(t.Context(), "k", "v", 0).Err(); err == nil {
		t.Error("it writes what is not its own")
	}
	told := s.send("sre", http.MethodGet, "/api/v1/previews/"+p.ID, "").body + s.send("sre", http.MethodGet, "/api/v1/audit?limit=500", "").body + s.logs.text()
	if strings.Contains(told, opts.Password) || strings.Contains(told, r.Password) || !strings.Contains(told, p.ID) {
		t.Error("what is told has a password, or nothing of the preview")
	}
	if a := s.send("sre", http.MethodDelete, "/api/v1/previews/"+p.ID, ""); a.status != http.StatusOK {
		t.Fatal(a.body)
	}
	s.awaitPhase(p.ID, previews.Gone)
	emptyCache(t, r)
}

// emptyCache holds a server to have no users and no keys of previews.
func emptyCache(t *testing.T, r *realtest.RedisServer) {
	t.Helper()
	super := redis.NewClient(&redis.Options{Addr: r.Address, Password: r.Password})
	defer func() { _ = super.Close() }()
	users, err := super.Do(t.Context(), "ACL", "USERS").Result()
	if left := fmt.Sprint(users, super.DBSize(t.Context()).Val()); err != nil || left != "[default] 0" {
		t.Errorf("there is still %s, %v", left, err)
	}
}
