package knowledge

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/knowledge/document"
)

// skillFront is the front matter of a SKILL.md, as agents' hosts and document
// read it.
type skillFront struct {
	Name         string   `yaml:"name"`
	Description  string   `yaml:"description"`
	AllowedTools []string `yaml:"allowed-tools,omitempty"`
	AppliesTo    []string `yaml:"appliesTo"`
	Owner        string   `yaml:"owner,omitempty"`
	LastVerified string   `yaml:"lastVerified"`
	Expires      string   `yaml:"expires,omitempty"`
}

// PromoteAnswer proposes a skill, a folder with a SKILL.md, made of a verified
// answer, by pull request. Faults: not_found (the answer), invalid (a field),
// failed_precondition (it is no answer, or not verified, or no longer holds),
// and those of proposing.
func (s *Service) PromoteAnswer(ctx context.Context, who access.Caller, in PromoteAnswerInput) (*ProposedDocument, error) {
	if !s.Proposes() {
		return nil, notProposed()
	}
	for _, f := range []struct {
		name, text string
		most       int
		lines      bool
	}{{"name", in.Name, 64, false}, {"description", in.Description, 1000, false}, {"reason", in.Reason, 4000, true}, {"key", in.Key, 200, false}} {
		if err := checkField(f.name, f.text, 0, f.most, f.lines); err != nil {
			return nil, err
		}
	}
	if err := checkList("allowedTools", in.AllowedTools); err != nil {
		return nil, err
	}
	r := s.reading(who)
	h, err := r.parse(in.Handle)
	if err != nil {
		return nil, err
	}
	st := r.standing(h.card, h.card.Line)
	if err := promotable(h.card, &st); err != nil {
		return nil, err
	}
	e, err := s.index.Text(ctx, h.card.ID)
	if err != nil {
		return nil, err
	}
	if e == nil {
		return nil, fault.New(fault.NotFound, "the document %.200s has just changed", in.Handle).WithFix("Try again.")
	}
	k := skillOf(h.card, &st, &in, e.Text)
	if slug(k.front.Name) != k.front.Name {
		return nil, fault.New(fault.Invalid, "name: %q is no name of a skill", k.front.Name).WithFix("Use lower case letters, digits and dashes.")
	}
	out, err := s.proposer.ProposeDocument(ctx, who, Wish{Kind: "skill", Operation: "promote_answer", Service: st.Services[0], Subject: k.front.Name, Key: in.Key,
		Title: "Skill: " + k.front.Name, Reason: in.Reason, Evidence: []string{"the answer " + handleOf(h.card, "") + ", last verified on " + k.front.LastVerified}, Input: in, DryRun: in.DryRun, Write: k.write})
	if err == nil {
		out.Path = k.path
	}
	return out, err
}

// promotable refuses what is no verified answer.
func promotable(c *Card, st *Standing) error {
	refuse := func(why string) error {
		return fault.New(fault.FailedPrecondition, "%s %s, so no skill is made of it", handleOf(c, ""), why).WithFix("Have it verified first: a person merges an answer with lastVerified.")
	}
	switch {
	case c.Kind != document.Answer:
		return refuse("is no answer to a question")
	case c.LastVerified.IsZero():
		return refuse("was never verified")
	case st.Stale != "":
		return refuse("no longer holds (" + st.Stale + ")")
	case len(st.Services) == 0:
		return refuse("is about no component that you see")
	}
	return nil
}

// newSkill is a skill on its way into a file.
type newSkill struct {
	front skillFront
	body  string
	path  string
}

func skillOf(c *Card, st *Standing, in *PromoteAnswerInput, text string) *newSkill {
	k := &newSkill{front: skillFront{Name: in.Name, Description: in.Description, AllowedTools: in.AllowedTools, AppliesTo: st.Services, Owner: st.Owner, LastVerified: c.LastVerified.Format(time.DateOnly)}}
	if k.front.Name == "" {
		k.front.Name = slug(c.Question)
	}
	if k.front.Description == "" {
		k.front.Description = c.Question
	}
	if !c.Expires.IsZero() {
		k.front.Expires = c.Expires.Format(time.DateOnly)
	}
	var b strings.Builder
	b.WriteString("# " + c.Question + "\n\n" + strings.TrimSpace(text) + "\n")
	if c.VerifyCommand != "" {
		b.WriteString("\n## Verify\n\nThis shows whether it still holds:\n\n```sh\n" + c.VerifyCommand + "\n```\n")
	}
	b.WriteString("\nMade of the answer `" + c.Path + "`.")
	k.body = b.String()
	return k
}

// write makes the file. A skill that is there is brought up to date.
func (k *newSkill) write(dir string, read func(string) ([]byte, error)) ([]WrittenFile, error) {
	k.path = path.Join(dir, k.front.Name, "SKILL.md")
	old, err := read(k.path)
	if err != nil && !errors.Is(err, ErrNoDocument) {
		return nil, err
	}
	if err == nil && !strings.Contains(string(old), "\nMade of the answer `") {
		return nil, fault.New(fault.Conflict, "there is a skill %s already, which people wrote", k.path).WithFix("Give another name.")
	}
	data, err := render(k.front, k.body)
	if err != nil {
		return nil, err
	}
	d := document.Read(k.path, data)
	if d.Kind != document.Skill || d.Title != k.front.Name || d.Description != k.front.Description || !slices.Equal(d.AllowedTools, k.front.AllowedTools) ||
		!slices.Equal(d.AppliesTo, k.front.AppliesTo) || d.Owner != k.front.Owner || d.LastVerified.IsZero() {
		return nil, unread(k.path, data, d)
	}
	return []WrittenFile{{k.path, data}}, checkWritten(k.path, data, d)
}
