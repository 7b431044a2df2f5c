package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/fairlead-dev/fairlead/internal/app"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

type serveCmd struct {
	Config string `required:"" type:"path" help:"The configuration file (YAML)." placeholder:"FILE"`
	Listen string `help:"Listen at ADDR instead of the configured address." placeholder:"ADDR"`
	UI     string `name:"ui" type:"path" help:"Serve the front end that was built into DIR, too." placeholder:"DIR"`
	Check  bool   `help:"Check the configuration, print everything that is wrong with it, and end."`
}

// Help shows examples.
func (serveCmd) Help() string {
	return `Examples:
  fairleadd serve --config fairlead.yaml
  fairleadd serve --config fairlead.yaml --check
  fairleadd serve --config fairlead.yaml --listen 127.0.0.1:0
  fairleadd serve --config fairlead.yaml --ui ./backstage/app/dist`
}

// Run serves until the process is told to end.
func (c *serveCmd) Run(ctx context.Context) error {
	cfg, err := app.LoadConfig(c.Config)
	if err != nil {
		return err
	}
	if c.Listen != "" {
		if err := cfg.ListenAt(c.Listen); err != nil {
			return err
		}
	}
	if c.UI != "" {
		if err := cfg.ServeUI(c.UI); err != nil {
			return err
		}
	}
	if c.Check {
		if err := cfg.CheckPresent(); err != nil {
			return err
		}
		fmt.Println(c.Config + ": no problems")
		return nil
	}
	cfg.Version, cfg.Argo = version, argoCD()
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, nil))) // of what has no log of its own
	a, err := app.New(ctx, cfg, os.Stderr)
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

type migrateCmd struct {
	Config string `required:"" type:"path" help:"The configuration file (YAML)." placeholder:"FILE"`
}

// Run migrates and ends.
func (c *migrateCmd) Run(ctx context.Context) error {
	cfg, err := app.LoadConfig(c.Config)
	if err != nil {
		return err
	}
	applied, err := app.Migrate(ctx, cfg)
	if err != nil {
		return err
	}
	for _, m := range applied {
		fmt.Println("applied", m)
	}
	fmt.Println("the database is up to date")
	return nil
}

// message is an error for the operator: the fault's own words, its cause and
// how to put it right.
func message(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err.Error()
	}
	s := f.Error()
	if f.Fix != "" {
		s += "\nfix: " + f.Fix
	}
	return s
}
