package previews

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Derive makes of a key a secret of 32 bytes that is always the same for the
// same purpose, and tells nothing of the key nor of those for others.
func Derive(key access.Secret, purpose ...string) []byte {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	for _, p := range purpose {
		fmt.Fprintf(mac, "%d:%s", len(p), p)
	}
	return mac.Sum(nil)
}

// DerivePassword is Derive for what is sent as text: letters, digits, - and _.
func DerivePassword(key access.Secret, purpose ...string) access.Secret {
	return access.NewSecret(base64.RawURLEncoding.EncodeToString(Derive(key, purpose...)))
}

// maxPassword bounds the file that holds a password, in bytes.
const maxPassword = 4 << 10

// ReadPassword reads the administrator's password of a data server (server
// names it, as in "PostgreSQL server main") from a file or else an environment
// variable; it is the zero Secret where neither is named. section is where
// both are configured. Faults: unavailable.
func ReadPassword(server, section, file, env string) (access.Secret, error) {
	text := os.Getenv(env)
	switch {
	case file != "":
		info, err := os.Stat(file)
		if err == nil && (!info.Mode().IsRegular() || info.Size() > maxPassword) {
			err = fmt.Errorf("%s is no file of at most %d bytes", file, maxPassword)
		}
		var data []byte
		if err == nil {
			data, err = os.ReadFile(file)
		}
		if err != nil {
			return access.Secret{}, fault.New(fault.Unavailable, "the password of the %s cannot be read from its file", server).
				WithFix("Have the operators let the server's user read %s[].passwordFile.", section).Because(err)
		}
		text = strings.TrimRight(string(data), "\r\n")
	case env == "":
		return access.Secret{}, nil
	}
	if text == "" {
		return access.Secret{}, fault.New(fault.Unavailable, "the password of the %s is empty", server).
			WithFix("Have the operators fill what passwordFile or passwordEnv of %s names.", section)
	}
	return access.NewSecret(text), nil
}
