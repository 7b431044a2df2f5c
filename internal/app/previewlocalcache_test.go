package app

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/previewstest"
)

// counter is a service that counts what it is asked in the cache of its own, in
// the words that a Redis server reads. It answers with what it counted, and
// with what the server says of a key that is not its own.
const counter = `import http.server, os, socket, urllib.parse
url, prefix = urllib.parse.urlparse(os.environ["REDIS_URL"]), os.environ["REDIS_URL_PREFIX"]
def ask(*words):
    with socket.create_connection((url.hostname, url.port)) as s:
        lines = s.makefile("rwb")
        for c in (["AUTH", url.username, urllib.parse.unquote(url.password)], list(words)):
            lines.write(("*%d\r\n" % len(c) + "".join("$%d\r\n%s\r\n" % (len(w.encode()), w) for w in c)).encode())
            lines.flush()
            answer = lines.readline().decode().strip()
        return answer
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = (ask("INCR", prefix + "count") + " " + ask("SET", "count", "1")).encode() if self.path == "/count" else b"well"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
print("counting at", os.environ["REDIS_URL"], flush=True)
http.server.ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Handler).serve_forever()
`

// TestLocalPreviewWithCache has a preview on this machine use the cache that it
// finds in its environment, of which at its end nothing is left.
func TestLocalPreviewWithCache(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal(err)
	}
	r := realtest.Redis(t)
	t.Setenv("TEST_REDIS_PASSWORD", r.Password)
	s := startPreviews(t, &previewstest.Fake{}, "previews: {deployers: {local: {}}, data: {redis: [{name: main, url: 'redis://"+r.Address+"', passwordEnv: TEST_REDIS_PASSWORD}]}}\n")
	s.declare("", "\n      health: /\n      data: [{name: cache, kind: redis}]\n")
	if err := os.WriteFile(s.repo("orders", "mine/run.sh"), []byte("#!/bin/sh\nexec "+python+" counter.py\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.git("orders", "add", "--", "mine/run.sh")
	s.commit("orders", "mine/counter.py", counter)
	s.reread("orders")
	var p previews.Preview
	s.send("sre", http.MethodPost, "/api/v1/previews", `{"service":"mine","ttl":"5m"}`).decode(t, &p)
	s.awaitPhase(p.ID, previews.Ready)
	p = s.preview("sre", p.ID)
	for _, want := range []string{":1 -NOPERM", ":2 -NOPERM"} {
		if got := s.visit(p, "/count"); !strings.HasPrefix(got, want) {
			t.Errorf("it counts %q, want %s…", got, want)
		}
	}
	logs := s.send("sre", http.MethodGet, "/api/v1/previews/"+p.ID+"/logs", "").body
	if !strings.Contains(logs, "counting at [secret]") {
		t.Errorf("its logs are %s", logs)
	}
	if a := s.send("sre", http.MethodDelete, "/api/v1/previews/"+p.ID, ""); a.status != http.StatusOK {
		t.Fatal(a.body)
	}
	s.awaitPhase(p.ID, previews.Gone)
	emptyCache(t, r)
}
