package entity

import (
	"strconv"
	"time"
)

// Relation is one edge of the catalog graph as an entity shows it.
type Relation struct {
	Type      string `json:"type"`
	TargetRef string `json:"targetRef"`
}

// Edge is one edge of the catalog graph with both ends, as processing emits
// it. Refs are full and in lower case.
type Edge struct {
	Source string
	Type   string
	Target string
}

// Severity says how much a problem costs.
type Severity string

// An error keeps a document out of the catalog; a warning does not.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Problem is one thing wrong with a catalog file, fit for the person who
// wrote it: what is wrong with which value, where, and how to put it right.
type Problem struct {
	Severity Severity `json:"severity"`
	// Name is Backstage's class of error: InputError, ConflictError, NotFoundError …
	Name    string `json:"name,omitempty"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
	// File is the path within the source; Line and Column count from 1, 0 is unknown.
	File   string `json:"file"`
	Line   uint32 `json:"line,omitempty"`
	Column uint32 `json:"column,omitempty"`
	// Ref is the entity concerned, where one can be named.
	Ref string `json:"ref,omitempty"`
}

// String is file:line:column: message.
func (p Problem) String() string {
	s := p.File
	if p.Line > 0 {
		s += ":" + strconv.Itoa(int(p.Line)) + ":" + strconv.Itoa(int(p.Column))
	}
	return s + ": " + p.Message
}

// Provenance is where an entity comes from and how current that is.
type Provenance struct {
	// Source is the configured source's name.
	Source string
	// Repository is the URL of the Git repository; "" for plain folders.
	Repository string
	// Commit is the full commit id that was read; "" for plain folders.
	Commit string
	// History tells when the file was changed last; nil where nobody can know,
	// as in plain folders.
	History *History
	// Path is the file within the repository or folder.
	Path string
	// Line is where the entity's document starts.
	Line uint32
	// VerifiedAt is when it was read: the source said so then.
	VerifiedAt time.Time
	// StaleSince is the commit since which the file says something that cannot
	// be used, so that this is older than the file; for plain folders, the
	// time. It is "" where this is what the file says.
	StaleSince string
}

// StatusItem is one entry of an entity's status, in Backstage's shape.
type StatusItem struct {
	Type    string       `json:"type"`
	Level   string       `json:"level"`
	Message string       `json:"message"`
	Error   *StatusError `json:"error,omitempty"`
}

// StatusError is the error behind a status item.
type StatusError struct {
	Name    string `json:"name"`
	Message string `json:"message"`
}

// Entity is one catalog entity as Backstage serves it. An Entity that has
// been handed out is never changed.
type Entity struct {
	// Ref is the canonical reference.
	Ref Ref
	// Root holds apiVersion, kind, metadata, spec and whatever else the
	// descriptor says, in order, after processing.
	Root *Object
	// Relations are sorted by type, then target.
	Relations []Relation
	// Status is what is wrong with the newest version of the descriptor, if anything.
	Status []StatusItem
	// From is where the entity was read.
	From Provenance

	encoded []byte
}

// Kind is the kind as written, for example Component.
func (e *Entity) Kind() string { return e.Root.String("kind") }

// Metadata is the metadata mapping.
func (e *Entity) Metadata() *Object { return e.Root.Object("metadata") }

// Spec is the spec mapping, nil where there is none.
func (e *Entity) Spec() *Object { return e.Root.Object("spec") }

// Name is metadata.name as written.
func (e *Entity) Name() string { return e.Metadata().String("name") }

// Namespace is metadata.namespace, "default" where it is not written.
func (e *Entity) Namespace() string {
	if ns := e.Metadata().String("namespace"); ns != "" {
		return ns
	}
	return DefaultNamespace
}

// Title is metadata.title, else for Users and Groups the profile's display
// name, else "".
func (e *Entity) Title() string {
	if t := e.Metadata().String("title"); t != "" {
		return t
	}
	return e.Spec().Object("profile").String("displayName")
}

// Description is metadata.description.
func (e *Entity) Description() string { return e.Metadata().String("description") }

// UID is metadata.uid as served.
func (e *Entity) UID() string { return e.Metadata().String("uid") }

// Annotation is the value of one annotation, "" where there is none.
func (e *Entity) Annotation(key string) string {
	return e.Metadata().Object("annotations").String(key)
}

// Type is spec.type.
func (e *Entity) Type() string { return e.Spec().String("type") }

// Targets are the targets of the relations of one type, in order.
func (e *Entity) Targets(relation string) []string {
	var out []string
	for _, r := range e.Relations {
		if r.Type == relation {
			out = append(out, r.TargetRef)
		}
	}
	return out
}

// Owner is the first owner's reference by relation, "" where there is none.
func (e *Entity) Owner() string {
	if t := e.Targets("ownedBy"); len(t) > 0 {
		return t[0]
	}
	return ""
}

// MarshalJSON gives the entity as Backstage's REST API serves it.
func (e *Entity) MarshalJSON() ([]byte, error) {
	if e == nil {
		return []byte("null"), nil
	}
	if e.encoded != nil {
		return e.encoded, nil
	}
	return e.AppendJSON(nil), nil
}

// WithJSON returns a copy that is served as the JSON given: its own JSON made
// elsewhere, or a part of it.
func (e *Entity) WithJSON(encoded []byte) *Entity {
	c := *e
	c.encoded = encoded
	return &c
}

// AppendJSON appends the entity's JSON: the descriptor, then relations, then
// status.
func (e *Entity) AppendJSON(b []byte) []byte {
	if e.encoded != nil {
		return append(b, e.encoded...)
	}
	b = append(b, '{')
	for _, m := range e.Root.Members {
		b = AppendString(b, m.Key)
		b = append(b, ':')
		b = AppendJSON(b, m.Value)
		b = append(b, ',')
	}
	return e.AppendTail(b)
}

// AppendTail appends what follows the descriptor's members in the entity's
// JSON: relations, status and the closing brace.
func (e *Entity) AppendTail(b []byte) []byte {
	b = append(b, `"relations":[`...)
	for i, r := range e.Relations {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":`...)
		b = AppendString(b, r.Type)
		b = append(b, `,"targetRef":`...)
		b = AppendString(b, r.TargetRef)
		b = append(b, '}')
	}
	b = append(b, ']')
	if len(e.Status) > 0 {
		b = append(b, `,"status":{"items":`...)
		b = AppendJSON(b, e.Status)
		b = append(b, '}')
	}
	return append(b, '}')
}
