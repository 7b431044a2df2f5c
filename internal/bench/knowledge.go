package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/store"
	"github.com/fairlead-dev/fairlead/knowledge"
	"github.com/fairlead-dev/fairlead/knowledge/fts"
	"github.com/fairlead-dev/fairlead/knowledge/knowledgetest"
)

// asked is how often every question is asked.
const asked = 10

// documentsTask is to index a made-up company's documents and search them.
type documentsTask struct {
	Documents int
	State     string // a folder
	Edits     int
	Profile   string // the beginning of the names of profiles; "" for none
}

// searched is what came of a documentsTask.
type searched struct {
	Documents  int
	Index      spent
	Search     spent // all questions together
	File       int64 // bytes on disk
	Heap       int64
	Rest, Peak int64 // bytes resident
	Edits      []time.Duration
	// First are the first times that questions are asked, Again all others;
	// Narrow are those of a caller who sees one team's services, Near those
	// about one service.
	First, Again, Near, Narrow, WorstFirst, Worst []time.Duration
}

// documents measures the knowledge room.
func (s settings) documents(ctx context.Context, r report, dir string) error {
	t := documentsTask{Documents: s.docs, State: filepath.Join(dir, "knowledge"), Edits: s.edits}
	if s.profiles != "" {
		t.Profile = filepath.Join(s.profiles, "knowledge")
	}
	res := &searched{}
	if err := (task{Documents: &t}).apart(ctx, res); err != nil {
		return err
	}
	r.section("%d documents, and %d questions and %d of the worst kind, each asked %d times", res.Documents, len(knowledgetest.Questions), len(knowledgetest.WorstQuestions), asked)
	r.line("made up, read and indexed, wall / CPU", seconds(res.Index.Wall)+" / "+seconds(res.Index.CPU), "60 s")
	r.line("one document changed until it is found, min / median / max", spread(res.Edits), "")
	for _, l := range []struct {
		name, goal string
		took       []time.Duration
	}{
		{"questions, the first time", "p99 20 ms", res.First},
		{"questions, again", "p99 20 ms, worst 60 ms", res.Again},
		{"questions about one service", "p99 20 ms, worst 60 ms", res.Near},
		{"questions of who sees one team's services", "p99 20 ms, worst 60 ms", res.Narrow},
		{"questions of the worst kind, the first time", "worst 60 ms", res.WorstFirst},
		{"questions of the worst kind, again", "worst 60 ms", res.Worst},
	} {
		slices.Sort(l.took)
		r.line(l.name+", p50 / p99 / worst", millis(quantile(l.took, 0.5))+" / "+millis(quantile(l.took, 0.99))+" / "+millis(quantile(l.took, 1)), l.goal)
	}
	all := len(res.First) + len(res.Again) + len(res.Near) + len(res.Narrow) + len(res.WorstFirst) + len(res.Worst)
	r.line("CPU of a question, the mean of all", millis(res.Search.CPU/time.Duration(all)), "")
	r.line("heap held by index and catalog", megabytes(res.Heap), "")
	r.line("resident, settled / peak", megabytes(res.Rest)+" / "+megabytes(res.Peak), "stated")
	r.line("index on disk", megabytes(res.File), "")
	return nil
}

// narrowRules let alice see everything, and bob what one team owns.
const narrowRules = `rules:
- {name: all, effect: allow, who: {subjects: ["user:default/alice"]}, actions: ["*"]}
- {name: some, effect: allow, who: {subjects: ["user:default/bob"]}, actions: ["*"], on: {owners: ["group:default/team-account"]}}`

// do indexes and searches, and prints what came of it.
func (t documentsTask) do(ctx context.Context) (err error) {
	policy, err := access.LoadPolicy([]byte(narrowRules), "rules.yaml")
	if err != nil {
		return err
	}
	before := held()
	c, err := catalog.New(catalog.Config{Policy: policy})
	if err != nil {
		return err
	}
	local, err := store.OpenKnowledge(ctx, t.State)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, local.Close()) }()
	x, err := fts.New(ctx, local.Read, local.Write)
	if err != nil {
		return err
	}
	room, err := knowledge.New(knowledge.Config{Catalog: c, Index: x, Keeper: x})
	if err != nil {
		return err
	}
	corpus, res := knowledgetest.NewCorpus(t.Documents), &searched{}
	changes, err := corpus.Changes()
	if err != nil {
		return err
	}
	c.Publish(changes)
	if err := errors.Join(t.index(ctx, corpus, room, res), t.edit(ctx, corpus, room, res), t.ask(ctx, corpus, room, res)); err != nil {
		return err
	}
	res.Documents, res.Heap = room.Documents(), held()-before
	if res.Rest, res.Peak, err = settled(ctx, os.Getpid()); err != nil {
		return err
	}
	runtime.KeepAlive(room)
	if res.File, err = sizeOf(t.State); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(res)
}

func (t documentsTask) index(ctx context.Context, c *knowledgetest.Corpus, room *knowledge.Service, res *searched) error {
	profiled, err := profile(t.Profile, "index")
	if err != nil {
		return err
	}
	defer profiled()
	took := stopwatch()
	err = c.Fill(ctx, room)
	res.Index = took()
	return err
}

// edit times changes of one document until they are found.
func (t documentsTask) edit(ctx context.Context, c *knowledgetest.Corpus, room *knowledge.Service, res *searched) error {
	for i := range t.Edits {
		start := time.Now()
		if err := c.Edit(ctx, room, i); err != nil {
			return err
		}
		out, err := room.SearchKnowledge(ctx, accesstest.As("user:default/alice"), knowledge.SearchKnowledgeInput{Query: fmt.Sprintf("edition%d", i)})
		if err != nil {
			return err
		}
		if res.Edits = append(res.Edits, time.Since(start)); len(out.Hits) != 1 {
			return fmt.Errorf("edition %d is found in %d documents", i, len(out.Hits))
		}
	}
	return nil
}

// ask asks all questions.
func (t documentsTask) ask(ctx context.Context, c *knowledgetest.Corpus, room *knowledge.Service, res *searched) error {
	profiled, err := profile(t.Profile, "search")
	if err != nil {
		return err
	}
	defer profiled()
	took := stopwatch()
	defer func() { res.Search = took() }()
	service := c.Services()[0] // in the largest repository
	for round := range asked {
		for _, a := range []struct {
			who       string
			service   string
			questions []string
			took      *[]time.Duration
			first     *[]time.Duration
		}{
			{"alice", "", knowledgetest.Questions, &res.Again, &res.First},
			{"alice", "", knowledgetest.WorstQuestions, &res.Worst, &res.WorstFirst},
			{"alice", service, knowledgetest.Questions, &res.Near, nil},
			{"bob", "", knowledgetest.Questions, &res.Narrow, nil},
		} {
			to := a.took
			if round == 0 {
				to = cmp.Or(a.first, a.took)
			}
			for _, q := range a.questions {
				start := time.Now()
				if _, err := room.SearchKnowledge(ctx, accesstest.As("user:default/"+a.who), knowledge.SearchKnowledgeInput{Query: q, Service: a.service}); err != nil {
					return fmt.Errorf("asking %q: %w", q, err)
				}
				*to = append(*to, time.Since(start))
			}
		}
	}
	return nil
}
