package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// task is what this program does when it is started again, in a process of
// its own: the one thing that is set.
type task struct {
	Catalog   *job
	Forge     *forgeTask
	Sweeps    *sweepsTask
	Reading   *readingTask
	Documents *documentsTask
	Code      *codeTask
	// Previews is a server with previews of a deployer in memory.
	Previews *previewsTask
}

// taskEnv tells a process that it is to do the task that it can read as JSON
// from its standard input.
const taskEnv = "FAIRLEAD_BENCH_TASK"

// command is this program with a task.
func (t task) command(ctx context.Context) (*exec.Cmd, error) {
	enc, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self) //nolint:gosec // this very program
	cmd.Env, cmd.Stdin = append(os.Environ(), taskEnv+"=1"), bytes.NewReader(enc)
	cmd.Stderr = os.Stderr
	return cmd, nil
}

// apart does a task in a process of its own and reads what it prints.
func (t task) apart(ctx context.Context, into any) error {
	cmd, err := t.command(ctx)
	if err != nil {
		return err
	}
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("measuring in a process apart: %w", err)
	}
	return json.Unmarshal(out, into)
}

// perform does the task for which this process was started.
func perform(ctx context.Context, from io.Reader) error {
	var t task
	if err := json.NewDecoder(from).Decode(&t); err != nil {
		return err
	}
	switch {
	case t.Catalog != nil:
		return t.Catalog.do(ctx)
	case t.Forge != nil:
		return t.Forge.do(ctx)
	case t.Sweeps != nil:
		return t.Sweeps.do(ctx)
	case t.Reading != nil:
		return t.Reading.do(ctx)
	case t.Documents != nil:
		return t.Documents.do(ctx)
	case t.Code != nil:
		return t.Code.do(ctx)
	case t.Previews != nil:
		return t.Previews.do(ctx)
	}
	return errors.New("there is nothing to do")
}
