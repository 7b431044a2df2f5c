package index

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

func realChanges() []Change {
	p := descriptor.New(descriptor.Options{})
	var out []Change
	filepath.WalkDir("/tmp/gen10k", func(path string, d fs.DirEntry, err error) error {
		if d.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return nil
		}
		data, _ := os.ReadFile(path)
		at := descriptor.Location{Type: "url", Target: "https://github.com/acme/catalog/blob/main/" + path[len("/tmp/gen10k/"):]}
		f := p.Read(at, data)
		for _, doc := range f.Documents {
			res := p.Process(context.Background(), f, doc, at, nil)
			if res.Entity == nil {
				continue
			}
			out = append(out, Change{Ref: doc.Ref.String(), Record: &Record{Entity: &entity.Entity{Ref: doc.Ref, Root: res.Entity, From: entity.Provenance{Source: "x", Path: path}}, Edges: res.Edges}})
		}
		return nil
	})
	return out
}

func cpu() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(0, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

var keepS *Snapshot

func TestReal(t *testing.T) {
	h0 := heap()
	changes := realChanges()
	h1 := heap()
	t.Logf("changes %d: %d MB", len(changes), (h1-h0)>>20)
	for range 4 {
		heap()
		t0, c0 := time.Now(), cpu()
		keepS = Empty().Apply(changes)
		t.Logf("apply %v cpu %v", time.Since(t0), cpu()-c0)
	}
	h2 := heap()
	rows := 0
	keepS.columns.Scan(func(_ string, c *column) bool {
		rows += c.n
		return true
	})
	t.Logf("snapshot + %d MB, live %d, keys %d rows %d", (h2-h1)>>20, keepS.Len(), keepS.columns.Len(), rows)
	changes = nil
	t.Logf("total %d MB", (heap()-h0)>>20)
}
