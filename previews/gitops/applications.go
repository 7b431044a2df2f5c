package gitops

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews/argocd"
)

// Repository is the branch that an Argo CD watches.
type Repository interface {
	// Read is a file of the newest commit, nil where there is none, and that
	// commit.
	Read(ctx context.Context, path string) (data []byte, head string, err error)
	// Write makes a commit that follows head, with a file, or without it where
	// data is nil. A conflict is a branch that is not at head any more.
	Write(ctx context.Context, head, path string, data []byte, message string) error
}

// Applications are those of an Argo CD: written as files, read from Argo CD.
type Applications struct {
	repository Repository
	folder     string
	namespace  string
	read       argocd.Applications
}

var _ argocd.Applications = (*Applications)(nil)

// Over has the applications of an Argo CD written into a folder of a
// repository. namespace is the one that Argo CD keeps applications in.
func Over(repository Repository, folder, namespace string, read argocd.Applications) *Applications {
	return &Applications{repository, folder, namespace, read}
}

func (a *Applications) file(name string) string { return path.Join(a.folder, name+".yaml") }

// Get is an application as Argo CD has it, or as its file says where Argo CD
// has not taken that up. not_found means that there is neither.
func (a *Applications) Get(ctx context.Context, project, name string) (*argocd.Application, error) {
	app, err := a.read.Get(ctx, project, name)
	if fault.CodeOf(err) != fault.NotFound {
		return app, err
	}
	data, _, failure := a.repository.Read(ctx, a.file(name))
	switch {
	case failure != nil:
		return nil, failure
	case data == nil:
		return nil, err
	}
	app, err = parse(a.file(name), data)
	if err == nil {
		f := a.untaken(name)
		app.Status.Conditions = []argocd.Condition{{Type: argocd.ConditionUntaken, Message: f.Message + ". " + f.Fix}}
	}
	return app, err
}

// untaken says that Argo CD does not know of a file yet.
func (a *Applications) untaken(name string) *fault.Error {
	return fault.New(fault.Unavailable, "Argo CD has not taken %s up yet", a.file(name)).
		WithFix("If it stays so, see that an application of Argo CD deploys the folder %s of the repository of previews, with pruning.", a.folder).
		Because(argocd.ErrUntaken)
}

// Put commits the file of an application, if it is not so already.
func (a *Applications) Put(ctx context.Context, app *argocd.Application) error {
	data, err := a.render(app)
	if err != nil {
		return err
	}
	return a.write(ctx, a.file(app.Metadata.Name), data, "Preview "+app.Metadata.Name)
}

// Delete commits that an application's file is gone; Argo CD then deletes the
// application with everything that it made.
func (a *Applications) Delete(ctx context.Context, _, name string, cascade bool) error {
	if !cascade {
		return fault.New(fault.FailedPrecondition, "Fairlead may not write to Argo CD, and so cannot have it forget the application %s", name).
			WithFix("Have somebody who may delete it in Argo CD, without cascading.")
	}
	return a.write(ctx, a.file(name), nil, "Remove preview "+name)
}

// tries is how often a commit is made anew on a branch that moves.
const tries = 5

func (a *Applications) write(ctx context.Context, file string, data []byte, message string) (err error) {
	for range tries {
		have, head, failure := a.repository.Read(ctx, file)
		switch {
		case failure != nil:
			return failure
		case bytes.Equal(have, data) && (have == nil) == (data == nil):
			return nil
		}
		if err = a.repository.Write(ctx, head, file, data, message); fault.CodeOf(err) != fault.Conflict {
			return err
		}
	}
	return err
}

// Manifests are what an application would deploy, once Argo CD has taken its
// file up.
func (a *Applications) Manifests(ctx context.Context, project, name string) ([]argocd.Manifest, error) {
	file := a.file(name)
	data, _, err := a.repository.Read(ctx, file)
	if err != nil {
		return nil, err
	}
	wanted, err := parse(file, data)
	if err != nil {
		return nil, err
	}
	app, err := a.read.Get(ctx, project, name)
	switch {
	case fault.CodeOf(err) != fault.NotFound && err != nil:
		return nil, err
	case err != nil || !same(app.Spec.Sources, wanted.Spec.Sources):
		return nil, a.untaken(name)
	}
	return a.read.Manifests(ctx, project, name)
}

// same tells whether Argo CD has the sources of a file.
func same(a, b []argocd.Source) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// render is the file of an application.
func (a *Applications) render(app *argocd.Application) ([]byte, error) {
	bare := *app
	bare.Status = argocd.Status{}
	text, err := json.Marshal(bare)
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	tree["apiVersion"], tree["kind"] = "argoproj.io/v1alpha1", "Application"
	if metadata, ok := tree["metadata"].(map[string]any); ok {
		metadata["namespace"] = a.namespace
	}
	var b bytes.Buffer
	b.WriteString("# Written by Fairlead, which removes it when the preview ends.\n")
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(tree); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

// parse reads what render has written.
func parse(file string, data []byte) (*argocd.Application, error) {
	var tree map[string]any
	app := &argocd.Application{}
	err := yaml.Unmarshal(data, &tree)
	if err == nil {
		var text []byte
		if text, err = json.Marshal(tree); err == nil {
			err = json.Unmarshal(text, app)
		}
	}
	if err != nil || app.Metadata.Name == "" {
		return nil, fault.New(fault.FailedPrecondition, "%s in the repository of previews is not the application that Fairlead wrote", file).
			WithFix("Remove that file; it is written again if it is needed.").Because(fmt.Errorf("parsing it: %w", err))
	}
	return app, nil
}
