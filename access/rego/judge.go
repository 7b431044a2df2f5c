package rego

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	opa "github.com/open-policy-agent/opa/v1/rego"

	"github.com/fairlead-dev/fairlead/access"
)

const (
	// answerWithin is how long policies may take over one act.
	answerWithin = 500 * time.Millisecond
	// maxObjections bounds how many objections are told of, maxText one of
	// their texts in bytes.
	maxObjections = 20
	maxText       = 500
)

var _ access.Judge = (*Policy)(nil)

// Judge asks the policies about an act. A policy that fails, even in one of
// OPA's functions, or takes longer than half a second, is an error: what cannot
// be decided is not let through.
func (p *Policy) Judge(ctx context.Context, q access.Question) ([]access.Objection, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	given, err := given(q)
	if err != nil {
		return nil, err
	}
	denied, err := ask(ctx, p.deny, denyRule, given)
	if err != nil {
		return nil, err
	}
	wanting, err := ask(ctx, p.require, requireRule, given)
	return append(denied, wanting...), err
}

// given is a question as Rego sees it, and its time.
func given(q access.Question) ([]opa.EvalOption, error) {
	text, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("the plan of %s is no JSON: %w", q.Operation, err)
	}
	input, err := ast.ValueFromReader(bytes.NewReader(text))
	now, noTime := time.Parse(time.RFC3339, q.Now)
	return []opa.EvalOption{opa.EvalParsedInput(input), opa.EvalTime(now)}, errors.Join(err, noTime)
}

// ask evaluates one rule.
func ask(ctx context.Context, query opa.PreparedEvalQuery, rule string, given []opa.EvalOption) ([]access.Objection, error) {
	set, err := query.Eval(ctx, given...)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s took longer than %s: %w", rule, answerWithin, errors.Join(ctx.Err(), err))
	case err != nil:
		return nil, fmt.Errorf("%s: %w", rule, err)
	case len(set) == 0: // no policy says it
		return nil, nil
	}
	return objections(rule, set[0].Expressions[0].Value)
}

// objections reads all that a rule said.
func objections(rule string, said any) (out []access.Objection, err error) {
	all, ok := said.([]any)
	if !ok {
		return nil, fmt.Errorf("%s is no set; write: %s contains … if …", rule, rule[strings.LastIndexByte(rule, '.')+1:])
	}
	for _, v := range all {
		o, wrong := objection(v)
		o.Wanting = rule == requireRule
		out, err = append(out, o), errors.Join(err, wrong)
	}
	slices.SortFunc(out, func(a, b access.Objection) int { return strings.Compare(a.Message, b.Message) })
	return bounded(out), err
}

func bounded(all []access.Objection) []access.Objection {
	if n := len(all) - maxObjections; n > 0 {
		return append(all[:maxObjections], access.Objection{Wanting: all[0].Wanting, Message: fmt.Sprintf("and %d more", n)})
	}
	return all
}

// objection reads what a policy said: a text, or an object with message and fix.
func objection(v any) (access.Objection, error) {
	message, _ := v.(string)
	object, _ := v.(map[string]any)
	if text, ok := object["message"].(string); ok {
		message = text
	}
	fix, _ := object["fix"].(string)
	if strings.TrimSpace(message) == "" {
		return access.Objection{}, errors.New(`a policy says what is neither a text nor an object with a message`)
	}
	return access.Objection{Message: clip(message), Fix: clip(fix)}, nil
}

func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "…"
	}
	return s
}
