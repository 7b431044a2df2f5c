package previews

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Deadlines bound how long a preview may stay in a phase without anybody being
// told that something is wrong.
type Deadlines struct {
	// Create is how long one may take until it is ready, 10 minutes if 0; then
	// it has failed.
	Create time.Duration `yaml:"create"`
	// Repair is how long one may be degraded, 10 minutes if 0; then it has
	// failed.
	Repair time.Duration `yaml:"repair"`
	// Remove is how long a removal may take before it is called stuck, 2
	// minutes if 0. It is tried on for as long as anything is left.
	Remove time.Duration `yaml:"remove"`
}

func (d Deadlines) withDefaults() Deadlines {
	for _, f := range []struct {
		at *time.Duration
		by time.Duration
	}{{&d.Create, 10 * time.Minute}, {&d.Repair, 10 * time.Minute}, {&d.Remove, 2 * time.Minute}} {
		if *f.at == 0 {
			*f.at = f.by
		}
	}
	return d
}

// move is what the reconciler does after a look.
type move string

const (
	rest     move = ""         // nothing
	provide  move = "provide"  // make its data
	apply    move = "apply"    // have the deployer bring it about
	remove   move = "remove"   // have the deployer remove it
	withdraw move = "withdraw" // remove its data
)

// sight is what a look has shown: what there is, or why that cannot be told.
type sight struct {
	Observed
	// Trouble says why nothing could be seen, "" where something was.
	Trouble string
	Data    dataSight
}

// dataSight is what a look has shown of a preview's data; the zero value is
// that of one that needs none and of which there is none.
type dataSight struct {
	// Awaited says what of it is missing, and Failed why it will not be of use.
	Awaited, Failed string
	// There names what there is of it, or may still come.
	There []string
	// Trouble says why nothing could be seen.
	Trouble string
}

// usable tells whether all of the data that a preview needs is there.
func (d *dataSight) usable() bool { return d.Awaited == "" && d.Failed == "" && d.Trouble == "" }

// absent tells whether nothing of it is there.
func (d *dataSight) absent() bool { return len(d.There) == 0 && d.Trouble == "" }

// why says what stands between a preview and its data, "" for nothing.
func (d *dataSight) why() string { return cmp.Or(d.Failed, cmp.Or(d.Trouble, d.Awaited)) }

// decision is what follows from a look.
type decision struct {
	Phase  Phase
	Reason string
	Move   move
	// After is when to look again; less than 0 is never.
	After time.Duration
	// Stuck tells that its removal takes longer than it may.
	Stuck bool
	// Warn tells that the end is near and nobody has been told.
	Warn bool
}

// The pauses between looks.
const (
	fastLook = 200 * time.Millisecond // while somebody waits
	slowLook = 5 * time.Second        // while it takes long
	calmLook = 20 * time.Second       // while all is well
	maxPause = time.Minute            // while a removal is stuck
)

// next says what follows: what a preview is, what was seen of it, and what
// time it is are all that it depends on.
func next(r *Record, s sight, now time.Time, d Deadlines) decision {
	switch {
	case r.Phase == Gone:
		return decision{Phase: Gone, Reason: r.Reason, After: -1}
	case r.ending(now):
		return nextEnding(r, s, now, d)
	}
	out := nextLiving(r, s, now, d)
	left := r.ExpiresAt.Sub(now)
	warn := warning(r)
	out.Warn = left <= warn && !r.WarnedOf.Equal(r.ExpiresAt)
	if left > warn {
		left -= warn
	}
	out.After = min(out.After, max(left, time.Millisecond))
	return out
}

// warning is how long before its end a preview is warned of: a fifth of its
// life, at most ten minutes.
func warning(r *Record) time.Duration {
	return min(r.ExpiresAt.Sub(r.CreatedAt)/5, 10*time.Minute)
}

// nextEnding has everything removed and looks until nothing is left.
func nextEnding(r *Record, s sight, now time.Time, d Deadlines) decision {
	why := endReason(r)
	if r.Phase == Pending && r.AdmittedAt.IsZero() {
		return decision{Phase: Gone, Reason: why + "; nothing of it was ever there", After: -1}
	}
	if r.Phase != Deleting {
		return decision{Phase: Deleting, Reason: why, Move: remove, After: fastLook}
	}
	// Seen absent after a second removal: what a dying process had begun to
	// make may have come after the first.
	next, absent := remove, s.Trouble == "" && !s.Exists && len(s.Remains) == 0 && r.Tries > 1
	if absent && s.Data.absent() {
		return decision{Phase: Gone, Reason: strings.TrimSuffix(why+"; seen to be absent: "+lower(s.Reason), ": "), After: -1}
	}
	age := now.Sub(r.Since)
	switch {
	case absent:
		next, why = withdraw, why+"; its data is being removed: "+cmp.Or(s.Data.Trouble, strings.Join(s.Data.There, ", "))
	case s.Trouble != "":
		why += "; " + s.Trouble
	case len(s.Remains) > 0:
		why += "; still there: " + strings.Join(s.Remains, ", ")
	case s.Exists && s.Reason != "":
		why += "; " + s.Reason
	case s.Exists:
		why += "; something of it is still there"
	}
	stuck := age > d.Remove
	if stuck {
		why = fmt.Sprintf("stuck: not gone %s after its removal began; it is tried again, and %s should look into it. %s", coarse(age), cmp.Or(r.Owner, "an operator"), sentence(why))
	}
	return decision{Phase: Deleting, Reason: why, Move: next, Stuck: stuck, After: min(max(age/8, fastLook), maxPause)}
}

func endReason(r *Record) string {
	if !r.EndedAt.IsZero() {
		return "deleted by " + r.EndedBy
	}
	return "expired at " + stamp(r.ExpiresAt)
}

// lower begins a text with a small letter.
func lower(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToLower(s[:1]) + s[1:]
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// coarse is a duration to the second, or to the minute where it is long.
func coarse(d time.Duration) time.Duration {
	if d > time.Hour {
		return d.Round(time.Minute)
	}
	return d.Round(time.Second)
}

// nextLiving brings a preview about and keeps it as it should be.
func nextLiving(r *Record, s sight, now time.Time, d Deadlines) decision {
	age := now.Sub(r.Since)
	switch {
	case r.Phase == Pending && r.AdmittedAt.IsZero():
		return decision{Phase: Pending, Reason: r.Reason, After: calmLook} // who makes room lets the next in
	case r.Phase == Pending && len(r.Template.Data) > 0:
		return decision{Phase: Creating, Reason: "its data is being made: " + strings.Join(texts(r.Template.Data), ", "), Move: provide, After: fastLook}
	case r.Phase == Pending:
		return decision{Phase: Creating, Reason: "being brought about by " + r.Template.Deployer, Move: apply, After: fastLook}
	case r.Applied != r.Commit && r.Phase != Creating:
		return decision{Phase: Creating, Reason: fmt.Sprintf("being brought to commit %.12s by %s", r.Commit, r.Template.Deployer), Move: apply, After: fastLook}
	case s.Trouble == "" && s.Ready && s.Data.usable() && r.Applied == r.Commit:
		return decision{Phase: Ready, Reason: s.Reason, After: calmLook, Move: stale(s)}
	}
	why := s.Reason
	if s.Trouble != "" {
		why = s.Trouble
	}
	why = cmp.Or(s.Data.why(), why)
	switch r.Phase {
	case Creating:
		return nextCreating(s, cmp.Or(why, r.Reason), age, d, r.Applied == r.Commit)
	case Ready, Degraded:
		return nextDegraded(r, s, why, age, d)
	default:
		return decision{Phase: Failed, Reason: r.Reason, After: maxPause}
	}
}

// nextCreating waits for one that was applied, and applies one that was not:
// what is seen before is of another commit.
func nextCreating(s sight, why string, age time.Duration, d Deadlines, applied bool) decision {
	out := decision{Phase: Creating, Reason: why, After: min(max(age/10, fastLook), slowLook)}
	switch {
	case s.Trouble == "" && s.Failed && applied, s.Data.Failed != "":
		return decision{Phase: Failed, Reason: why, After: maxPause}
	case age > d.Create:
		return decision{Phase: Failed, Reason: fmt.Sprintf("not ready within %s; at last: %s", d.Create, why), After: maxPause}
	case s.Data.Awaited != "":
		out.Move = provide
	case s.Trouble == "" && (!s.Exists || !applied) && s.Data.usable():
		out.Move = apply
	case s.Data.usable():
		out.Move = stale(s)
	}
	return out
}

// stale has applied again what is not as the wish says now.
func stale(s sight) move {
	if s.Trouble == "" && s.Stale {
		return apply
	}
	return rest
}

func nextDegraded(r *Record, s sight, why string, age time.Duration, d Deadlines) decision {
	out := decision{Phase: Degraded, Reason: cmp.Or(why, "it does not answer"), After: slowLook}
	switch {
	case s.Data.Failed != "":
		return decision{Phase: Failed, Reason: out.Reason, After: maxPause}
	case r.Phase == Ready:
		out.After = fastLook
	case age > d.Repair:
		return decision{Phase: Failed, Reason: fmt.Sprintf("not ready again within %s; at last: %s", d.Repair, out.Reason), After: maxPause}
	}
	switch {
	case s.Data.Awaited != "":
		out.Move = provide
	case s.Trouble == "" && (!s.Exists || s.Failed || s.Stale) && s.Data.usable():
		out.Move = apply
	}
	return out
}
