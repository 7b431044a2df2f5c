package external

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
)

// maxToken is the most of a token, in bytes.
const maxToken = 16 << 10

// token reads the token anew, so that it can be changed; zero where none is
// configured. An error says nothing of what it holds.
func (c *Config) token(dir string) (access.Secret, error) {
	if c.TokenFile == "" && c.TokenEnv == "" {
		return access.Secret{}, nil
	}
	text, err := c.tokenText(dir)
	if err != nil {
		return access.Secret{}, complaint("tokenFile cannot be read")
	}
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return access.Secret{}, complaint("tokenFile or tokenEnv holds no token, or more than one")
	}
	return access.NewSecret(text), nil
}

func (c *Config) tokenText(dir string) (string, error) {
	if c.TokenFile == "" {
		return strings.TrimSpace(os.Getenv(c.TokenEnv)), nil
	}
	f, err := os.Open(within(dir, c.TokenFile))
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read from
	data, err := io.ReadAll(io.LimitReader(f, maxToken))
	return strings.TrimSpace(string(data)), err
}

func within(dir, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}
