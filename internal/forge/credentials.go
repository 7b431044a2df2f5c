package forge

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fairlead-dev/fairlead/gitops"
)

// Credentials say where a token is found. It is read anew for each request,
// so that it may be rotated.
type Credentials struct {
	// TokenFile is a file that holds it, relative to the configuration's
	// folder.
	TokenFile string `yaml:"tokenFile"`
	// TokenEnv is an environment variable that holds it instead.
	TokenEnv string `yaml:"tokenEnv"`

	// lent is a person's own token, and whose says whose.
	lent         func() string // a function, as a text would be printed with what holds it
	whose, forge string
}

// Lent are credentials that are a person's own token; whose says whose, and
// name what the forge is called that it was linked at, for messages.
func Lent(whose, name string, t gitops.Token) Credentials {
	return Credentials{lent: t.Reveal, whose: whose, forge: name}
}

// maxSecret is the size in bytes of the largest file that is read as a secret.
const maxSecret = 64 << 10

// Validate adds what is wrong with the credentials to ps.
func (c Credentials) Validate(ps *Problems) {
	if c.TokenFile != "" && c.TokenEnv != "" {
		ps.Add("credentials", "name tokenFile or tokenEnv, and not both")
	}
}

// OrShort gives the credentials that are configured, c or, written shorter,
// by file or env.
func (c Credentials) OrShort(file, env string) Credentials {
	if file != "" || env != "" {
		return Credentials{TokenFile: file, TokenEnv: env}
	}
	return c
}

// ValidateOrShort adds what is wrong with credentials that may be written
// shorter to ps.
func (c Credentials) ValidateOrShort(ps *Problems, file, env string) {
	if c.Set() && (file != "" || env != "") {
		ps.Add("credentials", "name the token here or by credentials, and not both")
	}
	c.OrShort(file, env).Validate(ps)
}

// Set tells whether any are configured.
func (c Credentials) Set() bool { return c.TokenFile != "" || c.TokenEnv != "" || c.lent != nil }

// In resolves a relative file against the configuration's folder.
func (c Credentials) In(dir string) Credentials {
	c.TokenFile = in(dir, c.TokenFile)
	return c
}

func in(dir, file string) string {
	if file == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

// String says where the token is found, and nothing of the token.
func (c Credentials) String() string {
	switch {
	case c.whose != "":
		return "the account that " + c.whose + " has linked"
	case c.TokenFile != "":
		return "the token file " + c.TokenFile
	case c.TokenEnv != "":
		return "the environment variable " + c.TokenEnv
	default:
		return "no credentials"
	}
}

// token reads the token; "" where none is configured.
func (c Credentials) token() (string, error) {
	switch {
	case !c.Set():
		return "", nil
	case c.lent != nil:
		return c.lent(), nil
	}
	text := os.Getenv(c.TokenEnv)
	if c.TokenFile != "" {
		var err error
		if text, err = readSecret(c.TokenFile); err != nil {
			return "", fmt.Errorf("%s cannot be read", c)
		}
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return "", fmt.Errorf("%s is empty", c)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", fmt.Errorf("%s does not hold one token alone", c)
	}
	return text, nil
}

func readSecret(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSecret {
		return "", fs.ErrInvalid
	}
	data, err := os.ReadFile(file)
	return string(data), err
}
