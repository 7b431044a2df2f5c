package argocd

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/previews"
)

// placeholder is a word in braces.
var placeholder = regexp.MustCompile(`\{([A-Za-z]+)\}`)

// Placeholders are the words that may stand in braces in templates: the
// preview's id and namespace, the service's name, its repository and folder,
// and the commit, in full and its first twelve digits.
func Placeholders() []string {
	return []string{"id", "namespace", "service", "repository", "dir", "commit", "shortCommit"}
}

func placeholderList() string { return "{" + strings.Join(Placeholders(), "}, {") + "}" }

// unknownPlaceholder finds a word in braces that stands for nothing.
func unknownPlaceholder(text string) string {
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(Placeholders(), m[1]) {
			return m[1]
		}
	}
	return ""
}

// expander puts what a wish says in the place of placeholders.
type expander struct{ plain, quoted *strings.Replacer }

func expand(w *previews.Wish, namespace string) expander {
	pairs := []string{"{id}", w.ID, "{namespace}", namespace, "{service}", nameOf(w.Service), "{repository}", w.Repository,
		"{dir}", w.Dir, "{commit}", w.Commit, "{shortCommit}", w.Commit[:min(12, len(w.Commit))]}
	quoted := slices.Clone(pairs)
	for i := 1; i < len(quoted); i += 2 {
		quoted[i] = string(entity.AppendJSON(nil, pairs[i]))
		quoted[i] = quoted[i][1 : len(quoted[i])-1]
	}
	return expander{strings.NewReplacer(pairs...), strings.NewReplacer(quoted...)}
}

// text replaces in a text.
func (e expander) text(s string) string { return e.plain.Replace(s) }

// into copies a value that JSON can hold, and replaces in all its texts.
func (e expander) into(from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(e.quoted.Replace(string(text))), to)
}

// nameOf is the name in a full reference.
func nameOf(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }
