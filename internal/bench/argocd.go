package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// argoFigures are what the test of previews by Argo CD prints: how long a
// preview took by Fairlead's deployer, and the same application that Argo CD's
// client alone puts, each from the shortest to the longest.
type argoFigures struct{ Via, Direct []time.Duration }

// argoCD prints what previews by a real Argo CD take. The test of the deployer
// measures it, which knows how to start one: this program links none of it.
func (s settings) argoCD(ctx context.Context, r report) error {
	r.section("Previews by a real Argo CD, from nothing to Synced and Healthy, beside its client that puts the same application")
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-v", "-run", "^TestArgoCDFigures$", "github.com/fairlead-dev/fairlead/internal/argo")
	cmd.Env = append(os.Environ(), "FAIRLEAD_REAL=1")
	out, failure := cmd.CombinedOutput() // it fails where the goal is missed, too
	const mark = "figures: "
	i := bytes.Index(out, []byte(mark))
	if i < 0 {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		fmt.Fprintf(r.w, "  left out: %v; the test says at last: %s\n", failure, strings.Join(lines[max(0, len(lines)-4):], "; "))
		return ctx.Err()
	}
	var f argoFigures
	if err := json.NewDecoder(bytes.NewReader(out[i+len(mark):])).Decode(&f); err != nil {
		return fmt.Errorf("reading the figures of the test: %w", err)
	}
	by, alone := quantile(f.Via, .5), quantile(f.Direct, .5)
	r.line(fmt.Sprintf("by a preview, of %d in turn: min / p50 / max", len(f.Via)), spread(f.Via), "")
	r.line("by Argo CD's client alone: min / p50 / max", spread(f.Direct), "")
	r.line("what the preview adds to that, at p50", seconds(by-alone), "1 s")
	return nil
}
