package gitops

import (
	"context"
	"encoding/json"
	"time"
)

// Notice is that somebody has to be told how a proposal ended.
type Notice struct {
	// To is the receiver's Name, At when it is told next, zero once it has been
	// or is not told any more, and Tries how often it was in vain.
	To    string    `json:"to"`
	At    time.Time `json:"at,omitzero"`
	Tries int       `json:"tries,omitempty"`
}

// Receiver is told how proposals ended.
type Receiver struct {
	// Name tells it apart from others, for good.
	Name string
	// Send gives it a text; an error means that it has not got it. Equal ids are
	// the same news.
	Send func(ctx context.Context, id string, text []byte) error
}

// Ending is what receivers are told, as JSON.
type Ending struct {
	Event       string    `json:"event"` // EndedEvent
	At          time.Time `json:"at"`
	ID          string    `json:"id"`
	Kind        string    `json:"kind"`
	Title       string    `json:"title"`
	Service     string    `json:"service,omitempty"`
	Environment string    `json:"environment,omitempty"`
	State       string    `json:"state"`
	Repository  string    `json:"repository"`
	URL         string    `json:"url,omitempty"`
	Person      string    `json:"person"`
	Agent       string    `json:"agent,omitempty"`
	Follow      Follow    `json:"follow"`
}

// EndedEvent is what the news is called that a proposal has ended.
const EndedEvent = "proposal.ended"

// How receivers are told again that could not be: after 5 s, and each time after
// twice as long, up to an hour; after about a day no more.
const (
	firstRetry, rarestRetry = 5 * time.Second, time.Hour
	maxRetries              = 32
	sendFor                 = 5 * time.Second
)

// tellReceivers tells those who have not been told, and gives when to try again,
// zero for never. Who has been told is written down at once.
func (s *Service) tellReceivers(ctx context.Context, r *Record, holder string) (again time.Time) {
	for i := range r.Course.Notices {
		n := &r.Course.Notices[i]
		if n.At.IsZero() {
			continue
		}
		if !n.At.After(s.now()) {
			if s.tellOne(ctx, r, n); n.At.IsZero() {
				// What fails here is done when the turn ends.
				_ = s.cfg.Records.SaveProposal(context.WithoutCancel(ctx), *r, holder, false)
			}
		}
		if !n.At.IsZero() && (again.IsZero() || n.At.Before(again)) {
			again = n.At
		}
	}
	return again
}

// tellOne tells one receiver, if it is configured still.
func (s *Service) tellOne(ctx context.Context, r *Record, n *Notice) {
	at := n.At
	n.At = time.Time{}
	for _, to := range s.cfg.Follow.Notify {
		if to.Name != n.To {
			continue
		}
		text, err := json.Marshal(r.ending())
		if err == nil {
			sending, cancel := context.WithTimeout(ctx, sendFor)
			err = to.Send(sending, r.ID+"."+n.To, text)
			cancel()
		}
		switch {
		case err == nil:
		case ctx.Err() != nil: // the server ends, which is not the receiver's fault
			n.At = at
		case n.Tries+1 < maxRetries:
			n.At = s.now().Add(min(firstRetry<<min(n.Tries, 20), rarestRetry))
			n.Tries++
		default:
			r.note("a receiver of webhooks could not be told that it has ended")
		}
		return
	}
}

// ending is what receivers are told.
func (r *Record) ending() Ending {
	p := r.View()
	return Ending{EndedEvent, p.Follow.EndedAt, p.ID, p.Kind, p.Title, p.Service, p.Environment, p.State, p.Repository, p.URL, p.Person, p.Agent, p.Follow}
}
