package git

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"

	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

// manyRefs is how many refs a repository has to have for asking for one of
// them by protocol version 2 to be worth while. With fewer, the list that all
// servers send is as cheap and works everywhere.
const manyRefs = 1000

// lsRefs asks for the refs that ref may mean, and for no others; ok is false
// where there is none. It is one request; servers that do not speak version 2
// answer it with an error.
func (w *httpWire) lsRefs(ctx context.Context, ref string) (n named, ok bool, err error) {
	body, err := w.command2(ctx, lsRefsRequest(ref))
	if err != nil {
		return named{}, false, err
	}
	defer body.Close()
	refs, err := decodeLsRefs(body)
	if err != nil {
		return named{}, false, err
	}
	finish(body)
	for _, name := range candidates(ref) {
		if n, ok := refs[name]; ok {
			return n, true, nil
		}
	}
	return named{}, false, nil
}

func lsRefsRequest(ref string) []byte {
	lines := []string{"peel"}
	for _, name := range candidates(ref) {
		lines = append(lines, "ref-prefix "+name)
	}
	return command("ls-refs", lines...)
}

// decodeLsRefs reads lines of id, name and attributes.
func decodeLsRefs(r io.Reader) (map[string]named, error) {
	out := map[string]named{}
	lines := pktline.NewScanner(&budget{r, maxAdvert})
	for lines.Scan() {
		line := strings.TrimSuffix(string(lines.Bytes()), "\n")
		if line == "" {
			return out, nil // the flush at the end
		}
		fields := strings.Split(line, " ")
		id, ok := objects.ParseID(fields[0])
		if !ok || len(fields) < 2 {
			return nil, errNoVersion2
		}
		n := named{id, id}
		for _, attribute := range fields[2:] {
			if hex, ok := strings.CutPrefix(attribute, "peeled:"); ok {
				if n.commit, ok = objects.ParseID(hex); !ok {
					return nil, errNoVersion2
				}
			}
		}
		out[fields[1]] = n
	}
	return nil, errors.Join(errNoVersion2, lines.Err())
}
