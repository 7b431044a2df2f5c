package access

import (
	"regexp"
	"strings"
)

// secretSetting finds settings of a secret written out: in a shell, in YAML
// and JSON, and as flags. What is a variable, a placeholder or empty is none.
var secretSetting = regexp.MustCompile(`(?i)((?:[\w-]*(?:token|secret|passw(?:or)?d|passphrase|credential|api[-_]?key|private[-_]?key|access[-_]?key)[\w-]*)["']?\s*(?::\s+|:?=\s*|\s+(?:is|=)\s+)["'\x60]?)([^\s"'\x60$<{(\[,;]{6,})`)

// settingSigns are what no text that secretSetting matches is without, in lower
// case.
var settingSigns = [...]string{"token", "secret", "passw", "passphrase", "credential", "apikey", "api-key", "api_key", "privatekey", "private-key", "private_key",
	"accesskey", "access-key", "access_key", "\u017f"} // the last is an s to the expression

// names tells whether a text may name a secret; where it does not, the
// expression need not look, which takes twenty times as long.
func names(s string) bool {
	s = strings.ToLower(s)
	for _, sign := range settingSigns {
		if strings.Contains(s, sign) {
			return true
		}
	}
	return false
}

// Redact masks the secrets in a text that people wrote: what has the form of
// one, and what is set under the name of one. Fairlead never indexes or shows
// a file without it.
func Redact(text string) string {
	text = redact(text)
	if !names(text) {
		return text
	}
	return secretSetting.ReplaceAllString(text, "${1}"+mask)
}

// secretLiteral finds texts in quotes that are set under the name of a secret.
var secretLiteral = regexp.MustCompile(`(?i)([\w-]*(?:token|secret|passw(?:or)?d|passphrase|credential|api[-_]?key|private[-_]?key|access[-_]?key)[\w-]*["'\])]*\s*(?::\s*[\w.]+\s*)?(?::|:?=|=>)\s*["'\x60])([^\s"'\x60$<{%]{6,})(["'\x60])`)

// RedactCode is Redact for source code. Where literals are true texts stand in
// quotes in its language, and the names of variables and functions that a
// secret is taken from are left as they are.
func RedactCode(text string, literals bool) string {
	if !literals {
		return Redact(text)
	}
	text = redact(text)
	if !secretKey.MatchString(text) {
		return text
	}
	return secretLiteral.ReplaceAllString(text, "${1}"+mask+"${3}")
}
