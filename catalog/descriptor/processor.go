package descriptor

import (
	"context"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// Processor reads documents by one set of Options. It is safe for concurrent
// use.
type Processor struct {
	opts Options
}

// New makes a Processor.
func New(opts Options) *Processor {
	return &Processor{opts: opts}
}

// Read parses a catalog file and checks envelopes and rules; it does no I/O.
func (p *Processor) Read(at Location, data []byte) *File {
	return &File{At: at}
}

// Process makes an entity of a document that has reached StageProcess.
// Origin is the location by which the file came into the catalog.
func (p *Processor) Process(ctx context.Context, f *File, d *Document, origin Location, r Reader) *Result {
	return &Result{}
}

// Registered is a file as a registration names it: below base, which is a URL
// that ends in "/" or an absolute folder, with every segment of path encoded.
func (p *Processor) Registered(base Location, path string) (Location, error) {
	return Location{Type: base.Type, Target: base.Target + path}, nil
}

// Address is a file as annotations and location keys name it: Registered,
// resolved as the base's forge does.
func (p *Processor) Address(base Location, path string) (Location, error) {
	return p.Registered(base, path)
}

// Resolve gives the location that a target written in the file at base means;
// typ is the target's type.
func (p *Processor) Resolve(base Location, typ, target string) Location {
	return Location{Type: typ, Target: target}
}

// Within is the path below base that a location means; ok is false where it
// is not below base. The forms blob, tree, raw and edit of a forge's URLs
// name the same file.
func (p *Processor) Within(base, at Location) (path string, ok bool) {
	return "", false
}

// Generated is the reference of the Location that stands for a registered
// file.
func Generated(at Location) entity.Ref {
	return entity.Ref{Kind: "location", Namespace: entity.DefaultNamespace}
}
