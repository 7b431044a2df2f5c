package gitops

import (
	"fmt"
	"slices"
	"strings"
)

// describe gives the words for what the last edit came to.
func (b *restoring) describe() Words {
	key := b.key
	if key == "" { // the same files back to the same is the same wish
		key = strings.Join([]string{RollbackKind, b.at.Repository, b.ref, b.env, b.was, b.commit}, " ")
	}
	return Words{Subject: b.ref + " " + b.env, Title: b.title(), Body: b.body(), Key: key, Notes: b.told(), Plan: map[string]any{
		"environment": b.env, "images": append([]PlannedImage{}, b.images...), "bases": append([]string{}, b.bases...),
		"rollback": map[string]any{"from": b.from.Revision, "to": b.to.Revision, "observed": !b.to.HealthyAt.IsZero(), "unwell": b.health.Verdict != HealthyVerdict}}}
}

// title says in a line what is gone back to.
func (b *restoring) title() string {
	to := "revision " + short(b.commit)
	if len(b.images) == 1 {
		if im := b.images[0]; im.To.Tag != "" && im.To.Tag != im.From.Tag {
			to = im.Repository[strings.LastIndexByte(im.Repository, '/')+1:] + " " + im.To.Tag
		}
	}
	return line(b.name+": back to "+to+" in "+b.env, 100)
}

// observed is what is wrong now, as evidence.
func (b *restoring) observed() []string {
	h := b.health
	out := []string{line("health of "+short(b.from.Revision)+": "+h.Verdict+": "+strings.Join(h.Grounds[:min(len(h.Grounds), 3)], "; "), 500)}
	for _, o := range h.SLO {
		if o.State != ObjectiveBurning && o.State != ObjectiveMissed {
			continue
		}
		text := "SLO " + o.Name + " is " + o.State
		if o.Burn != nil {
			text += fmt.Sprintf(", burns %v times too fast", *o.Burn)
		}
		if o.BudgetLeft != nil {
			text += fmt.Sprintf(", %v%% of its budget left", *o.BudgetLeft)
		}
		out = append(out, text)
	}
	for _, a := range h.Alerts {
		out = append(out, line("alert "+a.Name+" fires since "+stamp(a.Since), 200))
	}
	return out[:min(len(out), maxEvidence)]
}

// told are the notes.
func (b *restoring) told() []string {
	out := slices.Concat(b.site.notes, b.notes)
	if set := b.source.Overrides; len(set) > 0 {
		out = append(out, fmt.Sprintf("Argo CD's application %s sets some values itself, which are not taken back: %s (%s)", b.app, clip(set[0].Name, 100), set[0].In))
	}
	if b.health.Verdict == HealthyVerdict {
		out = append(out, "what is deployed is healthy now: the reason alone speaks for going back")
	}
	if len(b.bases) > 0 {
		out = append(out, "what the environment is made of elsewhere has changed since "+short(b.commit)+" and stays as it is now, as others may share it: "+some(b.bases))
	}
	if len(b.modes) > 0 {
		out = append(out, "whether these may be run has changed, and stays as it is now: "+some(b.modes))
	}
	for i := range b.rivals {
		o := &b.rivals[i]
		if !b.scope.Allows(b.about(o)) {
			out = append(out, "another proposal, which is open, changes the same files; who proposed it is told")
			continue
		}
		out = append(out, fmt.Sprintf("proposal %s, which is open, changes the same files; who proposed it is told: %s", o.ID, line(o.Title, 100)))
	}
	if len(b.restored)+len(b.removed) == 0 {
		out = append(out, "the repository is as it was at "+short(b.commit)+" already: what runs comes to be that once Argo CD syncs it")
	}
	return out
}

func some(names []string) string {
	if n := len(names) - 5; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:5], ", "), n)
	}
	return strings.Join(names, ", ")
}

// body tells reviewers what is taken back, why, and how to go forward again.
func (b *restoring) body() string {
	var t strings.Builder
	was := "nobody observed whether it was healthy"
	if !b.to.HealthyAt.IsZero() {
		was = "was healthy from " + stamp(b.to.HealthyAt)
	}
	fmt.Fprintf(&t, "This restores `%s` to exactly what it was at `%s`, which was deployed at %s and %s. Deployed now is `%s`, since %s.\n\n",
		line(orRoot(b.at.Dir), 200), short(b.commit), stamp(b.to.At), was, short(b.from.Revision), stamp(b.from.At))
	t.WriteString("What changes:\n\n")
	shownLines := 0
	add := func(format string, args ...any) {
		if shownLines++; shownLines <= maxShown {
			fmt.Fprintf(&t, "- "+format+"\n", args...)
		}
	}
	for _, im := range b.images {
		add("image `%s`: %s → %s", line(im.Name, 200), shown(version(&ImageChange{Tag: im.From.Tag, Digest: im.From.Digest})), shown(version(&ImageChange{Tag: im.To.Tag, Digest: im.To.Digest})))
	}
	for _, f := range b.restored {
		add("`%s` is restored", line(f, 200))
	}
	for _, f := range b.removed {
		add("`%s` is removed", line(f, 200))
	}
	if more := shownLines - maxShown; more > 0 {
		fmt.Fprintf(&t, "- and %d more\n", more)
	}
	for _, n := range b.told() {
		fmt.Fprintf(&t, "\nNote: %s.\n", line(n, 500))
	}
	fmt.Fprintf(&t, "\nTo roll forward again, once what was wrong is mended: propose the newer version as a change. To have back exactly what this takes away, revert its one commit.\n")
	return t.String()
}
