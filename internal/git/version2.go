package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"

	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

// picker asks a server for objects by their ids, which takes protocol version
// 2: before it, servers give what refs name alone.
type picker interface {
	// pick gives the answer up to the pack.
	pick(ctx context.Context, ids []objects.ID) (io.ReadCloser, error)
	// close ends the conversation.
	close()
}

var (
	errNoVersion2 = errors.New("the server does not speak protocol version 2")
	errNoPick     = errors.New("the server gives no objects by their ids")
)

const (
	flushPacket = iota
	delimiterPacket
	endPacket
	dataPacket
)

// readPacket reads one packet of version 2, of which some have no content.
func readPacket(r io.Reader) (kind int, data []byte, err error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	var size [2]byte
	if _, err := hex.Decode(size[:], head[:]); err != nil {
		return 0, nil, errNoVersion2
	}
	n := int(size[0])<<8 | int(size[1])
	switch {
	case n < dataPacket:
		return n, nil, nil
	case n < len(head):
		return 0, nil, errNoVersion2
	}
	data = make([]byte, n-len(head))
	if _, err := io.ReadFull(r, data); err != nil {
		return 0, nil, err
	}
	if text, ok := bytes.CutPrefix(data, []byte("ERR ")); ok {
		return 0, nil, &pktline.ErrorLine{Text: strings.TrimSpace(string(text))}
	}
	return dataPacket, data, nil
}

// command writes a request of version 2.
func command(name string, arguments ...string) []byte {
	var b bytes.Buffer
	line := func(s string) { fmt.Fprintf(&b, "%04x%s\n", len(s)+5, s) }
	line("command=" + name)
	b.WriteString("0001")
	for _, a := range arguments {
		line(a)
	}
	b.WriteString("0000")
	return b.Bytes()
}

func pickRequest(ids []objects.ID) []byte {
	lines := []string{"no-progress", "ofs-delta"}
	for _, id := range ids {
		lines = append(lines, "want "+id.String())
	}
	return command("fetch", append(lines, "done")...)
}

// packPicked reads an answer up to the pack and gives the pack, of which at
// most limit bytes can be read. A server that refuses is told from one that
// cannot be reached.
func packPicked(answer io.Reader, limit int64) (io.Reader, error) {
	head := &budget{answer, maxReplyHead}
	for first := true; ; first = false {
		kind, line, err := readPacket(head)
		switch {
		case refused(err), errors.Is(err, errNoVersion2), first && errors.Is(err, io.EOF):
			return nil, errors.Join(errNoPick, err)
		case err != nil:
			return nil, err
		case string(line) == "packfile\n":
			// Packets of at most 65,520 bytes each carry at least something.
			head.left = limit + limit/8 + maxReplyHead
			return &budget{finishing{sideband.NewDemuxer(sideband.Sideband64k, head), answer}, limit}, nil
		case kind == flushPacket, first && string(line) != "shallow-info\n":
			return nil, errNoPick
		}
	}
}

// command2 sends a request of version 2.
func (w *httpWire) command2(ctx context.Context, content []byte) (io.ReadCloser, error) {
	at := w.base
	at.Path += "/" + uploadPack
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-git-upload-pack-request")
	req.Header.Set("Accept", answerType)
	req.Header.Set("Git-Protocol", "version=2")
	body, _, err := w.do(req, answerType)
	return body, err
}

func (w *httpWire) pick(ctx context.Context, ids []objects.ID) (io.ReadCloser, error) {
	body, err := w.command2(ctx, pickRequest(ids))
	var status *statusError
	if errors.Is(err, errNotGit) || errors.As(err, &status) && status.unable() {
		return nil, errors.Join(errNoPick, err)
	}
	return body, err
}

// unable tells whether an answer can mean that the server does not understand
// what it was asked.
func (e *statusError) unable() bool {
	switch e.status {
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
		http.StatusInternalServerError, http.StatusNotImplemented:
		return true
	}
	return false
}

// version2 asks the server whether it speaks version 2.
func (w *httpWire) version2(ctx context.Context) (bool, error) {
	at := w.base
	at.Path += "/info/refs"
	at.RawQuery = "service=" + uploadPack
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return false, err
	}
	req.Header.Set("Git-Protocol", "version=2")
	body, final, err := w.do(req, advertType)
	if err != nil {
		return false, err
	}
	defer body.Close()
	ok, err := greeting(&budget{body, maxAdvert})
	if err == nil {
		finish(body)
		w.rebase(final)
	}
	return ok, err
}

// greeting reads what a server says first, to the end if it speaks version 2.
func greeting(r io.Reader) (bool, error) {
	speaks, fetches := false, false
	for {
		kind, line, err := readPacket(r)
		switch text := string(line); {
		case err != nil:
			return false, err
		case kind == flushPacket && speaks:
			return fetches, nil
		case kind == flushPacket, strings.HasPrefix(text, "# service="):
		case text == "version 2\n":
			speaks = true
		case !speaks:
			return false, nil
		case strings.HasPrefix(text, "fetch"):
			fetches = true
		}
	}
}

// pick speaks version 2 on a conversation that was begun with it.
func (w *sshWire) pick(_ context.Context, ids []objects.ID) (io.ReadCloser, error) {
	ok, err := greeting(&budget{w.out, maxAdvert})
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errNoPick
	}
	if _, err := w.in.Write(pickRequest(ids)); err != nil {
		return nil, err
	}
	return io.NopCloser(w.out), nil
}
