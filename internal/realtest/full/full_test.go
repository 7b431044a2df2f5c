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
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// startWorld starts the demo with programs that are built for it, and holds it
// to end within ten seconds and to leave nothing behind.
func startWorld(t *testing.T) *world {
	t.Helper()
	if testing.Short() || os.Getenv("FAIRLEAD_REAL") != "1" {
		t.Skip("the demo on real servers takes minutes and is started with FAIRLEAD_REAL=1 alone")
	}
	temp, err := os.MkdirTemp("", "full-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(temp) })
	if err := os.Chmod(temp, 0o711); err != nil { // PostgreSQL runs as another user
		t.Fatal(err)
	}
	programs := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", programs+"/", "./cmd/...")
	build.Dir, build.Env = filepath.Join("..", "..", ".."), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("TMPDIR", temp)
	w, err := newWorld(options{listen: realtest.FreeAddress(t), programs: programs, ui: realtest.UI(t, filepath.Join("..", "ui.sh")), built: true, out: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of Fairlead's log:\n%s", realtest.LastLines(w.path("fairleadd.log")))
		}
		begin := time.Now()
		if err := w.close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("it took %s to end", took)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%v are left: %v", left, err)
		}
	})
	if err := errors.Join(w.start(t.Context()), w.tell()); err != nil {
		t.Fatal(err)
	}
	return w
}

// agent is Alice's coding agent at one service, over MCP.
type agent struct {
	*world
	t       *testing.T
	service string
}

// answer is what a tool answers.
type answer struct {
	IsError           bool
	StructuredContent json.RawMessage
	Content           []struct{ Text string }
}

func (a answer) text() string {
	var b strings.Builder
	for _, c := range a.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}

// call calls a tool with the agent's token, and reads what it gives into out,
// if that is not nil.
func (a *agent) call(tool string, args map[string]any, out any) answer {
	a.t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args,
		"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": map[string]string{"name": "story", "version": "1"}, "io.modelcontextprotocol/clientCapabilities": map[string]any{}}}})
	if err != nil {
		a.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, a.url()+"/mcp", bytes.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	for k, v := range map[string]string{"Authorization": "Bearer " + a.set.Tokens["agent"], "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool} {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	if _, data, ok := bytes.Cut(text, []byte("data: ")); ok { // it came as an event
		text = data
	}
	var said struct{ Result answer }
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&said); err != nil || len(said.Result.Content) == 0 {
		a.t.Fatalf("%s: %v: %s", tool, err, text)
	}
	if out != nil {
		if said.Result.IsError {
			a.t.Fatalf("%s: %s", tool, said.Result.text())
		}
		if err := json.Unmarshal(said.Result.StructuredContent, out); err != nil {
			a.t.Fatal(err)
		}
	}
	return said.Result
}

// proposal is what is read of one.
type proposal struct {
	ID, URL, State string
	Notes          []string
	Follow         struct {
		Merged, Synced, Healthy string
		DegradedAt              time.Time
		Grounds                 []string
		RolledBack              struct{ Commit, Proposal string }
		Window                  struct{ Outcome string }
		Outcome                 string
	}
}

// seen is a proposal as it is now.
func (a *agent) seen(id string) (p proposal) {
	a.t.Helper()
	a.call("get_proposal", map[string]any{"id": id}, &p)
	return p
}

// health is what is read of that of a deployment.
type health struct {
	Verdict string
	Grounds []string
	Live    struct {
		Revision string
		Images   []struct{ Name, Tag string }
	}
}

// change is a version of the service in staging, and why.
func (a *agent) change(tag, reason string, evidence ...string) map[string]any {
	return map[string]any{"service": a.service, "environment": "staging", "reason": reason, "evidence": evidence,
		"change": map[string]any{"image": map[string]any{"tag": tag}}}
}

// merge agrees to a pull request as a person does, merges it, and gives the
// commit that comes of it.
func (a *agent) merge(p proposal) string {
	a.t.Helper()
	sam := &realtest.Forge{URL: a.gitea.URL, User: "sam", Password: a.accounts["sam"].password}
	pull := "/repos/" + organization + "/deploy/pulls/" + p.URL[strings.LastIndex(p.URL, "/")+1:]
	sam.API(a.t, http.MethodPost, pull+"/reviews", map[string]any{"event": "APPROVED", "body": "Fine."}, nil)
	sam.Merge(a.t, pull)
	var one struct {
		SHA string `json:"merge_commit_sha"`
	}
	sam.API(a.t, http.MethodGet, pull, nil, &one)
	return one.SHA
}

// await waits for something, and tells how long it took.
func (a *agent) await(what string, within time.Duration, is func() bool) {
	a.t.Helper()
	begin := time.Now()
	for !is() {
		if time.Since(begin) > within {
			a.t.Fatalf("not within %s: %s", within, what)
		}
		select {
		case <-a.t.Context().Done():
			a.t.Fatal(a.t.Context().Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
	a.t.Logf("%s after %s", what, time.Since(begin).Round(100*time.Millisecond))
}

// until waits for a verdict on a revision of the deploy repository.
func (a *agent) until(verdict, revision string, within time.Duration) (h health) {
	a.t.Helper()
	a.await(a.service+" is "+verdict+" at "+revision[:10], within, func() bool {
		h = health{}
		a.call("get_deployment_health", map[string]any{"service": a.service, "environment": "staging", "revision": revision}, &h)
		return h.Verdict == verdict
	})
	return h
}

// runs tells whether a version is among what is live.
func (h *health) runs(tag string) bool {
	for _, i := range h.Live.Images {
		if i.Tag == tag {
			return true
		}
	}
	return false
}

// walk runs the commands of the guide as a person does who copies them.
func walk(ctx context.Context, t *testing.T, w *world) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	script := t.TempDir() + "/walk"
	text, err := w.guide()
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = strings.Cut(text, "in this folder:\n")
	text, _, _ = strings.Cut(text, "\nproduction is protected")
	if err := os.WriteFile(script, []byte("set -eux\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, "bash", script)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, time.Second
	err = cmd.Run()
	for _, want := range []string{"Turns a cart into a paid order", "A kettle", "v-token-", "nothing shows that the change is good", "/deploy/pulls/", "merged http", "Verdict      healthy", "degraded"} {
		if !strings.Contains(out.String(), want) {
			err = errors.Join(err, fmt.Errorf("%q is not said", want))
		}
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
}
