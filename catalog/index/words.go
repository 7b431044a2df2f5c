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

// wordField is a part of an entity in which words are looked for.
type wordField struct {
	// column is where its words stand: a key that no descriptor can have.
	column string
	// exact and prefix are what a match of a whole word or of its beginning
	// is worth.
	exact, prefix uint16
}

// The fields of words, least telling first.
const (
	inDescription = iota
	inNature      // kind, type, lifecycle and system
	inOwner
	inTags
	inTitle
	inName
	wordFieldCount
)

func wordFields() [wordFieldCount]wordField {
	return [wordFieldCount]wordField{
		inDescription: {"\x00description", 4, 3},
		inNature:      {"\x00nature", 8, 6},
		inOwner:       {"\x00owner", 12, 10},
		inTags:        {"\x00tags", 18, 14},
		inTitle:       {"\x00title", 28, 22},
		inName:        {"\x00name", 40, 32},
	}
}

// words adds the rows of the index of words.
func (w *walker) words(e *entity.Entity) {
	w.split(inName, e.Ref.Name)
	w.split(inTitle, e.Title())
	w.split(inDescription, e.Description())
	w.split(inTags, e.Metadata().Strings("tags")...)
	nature := []string{e.Ref.Kind, e.Type(), e.Spec().String("lifecycle")}
	var owners []string
	for _, r := range e.Relations {
		switch {
		case r.Type == "ownedBy":
			owners = append(owners, nameOf(r.TargetRef))
		case r.Type == "partOf" && strings.HasPrefix(r.TargetRef, "system:"):
			nature = append(nature, nameOf(r.TargetRef))
		}
	}
	w.split(inOwner, owners...)
	w.split(inNature, nature...)
}

// nameOf is the name of a full reference.
func nameOf(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// split adds the words of some texts to a field.
func (w *walker) split(field int, texts ...string) {
	k := w.fields[field]
	from := len(w.rows)
	for _, t := range texts {
		eachWord(t, func(word string) bool {
			word = w.keep(w.lower(word))
			if !slices.ContainsFunc(w.rows[from:min(len(w.rows), from+32)], func(r walkedRow) bool { return r.value == word }) {
				w.rows = append(w.rows, walkedRow{key: k, value: word, orig: word})
			}
			return len(w.rows)-from < maxWords
		})
	}
	if len(w.rows)-from > 32 {
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
