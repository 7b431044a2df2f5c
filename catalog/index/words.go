package index

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// Bounds of the index of words: what lies beyond them is not found by words.
const (
	maxWords    = 2_000 // different words of one field of one entity
	maxWordSize = 64    // bytes of a word
)

// The columns of words: keys that no descriptor can have. What an entity is
// and whose it is has columns of its own, whose few values are looked through.
const (
	wordsOfName        = "\x00name"
	wordsOfTitle       = "\x00title"
	wordsOfDescription = "\x00description"
)

// words adds the rows of the index of words. A word that a better place holds
// already is left out.
func (w *walker) words(e *entity.Entity) {
	from := len(w.rows)
	w.split(from, wordsOfName, e.Ref.Name)
	w.split(from, wordsOfTitle, e.Title())
	w.split(from, wordsOfDescription, e.Description())
}

// split adds the words of a text that are not among the rows from from on.
func (w *walker) split(from int, column, text string) {
	k := w.key(column)
	start := len(w.rows)
	eachWord(text, func(word string) bool {
		word = w.keep(w.lower(word))
		if !slices.ContainsFunc(w.rows[from:min(len(w.rows), from+40)], func(r walkedRow) bool { return r.value == word }) {
			w.rows = append(w.rows, walkedRow{key: k, value: word, orig: word})
		}
		return len(w.rows)-start < maxWords
	})
	if len(w.rows)-from > 40 {
		w.rows = distinct(w.rows, from)
	}
}

// distinct drops the rows from from on whose value was there before.
func distinct(rows []walkedRow, from int) []walkedRow {
	seen := make(map[string]bool, len(rows)-from)
	out := rows[:from]
	for _, r := range rows[from:] {
		if !seen[r.value] {
			seen[r.value] = true
			out = append(out, r)
		}
	}
	return out
}

// keep gives one copy of each word, so that no text is held for its words.
func (w *walker) keep(word string) string {
	k, ok := w.kept[word]
	if !ok {
		k = strings.Clone(word)
		w.kept[k] = k
	}
	return k
}

// eachWord calls f with every run of letters and digits, until f says stop.
func eachWord(text string, f func(string) bool) {
	start := -1
	for i, r := range text {
		in := r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') ||
			r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
		switch {
		case in && start < 0:
			start = i
		case !in && start >= 0:
			if !f(clip(text[start:i])) {
				return
			}
			start = -1
		}
	}
	if start >= 0 {
		f(clip(text[start:]))
	}
}

// clip shortens a word to its beginning, at a character's edge.
func clip(word string) string {
	if len(word) <= maxWordSize {
		return word
	}
	n := maxWordSize
	for n > 0 && !utf8.RuneStart(word[n]) {
		n--
	}
	return word[:n]
}
