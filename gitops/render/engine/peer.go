package engine

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/fairlead-dev/fairlead/gitops/render/wire"
)

// beyondError says that something cannot be rendered here.
type beyondError struct{ reason string }

func (e *beyondError) Error() string { return e.reason }

func beyond(format string, args ...any) error { return &beyondError{fmt.Sprintf(format, args...)} }

// peer is who started the engine.
type peer struct {
	in    *json.Decoder
	out   *bufio.Writer
	order wire.Order
	// seen are the files of the side Before, which those that are not edited
	// have in common.
	seen map[string][]byte
}

func newPeer(in io.Reader, out io.Writer) (*peer, error) {
	p := &peer{in: json.NewDecoder(in), out: bufio.NewWriter(out), seen: map[string][]byte{}}
	return p, p.in.Decode(&p.order)
}

func (p *peer) tell(a wire.Ask) error {
	if err := json.NewEncoder(p.out).Encode(a); err != nil {
		return err
	}
	return p.out.Flush()
}

func (p *peer) ask(a wire.Ask) (r wire.Reply, err error) {
	if err = p.tell(a); err == nil {
		err = p.in.Decode(&r)
	}
	if err == nil && r.Refused != "" {
		err = beyond("%s", r.Refused)
	}
	return r, err
}

// stat tells what is at a path of a side.
func (p *peer) stat(side int, at string) (wire.Reply, error) {
	shared := !slices.Contains(p.order.Edited, at)
	if data, ok := p.seen[at]; ok && shared {
		return wire.Reply{Kind: wire.File, Data: data}, nil
	}
	r, err := p.ask(wire.Ask{Op: wire.Stat, Side: side, Path: at})
	if err == nil && r.Kind == wire.File && shared {
		p.seen[at] = r.Data
	}
	return r, err
}

// errNoFile says that there is no such file.
var errNoFile = errors.New("there is no such file")

// read gives a file of a side.
func (p *peer) read(side int, at string) ([]byte, error) {
	r, err := p.stat(side, at)
	if err == nil && r.Kind != wire.File {
		err = fmt.Errorf("%s: %w", at, errNoFile)
	}
	return r.Data, err
}

// below names the files below a folder of a side, relative to it.
func (p *peer) below(side int, dir string) ([]string, error) {
	r, err := p.ask(wire.Ask{Op: wire.Below, Side: side, Path: path.Clean("/" + dir)[1:]})
	return r.Names, err
}
