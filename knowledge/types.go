package knowledge

import (
	"time"

	"github.com/fairlead-dev/fairlead/knowledge/document"
)

// SearchKnowledgeInput is a search in words.
type SearchKnowledgeInput struct {
	Query   string `json:"query" jsonschema:"plain words, a question, or the name of an alert"`
	Service string `json:"service,omitempty" jsonschema:"bare name or reference of a service whose documents come first"`
	Kind    string `json:"kind,omitempty" jsonschema:"only this kind: runbook, answer, skill, adr, rules, contributing, doc or readme"`
	Limit   int    `json:"limit,omitempty" jsonschema:"hits per page, 1 to 20, default 8"`
	Cursor  string `json:"cursor,omitempty" jsonschema:"next_cursor of the page before"`
}

// KnowledgeHits are ranked hits, best first.
type KnowledgeHits struct {
	Hits []KnowledgeHit `json:"hits"`
	// Total counts the documents found; there are more of them where More says
	// so, because the words are so common that not all were looked at.
	Total      int    `json:"total"`
	More       bool   `json:"more,omitempty"`
	NextCursor string `json:"nextCursor,omitempty"`
}

// Standing is what a document says of itself, and what is known of it.
type Standing struct {
	Kind  document.Kind `json:"kind"`
	Title string        `json:"title"`
	// Services are those that it is about, as full references.
	Services []string `json:"services,omitempty"`
	Owner    string   `json:"owner,omitempty"`
	// Status is what it says of its standing, for example accepted.
	Status       string   `json:"status,omitempty"`
	Environments []string `json:"environments,omitempty"`
	Versions     []string `json:"versions,omitempty"`
	// LastVerified is when somebody last found it true, as it says itself;
	// ChangedAt when its file was changed last, zero until that is known for
	// certain.
	LastVerified time.Time `json:"lastVerified,omitzero"`
	ChangedAt    time.Time `json:"changedAt,omitzero"`
	Expires      time.Time `json:"expires,omitzero"`
	// Stale says why it may no longer hold, "" where nothing speaks against it.
	Stale        string     `json:"stale,omitempty"`
	SupersededBy string     `json:"supersededBy,omitempty"`
	Source       TextSource `json:"source"`
}

// TextSource is where a text is written.
type TextSource struct {
	Name   string `json:"name"`
	Repo   string `json:"repo,omitempty"`
	Commit string `json:"commit,omitempty"`
	Path   string `json:"path"`
	Line   int    `json:"line,omitempty"`
}

// KnowledgeHit is one document found, by the section that matches best.
type KnowledgeHit struct {
	// Handle gives the section to get_document.
	Handle string `json:"handle"`
	// Heading is the section's path of headings below the title.
	Heading string        `json:"heading,omitempty"`
	Role    document.Role `json:"role,omitempty"`
	// Passage is a piece of the section, data that somebody wrote.
	Passage string `json:"passage,omitempty"`
	Standing
}

// GetDocumentInput names a document or one section of it.
type GetDocumentInput struct {
	Handle    string `json:"handle" jsonschema:"handle of a hit"`
	Section   string `json:"section,omitempty" jsonschema:"heading or anchor; of runbooks also meaning, impact, diagnosis, mitigation"`
	MaxTokens int    `json:"max_tokens,omitempty" jsonschema:"bound of the answer, 200 to 4000, default 1500"`
}

// KnowledgeDocument is one section of a document.
type KnowledgeDocument struct {
	// Handle is that of the section.
	Handle  string        `json:"handle"`
	Heading string        `json:"heading,omitempty"`
	Role    document.Role `json:"role,omitempty"`
	Standing
	Question      string   `json:"question,omitempty"`
	Description   string   `json:"description,omitempty"`
	VerifyCommand string   `json:"verifyCommand,omitempty"`
	AllowedTools  []string `json:"allowedTools,omitempty"`
	// Problems say what of the document was not understood or not read.
	Problems []string `json:"problems,omitempty"`
	// Outline lists the document's sections, where none was asked for.
	Outline []OutlineItem `json:"outline,omitempty"`
	// OutlineOmitted is how many sections the outline leaves out to fit.
	OutlineOmitted int `json:"outlineOmitted,omitempty"`
	// Text is the section as it is written, data that somebody wrote.
	Text string `json:"text"`
	// Next is the handle of the rest of a section that did not fit.
	Next string `json:"next,omitempty"`
}

// OutlineItem is a section of a document.
type OutlineItem struct {
	Handle  string        `json:"handle"`
	Heading string        `json:"heading"`
	Level   int           `json:"level"`
	Role    document.Role `json:"role,omitempty"`
	// Tokens is the size of its own text, in tokens of four bytes.
	Tokens int `json:"tokens"`
}

// FindRunbookInput names an alert.
type FindRunbookInput struct {
	Alert   string `json:"alert" jsonschema:"name of the alert, for example HighErrorRate"`
	Service string `json:"service,omitempty" jsonschema:"bare name or reference of the service that is alerting"`
}

// Runbooks are the runbooks for an alert, best first.
type Runbooks struct {
	Alert string        `json:"alert"`
	Items []RunbookItem `json:"items"`
}

// RunbookItem is a runbook, with what its sections are for.
type RunbookItem struct {
	Handle string `json:"handle"`
	Standing
	// Rules are the places of the alert's rules that name the runbook.
	Rules []TextSource `json:"rules,omitempty"`
	// Meaning, Impact, Diagnosis and Mitigation are the handles of those
	// sections, "" where the runbook has none of the sort.
	Meaning    string `json:"meaning,omitempty"`
	Impact     string `json:"impact,omitempty"`
	Diagnosis  string `json:"diagnosis,omitempty"`
	Mitigation string `json:"mitigation,omitempty"`
	// First is how the diagnosis or else the mitigation begins, data that
	// somebody wrote.
	First string `json:"first,omitempty"`
}
