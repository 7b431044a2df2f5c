package postgres

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/previews"
)

// Config is one server of the section previews.data.postgres of the
// configuration.
type Config struct {
	// Name is what catalog files call the server.
	Name string `yaml:"name"`
	// URL is where Fairlead reaches it as its administrator, with no password:
	// postgres://admin@host:5432/postgres?sslmode=verify-full.
	URL string `yaml:"url"`
	// PasswordFile is a file that holds the administrator's password, relative
	// to the configuration's folder, and PasswordEnv an environment variable
	// that does. It is read for each connection.
	PasswordFile string `yaml:"passwordFile"`
	PasswordEnv  string `yaml:"passwordEnv"`
	// PreviewURL is where previews reach it if not as Fairlead does; of it host,
	// port and parameters are used: postgres://previews-db:5432/?sslmode=require.
	PreviewURL string `yaml:"previewURL"`
	// Open are databases that PUBLIC may connect to all the same, such as those
	// of whoever operates the server.
	Open []string `yaml:"open"`
	// Limits bound each database.
	Limits Limits `yaml:"limits"`
}

// Limits bound what one preview does in its database; zero values mean the
// defaults.
type Limits struct {
	// Connections at once; default 20.
	Connections int `yaml:"connections"`
	// SizeBytes of the database, looked at whenever the preview is; default 256
	// MiB. One that has grown beyond it is closed.
	SizeBytes int64 `yaml:"sizeBytes"`
	// SeedBytes of the file that fills it; default 4 MiB.
	SeedBytes int64 `yaml:"seedBytes"`
	// StatementTimeout is what statements may take unless the preview sets
	// another time; default 1m. It ends those of the seed, too.
	StatementTimeout time.Duration `yaml:"statementTimeout"`
}

// The defaults of Limits.
const (
	DefaultConnections            = 20
	DefaultSizeBytes        int64 = 256 << 20
	DefaultSeedBytes        int64 = 4 << 20
	DefaultStatementTimeout       = time.Minute
)

func (l Limits) withDefaults() Limits {
	if l.Connections == 0 {
		l.Connections = DefaultConnections
	}
	if l.SizeBytes == 0 {
		l.SizeBytes = DefaultSizeBytes
	}
	if l.SeedBytes == 0 {
		l.SeedBytes = DefaultSeedBytes
	}
	if l.StatementTimeout == 0 {
		l.StatementTimeout = DefaultStatementTimeout
	}
	return l
}

// Problem is one thing wrong with a Config.
type Problem struct {
	// Field is the key, for example limits.connections.
	Field string
	// Message says what is wrong and what to write.
	Message string
}

var serverName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Validate tells everything that is wrong with the section. It looks at no
// file.
func (c *Config) Validate() []Problem {
	var ps []Problem
	add := func(field, format string, args ...any) {
		ps = append(ps, Problem{field, fmt.Sprintf(format, args...)})
	}
	if !serverName.MatchString(c.Name) {
		add("name", "%q is no name of lower-case letters, digits and hyphens", c.Name)
	}
	if u, err := serverURL(c.URL); err != nil {
		add("url", "%v; write for example postgres://previews@db.example.com:5432/postgres?sslmode=verify-full", err)
	} else if u.User.Username() == "" {
		add("url", "it names no user")
	}
	if c.PasswordFile != "" && c.PasswordEnv != "" {
		add("passwordEnv", "name passwordFile or passwordEnv, and not both")
	}
	if c.PreviewURL != "" {
		if _, err := serverURL(c.PreviewURL); err != nil {
			add("previewURL", "%v; write for example postgres://previews-db:5432/?sslmode=require", err)
		}
	}
	l := c.Limits
	for _, n := range []struct {
		field        string
		value, least int64
	}{
		{"connections", int64(l.Connections), 1}, {"sizeBytes", l.SizeBytes, 16 << 20}, {"seedBytes", l.SeedBytes, 1},
		{"statementTimeout", l.StatementTimeout.Milliseconds(), 1},
	} {
		if n.value != 0 && n.value < n.least {
			add("limits."+n.field, "%d is too little; at least %d", n.value, n.least)
		}
	}
	return ps
}

// serverURL reads a URL that holds no password.
func serverURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Hostname() == "" {
		return nil, fmt.Errorf("it is no postgres:// URL with a host")
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") {
		return nil, fmt.Errorf("it holds a password, which belongs into passwordFile or passwordEnv")
	}
	return u, nil
}

// In resolves a relative file against the configuration's folder.
func (c Config) In(dir string) Config {
	if c.PasswordFile != "" && !filepath.IsAbs(c.PasswordFile) {
		c.PasswordFile = filepath.Join(dir, c.PasswordFile)
	}
	return c
}

// password reads the administrator's password; none where none is configured.
func (c *Config) password() (access.Secret, error) {
	return previews.ReadPassword("PostgreSQL server "+c.Name, "previews.data.postgres", c.PasswordFile, c.PasswordEnv)
}
