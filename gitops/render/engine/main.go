package engine

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead-dev/fairlead/gitops/render/wire"
)

// Main serves one order that comes by in, and gives the exit code: 0 where it
// was answered, whatever the answer. With ahead it makes ready first what each
// rendering needs.
func Main(in io.Reader, out io.Writer, ahead bool) int {
	confine()
	if ahead {
		warm()
	}
	p, err := newPeer(in, out)
	if err != nil || p.tell(wire.Ask{Op: wire.Done, Answer: p.serve()}) != nil {
		return 1
	}
	return 0
}

// serve renders both sides and compares them.
func (p *peer) serve() *wire.Answer {
	a := &wire.Answer{}
	render := map[string]func(*peer, int) ([]resource, error){wire.Kustomize: (*peer).kustomize, wire.Helm: (*peer).helm}[p.order.Tool]
	if render == nil {
		a.Before = "there is no such tool"
		return a
	}
	before, errBefore := p.side(render, wire.Before)
	after, errAfter := p.side(render, wire.After)
	var away *beyondError
	a.Beyond = errors.As(errBefore, &away) || errors.As(errAfter, &away)
	a.Before, a.After = p.reason(errBefore), p.reason(errAfter)
	if errBefore != nil || errAfter != nil {
		return a
	}
	c := comparison{Answer: a, most: p.order.MaxDiff}
	c.compare(before, after, p.unstable(render, before))
	return a
}

// side renders one side; what panics has failed.
func (p *peer) side(render func(*peer, int) ([]resource, error), side int) (out []resource, err error) {
	defer p.recovered(&err)
	if err := p.tell(wire.Ask{Op: wire.Begun, Side: side}); err != nil {
		return nil, err
	}
	return render(p, side)
}

// recovered makes an error of a panic.
func (p *peer) recovered(err *error) {
	if caught := recover(); caught != nil {
		*err = fmt.Errorf("%s gave up: %v", p.order.Tool, caught)
	}
}

// unstable are the resources that another rendering of the same files gives
// otherwise: charts may draw lots, and tell the time.
func (p *peer) unstable(render func(*peer, int) ([]resource, error), first []resource) map[string]bool {
	if p.order.Tool != wire.Helm {
		return nil
	}
	again, err := render(p, wire.Before)
	if err != nil {
		return nil
	}
	return otherwise(keyed(first), keyed(again))
}

// otherwise are the keys of what is not the same in another rendering.
func otherwise(first, again map[string]resource) map[string]bool {
	out := map[string]bool{}
	for key, r := range first {
		if other, ok := again[key]; !ok || other.yaml() != r.yaml() {
			out[key] = true
		}
	}
	return out
}

// maxReason bounds a reason, in characters.
const maxReason = 400

// reason is why something failed, in a line.
func (p *peer) reason(err error) string {
	if err == nil {
		return ""
	}
	text := strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), root+"/", "")), " ")
	if r := []rune(text); len(r) > maxReason { // the cause is at its end
		text = string(r[:maxReason/4]) + " … " + string(r[len(r)-maxReason*3/4:])
	}
	return text
}
