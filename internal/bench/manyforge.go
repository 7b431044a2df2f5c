package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// forgeTask is to serve the repositories below a folder, as a forge does.
type forgeTask struct{ Root string }

// gitCommand is Git with nobody's configuration.
func gitCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...) //nolint:gosec // arguments are our own
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	cmd.Stderr = os.Stderr
	return cmd
}

// forge serves Git over HTTP, with Git's own upload-pack behind, and as much
// of Gitea's API as it takes to list repositories.
type forge struct {
	root string
	// quick tells to answer what the refs of the owner's repositories are
	// without starting Git for it, which costs more than all else.
	quick atomic.Bool
	// able is what Git says that it is able to do, as a list of refs has it.
	able atomic.Pointer[string]
	// asked counts the requests for Git.
	asked atomic.Int64
}

// do serves until ctx ends; it prints where.
func (t forgeTask) do(ctx context.Context) error {
	f := &forge{root: t.Root}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: f.handler(), ReadHeaderTimeout: time.Minute}
	fmt.Println("http://" + l.Addr().String())
	go func() {
		<-ctx.Done()
		_ = server.Close() // it ends with the process
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (f *forge) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{owner}/{repo}/info/refs", f.refs)
	mux.HandleFunc("POST /{owner}/{repo}/git-upload-pack", f.pack)
	mux.HandleFunc("POST /quick", func(http.ResponseWriter, *http.Request) { f.quick.Store(true) })
	mux.HandleFunc("GET /asked", func(w http.ResponseWriter, _ *http.Request) { answer(w, f.asked.Load()) })
	mux.HandleFunc("GET /api/v1/orgs/{owner}", func(w http.ResponseWriter, r *http.Request) {
		answer(w, map[string]any{"id": 1, "username": r.PathValue("owner")})
	})
	mux.HandleFunc("GET /api/v1/repos/search", f.search)
	mux.HandleFunc("GET /api/v1/repos/{owner}/{repo}/branches/{branch}", f.branch)
	return mux
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // whoever asked is gone
}

func (f *forge) dir(r *http.Request) string {
	return filepath.Join(f.root, r.PathValue("owner"), strings.TrimSuffix(r.PathValue("repo"), ".git")+".git")
}

func (f *forge) refs(w http.ResponseWriter, r *http.Request) {
	f.asked.Add(1)
	protocol := r.Header.Get("Git-Protocol")
	w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
	if able := f.able.Load(); f.quick.Load() && able != nil && protocol == "" && r.PathValue("owner") == owner {
		head, err := f.head(f.dir(r))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		first := fmt.Sprintf("%s HEAD\x00%s\n", head, *able)
		_, _ = fmt.Fprintf(w, "001e# service=git-upload-pack\n0000%04x%s003d%s refs/heads/main\n0000", len(first)+4, first, head) // as above
		return
	}
	if protocol == "" {
		_, _ = io.WriteString(w, "001e# service=git-upload-pack\n0000") // as above
	}
	cmd := gitCommand(r.Context(), "upload-pack", "--http-backend-info-refs", f.dir(r))
	cmd.Env = append(cmd.Env, "GIT_PROTOCOL="+protocol)
	out, err := cmd.Output()
	if err == nil {
		_, err = w.Write(out)
	}
	if _, able, ok := strings.Cut(string(out), "\x00"); ok && protocol == "" {
		able, _, _ = strings.Cut(able, "\n")
		f.able.CompareAndSwap(nil, &able)
	}
	f.complain(r, err)
}

func (f *forge) complain(r *http.Request, err error) {
	if err != nil && r.Context().Err() == nil {
		fmt.Fprintln(os.Stderr, "forge:", r.URL.Path, err)
	}
}

func (f *forge) head(dir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, "refs", "heads", "main"))
	return strings.TrimSpace(string(data)), err
}

func (f *forge) pack(w http.ResponseWriter, r *http.Request) {
	f.asked.Add(1)
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = z
	}
	w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
	cmd := gitCommand(r.Context(), "upload-pack", "--stateless-rpc", f.dir(r))
	cmd.Env = append(cmd.Env, "GIT_PROTOCOL="+r.Header.Get("Git-Protocol"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = body, w, nil
	f.complain(r, cmd.Run())
}

// search lists all repositories, page by page, as Gitea does.
func (f *forge) search(w http.ResponseWriter, r *http.Request) {
	dirs, err := filepath.Glob(filepath.Join(f.root, owner, "*.git"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	slices.Sort(dirs)
	page, _ := strconv.Atoi(r.FormValue("page"))
	size, _ := strconv.Atoi(r.FormValue("limit"))
	from := min(len(dirs), max(0, page-1)*size)
	data := []map[string]any{}
	for i, dir := range dirs[from:min(len(dirs), from+size)] {
		info, err := os.Stat(filepath.Join(dir, "refs", "heads", "main"))
		if err != nil {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(dir), ".git")
		at := "http://" + r.Host + "/" + owner + "/" + name
		data = append(data, map[string]any{"id": from + i + 1, "name": name, "full_name": owner + "/" + name, "owner": map[string]any{"id": 1},
			"html_url": at, "clone_url": at + ".git", "default_branch": "main", "updated_at": info.ModTime().UTC().Format(time.RFC3339)})
	}
	w.Header().Set("X-Total-Count", strconv.Itoa(len(dirs)))
	answer(w, map[string]any{"ok": true, "data": data})
}

func (f *forge) branch(w http.ResponseWriter, r *http.Request) {
	head, err := f.head(f.dir(r))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	answer(w, map[string]any{"name": "main", "commit": map[string]any{"id": head}})
}

// askedOf is how many requests for Git a forge has answered.
func askedOf(ctx context.Context, url string) (n int64, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/asked", nil)
	if err != nil {
		return 0, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	return n, json.NewDecoder(res.Body).Decode(&n)
}

// startForge serves a folder in a process of its own, whose CPU time is
// nobody's that is measured. stop ends it.
func startForge(ctx context.Context, root string) (url string, stop func() error, err error) {
	cmd, err := task{Forge: &forgeTask{root}}.command(ctx)
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() error { return errors.Join(cmd.Process.Signal(os.Interrupt), cmd.Wait()) }
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		return "", nil, errors.Join(errors.New("the forge did not say where it listens"), lines.Err(), stop())
	}
	return lines.Text(), stop, nil
}
