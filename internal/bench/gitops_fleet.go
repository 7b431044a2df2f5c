package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What is planned: fleets of all services, and of a part of them.
const (
	fleetAll  = 500
	fleetPart = 100
)

// fleets measures plans of one change over many services, in one deploy
// repository and in one for each.
func (s settings) fleets(ctx context.Context, r report, dir string) error {
	for _, c := range []struct {
		name  string
		apart bool
	}{{"in one repository", false}, {"in a repository each", true}} {
		start := time.Now()
		config, err := fleetServer(ctx, filepath.Join(dir, strings.ReplaceAll(c.name, " ", "-")), c.apart)
		if err != nil {
			return err
		}
		r.section("Plans of one change over services %s, in a server of its own with its state in SQLite (made in %s)", c.name, seconds(time.Since(start)))
		if err := s.planned(ctx, r, config); err != nil {
			return err
		}
	}
	return nil
}

// fleetServer makes the repositories and the configuration of a server.
func fleetServer(ctx context.Context, dir string, apart bool) (config string, err error) {
	var sources []string
	one := &repository{dir: filepath.Join(dir, "all")}
	for i := range fleetAll {
		at := one
		if apart {
			at = &repository{dir: filepath.Join(dir, fmt.Sprintf("r%d", i))}
		}
		if err = at.service(i); err == nil && apart {
			err = at.begin(ctx)
		}
		if err != nil {
			return "", err
		}
		if apart {
			sources = append(sources, at.source())
		}
	}
	if !apart {
		sources = []string{one.source()}
		if err = one.begin(ctx); err != nil {
			return "", err
		}
	}
	return configureFleets(dir, sources, "")
}

// service writes one service and what describes its environment.
func (r *repository) service(i int) error {
	tags := "[all]"
	if i < fleetPart {
		tags = "[all, part]"
	}
	entity := fmt.Sprintf("apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: s%03d, tags: %s}\nspec: {type: service, lifecycle: production, owner: bench, fairlead: {deployRepo: %q, environments: [{name: staging, path: apps/s%03d/staging}]}}\n", i, tags, r.dir, i)
	return errors.Join(r.write(fmt.Sprintf("apps/s%03d/catalog-info.yaml", i), entity), r.write(fmt.Sprintf("apps/s%03d/staging/kustomization.yaml", i), deployText(i)),
		r.write(fmt.Sprintf("apps/s%03d/staging/values.yaml", i), strings.ReplaceAll(valuesText(10_000), "repository:", "of:")))
}

// deployText is a kustomization of some size.
func deployText(i int) string {
	var t strings.Builder
	fmt.Fprintf(&t, "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nimages:\n  - name: ghcr.io/acme/s%03d # ours\n    newTag: \"1.4.0\"\nconfigMapGenerator:\n  - name: settings\n    literals:\n", i)
	for n := range 100 {
		fmt.Fprintf(&t, "      - KEY_%d=value of %d in service %d\n", n, n, i)
	}
	return t.String()
}

// begin makes the first commit of what was written.
func (r *repository) begin(ctx context.Context) (err error) {
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "Begin"}} {
		err = errors.Join(err, r.git(ctx, args...))
	}
	return err
}

// source is how the catalog reads it.
func (r *repository) source() string {
	return fmt.Sprintf("{name: %s, git: {url: %q}}", filepath.Base(r.dir), r.dir)
}

// configureFleets is configure for several sources, with a section of one's own
// and room for many proposals.
func configureFleets(dir string, sources []string, section string) (string, error) {
	file, err := configureSource(dir, strings.Join(sources, "\n    - "))
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	return file, os.WriteFile(file, append(text, "policy: {limits: {gitops.propose: 10000/m}}\nproposals: {}\n"+section...), 0o600) //nolint:gosec // the file that was just written
}

// planned starts the server, plans and prints.
func (s settings) planned(ctx context.Context, r report, config string) error {
	srv, err := startServer(ctx, s.server, config)
	if err != nil {
		return err
	}
	if _, _, err = srv.queryable(ctx, fleetAll); err == nil {
		_, _, err = settled(ctx, srv.cmd.Process.Pid)
	}
	for _, c := range []struct {
		tag   string
		count int
		goal  string
	}{{"part", fleetPart, ""}, {"all", fleetAll, "5 s, no growth of memory"}, {"part", fleetPart, ""}, {"all", fleetAll, "5 s, no growth of memory"}} {
		if err != nil {
			break
		}
		err = srv.plan(ctx, r, c.tag, c.count, c.goal)
	}
	return errors.Join(err, srv.stop())
}

// plan plans once and prints how long that took and what memory.
func (s *server) plan(ctx context.Context, r report, tag string, count int, goal string) error {
	pid := s.cmd.Process.Pid
	before, _, err := residentOf(pid)
	if err != nil {
		return err
	}
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0o600); err != nil { // the peak counts from now
		return err
	}
	cpu, err := cpuOf(pid)
	if err != nil {
		return err
	}
	start := time.Now()
	data, err := s.ask(ctx, request{method: http.MethodPost, path: "/api/v1/fleets", header: jsonBody(), holds: `"planned"`,
		body: `{"query":["kind=component,metadata.tags=` + tag + `"],"environment":"staging","change":{"image":{"tag":"2.0.0"}},"reason":"bench"}`})
	took := time.Since(start)
	if err != nil {
		return err
	}
	var plan struct{ Counts struct{ Waiting int } }
	if err = json.Unmarshal(data, &plan); err == nil && plan.Counts.Waiting != count {
		err = fmt.Errorf("%d of %d services are planned: %.500s", plan.Counts.Waiting, count, data)
	}
	after, cpuErr := cpuOf(pid)
	_, peak, memErr := residentOf(pid)
	r.line(fmt.Sprintf("%d services: time; CPU; resident before / peak", count), fmt.Sprintf("%s; %s; %s / %s", seconds(took), seconds(after-cpu), megabytes(before), megabytes(peak)), goal)
	return errors.Join(err, cpuErr, memErr)
}
