package main

import (
	"context"
	"fmt"
)

// crowdFile is beside all.yaml: what makes pages long.
const crowdFile = "crowd.yaml"

const crowdName = "crowd"

// newCrowdedRepository makes a repository that holds a group as well in which
// every user is, and which owns a fifth as many components as there are.
func newCrowdedRepository(ctx context.Context, dir string, components int) (*repository, error) {
	repo, err := newRepository(ctx, dir, components)
	if err != nil {
		return nil, err
	}
	d := &documents{}
	d.group(crowdName, "team", "", "Whoever there is")
	d.list(1, "members", repo.users)
	for i := range repo.owned() {
		d.entity("Component", "", crowded(i))
		d.add("  description: One of many\nspec:\n  type: service\n  lifecycle: production\n  owner: group:default/%s\n", crowdName)
	}
	repo.put(crowdFile, d)
	if err := repo.write(crowdFile, repo.files[crowdFile]); err != nil {
		return nil, err
	}
	if err := repo.git(ctx, "add", crowdFile); err != nil {
		return nil, err
	}
	return repo, repo.git(ctx, "commit", "-q", "-m", "Add a crowd")
}

// owned is how many components the crowd owns.
func (r *repository) owned() int { return r.size / 5 }

func crowded(i int) string { return fmt.Sprintf("one-of-many-%05d", i) }
