package local

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fairlead-dev/fairlead/previews"
)

// folder is a preview's own; everything known of it is in there.
type folder string

func (f folder) id() string         { return filepath.Base(string(f)) }
func (f folder) at(n string) string { return filepath.Join(string(f), n) }
func (f folder) tree() string       { return f.at("tree") }
func (f folder) tmp() string        { return f.at("tmp") }
func (f folder) log() string        { return f.at("log") }
func (f folder) lock() string       { return f.at("supervisor.lock") }

func (f folder) exists() bool {
	_, err := os.Lstat(string(f))
	return err == nil
}

// plan is what a supervisor is to run: plan.json in the folder.
type plan struct {
	Wish previews.Wish `json:"wish"`
	// Print tells plans that run differently apart.
	Print string `json:"print"`
	// Mark is in the environment of every process, by which they are found
	// when their supervisor has been killed.
	Mark string `json:"mark"`
	Port int    `json:"port"`
	// Isolation is one of the modes but auto; Bwrap is where bubblewrap is,
	// and Runner how the program calls itself.
	Isolation string   `json:"isolation"`
	Bwrap     string   `json:"bwrap,omitempty"`
	Runner    []string `json:"runner"`
	Config    Config   `json:"config"`
	// Cageless leaves control groups alone, as where none may be made.
	Cageless bool `json:"cageless,omitempty"`
	// Checked tells that the work tree is complete.
	Checked bool `json:"checked"`
	// Removing tells that it is being removed.
	Removing bool `json:"removing,omitempty"`
}

// The phases of a supervisor.
const (
	starting = "starting"
	ready    = "ready"
	degraded = "degraded"
	failed   = "failed"  // by itself: starting again would not help
	stopped  = "stopped" // from outside: applying starts it again
)

// state is what the supervisor tells: state.json in the folder.
type state struct {
	PID   int       `json:"pid"`
	Start uint64    `json:"start"` // in the kernel's ticks since it was booted
	Mark  string    `json:"mark"`
	Phase string    `json:"phase"`
	Since time.Time `json:"since"`
	// Main is the process that the supervisor started, MainStart when. While it
	// ends, nothing else tells whose it is.
	Main      int    `json:"main,omitempty"`
	MainStart uint64 `json:"mainStart,omitempty"`
	// Reason is a sentence.
	Reason string `json:"reason,omitempty"`
	// Cages are the control groups of its processes.
	Cages []string `json:"cages,omitempty"`
	// Remains are processes that could not be ended.
	Remains []string `json:"remains,omitempty"`
}

func (s state) over() bool { return s.Phase == failed || s.Phase == stopped || s.Phase == "" }

// fingerprint tells wishes that run differently apart.
func fingerprint(w previews.Wish) string {
	said := []any{w.Repository, w.Dir, w.Commit, w.Template.Command, w.Template.Env, w.Template.Health}
	for _, g := range w.Given { // of the value only this sum is ever written
		said = append(said, g.Env, g.Value.Reveal())
	}
	data, err := json.Marshal(said)
	if err != nil {
		return "" // strings always encode
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (f folder) plan() (plan, bool, error) {
	var p plan
	ok, err := readJSON(f.at("plan.json"), &p)
	return p, ok, err
}

// read gives plan and state; false where either is missing or not to be read.
func (f folder) read() (plan, state, bool) {
	p, known, err := f.plan()
	s, stateErr := f.state()
	return p, s, known && err == nil && stateErr == nil
}

func (f folder) savePlan(p plan) error { return writeJSON(f.at("plan.json"), p) }

func (f folder) state() (state, error) {
	var s state
	_, err := readJSON(f.at("state.json"), &s)
	return s, err
}

func (f folder) saveState(s state) error { return writeJSON(f.at("state.json"), s) }

// readJSON reads a file; false where there is none.
func readJSON(path string, into any) (bool, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, json.Unmarshal(data, into)
}

// writeJSON replaces a file at once.
func writeJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), path)
}
