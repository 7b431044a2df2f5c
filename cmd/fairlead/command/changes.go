package command

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// changeCmd groups what is about changes: those that are proposed, and editing.
type changeCmd struct {
	List     changeListCmd     `cmd:"" help:"The changes that were proposed by pull request, newest first."`
	Show     changeShowCmd     `cmd:"" help:"One proposed change, and what has become of it."`
	Propose  changeProposeCmd  `cmd:"" help:"Propose a change to what is deployed, by pull request."`
	CI       changeCICmd       `cmd:"" name:"ci" help:"How the checks of a commit of a service went; exits with 1 unless they passed."`
	Fleet    fleetCmd          `cmd:"" help:"One change of many services: plan, propose wave by wave, watch."`
	Figures  changeFiguresCmd  `cmd:"" help:"How often is deployed, how long changes take, how many fail, and what agents took."`
	Rollback changeRollbackCmd `cmd:"" help:"Propose to take an environment back to the newest earlier revision that was healthy."`
	Edit     changeEditCmd     `cmd:"" help:"Change a YAML file by exactly the bytes that are meant, offline."`
}

const proposalsPath = "/api/v1/proposals"

type changeListCmd struct {
	Service string `help:"Only about this component." placeholder:"REF" predictor:"ref"`
	Person  string `help:"Only of this person." placeholder:"REF"`
	Agent   string `help:"Only of this agent." placeholder:"NAME"`
	State   string `help:"Only in this state: preparing, pushed, open, merged or closed." placeholder:"STATE"`
	Kind    string `help:"Only of this kind: answer, skill, change or rollback." placeholder:"KIND"`
	Limit   int    `help:"Show at most N proposals, 20 if left out." default:"20" placeholder:"N"`
}

// Help shows examples.
func (changeListCmd) Help() string {
	return `Examples:

  fairlead change list
  fairlead change list --service checkout --state open
  fairlead change list --agent claude -o json`
}

// Run lists proposals.
func (l *changeListCmd) Run(c *console) error {
	if err := positive("--limit", l.Limit); err != nil {
		return err
	}
	query := values("service", l.Service, "person", l.Person, "agent", l.Agent, "state", l.State, "kind", l.Kind)
	raw, err := c.list(listing{path: proposalsPath, query: query, items: "items", most: 100, want: l.Limit})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, page *struct {
		Items []render.Proposal `json:"items"`
	}) {
		if len(page.Items) == 0 {
			c.note("there are no proposals that match")
			return
		}
		p.Proposals(page.Items)
	})
}

type knowledgeProposeCmd struct {
	Question      string   `arg:"" help:"The question, in one line."`
	File          string   `arg:"" help:"The answer: a Markdown file without front matter, - for standard input." predictor:"file"`
	About         []string `required:"" help:"The components that it is about; it is kept with the first." placeholder:"REF" predictor:"ref"`
	Versions      []string `help:"The versions that it holds for." placeholder:"TEXT"`
	VerifyCommand string   `help:"A command that shows whether it still holds." placeholder:"COMMAND"`
	Owner         string   `help:"Who keeps it true; the component's owner if left out." placeholder:"REF"`
	Expires       string   `help:"The day from which on it no longer counts." placeholder:"2027-01-31"`
	Supersedes    string   `help:"The handle of the answer in whose place it comes." placeholder:"HANDLE"`
	Reason        string   `help:"Why, for who reviews it." placeholder:"TEXT"`
	Evidence      []string `help:"What shows that it is true." placeholder:"TEXT" sep:"none"`
	Key           string   `help:"Idempotency key; the same question is the same proposal if left out." placeholder:"TEXT"`
	DryRun        bool     `help:"Show what would be proposed, and propose nothing."`
}

// Help shows examples.
func (knowledgeProposeCmd) Help() string {
	return `Examples:

  fairlead knowledge propose "How is checkout restarted?" answer.md --about checkout
  fairlead knowledge propose "How is checkout restarted?" - --about checkout --dry-run < answer.md
  fairlead knowledge propose "How is the key rotated?" key.md --about ledger --verify-command "make check-key" --expires 2027-01-31`
}

// maxAnswerFile is how much of an answer is read, in bytes.
const maxAnswerFile = 1 << 20

// Run proposes an answer.
func (k *knowledgeProposeCmd) Run(c *console) error {
	in := c.In
	if k.File != "-" {
		f, err := os.Open(k.File)
		if err != nil {
			return fault.New(fault.Invalid, "the file %s cannot be read", k.File).WithFix("Name a Markdown file, or - for standard input.").Because(err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxAnswerFile))
	if err != nil {
		return errors.Join(fault.New(fault.Invalid, "the answer cannot be read").WithFix("Name a Markdown file, or - for standard input."), err)
	}
	return propose(c, "/api/v1/knowledge/answers", map[string]any{"question": k.Question, "answer": string(text), "appliesTo": k.About, "versions": k.Versions, "verifyCommand": k.VerifyCommand,
		"owner": k.Owner, "expires": k.Expires, "supersedes": k.Supersedes, "reason": k.Reason, "evidence": k.Evidence, "key": k.Key, "dryRun": k.DryRun})
}

type knowledgePromoteCmd struct {
	Handle       string   `arg:"" help:"The handle of the answer: doc://source/path."`
	Name         string   `help:"The name of the skill; made of the question if left out." placeholder:"NAME"`
	Description  string   `help:"When to use it; the question if left out." placeholder:"TEXT"`
	AllowedTools []string `help:"The tools that it may use." placeholder:"TOOL" sep:"none"`
	Reason       string   `help:"Why, for who reviews it." placeholder:"TEXT"`
	Key          string   `help:"Idempotency key; the same answer is the same proposal if left out." placeholder:"TEXT"`
	DryRun       bool     `help:"Show what would be proposed, and propose nothing."`
}

// Help shows examples.
func (knowledgePromoteCmd) Help() string {
	return `Examples:

  fairlead knowledge promote doc://checkout/docs/answers/how-is-checkout-restarted.md --name restart-checkout
  fairlead knowledge promote doc://checkout/docs/answers/how-is-checkout-restarted.md --allowed-tools "Bash(make:*)" --dry-run`
}

// Run proposes a skill.
func (k *knowledgePromoteCmd) Run(c *console) error {
	return propose(c, "/api/v1/knowledge/skills", map[string]any{"handle": k.Handle, "name": k.Name, "description": k.Description, "allowedTools": k.AllowedTools,
		"reason": k.Reason, "key": k.Key, "dryRun": k.DryRun})
}

// propose asks for a proposal and shows what came of it; what is left out is
// not sent.
func propose(c *console, path string, body map[string]any) error {
	for name, v := range body {
		switch v := v.(type) {
		case string:
			if v == "" {
				delete(body, name)
			}
		case []string:
			if len(v) == 0 {
				delete(body, name)
			}
		case bool:
			if !v {
				delete(body, name)
			}
		case map[string]any:
			if v == nil {
				delete(body, name)
			}
		}
	}
	raw, err := c.ask(func(ctx context.Context, cl *client.Client) (json.RawMessage, error) { return cl.Post(ctx, path, body) })
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, it *render.Proposal) { p.Proposal(it) })
}
