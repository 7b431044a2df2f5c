package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"
)

// outside measures the real server with its doors.
func (s settings) outside(ctx context.Context, r report, dir string, repo *repository) error {
	config, err := configure(filepath.Join(dir, "server"), repo)
	if err != nil {
		return err
	}
	r.section("The server, with its doors")
	if err := s.coldServer(ctx, r, config, repo); err != nil {
		return err
	}
	srv, err := startServer(ctx, s.server, config)
	if err != nil {
		return err
	}
	return errors.Join(s.keptServer(ctx, r, srv, repo), srv.stop())
}

func (s settings) coldServer(ctx context.Context, r report, config string, repo *repository) error {
	srv, err := startServer(ctx, s.server, config)
	if err != nil {
		return err
	}
	return errors.Join(srv.figures(ctx, r, "cold start", "2 s", "3 s", repo), srv.stop())
}

// figures prints what a start took and what the server holds after it.
func (s *server) figures(ctx context.Context, r report, name, wallGoal, cpuGoal string, repo *repository) error {
	wall, cpu, err := s.queryable(ctx, repo.entities)
	if err != nil {
		return err
	}
	now, peak, err := settled(ctx, s.cmd.Process.Pid)
	if err != nil {
		return err
	}
	r.line(name+" to everything queryable, wall", seconds(wall), wallGoal)
	r.line(name+" to everything queryable, CPU", seconds(cpu), cpuGoal)
	r.line("resident after a "+name+", settled / peak", megabytes(now)+" / "+megabytes(peak), "350 MB")
	return nil
}

func (s settings) keptServer(ctx context.Context, r report, srv *server, repo *repository) error {
	if err := srv.figures(ctx, r, "start from kept state", "0.5 s", "", repo); err != nil {
		return err
	}
	repo.label = "the server"
	var edits []time.Duration
	for range s.edits {
		took, err := srv.change(ctx, repo)
		if err != nil {
			return err
		}
		edits = append(edits, took)
	}
	r.line("a change is seen after, min / median / max", spread(edits), "1 s")
	all, err := visits(ctx, srv, repo)
	if err != nil {
		return err
	}
	r.section("Requests at an open rate of %d/s over %d connections: p50 / p99 / max, CPU for each", rate, connections)
	for _, v := range all {
		length := time.Duration(s.seconds) * time.Second
		if v.goal == "" {
			length /= 2
		}
		l, err := srv.load(ctx, length, v.next)
		if err != nil {
			r.line(v.name, "failed: "+err.Error(), v.goal)
			continue
		}
		r.line(v.name, l.String()+", "+millis(l.cpu/time.Duration(max(1, len(l.times)))), v.goal)
	}
	now, peak, err := settled(ctx, srv.cmd.Process.Pid)
	if err != nil {
		return err
	}
	r.line("resident after the load, settled / peak", megabytes(now)+" / "+megabytes(peak), "350 MB")
	return nil
}
