package command

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// tokenCmd groups what is about tokens.
type tokenCmd struct {
	New    tokenNewCmd    `cmd:"" help:"Make a random token and print the lines that let a server know it."`
	Whoami tokenWhoamiCmd `cmd:"" help:"Tell whom the server takes you for and what you may do."`
}

type tokenNewCmd struct {
	Name    string   `arg:"" help:"What logs and the audit call the token, for example ci."`
	File    string   `help:"Where to put the token; NAME.token here if left out. It must not exist yet." placeholder:"FILE" predictor:"file"`
	Subject string   `help:"The person or machine that it stands for; user:default/NAME if left out." placeholder:"REF"`
	Agent   string   `help:"The agent that uses it for the subject." placeholder:"NAME"`
	Group   []string `help:"A group of the subject; give it again for more." placeholder:"REF"`
	Role    []string `help:"A role: reader, developer, sre, admin or one of your policy." placeholder:"NAME"`
}

// Help shows examples.
func (tokenNewCmd) Help() string {
	return `Examples:

  fairlead token new ci --role reader
  fairlead token new alice --subject user:default/alice --group group:default/payments --role developer
  fairlead token new alice-claude --subject user:default/alice --agent claude-code --role developer --file ~/.claude.token`
}

// tokenLines are the configuration of one token.
type tokenLines struct {
	Name      string   `json:"name"`
	TokenFile string   `json:"tokenFile"`
	Subject   string   `json:"subject"`
	Agent     string   `json:"agent,omitempty"`
	Groups    []string `json:"groups,omitempty"`
	Roles     []string `json:"roles,omitempty"`
}

// Run makes a token.
func (t *tokenNewCmd) Run(c *console) error {
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`).MatchString(t.Name) {
		return fault.New(fault.Invalid, "%q is no name for a token", t.Name).WithFix("Use letters, digits, -, _ and ., at most 63.")
	}
	path := t.File
	if path == "" {
		path = t.Name + ".token"
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return fault.New(fault.Invalid, "the path %q cannot be made absolute", t.File).Because(err)
	}
	lines := tokenLines{Name: t.Name, TokenFile: path, Subject: t.Subject, Agent: t.Agent, Groups: t.Group, Roles: t.Role}
	if lines.Subject == "" {
		lines.Subject = "user:default/" + t.Name
	}
	if err := writeToken(path); err != nil {
		return err
	}
	raw, err := json.Marshal(map[string]any{"auth": map[string]any{"tokens": []tokenLines{lines}}})
	if err != nil {
		return fault.New(fault.Internal, "the lines cannot be written").Because(err)
	}
	if c.Output == formatJSON {
		return render.JSON(c.Out, raw)
	}
	c.note("the token is in %s; add these lines to the server's configuration:", path)
	return render.YAML(c.Out, raw)
}

// writeToken writes a token of 256 random bits into a new file that its owner
// alone can read.
func writeToken(path string) error {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.Conflict, "%s is there already, and a token in use must not be lost", path).WithFix("Name another file with --file, or remove that one first.")
	}
	if err != nil {
		return fault.New(fault.Invalid, "%s cannot be written", path).WithFix("Name a file in a folder that you may write to with --file.").Because(err)
	}
	_, err = f.WriteString("fairlead_" + base64.RawURLEncoding.EncodeToString(secret) + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return fault.New(fault.Unavailable, "%s could not be written whole", path).WithFix("Check the disk, remove the file, and try again.").Because(err)
	}
	return nil
}

type tokenWhoamiCmd struct{}

// Help shows examples.
func (tokenWhoamiCmd) Help() string {
	return `Examples:

  fairlead token whoami
  fairlead token whoami --token-file ./ci.token -o json`
}

// Run asks who one is.
func (tokenWhoamiCmd) Run(c *console) error {
	raw, err := c.ask(whoami)
	if err != nil {
		return err
	}
	return showIdentity(c, raw)
}
