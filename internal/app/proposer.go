package app

import (
	"cmp"
	"context"
	"errors"
	"path"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/knowledge"
)

// The folders where documents are written if none is configured.
const (
	answersDir = "docs/answers"
	skillsDir  = "skills"
)

// documentProposer lets the room of documents propose through that of
// proposals.
type documentProposer struct {
	gitops  *gitops.Service
	repos   *proposalRepos
	catalog *catalog.Service
	cfg     *ProposalsConfig
}

// ProposeDocument proposes what a wish writes.
func (d *documentProposer) ProposeDocument(ctx context.Context, who access.Caller, w knowledge.Wish) (*knowledge.ProposedDocument, error) {
	e, err := d.catalog.GetEntity(ctx, who, catalog.GetEntityInput{Ref: w.Service})
	if err != nil {
		return nil, err
	}
	at, dir, err := d.place(e, w.Kind)
	if err != nil {
		return nil, err
	}
	edit := func(ctx context.Context, base gitops.Files) ([]gitops.File, error) {
		written, err := w.Write(dir, func(p string) ([]byte, error) {
			data, err := base.Read(ctx, p)
			if errors.Is(err, gitops.ErrNoFile) {
				err = errors.Join(knowledge.ErrNoDocument, err)
			}
			return data, err
		})
		files := make([]gitops.File, len(written))
		for i, f := range written {
			files[i] = gitops.File{Path: f.Path, Data: f.Data}
		}
		return files, err
	}
	p, err := d.gitops.ProposeFiles(ctx, who, gitops.ProposeFilesInput{Kind: w.Kind, Operation: w.Operation, Service: w.Service, Place: at, Key: w.Key, Subject: w.Subject,
		Title: w.Title, Reason: w.Reason, Evidence: w.Evidence, Labels: []string{"fairlead"}, Edit: edit, Input: w.Input, DryRun: w.DryRun})
	if err != nil {
		return nil, err
	}
	return &knowledge.ProposedDocument{ID: p.ID, State: p.State, URL: p.URL, Repository: p.Repository, Base: p.Base, Branch: p.Branch,
		Plan: knowledge.ProposedPlan(p.Plan), Notes: p.Notes, Next: p.Next}, nil
}

// place is the repository and the folder that documents of a kind go to.
func (d *documentProposer) place(e *catalog.Entity, kind string) (at gitops.Place, dir string, err error) {
	folder, otherwise := FolderConfig{}, answersDir
	if d.cfg != nil {
		folder = d.cfg.Answers
	}
	if kind == "skill" {
		folder, otherwise = FolderConfig{}, skillsDir
		if d.cfg != nil {
			folder = d.cfg.Skills
		}
	}
	if folder.Repository != "" {
		at, err = d.repos.Named(folder.Repository, folder.Base)
		return at, path.Join(cmp.Or(folder.Dir, otherwise)), err
	}
	if at, err = d.repos.Locate(e); err != nil {
		return at, "", err
	}
	at.Base = cmp.Or(folder.Base, at.Base)
	return at, path.Join(at.Dir, cmp.Or(folder.Dir, otherwise)), nil
}
