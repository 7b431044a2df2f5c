package app

import (
	"bytes"
	"encoding/json"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// documented are the set-ups of hosts in the guide: each fenced block with the
// file that the line above it names.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	file, fenced, block := "", false, ""
	for line := range strings.Lines(readFile(t, filepath.Join("..", "..", "docs", "agents.md"))) {
		switch {
		case strings.HasPrefix(line, "```"):
			if fenced = !fenced; !fenced && file != "" {
				out[file] = append(out[file], block)
				file = ""
			}
			block = ""
		case fenced:
			block += line
		case strings.HasPrefix(line, "`") && strings.Count(line, "`") >= 2:
			file, _, _ = strings.Cut(line[1:], "`")
		}
	}
	return out
}

// commandsIn are the texts of all members of a name, wherever they stand.
func commandsIn(v any, name string) []any {
	var out []any
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if key == name {
				out = append(out, v[key])
			}
			out = append(out, commandsIn(v[key], name)...)
		}
	case []any:
		for _, item := range v {
			out = append(out, commandsIn(item, name)...)
		}
	}
	return out
}

// TestHostsRunWhatIsDocumented sets hosts up as the guide says and runs, as
// they would, the hook and the start of the MCP server: through a shell, with
// the event on standard input, in a checkout of a service.
func TestHostsRunWhatIsDocumented(t *testing.T) {
	s := startDemo(t)
	env := append(hostEnv(t), "FAIRLEAD_SERVER="+s.url, "FAIRLEAD_TOKEN_FILE="+filepath.Join(s.dir, "tokens", "agent"))
	set := documented(t)
	for file, c := range map[string]struct {
		event  map[string]any
		answer []string // the way to the text in the host's format
	}{
		".claude/settings.json":       {map[string]any{"session_id": "1", "hook_event_name": "SessionStart", "source": "startup"}, []string{"hookSpecificOutput", "additionalContext"}},
		"~/.codex/config.toml":        {map[string]any{"session_id": "1", "hook_event_name": "SessionStart", "source": "resume", "model": "m", "permission_mode": "default"}, []string{"hookSpecificOutput", "additionalContext"}},
		".github/hooks/fairlead.json": {map[string]any{"timestamp": "2026-02-09T10:30:00.000Z", "sessionId": "1", "hookEventName": "SessionStart", "transcript_path": "/t", "source": "new"}, []string{"hookSpecificOutput", "additionalContext"}},
		".cursor/hooks.json":          {map[string]any{"conversation_id": "1", "hook_event_name": "sessionStart", "workspace_roots": []string{s.repo("ledger")}}, []string{"additional_context"}},
	} {
		hooks, _ := settings(t, file, set)["hooks"].(map[string]any)
		commands := commandsIn(hooks, "command")
		if len(commands) != 1 {
			t.Errorf("%s: the guide shows %d hooks", file, len(commands))
			continue
		}
		c.event["cwd"] = s.repo("ledger", "docs")
		event, err := json.Marshal(c.event)
		if err != nil {
			t.Fatal(err)
		}
		// A machine under load may be slower than a session is let wait.
		var out []byte
		s.await(file+" gives the brief", func() bool {
			out = shell(t, env, s.repo("ledger"), event, commands[0].(string))
			return !bytes.Contains(out, []byte("no answer in time"))
		})
		if text := textOf(t, out, c.answer); !strings.Contains(text, "component:default/ledger") || !strings.Contains(text, "test: make test") || len(text)/4 > 1500 {
			t.Errorf("%s: the host adds %s", file, text)
		}
	}
	hello := []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"1"}}}` + "\n")
	for _, file := range []string{".mcp.json", "~/.codex/config.toml", ".cursor/mcp.json", ".vscode/mcp.json"} {
		servers := settings(t, file, set)
		delete(servers, "hooks")
		command, args := commandsIn(servers, "command"), commandsIn(servers, "args")
		if len(command) != 1 || len(args) != 1 {
			t.Errorf("%s: the guide shows the commands %v", file, command)
			continue
		}
		words := []string{command[0].(string)}
		for _, a := range args[0].([]any) {
			words = append(words, a.(string))
		}
		if out := shell(t, env, s.repo("ledger"), hello, strings.Join(words, " ")); !bytes.Contains(out, []byte(`"serverInfo"`)) {
			t.Errorf("%s: the server answers %s", file, out)
		}
	}
}

// hostEnv is the environment of a host that has the command line, and nothing
// of a server.
func hostEnv(t *testing.T) []string {
	t.Helper()
	bin := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, "fairlead"), "../../cmd/fairlead").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return append(slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "FAIRLEAD_") }),
		"PATH="+bin+":"+os.Getenv("PATH"), "XDG_CONFIG_HOME="+t.TempDir())
}

// TestHostsBeginWithoutABrief runs the documented hooks where there is no brief
// to be had: the session begins all the same, soon, with one line about it.
func TestHostsBeginWithoutABrief(t *testing.T) {
	s := startDemo(t)
	mute, err := net.Listen("tcp", "127.0.0.1:0") // takes calls and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	env, set, outside := hostEnv(t), documented(t), t.TempDir()
	strange := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", strange).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", strange, "remote", "add", "origin", "https://git.example.test/acme/nobodys.git").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	known := []string{"FAIRLEAD_SERVER=" + s.url, "FAIRLEAD_TOKEN_FILE=" + filepath.Join(s.dir, "tokens", "agent")}
	for name, c := range map[string]struct {
		dir, says string
		env       []string
	}{
		"outside a repository":         {outside, "in no Git repository", known},
		"a repository with no service": {strange, "no service of the catalog is in the repository", known},
		"no server":                    {s.repo("ledger"), "no Fairlead server answers", []string{"FAIRLEAD_SERVER=http://127.0.0.1:1", "FAIRLEAD_TOKEN=x"}},
		"a server that says nothing":   {s.repo("ledger"), "no answer in time", []string{"FAIRLEAD_SERVER=http://" + mute.Addr().String(), "FAIRLEAD_TOKEN=x"}},
	} {
		for _, file := range []string{".claude/settings.json", "~/.codex/config.toml", ".github/hooks/fairlead.json"} {
			hooks, _ := settings(t, file, set)["hooks"].(map[string]any)
			event, err := json.Marshal(map[string]any{"session_id": "1", "hook_event_name": "SessionStart", "hookEventName": "SessionStart", "source": "startup", "cwd": c.dir})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			out := shell(t, append(slices.Clone(env), c.env...), c.dir, event, commandsIn(hooks, "command")[0].(string))
			text := strings.TrimSpace(textOf(t, out, []string{"hookSpecificOutput", "additionalContext"}))
			late := strings.Contains(text, "no answer in time") // a machine under load
			if !strings.HasPrefix(text, "Fairlead has no brief here: ") || strings.Contains(text, "\n") || !strings.Contains(text, c.says) && !late {
				t.Errorf("%s, %s: the host adds %q", name, file, text)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("%s, %s: the session waited for %s", name, file, took)
			}
		}
	}
}

// textOf is the text that stands at the end of a way of keys.
func textOf(t *testing.T, answer []byte, way []string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(answer, &v); err != nil {
		t.Errorf("%v in %s", err, answer)
	}
	for _, key := range way {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	text, _ := v.(string)
	return text
}

// settings are those of the first block that the guide has for a file.
func settings(t *testing.T, file string, set map[string][]string) map[string]any {
	t.Helper()
	blocks := set[file]
	if len(blocks) == 0 {
		t.Fatalf("the guide shows no %s", file)
	}
	for _, b := range blocks {
		var v map[string]any
		var err error
		if strings.HasSuffix(file, ".toml") {
			err = toml.Unmarshal([]byte(b), &v)
		} else {
			err = json.Unmarshal([]byte(b), &v)
		}
		if err != nil {
			t.Fatalf("%s: %v in %s", file, err, b)
		}
		if len(commandsIn(v, "command")) > 0 {
			return v
		}
	}
	t.Fatalf("the guide shows no command for %s", file)
	return nil
}

func shell(t *testing.T, env []string, dir string, stdin []byte, command string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, dir, bytes.NewReader(stdin), &out, &errs
	if err := cmd.Run(); err != nil {
		t.Errorf("%s: %v: %s", command, err, errs.String())
	}
	return out.Bytes()
}
