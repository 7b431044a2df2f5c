package knowledge

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/knowledge/document"
)

// ProposeAnswerInput is a question and its answer.
type ProposeAnswerInput struct {
	Question      string   `json:"question" jsonschema:"one line, as somebody would ask it"`
	Answer        string   `json:"answer" jsonschema:"Markdown, without front matter"`
	AppliesTo     []string `json:"appliesTo" jsonschema:"components that it is about; it is kept with the first"`
	Versions      []string `json:"versions,omitempty" jsonschema:"versions that it holds for"`
	VerifyCommand string   `json:"verifyCommand,omitempty" jsonschema:"command that shows whether it still holds"`
	Owner         string   `json:"owner,omitempty" jsonschema:"who keeps it true; the component's owner by default"`
	Expires       string   `json:"expires,omitempty" jsonschema:"day from which on it no longer counts, 2027-01-31"`
	Supersedes    string   `json:"supersedes,omitempty" jsonschema:"handle of the answer in whose place it comes"`
	Reason        string   `json:"reason,omitempty"`
	Evidence      []string `json:"evidence,omitempty" jsonschema:"what shows that it is true"`
	Key           string   `json:"key,omitempty" jsonschema:"by default the question"`
	DryRun        bool     `json:"dryRun,omitempty"`
}

// PromoteAnswerInput names an answer to make a skill of.
type PromoteAnswerInput struct {
	Handle       string   `json:"handle" jsonschema:"handle of the answer"`
	Name         string   `json:"name,omitempty" jsonschema:"name of the skill; made of the question by default"`
	Description  string   `json:"description,omitempty" jsonschema:"when to use it; the question by default"`
	AllowedTools []string `json:"allowedTools,omitempty" jsonschema:"tools that it may use"`
	Reason       string   `json:"reason,omitempty"`
	Key          string   `json:"key,omitempty" jsonschema:"by default the answer"`
	DryRun       bool     `json:"dryRun,omitempty"`
}

// ProposedDocument is a document that is proposed by pull request.
type ProposedDocument struct {
	// ID is the proposal's, for get_proposal; "" where nothing is kept.
	ID string `json:"id,omitempty"`
	// State is planned, unchanged, preparing, pushed, open, merged or closed.
	State string `json:"state"`
	// URL is the page of the pull request.
	URL        string `json:"url,omitempty"`
	Repository string `json:"repository"`
	Base       string `json:"base"`
	Branch     string `json:"branch,omitempty"`
	// Path is the document's own in the repository.
	Path string       `json:"path"`
	Plan ProposedPlan `json:"plan"`
	// Notes tell what could not be done, though the rest was.
	Notes []string `json:"notes,omitempty"`
	// Next says what to do next.
	Next string `json:"next,omitempty"`
}

// ProposedPlan is what a proposal changes.
type ProposedPlan struct {
	Hash    string `json:"hash"`
	Diff    string `json:"diff,omitempty"`
	Omitted int    `json:"omitted,omitempty"`
}

// Proposer proposes files of documents.
type Proposer interface {
	// ProposeDocument proposes what a wish writes. Path of what it gives is left
	// to the caller.
	ProposeDocument(ctx context.Context, who access.Caller, w Wish) (*ProposedDocument, error)
}

// Wish is a document to propose.
type Wish struct {
	// Kind is answer or skill; Operation the name of the act.
	Kind, Operation string
	// Service is the component that it is kept with, Subject what it is about.
	Service, Subject, Key string
	Title, Reason         string
	Evidence              []string
	Input                 any
	DryRun                bool
	// Write makes the files below a folder. read gives a file, and an error
	// that is ErrNoDocument where there is none.
	Write func(dir string, read func(path string) ([]byte, error)) ([]WrittenFile, error)
}

// WrittenFile is a file and its whole content.
type WrittenFile struct {
	Path string
	Data []byte
}

// ErrNoDocument says that there is no such file.
var ErrNoDocument = errors.New("no such file")

// AttachProposer lets documents be proposed.
func (s *Service) AttachProposer(p Proposer) { s.proposer = p }

// Proposes tells whether documents can be proposed.
func (s *Service) Proposes() bool { return s != nil && s.proposer != nil }

// The bounds of what is proposed, in bytes.
const (
	maxQuestion = 300
	maxAnswer   = 24 << 10
	maxShort    = 300
)

// ProposeAnswer proposes a question and its answer as a file with front matter,
// by pull request. Faults: invalid (a field, a secret in what is proposed), and
// those of proposing: not_found, forbidden, approval_required, conflict,
// failed_precondition.
func (s *Service) ProposeAnswer(ctx context.Context, who access.Caller, in ProposeAnswerInput) (*ProposedDocument, error) {
	if !s.Proposes() {
		return nil, notProposed()
	}
	a, err := s.answer(ctx, who, &in)
	if err != nil {
		return nil, err
	}
	if in.Supersedes != "" {
		h, err := s.reading(who).parse(in.Supersedes)
		if err != nil {
			return nil, err
		}
		if h.card.Kind != document.Answer {
			return nil, fault.New(fault.Invalid, "supersedes: %.200s is no answer", in.Supersedes).WithFix("Give the handle of an answer, or leave supersedes out.")
		}
		a.old = h.card
	}
	out, err := s.proposer.ProposeDocument(ctx, who, Wish{Kind: "answer", Operation: "propose_answer", Service: a.front.AppliesTo[0], Subject: in.Question, Key: in.Key,
		Title: "Answer: " + in.Question, Reason: in.Reason, Evidence: in.Evidence, Input: in, DryRun: in.DryRun, Write: a.write})
	if err == nil {
		out.Path = a.path
	}
	return out, err
}

func notProposed() *fault.Error {
	return fault.New(fault.FailedPrecondition, "nothing can be proposed on this server").WithFix("Have the operators add the section proposals, or forges, to the configuration.")
}

// answerFront is the front matter of an answer, as document reads it.
type answerFront struct {
	Question      string   `yaml:"question"`
	AppliesTo     []string `yaml:"appliesTo"`
	Versions      []string `yaml:"versions,omitempty"`
	VerifyCommand string   `yaml:"verifyCommand,omitempty"`
	Owner         string   `yaml:"owner,omitempty"`
	LastVerified  string   `yaml:"lastVerified"`
	Expires       string   `yaml:"expires,omitempty"`
}

// newAnswer is an answer on its way into a file.
type newAnswer struct {
	front answerFront
	body  string
	old   *Card // what it supersedes
	path  string
}

// answer checks what is proposed, whatever the repository holds.
func (s *Service) answer(ctx context.Context, who access.Caller, in *ProposeAnswerInput) (*newAnswer, error) {
	for _, f := range []struct {
		name, text string
		least      int
		most       int
	}{{"question", in.Question, 5, maxQuestion}, {"verifyCommand", in.VerifyCommand, 0, maxShort}, {"owner", in.Owner, 0, maxShort}, {"expires", in.Expires, 0, maxShort}, {"reason", in.Reason, 0, 4000}, {"key", in.Key, 0, 200}} {
		if err := checkField(f.name, f.text, f.least, f.most, f.name == "reason"); err != nil {
			return nil, err
		}
	}
	if err := checkList("evidence", in.Evidence); err != nil {
		return nil, err
	}
	if err := checkList("versions", in.Versions); err != nil {
		return nil, err
	}
	body := strings.TrimSpace(strings.ReplaceAll(in.Answer, "\r\n", "\n"))
	if body == "" || len(body) > maxAnswer || strings.ToValidUTF8(body, "") != body || strings.ContainsRune(body, 0) {
		return nil, fault.New(fault.Invalid, "answer is empty, longer than %d bytes, or no text", maxAnswer).WithFix("Write the answer as Markdown.")
	}
	if in.Expires != "" {
		if day, err := time.Parse(time.DateOnly, in.Expires); err != nil || !day.After(time.Now()) {
			return nil, fault.New(fault.Invalid, "expires: %.60q is no day to come", in.Expires).WithFix("Write it as 2027-01-31.")
		}
	}
	if len(in.AppliesTo) == 0 || len(in.AppliesTo) > 20 {
		return nil, fault.New(fault.Invalid, "appliesTo names %d components, not 1 to 20", len(in.AppliesTo)).WithFix("Name the component that the answer is about.")
	}
	a := &newAnswer{body: body, front: answerFront{Question: strings.TrimSpace(in.Question), Versions: in.Versions, VerifyCommand: in.VerifyCommand, Owner: in.Owner,
		LastVerified: time.Now().UTC().Format(time.DateOnly), Expires: in.Expires}}
	for _, name := range in.AppliesTo {
		e, err := s.catalog.GetEntity(ctx, who, catalog.GetEntityInput{Ref: name})
		if err != nil {
			return nil, err
		}
		a.front.AppliesTo = append(a.front.AppliesTo, e.Ref.String())
		if a.front.Owner == "" {
			a.front.Owner = e.Owner()
		}
	}
	return a, nil
}

// write makes the file, and takes the old answer out of use.
func (a *newAnswer) write(dir string, read func(string) ([]byte, error)) ([]WrittenFile, error) {
	at, err := answerPath(dir, a.front.Question, read)
	if err != nil {
		return nil, err
	}
	a.path = at
	data, err := render(a.front, a.body)
	if err != nil {
		return nil, err
	}
	d := document.Read(a.path, data)
	if d.Kind != document.Answer || d.Question != a.front.Question || !slices.Equal(d.AppliesTo, a.front.AppliesTo) || !slices.Equal(d.Versions, a.front.Versions) ||
		d.VerifyCommand != a.front.VerifyCommand || d.Owner != a.front.Owner || d.LastVerified.IsZero() || d.Expires.IsZero() != (a.front.Expires == "") {
		return nil, unread(a.path, data, d)
	}
	if err := checkWritten(a.path, data, d); err != nil {
		return nil, err
	}
	files := []WrittenFile{{a.path, data}}
	if a.old == nil || a.old.Path == a.path {
		return files, nil
	}
	old, err := supersede(a.old, a.path, read)
	return append(files, WrittenFile{a.old.Path, old}), err
}

// answerPath is the path of an answer: that of the same question, or a new one.
func answerPath(dir, question string, read func(string) ([]byte, error)) (string, error) {
	name := slug(question)
	for _, suffix := range []string{"", "-2", "-3", "-4", "-5"} {
		at := path.Join(dir, name+suffix+".md")
		data, err := read(at)
		switch {
		case errors.Is(err, ErrNoDocument):
			return at, nil
		case err != nil:
			return "", err
		case strings.EqualFold(document.Read(at, data).Question, question):
			return at, nil
		}
	}
	return "", fault.New(fault.Conflict, "there are other answers called as this one: %s", path.Join(dir, name)).WithFix("Put the question in other words.")
}

// slug is a text as the name of a file.
func slug(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-") && !unicode.Is(unicode.Mn, r):
			b.WriteByte('-')
		}
		if b.Len() >= 60 {
			break
		}
	}
	if s := strings.Trim(b.String(), "-"); s != "" {
		return s
	}
	return "answer"
}

// render writes front matter and a text.
func render(front any, body string) ([]byte, error) {
	enc, err := yaml.Marshal(front)
	if err != nil {
		return nil, err
	}
	return []byte("---\n" + string(enc) + "---\n" + body + "\n"), nil
}

// unread says why what was written would not be found again.
func unread(at string, data []byte, d *document.Document) error {
	if err := secretIn(data); err != nil {
		return err
	}
	return fault.New(fault.Invalid, "%s would not be read as it is meant: %s", at, strings.Join(append(d.Problems, "a field of its front matter is read otherwise"), "; ")).
		WithFix("Use plain text in the fields.")
}

// checkWritten refuses what would not be indexed, and what should not be.
func checkWritten(at string, data []byte, d *document.Document) error {
	if err := secretIn(data); err != nil {
		return err
	}
	if len(d.Problems) > 0 || !document.Wanted(at) {
		return fault.New(fault.Invalid, "%s would not be indexed: %s", at, strings.Join(append(d.Problems, "documents are Markdown files outside of folders of others' code"), "; ")).
			WithFix("Put right what it says.")
	}
	return nil
}

// secretIn finds the line of what has the form of a secret. Which one it is, is
// not told.
func secretIn(data []byte) error {
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		if access.Redact(line) != line {
			return fault.New(fault.Invalid, "line %d of the file holds what looks like a secret", n).
				WithFix("Say where the secret is found, in the place of the secret itself; a placeholder in angle brackets is taken for one: <token>.").WithDetail("line", n)
		}
	}
	if text := string(data); access.Redact(text) != text {
		return fault.New(fault.Invalid, "the file holds what looks like a secret over several lines").WithFix("Say where the secret is found, in the place of the secret itself.")
	}
	return nil
}

// supersede adds to an answer's front matter what comes in its place.
func supersede(old *Card, by string, read func(string) ([]byte, error)) ([]byte, error) {
	elsewhere := fault.New(fault.Invalid, "supersedes: %s is not in the repository that the new answer goes to", old.Path).
		WithFix("Leave supersedes out, and propose the other to be removed in its own repository.")
	data, err := read(old.Path)
	switch {
	case errors.Is(err, ErrNoDocument):
		return nil, elsewhere
	case err != nil:
		return nil, err
	case document.Read(old.Path, data).Question != old.Question:
		return nil, elsewhere
	}
	first, end := "---\n", "\n"
	if strings.HasPrefix(string(data), "---\r\n") {
		first, end = "---\r\n", "\r\n"
	}
	rest, ok := strings.CutPrefix(string(data), first)
	enc, encErr := yaml.Marshal(map[string]string{"supersededBy": by})
	if !ok || encErr != nil {
		return nil, elsewhere
	}
	out := []byte(first + strings.TrimSuffix(string(enc), "\n") + end + rest)
	if d := document.Read(old.Path, out); d.SupersededBy != by || d.Question != old.Question {
		return nil, fault.New(fault.FailedPrecondition, "supersedes: the front matter of %s cannot be changed exactly", old.Path).WithFix("Add supersededBy to it by hand.")
	}
	return out, nil
}

func checkField(name, text string, least, most int, lines bool) error {
	control := func(r rune) bool { return unicode.IsControl(r) && (!lines || r != '\n' && r != '\t') }
	if n := len(strings.TrimSpace(text)); n < least || len(text) > most || strings.ToValidUTF8(text, "") != text || strings.ContainsFunc(text, control) {
		return fault.New(fault.Invalid, "%s is shorter than %d or longer than %d bytes, or holds control characters", name, least, most).WithFix("Correct %s.", name)
	}
	return nil
}

func checkList(name string, list []string) error {
	if len(list) > 20 {
		return fault.New(fault.Invalid, "%s has %d items, more than 20", name, len(list)).WithFix("Leave some out.")
	}
	for _, text := range list {
		if err := checkField(name, text, 1, maxShort, false); err != nil {
			return err
		}
	}
	return nil
}
