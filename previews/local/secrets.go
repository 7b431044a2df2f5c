package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strings"

	"github.com/fairlead-dev/fairlead/previews"
)

// maxSecrets bounds what a preview is given, in bytes.
const maxSecrets = 64 << 10

// writeSecrets is what a supervisor reads from its standard input: what a
// preview is given is in its environment, and neither in a file nor among a
// process's arguments.
func writeSecrets(given []previews.Given) (io.Reader, error) {
	secrets := make(map[string]string, len(given))
	for _, g := range given {
		secrets[g.Env] = g.Value.Reveal()
	}
	data, err := json.Marshal(secrets)
	if err == nil && len(data) > maxSecrets {
		err = errors.New("what the preview is given is too long")
	}
	return bytes.NewReader(data), err
}

func readSecrets(r io.Reader) (secrets map[string]string, err error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSecrets+1))
	if err != nil || len(data) == 0 {
		return nil, err
	}
	return secrets, json.Unmarshal(data, &secrets)
}

// hidden is what stands in a log in the place of a secret.
const hidden = "[secret]"

// hider replaces secrets in lines of a log: values, and of those that are URLs
// the password alone, too.
func hider(secrets map[string]string) *strings.Replacer {
	var pairs []string
	for _, value := range secrets {
		if value != "" {
			pairs = append(pairs, value, hidden)
		}
	}
	for _, value := range secrets {
		u, err := url.Parse(value)
		if err != nil || u.User == nil {
			continue
		}
		if password, ok := u.User.Password(); ok && len(password) >= 8 {
			pairs = append(pairs, password, hidden)
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	return strings.NewReplacer(pairs...)
}
