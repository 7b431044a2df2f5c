package command

import (
	"encoding/json"
	"strings"

	"github.com/fairlead-dev/fairlead/gitops/edit"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

type changeProposeCmd struct {
	Service     string `arg:"" help:"The component." predictor:"ref"`
	Environment string `arg:"" help:"The environment, for example staging."`
	changeFlags
	Reason   string   `required:"" help:"Why, for who reviews it." placeholder:"TEXT"`
	Evidence []string `help:"What shows that it is good." placeholder:"TEXT" sep:"none"`
	Key      string   `help:"Idempotency key; the same thing is the same proposal if left out." placeholder:"TEXT"`
	DryRun   bool     `help:"Show the plan and what policy would say, and propose nothing."`
	PlanHash string   `help:"Hash of the plan that is meant, as --dry-run told it; another one is refused." placeholder:"HASH"`
	usageFlags
}

// changeFlags are the flags that say what to change.
type changeFlags struct {
	Image     string   `help:"A new version of an image; without NAME= of the only one." placeholder:"[NAME=]TAG[@DIGEST]"`
	Replicas  *int     `help:"How many replicas there are." placeholder:"N"`
	Set       []string `help:"A value by its path; FILE is relative to the environment's folder." placeholder:"[FILE:]PATH=VALUE" sep:"none"`
	SetString []string `help:"The same, and the value is a text whatever it looks like." placeholder:"[FILE:]PATH=VALUE" sep:"none"`
	File      string   `help:"The file that --image or --replicas are about, where several would do." placeholder:"FILE"`
}

// Help shows examples.
func (changeProposeCmd) Help() string {
	return `The file that describes the environment is edited by exactly the bytes that are
meant, and that is proposed by pull request. Asking again for the same thing
brings the same pull request up to date.

Examples:

  fairlead change propose checkout staging --image 1.5.0 --reason "the fix for orders"
  fairlead change propose checkout production --image ghcr.io/acme/checkout=1.5.0@sha256:DIGEST --reason "the fix" --evidence "tests: https://ci.example.com/7"
  fairlead change propose checkout staging --replicas 4 --reason "load" --dry-run
  fairlead change propose checkout staging --set values.yaml:log.level=debug --reason "to see more"`
}

// Run proposes a change.
func (p *changeProposeCmd) Run(c *console) error {
	change, err := p.change()
	if err != nil {
		return err
	}
	return propose(c, proposalsPath, map[string]any{"service": p.Service, "environment": p.Environment, "change": change,
		"reason": p.Reason, "evidence": p.Evidence, "key": p.Key, "dryRun": p.DryRun, "planHash": p.PlanHash, "usage": p.report()})
}

// change is what to change, as the server takes it.
func (p *changeFlags) change() (map[string]any, error) {
	change := map[string]any{}
	if p.Image != "" {
		change["image"] = imageOf(p.Image)
	}
	if p.Replicas != nil {
		change["replicas"] = *p.Replicas
	}
	if p.File != "" {
		change["file"] = p.File
	}
	set, err := p.sets()
	if len(set) > 0 {
		change["set"] = set
	}
	return change, err
}

// imageOf reads [NAME=]TAG[@DIGEST].
func imageOf(s string) map[string]string {
	name, version, named := strings.Cut(s, "=")
	if !named {
		name, version = "", s
	}
	out := map[string]string{}
	tag, digest, _ := strings.Cut(version, "@")
	for key, value := range map[string]string{"name": name, "tag": tag, "digest": digest} {
		if value != "" {
			out[key] = value
		}
	}
	return out
}

// sets reads the values to write.
func (p *changeFlags) sets() (out []map[string]any, err error) {
	for _, s := range p.Set {
		if out, err = withSet(out, s, false); err != nil {
			return nil, err
		}
	}
	for _, s := range p.SetString {
		if out, err = withSet(out, s, true); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func withSet(out []map[string]any, s string, text bool) ([]map[string]any, error) {
	path, value, ok := edit.SplitAssignment(s)
	if !ok {
		return nil, fault.New(fault.Invalid, "%q sets nothing", s).WithFix("Write PATH=VALUE, or FILE:PATH=VALUE.")
	}
	one := map[string]any{"path": path, "value": scalarOf(value, text)}
	if file, rest, named := strings.Cut(path, ":"); named && !strings.ContainsAny(file, `["'`) {
		one["file"], one["path"] = file, rest
	}
	return append(out, one), nil
}

// scalarOf is a value as JSON: a number, true and false as such.
func scalarOf(value string, text bool) any {
	var v any
	if !text && json.Unmarshal([]byte(value), &v) == nil {
		switch v.(type) {
		case float64, bool:
			return json.RawMessage(value)
		}
	}
	return value
}
