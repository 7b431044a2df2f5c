package local

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

// shell has the previewed service run something.
func inShell(t *testing.T, d *Deployer, id, script string) string {
	t.Helper()
	return mustGet(t, d, id, "/run?sh="+url.QueryEscape(script))
}

func TestNothingLeaksIn(t *testing.T) {
	t.Setenv("FAIRLEAD_CANARY", "a-secret-of-fairlead")
	r, w, err := os.Pipe() // a descriptor that is passed on, as by a careless parent
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	fd, err := syscall.Dup(int(w.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	eachMode(t, func(t *testing.T, mode string) {
		d := newDeployer(t, Config{Isolation: mode}, nil)
		p := wish("tight")
		p.Template.Env = map[string]string{"DECLARED": "yes", "PORT": "1"}
		apply(t, d, p)
		untilReady(t, d, p)
		env := strings.Split(mustGet(t, d, p.ID, "/env"), "\n")
		names := map[string]string{}
		for _, v := range env {
			name, value, _ := strings.Cut(v, "=")
			names[name] = value
		}
		for _, name := range []string{"PATH", "HOME", "TMPDIR", "LANG", "PORT", "HOST", "PREVIEW_ID", "DECLARED", markName} {
			if names[name] == "" {
				t.Errorf("the environment lacks %s", name)
			}
			delete(names, name)
		}
		delete(names, "PWD") // that bubblewrap sets
		if len(names) > 0 {
			t.Errorf("the environment has %v besides", names)
		}
		for line := range strings.Lines(mustGet(t, d, p.ID, "/fds")) {
			if n, to, _ := strings.Cut(strings.TrimSpace(line), " "); len(n) == 1 && n <= "2" || strings.Contains(to, "socket:") || strings.Contains(to, "anon_inode") || strings.HasPrefix(to, "/proc/") || strings.HasPrefix(to, "/sys/fs/cgroup/") { // its own
				continue
			}
			t.Errorf("a descriptor is open: %s", line)
		}
	})
}

// TestFilesAreHidden holds bubblewrap to what it is chosen for.
func TestFilesAreHidden(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte("a-secret-of-fairlead"), 0o600); err != nil {
		t.Fatal(err)
	}
	eachMode(t, func(t *testing.T, mode string) {
		d := newDeployer(t, Config{Isolation: mode}, nil)
		w := wish("blind")
		apply(t, d, w)
		untilReady(t, d, w)
		f, _ := d.folder(w.ID)
		for _, path := range []string{secret, f.at("state.json"), f.at("plan.json")} {
			if got := mustGet(t, d, w.ID, "/read?path="+url.QueryEscape(path)); mode == Bubblewrap && !strings.Contains(got, "no such file") {
				t.Errorf("%s reads %q", path, got)
			}
		}
		if got := inShell(t, d, w.ID, "echo x > /usr/written"); mode == Bubblewrap && !strings.Contains(got, "Read-only") {
			t.Errorf("writing to /usr: %s", got)
		}
		if got := inShell(t, d, w.ID, "echo x > /tmp/t && echo x > $HOME/h && echo x > here && cat /tmp/t $HOME/h here"); mode == Bubblewrap && !strings.HasPrefix(got, "x\nx\nx\n") {
			t.Errorf("writing where it may: %s", got)
		}
		if got := inShell(t, d, w.ID, "ls /proc | grep -c '^[0-9]'"); mode != None && len(strings.TrimSuffix(got, "<nil>")) > 2 {
			t.Errorf("it sees %s processes", got)
		}
	})
}

func TestDaemonEnds(t *testing.T) {
	for _, cageless := range cagelessToo() {
		eachMode(t, func(t *testing.T, mode string) {
			d := newDeployer(t, Config{Isolation: mode, Grace: 100 * time.Millisecond}, nil)
			d.cageless = cageless
			w := wish("demon")
			apply(t, d, w)
			untilReady(t, d, w)
			if got := mustGet(t, d, w.ID, "/daemon?for=7654321"); got != "<nil>" {
				t.Fatal(got)
			}
			daemon := findSleeper(t, "7654321")
			untilGone(t, d, w)
			if p, ok := look(daemon.pid); ok && p.start == daemon.start && !p.dead {
				t.Errorf("the daemon %s is still there", p)
			}
		})
	}
}

func findSleeper(t *testing.T, arg string) process {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		for _, pid := range processes() {
			line, _ := os.ReadFile(filepath.Join("/proc", itoa(pid), "cmdline"))
			if p, ok := look(pid); ok && bytes.Equal(line, []byte("sleep\x00"+arg+"\x00")) {
				return p
			}
		}
	}
	t.Fatal("there is no daemon")
	return process{}
}

// TestManyProcesses has a command start more processes than it may, though not
// without an end: the machine is shared.
func TestManyProcesses(t *testing.T) {
	for _, cageless := range cagelessToo() {
		eachMode(t, func(t *testing.T, mode string) {
			d := newDeployer(t, Config{Isolation: mode, Grace: 100 * time.Millisecond, Limits: Limits{Processes: 40}}, nil)
			d.cageless = cageless
			w := wish("crowd", "/bin/sh", "-c", `for i in 1 2 3 4 5; do (for j in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 100 & done; wait) & done; wait`)
			apply(t, d, w)
			f, _ := d.folder(w.ID)
			until(t, d, w, "bounded", func(o previews.Observed) bool {
				s, _ := f.state()
				return o.Failed || len(s.Cages) > 0 && len(inCages(s.Cages[:1])) >= 25 // the kernel counts threads, too
			})
			if s, _ := f.state(); len(descendants(s.PID)) > 120 {
				t.Errorf("it has %d processes", len(descendants(s.PID)))
			}
			untilGone(t, d, w)
		})
	}
}

func TestMemory(t *testing.T) {
	for _, cageless := range cagelessToo() {
		eachMode(t, func(t *testing.T, mode string) {
			d := newDeployer(t, Config{Isolation: mode, Limits: Limits{MemoryBytes: 200 << 20}}, nil)
			d.cageless = cageless
			w := wish("eater", "/bin/sh", "-c", `./app & sleep 0.2; x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done`)
			apply(t, d, w)
			o := untilFailed(t, d, w)
			t.Log(o.Reason)
		})
	}
}

func TestDisk(t *testing.T) {
	d := newDeployer(t, Config{Limits: Limits{DiskBytes: 20 << 20}}, nil)
	w := wish("hoarder", "/bin/sh", "-c", `for i in 1 2 3 4; do head -c 9000000 /dev/zero > f$i; done; exec ./app`)
	apply(t, d, w)
	if o := untilFailed(t, d, w); !strings.Contains(o.Reason, "bytes of disk") {
		t.Errorf("it failed: %s", o.Reason)
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name    string
		command []string
		want    []string
	}{
		{"exits", []string{"/bin/sh", "-c", "echo out of luck; exit 7"}, []string{"exit code 7", "out of luck"}},
		{"missing", []string{"no-such-command"}, []string{"no-such-command: there is no such command in PATH"}},
		{"no file", []string{"./run.sh"}, []string{"./run.sh: there is no such file"}},
		{"not executable", []string{"./text"}, []string{"not executable", "chmod"}},
		{"dies", []string{"/bin/sh", "-c", "kill -9 $$"}, []string{"signal 9"}},
		{"never healthy", []string{"/bin/sh", "-c", "echo thinking; sleep 60"}, []string{"did not become healthy within 3s", "nothing listens", "thinking"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := Config{Isolation: None}
			if c.name == "never healthy" { // long enough for it to say something first
				cfg.HealthTimeout = 3 * time.Second
			}
			d := newDeployer(t, cfg, nil)
			w := wish("fails", c.command...)
			apply(t, d, w)
			o := untilFailed(t, d, w)
			for _, want := range c.want {
				if !strings.Contains(o.Reason, want) {
					t.Errorf("the reason %q does not say %q", o.Reason, want)
				}
			}
			if err := d.Apply(t.Context(), w); err != nil {
				t.Fatal(err)
			}
			if again, _ := d.Observe(t.Context(), w); !again.Failed || again.Ready {
				t.Errorf("applied again it is %+v", again)
			}
			untilGone(t, d, w)
		})
	}
}

func TestHugeOutput(t *testing.T) {
	d := newDeployer(t, Config{Limits: Limits{LogBytes: 64 << 10}}, nil)
	w := wish("loud", "/bin/sh", "-c", `head -c 3000000 /dev/zero; i=0; while [ $i -lt 20000 ]; do echo "line $i"; i=$((i+1)); done; echo the end; exec ./app`)
	apply(t, d, w)
	untilReady(t, d, w)
	f, _ := d.folder(w.ID)
	for _, name := range []string{"log", "log.1"} {
		if info, err := os.Stat(f.at(name)); err != nil || info.Size() > 64<<10 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	lines, err := d.Logs(t.Context(), w, 3)
	for err == nil && (len(lines) < 3 || lines[2].Text != "serving []") { // what was written is on its way
		time.Sleep(5 * time.Millisecond)
		lines, err = d.Logs(t.Context(), w, 3)
	}
	if err != nil || len(lines) != 3 || lines[1].Text != "the end" || lines[0].Text != "line 19999" || lines[0].At.After(lines[1].At) {
		t.Errorf("the last lines are %v, %v", lines, err)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name    string
		content files
		change  func(*previews.Wish)
		code    fault.Code
	}{
		{"link out of the tree", files{"out": "->../../../etc/passwd"}, nil, fault.FailedPrecondition},
		{"absolute link", files{"out": "->/etc/passwd"}, nil, fault.FailedPrecondition},
		{"link by a link", files{"a/up": "->..", "a/b": "->up/../x"}, nil, fault.FailedPrecondition},
		{"folder by a link", files{"dir": "->.."}, func(w *previews.Wish) { w.Dir = "dir" }, fault.FailedPrecondition},
		{"no folder", nil, func(w *previews.Wish) { w.Dir = "nowhere" }, fault.FailedPrecondition},
		{"folder outside", nil, func(w *previews.Wish) { w.Dir = "../.." }, fault.Invalid},
		{"no command", nil, func(w *previews.Wish) { w.Template.Command = nil }, fault.Invalid},
		{"id", nil, func(w *previews.Wish) { w.ID = "../x" }, fault.Invalid},
		{"health", nil, func(w *previews.Wish) { w.Template.Health = "http://elsewhere/" }, fault.Invalid},
		{"variable", nil, func(w *previews.Wish) { w.Template.Env = map[string]string{"A=B": ""} }, fault.Invalid},
		{"too large", files{"big": strings.Repeat("x", 21<<20)}, nil, fault.FailedPrecondition},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDeployer(t, Config{Limits: Limits{DiskBytes: 20 << 20}}, c.content)
			w := wish("refused")
			if c.change != nil {
				c.change(&w)
			}
			err := d.Apply(t.Context(), w)
			if fault.CodeOf(err) != c.code || fault.From(err).Fix == "" {
				t.Errorf("the error is %v", err)
			}
			if w.ID == "refused" {
				untilGone(t, d, w)
			}
		})
	}
}

func TestLinksWithin(t *testing.T) {
	d := newDeployer(t, Config{}, files{"a/b/file": "x", "a/link": "->b/file", "a/b/up": "->../b", "made-later": "->build/out"})
	w := wish("linked")
	apply(t, d, w)
	untilReady(t, d, w)
}

func TestRightsTakenAway(t *testing.T) {
	d := newDeployer(t, Config{}, nil)
	w := wish("stubborn", "/bin/sh", "-c", "mkdir -p locked/in; touch locked/in/file; chmod 0 locked/in locked; exec ./app")
	apply(t, d, w)
	untilReady(t, d, w)
	untilGone(t, d, w)
}

func TestEndedContext(t *testing.T) {
	d := newDeployer(t, Config{}, nil)
	w := wish("cut-short")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = d.Apply(ctx, w)
	untilGone(t, d, w)
}
