package gitops

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/record"
)

// next is what is to be written down for a sighting, in the order in which it
// happened: earlier deployments of which something is known now that was not,
// and new ones. past are the last that are on record, newest first. It looks at
// nothing but what it is given.
func (s *sighting) next(past []Deployed) (out []Deployed) {
	var now *Deployed
	if len(past) > 0 {
		now = new(past[0])
	}
	for _, d := range s.deployments(now == nil) {
		if now != nil {
			if !d.At.After(now.At) || d.Revision == now.Revision {
				continue
			}
			now.ReplacedAt, now.ReplacedBy = d.At, d.Revision
			out = append(out, *now)
		}
		now = &Deployed{ID: record.NewID("deployed", 40), Service: s.service, Environment: s.environment, Application: s.application, Revision: d.Revision, At: d.At, SeenAt: s.at}
	}
	if now == nil {
		return nil
	}
	fresh := len(past) == 0 || past[0].ID != now.ID
	before := append(slices.Clone(out), past...)
	if s.mark(now) || fresh {
		if undone := undoneBy(now, before); undone != nil {
			out = with(out, *undone)
		}
		out = append(out, *now)
	}
	return out
}

// mark notes the state of what is deployed now, and tells whether that is news.
func (s *sighting) mark(now *Deployed) (news bool) {
	state, since := s.state()
	if op := s.app.Operation; op != nil && op.FinishedAt.After(since) && op.Phase == OperationSucceeded {
		since = op.FinishedAt
	}
	since = latest(since, now.At)
	switch {
	case state == DegradedVerdict && now.DegradedAt.IsZero():
		now.DegradedAt = since
	case state == HealthyVerdict && now.HealthyAt.IsZero():
		now.HealthyAt = since
		if !now.DegradedAt.IsZero() {
			now.RecoveredAt = latest(since, now.DegradedAt)
		}
		now.Images = slices.Clone(s.images)
		return true
	case state == HealthyVerdict && !now.DegradedAt.IsZero() && now.RecoveredAt.IsZero():
		now.RecoveredAt = latest(since, now.DegradedAt)
	default:
		return false
	}
	if len(now.Images) == 0 {
		now.Images = slices.Clone(s.images)
	}
	return true
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// undoneBy is the deployment that one has undone, marked as such: the one
// before it, where what runs now is what ran before that. nil where none is.
func undoneBy(now *Deployed, before []Deployed) *Deployed {
	slices.SortStableFunc(before, func(a, b Deployed) int { return b.At.Compare(a.At) })
	before = slices.CompactFunc(slices.DeleteFunc(before, func(d Deployed) bool { return d.ID == now.ID }), func(a, b Deployed) bool { return a.ID == b.ID })
	if len(before) < 2 || before[0].Undone || now.HealthyAt.IsZero() {
		return nil
	}
	last := before[0]
	for _, d := range before[1:] {
		same := d.Revision == now.Revision || len(now.Images) > 0 && sameImages(d.Images, now.Images) && !sameImages(last.Images, now.Images)
		if same && !d.HealthyAt.IsZero() {
			last.Undone = true
			return &last
		}
	}
	return nil
}

// with puts a deployment in the place of what is there of it, or first.
func with(rows []Deployed, d Deployed) []Deployed {
	if i := slices.IndexFunc(rows, func(r Deployed) bool { return r.ID == d.ID }); i >= 0 {
		d.ReplacedAt, d.ReplacedBy = rows[i].ReplacedAt, rows[i].ReplacedBy
		rows[i] = d
		return rows
	}
	return append([]Deployed{d}, rows...)
}

// sameImages tells whether two lists have the same versions, as far as both
// tell: a digest counts where there is no tag.
func sameImages(a, b []DeployedImage) bool {
	return slices.Equal(versions(a), versions(b))
}

func versions(images []DeployedImage) []string {
	out := make([]string, 0, len(images))
	for _, i := range images {
		version := i.Tag
		if version == "" {
			version = i.Digest
		}
		out = append(out, strings.Join([]string{i.Name, version}, ":"))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
