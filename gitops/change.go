package gitops

import (
	"bytes"
	"context"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/gitops/edit"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Change is what a change does: one of Image, Replicas and Set.
type Change struct {
	// Image sets the version of an image, wherever the environment says it.
	Image *ImageChange `json:"image,omitempty"`
	// Replicas sets how many replicas there are, from 0.
	Replicas *int `json:"replicas,omitempty"`
	// Set writes values by their paths.
	Set []SetChange `json:"set,omitempty"`
	// File is the file in the environment's folder that Image and Replicas are
	// about; where it is left out, the one that has what is changed.
	File string `json:"file,omitempty"`
}

// ImageChange is a new version of an image.
type ImageChange struct {
	// Name is the image's without its version; the only one that the
	// environment has, if it is left out.
	Name string `json:"name,omitempty"`
	// Tag and Digest are the version, one of the two or both. A tag alone
	// removes a digest that is there.
	Tag    string `json:"tag,omitempty"`
	Digest string `json:"digest,omitempty"`
}

// SetChange is one value to write.
type SetChange struct {
	// File is relative to the environment's folder; the only one there, if it
	// is left out.
	File string `json:"file,omitempty"`
	// Path leads to the value: spec.replicas, or
	// spec.template.spec.containers[name=app].image.
	Path string `json:"path"`
	// Value is a text, a number, or true or false.
	Value json.RawMessage `json:"value"`
}

// changeKind is the kind of proposals that ProposeChange makes.
const changeKind = "change"

// ProposeChangeInput is a change to what is deployed.
type ProposeChangeInput struct {
	Service     string   `json:"service"`
	Environment string   `json:"environment"`
	Change      Change   `json:"change" jsonschema:"{image: {name?, tag?, digest?}}, {replicas: n} or {set: [{file?, path, value}]}; file? beside image or replicas"`
	Reason      string   `json:"reason" jsonschema:"why, for reviewers"`
	Evidence    []string `json:"evidence,omitempty" jsonschema:"what shows that it is good: tests, scan, SLO; with links"`
	Key         string   `json:"key,omitempty"`
	DryRun      bool     `json:"dryRun,omitempty"`
	// PlanHash is the hash of the plan that is meant, as a dry run has told it:
	// another one is refused. Agents give it in _meta.
	PlanHash string `json:"planHash,omitempty" mcp:"meta"`
	// Usage is what making it took, for figures. Tools of agents take it from
	// _meta, so that no model has to know it.
	Usage *Usage `json:"usage,omitempty" mcp:"meta"`
}

// Bounds of what may be said of a change.
const (
	maxReason   = 4000
	maxEvidence = 20
	maxSets     = 20
)

// ProposeChange proposes a change to what is deployed of a service in an
// environment: the file that says it is edited by exactly the bytes that are
// meant, and that is proposed by pull request. Asking again for the same thing
// brings the same pull request up to date; what is so already is Unchanged.
// With DryRun it gives the plan, and in its notes what policy would say. Faults:
// invalid (the change), not_found (service, environment), failed_precondition
// (it is not known where the environment is described, the file cannot be
// edited exactly, or policy wants more), conflict (somebody else proposes to
// change the same), and those of ProposeFiles.
func (s *Service) ProposeChange(ctx context.Context, who access.Caller, in ProposeChangeInput) (*Proposal, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	c, err := s.site(ctx, who, in)
	if err != nil {
		return nil, err
	}
	out, err := s.ProposeFiles(ctx, who, c.proposal())
	if err == nil {
		out.Notes = append(slices.Clone(c.site.notes), out.Notes...)
	}
	return out, err
}

// site finds where a change is to be made.
func (s *Service) site(ctx context.Context, who access.Caller, in ProposeChangeInput) (*changing, error) {
	at, err := s.locate(ctx, who, in.Service, in.Environment)
	if err != nil {
		return nil, err
	}
	return &changing{in: in, ref: at.ref, name: at.name, env: at.env, dir: at.at.Dir, at: at.at, protected: at.protected, rendering: at.render, site: at}, nil
}

// proposal is what proposes the change.
func (c *changing) proposal() ProposeFilesInput {
	asked := c.in
	asked.PlanHash = "" // made anew, it is another one
	out := ProposeFilesInput{Kind: changeKind, Operation: "propose_change", Service: c.ref, Environment: c.env, Protected: c.protected,
		Place: c.at, Key: c.in.Key, Exclusive: true, Reason: c.in.Reason, Evidence: c.in.Evidence, Labels: []string{"fairlead"}, Reviewed: true,
		Edit: c.edit, Describe: c.describe, Render: c.rendering, Usage: c.in.Usage, Input: asked, PlanHash: c.in.PlanHash, DryRun: c.in.DryRun}
	if c.part != nil {
		out.Edit, out.Part = c.asPlanned, &access.Part{Whole: c.part.approvedWhole}
	}
	return out
}

// check tells what is wrong with a change, whatever the files are.
func (in *ProposeChangeInput) check() error {
	if err := checkWords(in.Service, in.Environment, in.Key, in.Reason, in.Evidence); err != nil {
		return err
	}
	if err := in.Usage.check(); err != nil {
		return err
	}
	return in.Change.check()
}

// checkWords tells what is wrong with what is said around a change.
func checkWords(service, environment, key, reason string, evidence []string) error {
	for field, text := range map[string]string{"environment": environment, "reason": reason} {
		if strings.TrimSpace(text) == "" {
			return fault.New(fault.Invalid, "%s is empty", field).WithFix("Give %s.", field)
		}
	}
	for _, t := range []struct {
		field, text string
		most        int
	}{{"service", service, 300}, {"environment", environment, 100}, {"key", key, 200}, {"reason", reason, maxReason}, {"evidence", strings.Join(evidence, "\n"), maxReason}} {
		if len(t.text) > t.most {
			return fault.New(fault.Invalid, "%s has %d bytes, more than %d", t.field, len(t.text), t.most).WithFix("Say it shorter, and link to the rest.")
		}
	}
	if len(evidence) > maxEvidence {
		return fault.New(fault.Invalid, "evidence has %d entries, more than %d", len(evidence), maxEvidence).WithFix("Put them together.")
	}
	return nil
}

// check tells what is wrong with what is to be changed.
func (c *Change) check() error {
	const shape = "Give one of {image: {name, tag, digest}}, {replicas: 3} and {set: [{file, path, value}]}."
	n := 0
	for _, there := range []bool{c.Image != nil, c.Replicas != nil, len(c.Set) > 0} {
		if there {
			n++
		}
	}
	switch {
	case n != 1:
		return fault.New(fault.Invalid, "change says %d things to do, not one", n).WithFix(shape)
	case len(c.Set) > maxSets:
		return fault.New(fault.Invalid, "change.set has %d values, more than %d", len(c.Set), maxSets).WithFix("Propose it in parts.")
	case c.Replicas != nil && (*c.Replicas < 0 || *c.Replicas > 1_000_000):
		return fault.New(fault.Invalid, "change.replicas is %d", *c.Replicas).WithFix("Give a number from 0.")
	case c.Image != nil && c.Image.Tag == "" && c.Image.Digest == "":
		return fault.New(fault.Invalid, "change.image has neither tag nor digest").WithFix("Give the version: tag, digest or both.")
	case c.File != "" && len(c.Set) > 0:
		return fault.New(fault.Invalid, "change.file is for image and replicas").WithFix("Name the file in each of set.")
	}
	for i, s := range c.Set {
		if _, err := s.edit(); err != nil {
			f := fault.From(err)
			f.Message = "change.set[" + strconv.Itoa(i) + "]: " + f.Message
			return f
		}
	}
	return nil
}

// edit is what writes the value.
func (s SetChange) edit() (edit.Change, error) {
	if strings.TrimSpace(s.Path) == "" {
		return nil, fault.New(fault.Invalid, "path is empty").WithFix("Name the value, for example spec.replicas.")
	}
	dec := json.NewDecoder(bytes.NewReader(s.Value))
	dec.UseNumber()
	var v any
	_ = dec.Decode(&v)
	switch v := v.(type) {
	case string:
		return edit.Set{Path: s.Path, Value: v, String: true}, nil
	case json.Number:
		return edit.Set{Path: s.Path, Value: v.String()}, nil
	case bool:
		return edit.Set{Path: s.Path, Value: strconv.FormatBool(v)}, nil
	}
	return nil, fault.New(fault.Invalid, "value is no text, number, true or false").WithFix("Write one value; several go into several entries of set.")
}

// below is a path within a folder of a repository.
func below(dir, p string) (string, error) {
	clean := path.Clean(path.Join(dir, p))
	if clean == "." {
		clean = ""
	}
	outside := dir != "" && clean != dir && !strings.HasPrefix(clean, dir+"/")
	if p == "" && dir != "" || strings.HasPrefix(p, "/") || strings.HasPrefix(clean, "..") || outside || strings.ContainsAny(p, "\\\x00\n\r") || strings.Contains("/"+clean+"/", "/.git/") {
		return "", fault.New(fault.Invalid, "%q is no path within %s", clip(p, 200), orRoot(dir)).WithFix("Write it relative to that folder, without ..")
	}
	return clean, nil
}

func orRoot(dir string) string {
	if dir == "" {
		return "the repository"
	}
	return dir
}
