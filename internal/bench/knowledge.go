package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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
	Warm       spent
	Words      int   // that are read before anybody asks
	Kept       int64 // bytes of words in memory
	Search     spent // all questions together
	File       int64 // bytes on disk
	Heap       int64
	Rest, Peak int64 // bytes resident
	Edits      []time.Duration
	Asked      []askedTimes
}

// askedTimes are how long questions of one kind took.
type askedTimes struct {
	Name, Goal string
	timing
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
	r.line("common words read beside it, wall / CPU", fmt.Sprintf("%s / %s, %d words, %s", seconds(res.Warm.Wall), seconds(res.Warm.CPU), res.Words, megabytes(res.Kept)), "")
	r.line("one document changed until it is found, min / median / max", spread(res.Edits), "")
	r.line("questions:", "p50 / p99 / worst; CPU p50 / p99 / worst", "")
	all := 0
	for _, a := range res.Asked {
		all += len(a.Wall)
		r.timing(a.Name, a.timing, a.Goal)
	}
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
	x, err := fts.New(ctx, local.Read, local.Write, local.Scratch)
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
	if err := errors.Join(t.index(ctx, corpus, room, res), warm(ctx, x, res), t.edit(ctx, corpus, room, res), t.ask(ctx, corpus, room, res), t.cold(ctx, c, local, res)); err != nil {
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

// warm reads common words as a server does beside its work.
func warm(ctx context.Context, x *fts.Index, res *searched) (err error) {
	took := stopwatch()
	var kept int
	res.Words, kept, err = x.Warm(ctx)
	res.Warm, res.Kept = took(), int64(kept)
	return err
}

// questioner asks questions of one kind.
type questioner struct {
	name, goal, who, service string
	questions                []string
}

func (q questioner) ask(ctx context.Context, room *knowledge.Service, t *timing) error {
	for _, text := range q.questions {
		err := t.call(func() error {
			_, err := room.SearchKnowledge(ctx, accesstest.As("user:default/"+q.who), knowledge.SearchKnowledgeInput{Query: text, Service: q.service})
			return err
		})
		if err != nil {
			return fmt.Errorf("asking %q: %w", text, err)
		}
	}
	return nil
}

// The goals of questions.
const goalAsked, goalWorst = "p99 20 ms, worst 60 ms", "worst 60 ms"

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
	kinds := []questioner{
		{"real ones", goalAsked, "alice", "", knowledgetest.Questions},
		{"of the worst kind", goalWorst, "alice", "", knowledgetest.WorstQuestions},
		{"about one service", goalAsked, "alice", service, knowledgetest.Questions},
		{"of who sees one team's services", goalAsked, "bob", "", knowledgetest.Questions},
	}
	first, again := make([]askedTimes, len(kinds)), make([]askedTimes, len(kinds))
	for round := range asked {
		for i, k := range kinds {
			to := &again[i]
			to.Name = "  " + k.name + ", again"
			if round == 0 {
				to = &first[i]
				to.Name = "  " + k.name + ", the first time"
			}
			to.Goal = k.goal
			if err := k.ask(ctx, room, &to.timing); err != nil {
				return err
			}
		}
	}
	res.Asked = append(first, again...)
	return nil
}

// cold asks a room that was started again, before it has read common words.
func (t documentsTask) cold(ctx context.Context, c *catalog.Service, local *store.Local, res *searched) error {
	for _, k := range []questioner{
		{"real ones, started again, before common words are read", "", "alice", "", knowledgetest.Questions},
		{"of the worst kind, started again, each alone", goalWorst, "alice", "", knowledgetest.WorstQuestions},
	} {
		out := askedTimes{Name: "  " + k.name, Goal: k.goal}
		for i := range k.questions {
			x, err := fts.New(ctx, local.Read, local.Write, local.Scratch)
			if err != nil {
				return err
			}
			room, err := knowledge.New(knowledge.Config{Catalog: c, Index: x, Keeper: x})
			if err != nil {
				return err
			}
			if err := room.Restore(ctx); err != nil {
				return err
			}
			alone := k
			alone.questions = k.questions[i : i+1]
			if err := alone.ask(ctx, room, &out.timing); err != nil {
				return err
			}
		}
		res.Asked = append(res.Asked, out)
	}
	return nil
}
