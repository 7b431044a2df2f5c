package app

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/demo"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/previewstest"
)

// pullHost tells of pull requests and keeps their comments, in memory.
type pullHost struct {
	mu       sync.Mutex
	pulls    map[int64]previews.PullRequest
	files    []string
	comments map[int64]string
	reads    map[int64]int
	down     bool
}

func (h *pullHost) PullRequest(_ context.Context, at previews.PullRef) (previews.PullRequest, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p, ok := h.pulls[at.Number]
	h.reads[at.Number]++
	switch {
	case h.down:
		return p, fault.New(fault.Unavailable, "the forge is down")
	case !ok:
		return p, fault.New(fault.NotFound, "there is no such pull request")
	}
	return p, nil
}

func (h *pullHost) ChangedFiles(context.Context, previews.PullRef) ([]string, bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.files, true, nil
}

func (h *pullHost) Comment(_ context.Context, at previews.PullRef, _, text string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.comments[at.Number] = text
	return nil
}

func (h *pullHost) OpenPulls(_ context.Context, repository string) (previews.PullRef, map[int64]string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	heads := map[int64]string{}
	for n, p := range h.pulls {
		if p.Open && p.CloneURLs[0] == repository {
			heads[n] = p.Head
		}
	}
	return pullAt(repository, 0), heads, nil
}

// pullAt names a pull request of a repository in the demo's folder.
func pullAt(repository string, n int64) previews.PullRef {
	return previews.PullRef{Forge: "test", Repository: "shop/" + filepath.Base(repository), Number: n}
}

// at is where a pull request is; one that is not there any more was one of
// the checkout.
func (h *pullHost) at(n int64) previews.PullRef {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p, ok := h.pulls[n]; ok {
		return pullAt(p.CloneURLs[0], n)
	}
	return pullAt("checkout", n)
}

func (h *pullHost) set(n int64, change func(p *previews.PullRequest)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.pulls[n]
	change(&p)
	h.pulls[n] = p
}

func (h *pullHost) comment(n int64) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.comments[n]
}

func (h *pullHost) asked(n int64) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reads[n]
}

// pullStory is the demo with a service whose pull requests are previewed.
type pullStory struct {
	*server
	host *pullHost
	fake *previewstest.Fake
}

func startPulls(t *testing.T) *pullStory {
	t.Helper()
	dir := t.TempDir()
	set, err := demo.Prepare(t.Context(), dir, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &pullHost{pulls: map[int64]previews.PullRequest{}, comments: map[int64]string{}, reads: map[int64]int{}, files: []string{"main.go"}}
	p := &pullStory{host: h, fake: &previewstest.Fake{}, server: &server{t: t, dir: dir, tokens: set.Tokens, pulls: h}}
	p.deployers = map[string]previews.Deployer{"local": p.fake}
	config := withoutPreviews(readFile(t, set.Config)) + "previews: {ttl: {max: 2h}}\n"
	if err := os.WriteFile(set.Config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p.start(set.Config)
	p.commit("checkout", "catalog-info.yaml", strings.Replace(readFile(t, p.repo("checkout", "catalog-info.yaml")), "      deployer: local\n", "      deployer: local\n      pullRequests: true\n", 1))
	p.reread("checkout")
	return p
}

// push makes a commit under the ref of a pull request and opens that, if it is
// not open.
func (p *pullStory) push(n int64, ref, text string, change ...func(*previews.PullRequest)) string {
	p.t.Helper()
	p.git("checkout", "checkout", "-q", "-B", "pull")
	p.commit("checkout", "CHANGES.md", text)
	p.git("checkout", "update-ref", ref, "HEAD")
	head := p.head("checkout")
	p.git("checkout", "checkout", "-q", "main")
	p.host.set(n, func(pr *previews.PullRequest) {
		*pr = previews.PullRequest{URL: "https://git.test/shop/checkout/pulls/1", Title: "Faster", Author: "zoe", CloneURLs: []string{p.repo("checkout")}, Ref: ref, Head: head, Open: true}
		for _, c := range change {
			c(pr)
		}
	})
	return head
}

func (p *pullStory) tell(n int64) {
	p.app.tellPull(p.t.Context(), p.host.at(n))
}

// polls looks for pull requests that no webhook told of.
func (p *pullStory) polls() {
	p.t.Helper()
	if err := p.app.pulls.Poll(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

// previewed waits for the one preview of a pull request that is in a phase at
// a commit.
func (p *pullStory) previewed(phase previews.Phase, commit string) (out previews.Preview) {
	p.t.Helper()
	p.await("a preview that is "+string(phase)+" at "+commit, func() bool {
		var page previews.Page
		p.send("sre", http.MethodGet, "/api/v1/previews?gone=true", "").decode(p.t, &page)
		for _, one := range page.Items {
			if one.Pull != "" && one.Phase == phase && one.Commit == commit {
				out = one
				return true
			}
		}
		return false
	})
	return out
}

func (p *pullStory) says(n int64, text string) {
	p.t.Helper()
	p.await("a comment that says "+text, func() bool { return strings.Contains(p.host.comment(n), text) })
}

func TestPullRequestStory(t *testing.T) {
	p := startPulls(t)
	const ref = "refs/pull/1/head"
	first := p.push(1, ref, "one\n")
	p.polls() // no webhook told of it
	made := p.previewed(previews.Ready, first)
	if made.Person != "system:fairlead/pull-requests" || made.Owner == "" || made.Pull != "https://git.test/shop/checkout/pulls/1" || made.Revision != ref {
		t.Errorf("made %+v", made)
	}
	p.says(1, "| `component:default/checkout` | ready | <"+made.URL+"> | `"+first[:12]+"` |")

	second := p.push(1, ref, "two\n")
	p.tell(1)
	if moved := p.previewed(previews.Ready, second); moved.ID != made.ID || moved.URL != made.URL {
		t.Errorf("a push made %+v in the place of %+v", moved, made)
	}
	p.says(1, second[:12])

	// Closed while nobody hears of it, and heard of later.
	p.host.set(1, func(pr *previews.PullRequest) { pr.Open = false })
	p.polls()
	p.previewed(previews.Gone, second)
	p.says(1, "closed, so its previews are removed")
	p.says(1, "| gone |")
	if there := p.fake.There(); len(there) > 0 {
		t.Errorf("there are still %v", there)
	}

	// Opened again at the same commit.
	p.host.set(1, func(pr *previews.PullRequest) { pr.Open = true })
	p.tell(1)
	if again := p.previewed(previews.Ready, second); again.ID == made.ID {
		t.Errorf("opened again it is %+v", again)
	}
	p.host.mu.Lock()
	delete(p.host.pulls, 1) // its repository is deleted
	p.host.mu.Unlock()
	p.tell(1)
	p.await("nothing is there", func() bool { return len(p.fake.There()) == 0 })

	audit := p.send("sre", http.MethodGet, "/api/v1/audit?subject=system:fairlead/pull-requests", "").body
	for _, want := range []string{"preview_pull_request", "delete_preview_environment", "https://git.test/shop/checkout/pulls/1", "zoe"} {
		if !strings.Contains(audit, want) {
			t.Errorf("the audit lacks %s: %s", want, audit)
		}
	}
}

// TestPullRequestOfAFork runs nothing before a person has agreed, and nothing
// that was pushed after that.
func TestPullRequestOfAFork(t *testing.T) {
	p := startPulls(t)
	const ref = "refs/pull/2/head"
	fork := func(pr *previews.PullRequest) { pr.Fork = true }
	first := p.push(2, ref, "one\n", fork)
	p.tell(2)
	p.says(2, "runs fairlead approvals grant ")
	if there := p.fake.There(); len(there) > 0 {
		t.Fatalf("ran unasked: %v", there)
	}
	grant := func() {
		var page access.ApprovalPage
		p.send("sre", http.MethodGet, "/api/v1/approvals?state=pending", "").decode(t, &page)
		if len(page.Items) != 1 || !strings.Contains(page.Items[0].Summary, "https://git.test/shop/checkout/pulls/1") {
			t.Fatalf("asked for %+v", page.Items)
		}
		if r := p.send("agent", http.MethodPost, "/api/v1/approvals/"+page.Items[0].ID+"/grant", "{}"); r.status != http.StatusForbidden {
			t.Errorf("an agent granted it: %d %s", r.status, r.body)
		}
		if r := p.send("sre", http.MethodPost, "/api/v1/approvals/"+page.Items[0].ID+"/grant", "{}"); r.status != http.StatusOK {
			t.Fatalf("granting: %d %s", r.status, r.body)
		}
		p.tell(2)
	}
	grant()
	made := p.previewed(previews.Ready, first)

	second := p.push(2, ref, "two\n", fork)
	p.tell(2)
	p.says(2, "No preview of `component:default/checkout` at `"+second[:12]+"` yet")
	if now := p.preview("sre", made.ID); now.Commit != first {
		t.Errorf("the second commit ran unasked: %+v", now)
	}
	grant()
	p.previewed(previews.Ready, second)
	p.host.set(2, func(pr *previews.PullRequest) { pr.Open, pr.Merged = false, true })
	p.tell(2)
	p.says(2, "merged, so its previews are removed")
	p.previewed(previews.Gone, second)
}

// TestPullRequestsThatConcernNobody makes nothing of pull requests that touch
// no service, and takes up where a forge was down or a message was lost.
func TestPullRequestsThatConcernNobody(t *testing.T) {
	p := startPulls(t)
	p.push(3, "refs/pull/3/head", "one\n", func(pr *previews.PullRequest) { pr.CloneURLs = []string{p.repo("ledger")} })
	p.tell(3)
	p.await("it is read", func() bool { return p.host.asked(3) > 0 })
	p.polls() // the checkout's alone

	p.host.mu.Lock()
	p.host.down = true
	p.host.mu.Unlock()
	head := p.push(4, "refs/pull/4/head", "two\n", func(pr *previews.PullRequest) { pr.Title = "@everyone | <script>" })
	p.tell(4)
	p.await("it fails", func() bool { return strings.Contains(p.logs.text(), "a pull request cannot be looked after now") })
	p.host.mu.Lock()
	p.host.down = false
	p.host.mu.Unlock()
	p.previewed(previews.Ready, head)
	if p.host.comment(3) != "" || len(p.fake.There()) != 1 || p.host.asked(3) != 1 {
		t.Errorf("made %v, asked %d times and said %q", p.fake.There(), p.host.asked(3), p.host.comment(3))
	}
}
