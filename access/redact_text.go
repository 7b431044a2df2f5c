package access

import "regexp"

// secretSetting finds settings of a secret written out: in a shell, in YAML
// and JSON, and as flags. What is a variable, a placeholder or empty is none.
var secretSetting = regexp.MustCompile(`(?i)((?:[\w-]*(?:token|secret|passw(?:or)?d|passphrase|credential|api[-_]?key|private[-_]?key|access[-_]?key)[\w-]*)["']?\s*(?::\s+|:?=\s*|\s+(?:is|=)\s+)["'\x60]?)([^\s"'\x60$<{(\[,;]{6,})`)

// Redact masks the secrets in a text that people wrote: what has the form of
// one, and what is set under the name of one. Fairlead never indexes or shows
// a file without it.
func Redact(text string) string {
	return secretSetting.ReplaceAllString(redact(text), "${1}"+mask)
}
