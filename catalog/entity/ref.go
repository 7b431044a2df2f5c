package entity

import (
	"fmt"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// DefaultNamespace is the namespace of an entity that names none.
const DefaultNamespace = "default"

// Ref names an entity: kind:namespace/name. A Ref made by ParseRef or
// Canonical is in lower case, which is how Backstage compares references.
type Ref struct {
	Kind      string
	Namespace string
	Name      string
}

// String is the full reference, kind:namespace/name, in lower case. Each part
// is lowered on its own: what follows a sigma decides which one it becomes.
func (r Ref) String() string {
	return Lower(r.Kind) + ":" + Lower(r.Namespace) + "/" + Lower(r.Name)
}

// Canonical is the reference in lower case.
func (r Ref) Canonical() Ref {
	return Ref{Kind: Lower(r.Kind), Namespace: Lower(r.Namespace), Name: Lower(r.Name)}
}

// IsZero tells whether the reference names nothing.
func (r Ref) IsZero() bool { return r == Ref{} }

// Lower is JavaScript's toLowerCase, by which Backstage compares references
// and search values: language-neutral full Unicode mapping with final sigma.
func Lower(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return cases.Lower(language.Und).String(s)
		}
	}
	return strings.ToLower(s)
}

// CompleteRef writes out a reference that somebody selects by, in lower case,
// with the kind for one that names none and the default namespace: "" stays "",
// and what is no reference is completed all the same, and selects nothing.
func CompleteRef(ref, kind string) string {
	ref = strings.ToLower(strings.TrimSpace(ref))
	if ref == "" {
		return ""
	}
	if !strings.Contains(ref, ":") {
		ref = kind + ":" + ref
	}
	if k, name, _ := strings.Cut(ref, ":"); !strings.Contains(name, "/") {
		ref = k + ":" + DefaultNamespace + "/" + name
	}
	return ref
}

// ParseRef reads [kind:][namespace/]name with defaults for what is left out,
// by Backstage's rule: the kind ends at the first ":" that stands before the
// first "/". An empty part is an error, and so is a missing kind without a
// default. The parts keep their case; Canonical lowers them.
func ParseRef(s, defaultKind, defaultNamespace string) (Ref, error) {
	r := Ref{Kind: defaultKind, Namespace: defaultNamespace, Name: s}
	colon, slash := strings.IndexByte(s, ':'), strings.IndexByte(s, '/')
	if colon >= 0 && (slash < 0 || colon < slash) {
		r.Kind, r.Name = s[:colon], s[colon+1:]
		if r.Kind == "" {
			return Ref{}, fmt.Errorf("entity reference %q has an empty kind", clip(s))
		}
	}
	if slash = strings.IndexByte(r.Name, '/'); slash >= 0 {
		r.Namespace, r.Name = r.Name[:slash], r.Name[slash+1:]
	}
	switch {
	case r.Kind == "":
		return Ref{}, fmt.Errorf("entity reference %q has no kind: write kind:namespace/name", clip(s))
	case r.Namespace == "":
		return Ref{}, fmt.Errorf("entity reference %q has an empty namespace", clip(s))
	case r.Name == "":
		return Ref{}, fmt.Errorf("entity reference %q has an empty name", clip(s))
	}
	return r, nil
}

// clip keeps what is quoted in an error to a length that people read.
func clip(s string) string {
	const limit = 200
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}
