package command

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
)

type versionCmd struct{}

// Help shows examples.
func (versionCmd) Help() string {
	return `Examples:

  fairlead version
  fairlead version -o json`
}

// Run prints the version.
func (versionCmd) Run(c *console) error {
	raw, err := json.Marshal(struct {
		Version string `json:"version"`
		Go      string `json:"go"`
	}{c.Version, runtime.Version()})
	if err != nil {
		return err
	}
	return show(c, raw, func(p *render.Page, _ *struct{}) { p.Line(fmt.Sprintf("fairlead %s", c.Version)) })
}
