package access

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A token has 20 to 4096 bytes: shorter ones can be guessed, longer ones are
// not tokens. Files are looked at again once in a while, on use.
const (
	minToken     = 20
	maxToken     = 4096
	recheckAfter = time.Second
)

// tokens are the static tokens, held as digests.
type tokens struct {
	opts    AuthOptions
	entries []*tokenEntry
	table   atomic.Pointer[map[[sha256.Size]byte]*identity]
	next    atomic.Int64 // when to look at the files again, in ns
	mu      sync.Mutex   // held while looking
}

// tokenEntry is one configured token.
type tokenEntry struct {
	name, file, env string
	id              *identity
	seen            stamp
	digest          [sha256.Size]byte
	held            bool // digest is valid
}

// stamp tells one version of a file from another.
type stamp struct {
	mod  time.Time
	size int64
	mode fs.FileMode
}

func newTokens(cfg []TokenConfig, opts AuthOptions) (*tokens, error) {
	t := &tokens{opts: opts}
	var ps Problems
	for i := range cfg {
		e := newEntry(&cfg[i], opts.Dir)
		t.entries = append(t.entries, e)
		if err := e.load(opts); err != nil {
			ps.add(fmt.Sprintf("auth.tokens[%d]", i), err.fix, "token %q: %s", e.name, err.message)
		}
	}
	for _, twin := range t.publish() {
		ps.add("auth.tokens", "Give each caller a token of its own.", "tokens %q and %q have the same value", twin[0], twin[1])
	}
	t.next.Store(opts.Now().Add(recheckAfter).UnixNano())
	return t, ps.err()
}

// newEntry relies on the configuration being valid.
func newEntry(c *TokenConfig, dir string) *tokenEntry {
	e := &tokenEntry{name: c.Name, file: c.TokenFile, env: c.TokenEnv, id: &identity{token: c.Name, agent: c.Agent, roles: c.Roles}}
	if e.file != "" && !filepath.IsAbs(e.file) {
		e.file = filepath.Join(dir, e.file)
	}
	e.id.subject, _ = fullRef(c.Subject, "user") // validated
	for _, g := range c.Groups {
		full, _ := fullRef(g, "group") // validated
		e.id.groups = append(e.id.groups, full)
	}
	return e
}

// tokenError says what is wrong with a token, without a byte of it.
type tokenError struct{ message, fix string }

func (e *tokenEntry) load(opts AuthOptions) *tokenError {
	e.held = false
	value, err := e.read(opts)
	if err != nil {
		return err
	}
	value = strings.TrimSpace(value)
	switch {
	case len(value) < minToken:
		return &tokenError{fmt.Sprintf("%s holds %d bytes, fewer than the %d a token must have", e.source(), len(value), minToken), "Make one with: openssl rand -base64 32"}
	case len(value) > maxToken || strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }):
		return &tokenError{e.source() + " does not hold one token: it is too long, or has white space or unusual characters inside", "Put the token alone there, in printable ASCII, at most 4096 bytes."}
	}
	e.digest, e.held = digestOf(value), true
	return nil
}

func (e *tokenEntry) source() string {
	if e.file != "" {
		return "the file " + e.file
	}
	return "the environment variable " + e.env
}

func (e *tokenEntry) read(opts AuthOptions) (string, *tokenError) {
	if e.file != "" {
		return e.readFile()
	}
	value, ok := opts.LookupEnv(e.env)
	if !ok {
		return "", &tokenError{e.source() + " is not set", "Set it to the token, or use tokenFile."}
	}
	return value, nil
}

func (e *tokenEntry) readFile() (string, *tokenError) {
	info, err := os.Stat(e.file)
	if err != nil {
		e.seen = stamp{}
		return "", cannotRead(e, err)
	}
	e.seen = stampOf(info)
	switch {
	case !info.Mode().IsRegular():
		return "", &tokenError{e.source() + " is not a regular file", "Name the file that holds the token."}
	case info.Mode().Perm()&0o004 != 0:
		return "", &tokenError{fmt.Sprintf("%s may be read by everybody on the machine (mode %04o)", e.source(), info.Mode().Perm()), "Run: chmod o= " + e.file + " (in Kubernetes, set defaultMode: 0440 on the volume)"}
	}
	f, err := os.Open(e.file)
	if err != nil {
		return "", cannotRead(e, err)
	}
	defer func() { _ = f.Close() }() // only read from
	data, err := io.ReadAll(io.LimitReader(f, maxToken+1024))
	if err != nil {
		return "", cannotRead(e, err)
	}
	return string(data), nil
}

func cannotRead(e *tokenEntry, err error) *tokenError {
	reason := err.Error()
	var pe *fs.PathError
	if errors.As(err, &pe) {
		reason = pe.Err.Error()
	}
	return &tokenError{fmt.Sprintf("%s cannot be read: %s", e.source(), reason), "Make the file and let the server's user read it."}
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{mod: info.ModTime(), size: info.Size(), mode: info.Mode()}
}

// publish makes the table that find reads, and tells which tokens are twins;
// of twins neither counts, as it would not be known who uses them.
func (t *tokens) publish() (twins [][2]string) {
	table := make(map[[sha256.Size]byte]*identity, len(t.entries))
	for _, e := range t.entries {
		if !e.held {
			continue
		}
		if other, dup := table[e.digest]; dup {
			if other != nil {
				twins = append(twins, [2]string{other.token, e.name})
			}
			table[e.digest] = nil
			continue
		}
		table[e.digest] = e.id
	}
	t.table.Store(&table)
	return twins
}

// find tells whom a token stands for, nil if nobody. What is looked up is the
// token's digest, so that time tells nothing about the token's bytes.
func (t *tokens) find(token string) *identity {
	if len(token) > maxToken {
		return nil
	}
	t.recheck()
	return (*t.table.Load())[digestOf(token)]
}

// recheck looks at the token files at most once a second: a changed one is
// read again, and a token whose file is gone or no longer holds is out.
func (t *tokens) recheck() {
	now := t.opts.Now()
	if now.UnixNano() < t.next.Load() || !t.mu.TryLock() {
		return
	}
	defer t.mu.Unlock()
	t.next.Store(now.Add(recheckAfter).UnixNano())
	changed := false
	for _, e := range t.entries {
		if e.file == "" || !e.changed() {
			continue
		}
		changed = true
		if err := e.load(t.opts); err != nil {
			t.opts.Logger.Error("token is out of use", "token", e.name, "reason", err.message, "fix", err.fix)
			continue
		}
		t.opts.Logger.Info("token read again", "token", e.name)
	}
	if !changed {
		return
	}
	for _, twin := range t.publish() {
		t.opts.Logger.Error("two tokens have the same value; neither is in use", "token", twin[0], "other", twin[1])
	}
}

// changed tells whether the file is another than the one last seen.
func (e *tokenEntry) changed() bool {
	info, err := os.Stat(e.file)
	if err != nil {
		return e.seen != stamp{}
	}
	return e.seen != stampOf(info)
}
