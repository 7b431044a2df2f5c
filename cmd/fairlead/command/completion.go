package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	posener "github.com/posener/complete"
	"github.com/willabides/kongplete"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

type completionCmd struct {
	Shell string `arg:"" help:"bash, zsh or fish." enum:"bash,zsh,fish" predictor:"shell"`
}

// Help shows examples.
func (completionCmd) Help() string {
	return `Commands, flags and the names of entities are completed; for names the
server is asked for up to half a second.

Examples:

  source <(fairlead completion bash)
  fairlead completion zsh > ~/.zsh/fairlead.zsh      (and source it in ~/.zshrc)
  fairlead completion fish > ~/.config/fish/completions/fairlead.fish`
}

// Run prints the script.
func (s *completionCmd) Run(c *console) error {
	if c.Output != formatTable {
		return fault.New(fault.Invalid, "a script has no format %q", c.Output).WithFix("Leave out --output.")
	}
	self, err := os.Executable()
	if err != nil {
		self = "fairlead"
	}
	quoted := "'" + strings.ReplaceAll(self, "'", `'\''`) + "'"
	_, err = fmt.Fprint(c.Out, strings.ReplaceAll(scriptFor(s.Shell), "PROGRAM", quoted))
	return err
}

func scriptFor(shell string) string {
	switch shell {
	case "zsh":
		return "autoload -U +X bashcompinit && bashcompinit\ncomplete -o default -C PROGRAM fairlead\n"
	case "fish":
		return `function __complete_fairlead
    set -lx COMP_LINE (commandline -cp)
    test -z (commandline -ct)
    and set COMP_LINE "$COMP_LINE "
    PROGRAM
end
complete -f -c fairlead -a "(__complete_fairlead)"
`
	default:
		// Bash takes what stands before a colon for a word of its own.
		return `_fairlead() {
    local IFS=$'\n' typed="${COMP_LINE:0:COMP_POINT}"
    COMPREPLY=($(COMP_LINE="$COMP_LINE" COMP_POINT="$COMP_POINT" PROGRAM))
    typed="${typed##* }"
    case "$typed" in
    *:*) COMPREPLY=("${COMPREPLY[@]#"${typed%"${typed##*:}"}"}") ;;
    esac
}
complete -o default -F _fairlead fairlead
`
	}
}

// complete answers a shell that asks for completions, and tells whether one
// did.
func complete(parser *kong.Kong, c *console) bool {
	if c.Env("COMP_LINE") == "" {
		return false
	}
	kongplete.Complete(parser,
		kongplete.WithExitFunc(func(int) {}),
		kongplete.WithErrorHandler(func(error) {}),
		kongplete.WithPredictors(map[string]posener.Predictor{
			"file":       posener.PredictFiles("*"),
			"dir":        posener.PredictDirs("*"),
			"format":     posener.PredictFunc(formatsFor),
			"thing":      posener.PredictSet("owner", "build", "test", "slo", "runbook", "oncall", "deploy", "any"),
			"host":       posener.PredictSet("claude", "codex", "cursor", "vscode", "text"),
			"shell":      posener.PredictSet("bash", "zsh", "fish"),
			"section":    posener.PredictSet("owner", "oncall", "repository", "commands", "rules", "deploy", "dependencies", "slos", "runbooks", "dashboards", "problems"),
			"document":   posener.PredictSet("runbook", "answer", "skill", "adr", "rules", "contributing", "doc", "readme"),
			"ref":        posener.PredictFunc(c.completeRef),
			"preview":    posener.PredictFunc(c.completePreview),
			"revision":   posener.PredictFunc(c.completeRevision),
			"phase":      posener.PredictSet("pending", "creating", "ready", "degraded", "deleting", "gone", "failed"),
			"lease":      posener.PredictFunc(c.completeLease),
			"leasestate": posener.PredictSet("issuing", "live", "revoking", "revoked", "expired", "failed", "all"),
			"topsort":    posener.PredictSet("left", "age", "cpu", "memory", "disk"),
			"usageby":    posener.PredictSet("team", "person", "agent", "all"),
		}))
	return true
}

// formatsFor are the formats of the command that has been typed.
func formatsFor(a posener.Args) []string {
	formats := []string{formatTable, formatJSON, formatYAML}
	if slices.Contains(a.All, "check") {
		formats = (&checkCmd{}).formats()
	}
	return formats
}

// lookUp asks the server for what a word may become, no longer than somebody
// waits for it, and tells whether that was answered.
func (c *console) lookUp(path string, query url.Values, into any) bool {
	ctx, cancel := context.WithTimeout(c.ctx, 500*time.Millisecond)
	defer cancel()
	cl, err := c.client()
	if err != nil {
		return false
	}
	raw, err := cl.Get(ctx, path, query)
	return err == nil && json.Unmarshal(raw, into) == nil
}

// completeRef asks the server for entities whose names begin with what has
// been typed.
func (c *console) completeRef(a posener.Args) []string {
	word := a.Last
	if i := strings.LastIndexAny(word, ":/"); i >= 0 {
		word = word[i+1:]
	}
	var found struct {
		Hits []struct {
			Ref string `json:"ref"`
		} `json:"hits"`
	}
	if !c.lookUp("/api/v1/search", values("query", word, "limit", "100"), &found) {
		return nil
	}
	var out []string
	for _, h := range found.Hits {
		out = append(out, h.Ref)
		if name, ok := strings.CutPrefix(h.Ref, "component:default/"); ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// completePreview asks the server for the previews that are there.
func (c *console) completePreview(posener.Args) []string { return c.completeItems(previewsPath, "id") }

// completeLease asks the server for the leases that have not ended.
func (c *console) completeLease(posener.Args) []string { return c.completeItems(credsPath, "lease") }

// completeItems gives a member of each item of a list.
func (c *console) completeItems(path, member string) []string {
	var page struct {
		Items []map[string]any `json:"items"`
	}
	if !c.lookUp(path, values("limit", "200"), &page) {
		return nil
	}
	out := make([]string, 0, len(page.Items))
	for _, it := range page.Items {
		if id, ok := it[member].(string); ok {
			out = append(out, id)
		}
	}
	return out
}
