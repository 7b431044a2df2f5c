package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/fairlead-dev/fairlead/access/rego"
)

// policyCmd groups what is about policy as code.
type policyCmd struct {
	Test policyTestCmd `cmd:"" help:"Check a folder of policies in Rego as the server reads it, and run its tests."`
}

type policyTestCmd struct {
	Dir string `arg:"" help:"The folder: *.rego, *_test.rego and config.yaml."`
}

// Help tells what tests are.
func (policyTestCmd) Help() string {
	return `Nothing is served and nobody is asked. Tests are rules whose names begin with
test_. The exit code is 1 if one fails or the policies are wrong.

  fairleadd policy test ./policy`
}

// Run checks and tests policies.
func (p *policyTestCmd) Run(ctx context.Context) error { return testPolicies(ctx, p.Dir, os.Stdout) }

// testPolicies writes a line for each test.
func testPolicies(ctx context.Context, dir string, to io.Writer) error {
	outcomes, err := rego.Test(ctx, dir)
	if err != nil {
		return err
	}
	failed := 0
	for _, o := range outcomes {
		verdict := "pass"
		if !o.Passed {
			verdict = "FAIL"
			failed++
		}
		fmt.Fprintf(to, "%s %s %s:%d", verdict, o.Name, o.File, o.Line)
		if o.Message != "" {
			fmt.Fprintf(to, ": %s", o.Message)
		}
		fmt.Fprintln(to)
	}
	fmt.Fprintf(to, "%d tests, %d failed\n", len(outcomes), failed)
	if failed > 0 {
		return errors.New("the policies do not do what their tests say")
	}
	return nil
}
