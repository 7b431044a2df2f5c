package local

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

// Apply checks the revision out and starts the command. Where that is done
// already for the same wish, only the time that it ends at is noted; a command
// that has failed is left so, until it is removed or something else is wished
// for.
func (d *Deployer) Apply(ctx context.Context, w previews.Wish) error {
	f, err := d.folder(w.ID)
	if err != nil {
		return err
	}
	if err := check(w); err != nil {
		return err
	}
	unlock, err := lockFolder(ctx, f, true)
	if err != nil {
		return broken("locking the folder", w.ID, err)
	}
	defer unlock()
	return broken0("starting", w.ID, d.apply(ctx, f, w))
}

func broken0(step, id string, err error) error {
	if err == nil {
		return nil
	}
	return broken(step, id, err)
}

// apply brings the wish about. The caller holds the lock.
func (d *Deployer) apply(ctx context.Context, f folder, w previews.Wish) error {
	p, known, err := f.plan()
	if err != nil {
		known = false // written by something else; begin anew
	}
	if known && p.Removing {
		return fault.New(fault.Conflict, "preview %s is being removed", w.ID).WithFix("Create another one.")
	}
	if known && p.Checked && p.Print == fingerprint(w) {
		return d.keep(ctx, f, p, w)
	}
	if known {
		if err := d.halt(ctx, f, p); err != nil {
			return err
		}
	}
	return d.begin(ctx, f, w)
}

// keep leaves a preview running, or starts it where something ended it.
func (d *Deployer) keep(ctx context.Context, f folder, p plan, w previews.Wish) error {
	p.Wish = w
	if err := f.savePlan(p); err != nil {
		return err
	}
	s, err := f.state()
	if err != nil {
		s = state{}
	}
	if alive(f) || s.Phase == failed {
		return nil
	}
	if err := d.halt(ctx, f, p); err != nil { // what a killed supervisor has left
		return err
	}
	return d.start(ctx, f, p)
}

// begin makes the folder anew and starts the command.
func (d *Deployer) begin(ctx context.Context, f folder, w previews.Wish) error {
	how, err := d.isolation()
	if err != nil {
		return err
	}
	port, err := d.reserve(w.ID)
	if err != nil {
		return err
	}
	p := plan{Wish: w, Print: fingerprint(w), Mark: w.ID + "." + d.place() + "." + rand.Text(), Port: port,
		Isolation: how.mode, Bwrap: how.bwrap, Runner: d.opts.Runner, Config: d.cfg, Cageless: d.cageless}
	for _, dir := range []string{f.tree(), f.tmp()} {
		if err := errors.Join(removeTree(dir), os.MkdirAll(dir, 0o700)); err != nil {
			return err
		}
	}
	if err := errors.Join(f.saveState(state{}), f.savePlan(p)); err != nil {
		return err
	}
	if err := d.opts.Checkout.Checkout(ctx, w.Repository, w.Commit, f.tree()); err != nil {
		return err
	}
	if err := checkTree(ctx, f, w, d.cfg.Limits.DiskBytes); err != nil {
		return err
	}
	p.Checked = true
	if err := f.savePlan(p); err != nil {
		return err
	}
	return d.start(ctx, f, p)
}

// check refuses wishes that cannot be brought about here.
func check(w previews.Wish) error {
	t := w.Template
	refuse := func(format string, args ...any) *fault.Error {
		return fault.New(fault.Invalid, "the preview of %s: "+format, append([]any{w.Service}, args...)...)
	}
	switch {
	case len(t.Command) == 0 || t.Command[0] == "":
		return refuse("no command is declared").WithFix("Declare spec.fairlead.preview.command in its catalog file, for example [./run.sh].")
	case t.Health != "" && !strings.HasPrefix(t.Health, "/"):
		return refuse("health %q is no path", t.Health).WithFix("Write the path that answers 2xx, for example /healthz.")
	case w.Dir != "" && !filepath.IsLocal(filepath.FromSlash(w.Dir)):
		return refuse("%q is no folder of the repository", w.Dir).WithFix("Name a folder below the repository's root.")
	case w.Commit == "":
		return refuse("the commit is missing").WithFix("Name the revision to run.")
	case len(w.Given) < len(t.Data):
		return fault.New(fault.Internal, "preview %s was to be started without the data that it asks for", w.ID).WithFix("Report this to the operators.")
	}
	for _, arg := range t.Command {
		if strings.ContainsRune(arg, 0) {
			return refuse("an argument of the command has a zero byte").WithFix("Correct spec.fairlead.preview.command.")
		}
	}
	for name, value := range t.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return refuse("%q is no name of an environment variable, or its value has a zero byte", name).WithFix("Correct spec.fairlead.preview.env.")
		}
	}
	return nil
}

// environment is all that the command is given; secret is what of it is in no
// file.
func (p plan) environment(f folder, secret map[string]string) []string {
	env := map[string]string{"PATH": p.Config.Path, "HOME": f.tmp(), "TMPDIR": f.tmp(), "LANG": "C.UTF-8"}
	for name, value := range p.Wish.Template.Env {
		env[name] = value
	}
	maps.Copy(env, secret)
	env["PORT"], env["HOST"] = itoa(p.Port), "127.0.0.1"
	env["PREVIEW_ID"], env[markName] = p.Wish.ID, p.Mark
	out := make([]string, 0, len(env))
	for name, value := range env {
		out = append(out, name+"="+value)
	}
	return out
}

// markName is the variable by which the processes of a preview are known.
const markName = "FAIRLEAD_PREVIEW"
