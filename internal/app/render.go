package app

import (
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/render"
)

// renderer has manifests rendered by the program that the configuration was
// given, else by the one beside this program; nil where there is none.
func (a *App) renderer() (gitops.Renderer, error) {
	program := a.cfg.RenderProgram
	if program == "" {
		program = neighbour("fairlead-render")
	}
	if program == "" {
		a.telemetry.log.Warn("manifests are not rendered for proposals: there is no fairlead-render beside this program")
		return nil, nil
	}
	r, err := render.New(render.Config{Program: program})
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, r.Close)
	return r, nil
}
