package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

type previewTopCmd struct {
	Service string        `help:"Only of this component." placeholder:"REF" predictor:"ref"`
	Sort    string        `help:"What comes first: left (the default: what ends soonest), age, cpu, memory or disk." enum:"left,age,cpu,memory,disk" default:"left" placeholder:"COLUMN" predictor:"topsort"`
	Every   time.Duration `help:"How often to look, 2s if left out." default:"2s" placeholder:"DURATION"`
	Once    bool          `help:"Look once, and end; so it is for programs, too."`
	Limit   int           `help:"Show at most N previews, 200 if left out." default:"200" placeholder:"N"`
}

// Help shows examples.
func (previewTopCmd) Help() string {
	return `CPU is what was used between two looks, in parts of one processor; it and the
other figures are there where the deployer knows them. It ends with Ctrl-C.

Examples:

  fairlead previews top
  fairlead previews top --sort memory --every 5s
  fairlead previews top --once
  fairlead previews top -o json`
}

// topPage is what the server answers.
type topPage struct {
	Items []render.RunningPreview `json:"items"`
}

// Run shows previews until it is ended; programs get one look.
func (t *previewTopCmd) Run(c *console) error {
	if err := positive("--limit", t.Limit); err != nil {
		return err
	}
	if t.Every < 100*time.Millisecond {
		return fault.New(fault.Invalid, "--every: %s is less than 100ms", t.Every).WithFix("Look less often, for example every 2s.")
	}
	if c.Output != formatTable {
		raw, err := t.look(c)
		if err != nil {
			return err
		}
		return show(c, raw, func(*render.Page, *topPage) {})
	}
	live := terminal(c.Out) && !t.Once
	var before []render.RunningPreview
	for n := 0; ; n++ {
		raw, err := t.look(c)
		if err == nil {
			err = t.next(c, raw, &before, live, live || n > 0)
		}
		switch {
		case c.ctx.Err() != nil && live:
			return nil // it was told to end
		case err != nil && (!live || n == 0 || fault.CodeOf(err) != fault.Unavailable):
			return err
		case err != nil:
			c.note("%v; it is tried again", err)
		case !live && (n > 0 || !measurable(before)):
			return nil
		}
		select {
		case <-c.ctx.Done():
			if live {
				return nil
			}
			return context.Cause(c.ctx)
		case <-time.After(t.pause(live)):
		}
	}
}

// pause is how long to wait between looks: for a single table just as long as
// a figure needs.
func (t *previewTopCmd) pause(live bool) time.Duration {
	if live {
		return t.Every
	}
	return min(t.Every, time.Second)
}

// measurable tells whether a second look would tell more than the first.
func measurable(items []render.RunningPreview) bool {
	return slices.ContainsFunc(items, func(it render.RunningPreview) bool { return it.Resources != nil })
}

func (t *previewTopCmd) look(c *console) (json.RawMessage, error) {
	return c.list(listing{path: previewsPath + "/top", query: values("service", t.Service), items: "items", most: 200, want: t.Limit})
}

// next takes up a look and draws it, if it is to be drawn or there is nothing
// more to know.
func (t *previewTopCmd) next(c *console, raw json.RawMessage, before *[]render.RunningPreview, live, draw bool) error {
	var page topPage
	if err := json.Unmarshal(raw, &page); err != nil {
		return fault.New(fault.Unavailable, "the server's answer is not of the expected form").WithFix("Use versions of fairlead and fairleadd that belong together.").Because(err)
	}
	for i := range page.Items {
		page.Items[i].Since(*before)
	}
	*before = page.Items
	if !draw && measurable(page.Items) {
		return nil
	}
	items := slices.Clone(page.Items)
	slices.SortStableFunc(items, func(a, b render.RunningPreview) int { return t.order(&a, &b) })
	return t.draw(c, items, live)
}

func (t *previewTopCmd) order(a, b *render.RunningPreview) int {
	figure := func(it *render.RunningPreview) float64 {
		switch {
		case it.Resources == nil:
			return -2
		case t.Sort == "memory":
			return it.Resources.MemoryBytes
		case t.Sort == "disk":
			return it.Resources.DiskBytes
		}
		return it.CPUs
	}
	switch t.Sort {
	case "left":
		return strings.Compare(a.Preview.ExpiresAt, b.Preview.ExpiresAt)
	case "age":
		return strings.Compare(a.Preview.CreatedAt, b.Preview.CreatedAt)
	}
	return cmp.Compare(figure(b), figure(a))
}

// draw writes a page; on a terminal over the one before, in one go, so that it
// does not flicker.
func (t *previewTopCmd) draw(c *console, items []render.RunningPreview, live bool) error {
	var b bytes.Buffer
	p := render.NewPage(&b, render.Options{Color: c.colors(c.Out), Width: width(c.Out)})
	p.Top(items, time.Now())
	if err := p.Err(); err != nil {
		return err
	}
	text := b.String()
	if live && c.Env("TERM") != "dumb" {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if most := height(c.Out) - 1; most > 2 && len(lines) > most {
			lines = append(lines[:most-1], fmt.Sprintf("and %d more", len(lines)-most+1))
		}
		text = "\x1b[H" + strings.Join(lines, "\x1b[K\n") + "\x1b[K\n\x1b[J"
	}
	_, err := io.WriteString(c.Out, text)
	return err
}
