package demo

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
)

// Set is a demo that is ready to be served.
type Set struct {
	// Config is the path of the configuration file.
	Config string
	// Tokens are by role: agent, developer, sre.
	Tokens map[string]string
	// Repositories are what was made.
	Repositories []Repository
}

// who stands behind each token.
func who() map[string]string {
	return map[string]string{
		"agent":     "subject: user:default/alice, agent: claude-code, groups: [group:default/storefront, group:default/payments, group:default/fulfilment], roles: [developer]",
		"developer": "subject: user:default/alice, groups: [group:default/storefront, group:default/payments, group:default/fulfilment], roles: [developer]",
		"sre":       "subject: user:default/sam, groups: [group:default/platform], roles: [sre]",
	}
}

// Postgres is a PostgreSQL server that previews are given databases in.
type Postgres struct {
	// URL has no password; PasswordFile holds it, "" where none is needed.
	URL, PasswordFile string
}

// Prepare makes repositories, tokens and a configuration below dir. What an
// earlier demo left there is used again.
func Prepare(ctx context.Context, dir, listen string) (*Set, error) {
	return PrepareWith(ctx, dir, listen, Postgres{})
}

// PrepareWith is Prepare with a server for previews' data, none if it has no
// URL.
func PrepareWith(ctx context.Context, dir, listen string, data Postgres) (*Set, error) {
	set, err := Make(ctx, dir, "")
	if err != nil {
		return nil, err
	}
	return set, os.WriteFile(set.Config, []byte(config(set, listen, data)), 0o600)
}

// ServeUI adds the front end in a folder to the configuration. Who opens it is
// Alice, or who has the role as: developer or sre.
func (s *Set) ServeUI(dir, as string) error {
	guest, ok := who()[cmp.Or(as, "developer")]
	if !ok || as == "agent" {
		return fmt.Errorf("nobody of the demo is %s", as)
	}
	text, err := os.ReadFile(s.Config)
	if err != nil {
		return err
	}
	text = fmt.Appendf(text, "ui: {dir: %q, guest: {%s}}\n", dir, guest)
	return os.WriteFile(s.Config, text, 0o600) //nolint:gosec // the demo's own file
}

// Make is Prepare without a configuration, whose path alone is given: the
// repositories, which are said to be below the URL at, and the tokens.
func Make(ctx context.Context, dir, at string) (*Set, error) {
	set := &Set{Config: filepath.Join(dir, "fairlead.yaml"), Tokens: map[string]string{}}
	if err := os.MkdirAll(filepath.Join(dir, "tokens"), 0o700); err != nil {
		return nil, err
	}
	var err error
	if set.Repositories, err = Create(ctx, dir, at); err != nil {
		return nil, err
	}
	for role := range who() {
		if set.Tokens[role], err = token(filepath.Join(dir, "tokens", role)); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// token reads the token in a file, or makes one.
func token(file string) (string, error) {
	if data, err := os.ReadFile(file); err == nil && len(data) > 20 {
		return strings.TrimSpace(string(data)), nil
	}
	t := access.NewToken().Reveal()
	return t, os.WriteFile(file, []byte(t+"\n"), 0o600)
}

// Auth is the section of the configuration that says whose the tokens are.
func Auth() string {
	var b strings.Builder
	b.WriteString("auth:\n  tokens:\n")
	for _, role := range []string{"agent", "developer", "sre"} {
		fmt.Fprintf(&b, "    - {name: %s, tokenFile: ./tokens/%s, %s}\n", role, role, who()[role])
	}
	return b.String()
}

func config(set *Set, listen string, data Postgres) string {
	var b strings.Builder
	fmt.Fprintf(&b, "listen: %s\nstate: ./state\n%s", listen, Auth())
	b.WriteString("catalog:\n  refresh: 2s\n  sources:\n")
	for _, r := range set.Repositories {
		// One without a catalog file is read for what it says of the others.
		fmt.Fprintf(&b, "    - {name: %s, git: {url: %q}}\n", r.Name, r.Dir)
	}
	if runtime.GOOS == "linux" { // where the local deployer works
		b.WriteString("previews: {deployers: {local: {}}" + data.section() + "}\n")
	}
	// Without a forge a change is a branch of the repository, and its patch.
	b.WriteString("proposals: {}\n")
	return b.String()
}

// section is its part of the configuration of previews.
func (p Postgres) section() string {
	switch {
	case p.URL == "":
		return ""
	case p.PasswordFile == "":
		return fmt.Sprintf(", data: {postgres: [{name: main, url: %q}]}", p.URL)
	}
	return fmt.Sprintf(", data: {postgres: [{name: main, url: %q, passwordFile: %q}]}", p.URL, p.PasswordFile)
}
