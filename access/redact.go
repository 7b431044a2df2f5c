package access

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
)

// Bounds of what the audit keeps, in bytes: of one text, and of an input.
const (
	maxText  = 512
	maxInput = 2048
)

// secretKey finds keys whose values are not for the record.
var secretKey = regexp.MustCompile(`(?i)token|secret|passw|passphrase|credential|authorization|cookie|api[-_]?key|private[-_]?key|session`)

// secretForms are secrets by their form: tokens of Fairlead, keys, and
// passwords in URLs; after them those that begin a word: tokens of forges,
// clouds and Vault, JWTs and bearer headers.
const secretForms = `fairlead_[\w-]{16,}` +
	`|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)` +
	`|://[^/\s@]+@`

const secretWords = `|\b(?:gh[pousr]_|github_pat_|glpat-|glptt-|xox[abprs]-|hv[sbr]\.|sk-)[\w.-]{10,}` +
	`|\bA[KS]IA[0-9A-Z]{16}\b` +
	`|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*` +
	`|\b(?:bearer|basic)\s+[\w.~+/=-]{8,}`

// secretText finds secrets by their form.
var secretText = regexp.MustCompile(`(?i)` + secretForms + secretWords)

// secretTexts is secretText, made fast.
var secretTexts = &finder{
	signs: newSigns("fairlead_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "glptt-", "xox", "hvs.", "hvb.", "hvr.", "sk-",
		"akia", "asia", "eyj", "bearer", "basic", "-----begin", "://"),
	here:   regexp.MustCompile(`(?i)^(?:` + secretForms + secretWords + `)`),
	within: regexp.MustCompile(`(?i)^(?:` + secretForms + `)`),
}

// redact masks what has the form of a secret; lines stay where they are.
func redact(s string) string {
	if disguised(s) {
		return secretText.ReplaceAllStringFunc(s, maskText)
	}
	var out strings.Builder
	done := 0
	secretTexts.each(s, func(at []int) {
		out.WriteString(s[done:at[0]])
		out.WriteString(maskText(s[at[0]:at[1]]))
		done = at[1]
	})
	if done == 0 {
		return s
	}
	out.WriteString(s[done:])
	return out.String()
}

// maskText is what is put in place of a secret.
func maskText(found string) string {
	if strings.HasPrefix(found, "://") {
		return "://" + mask + "@"
	}
	return mask + strings.Repeat("\n", strings.Count(found, "\n"))
}

// summarise gives an input as JSON for the audit: secrets masked, long texts
// and long inputs cut, which an ellipsis shows.
func summarise(in any) string {
	if in == nil {
		return ""
	}
	text, err := json.Marshal(in)
	if err != nil {
		return `"an input that cannot be shown"`
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return `"an input that cannot be shown"`
	}
	text, err = json.Marshal(clean(v))
	if err != nil {
		return `"an input that cannot be shown"`
	}
	return clip(string(text), maxInput)
}

// clean masks and cuts every text of a JSON value.
func clean(v any) any {
	switch v := v.(type) {
	case string:
		return clip(redact(v), maxText)
	case []any:
		for i := range v {
			v[i] = clean(v[i])
		}
		return v
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			if secretKey.MatchString(k) && holdsText(item) {
				item = mask
			}
			out[clip(redact(k), maxText)] = clean(item)
		}
		return out
	default:
		return v
	}
}

// holdsText tells whether a JSON value can hold a secret: a number cannot.
func holdsText(v any) bool {
	switch v.(type) {
	case nil, bool, float64:
		return false
	default:
		return true
	}
}

// plain makes a text fit for the record: masked, cut, valid UTF-8, and without
// the control characters that a database or a terminal would trip over.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return clip(redact(s), maxText)
}
