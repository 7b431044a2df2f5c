package redis

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"

	"github.com/fairlead-dev/fairlead/previews"
)

// section is where the servers are configured.
const section = "previews.data.redis"

// Config is one server of the section previews.data.redis of the
// configuration.
type Config struct {
	// Name is what catalog files call the server.
	Name string `yaml:"name"`
	// URL is where Fairlead reaches it as its administrator, with no password:
	// rediss://admin@host:6379, or redis:// without TLS.
	URL string `yaml:"url"`
	// PasswordFile is a file that holds the administrator's password, relative
	// to the configuration's folder, and PasswordEnv an environment variable
	// that does. It is read for each connection.
	PasswordFile string `yaml:"passwordFile"`
	PasswordEnv  string `yaml:"passwordEnv"`
	// PreviewURL is where previews reach it if not as Fairlead does; of it
	// scheme, host and port are used: rediss://previews-cache:6379.
	PreviewURL string `yaml:"previewURL"`
}

// Problem is one thing wrong with a Config.
type Problem struct {
	// Field is the key, for example url.
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
	if _, err := serverURL(c.URL); err != nil {
		add("url", "%v; write for example rediss://previews@cache.example.com:6379", err)
	}
	if (c.PasswordFile == "") == (c.PasswordEnv == "") {
		add("passwordFile", "name passwordFile or passwordEnv, and not both: the administrator needs a password, or any preview could be it")
	}
	if c.PreviewURL != "" {
		if u, err := serverURL(c.PreviewURL); err != nil {
			add("previewURL", "%v; write for example rediss://previews-cache:6379", err)
		} else if u.User != nil {
			add("previewURL", "it names a user, and each preview has its own")
		}
	}
	return ps
}

// serverURL reads a URL that holds no password.
func serverURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Hostname() == "":
		return nil, errors.New("it is no redis:// or rediss:// URL with a host")
	case u.Path != "" && u.Path != "/" && u.Path != "/0":
		return nil, errors.New("it names another database than 0, the only one that previews use")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("it has parameters, and none are known")
	}
	if _, has := u.User.Password(); has {
		return nil, errors.New("it holds a password, which belongs into passwordFile or passwordEnv")
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

// credentials are the administrator's.
func (c *Config) credentials() (user, password string, err error) {
	u, err := serverURL(c.URL)
	if err != nil {
		return "", "", err
	}
	secret, err := previews.ReadPassword("Redis server "+c.Name, section, c.PasswordFile, c.PasswordEnv)
	return u.User.Username(), secret.Reveal(), err
}
