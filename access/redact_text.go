package access

import (
	"regexp"
	"strings"
)

// secretNames are what a setting of a secret is called.
const secretNames = `[\w-]*(?:token|secret|passw(?:or)?d|passphrase|credential|api[-_]?key|private[-_]?key|access[-_]?key)[\w-]*` //nolint:gosec // an expression, no secret

// secretSetting finds settings of a secret written out: in a shell, in YAML
// and JSON, and as flags. What is a variable, a placeholder or empty is none.
const secretSetting = `((?:` + secretNames + `)["']?\s*(?::\s+|:?=\s*|\s+(?:is|=)\s+)["'\x60]?)([^\s"'\x60$<{(\[,;]{6,})`

// secretLiteral finds texts in quotes that are set under the name of a secret.
const secretLiteral = `(` + secretNames + `["'\])]*\s*(?::\s*[\w.]+\s*)?(?::|:?=|=>)\s*["'\x60])([^\s"'\x60$<{%]{6,})(["'\x60])`

// setting finds what is set under the name of a secret, in the expression's
// second group.
type setting struct {
	whole  *regexp.Regexp
	finder finder
}

func newSetting(expression string) *setting {
	begin := regexp.MustCompile(`(?i)^(?:` + expression + `)`)
	return &setting{regexp.MustCompile(`(?i)` + expression), finder{
		signs: newSigns("token", "secret", "passw", "passphrase", "credential", "apikey", "api-key", "api_key", "privatekey", "private-key", "private_key",
			"accesskey", "access-key", "access_key"),
		here: begin, within: begin, runs: true,
	}}
}

var (
	settings = newSetting(secretSetting)
	literals = newSetting(secretLiteral)
)

// mask masks what is set.
func (f *setting) mask(text string) string {
	var found [][]int
	if disguised(text) {
		found = f.whole.FindAllStringSubmatchIndex(text, -1)
	} else {
		f.finder.each(text, func(at []int) { found = append(found, at) })
	}
	if len(found) == 0 {
		return text
	}
	var out strings.Builder
	done := 0
	for _, at := range found {
		out.WriteString(text[done:at[4]])
		out.WriteString(mask)
		done = at[5]
	}
	out.WriteString(text[done:])
	return out.String()
}

// Redact masks the secrets in a text that people wrote: what has the form of
// one, and what is set under the name of one. Fairlead never indexes or shows
// a file without it.
func Redact(text string) string { return settings.mask(redact(text)) }

// RedactCode is Redact for source code. Where quoted is true texts stand in
// quotes in its language, and the names of variables and functions that a
// secret is taken from are left as they are.
func RedactCode(text string, quoted bool) string {
	if !quoted {
		return Redact(text)
	}
	return literals.mask(redact(text))
}
