package loan

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// files are what a program finds a credential in: in memory, for its user
// alone, and gone with it.
type files struct {
	// places are folders that may be in memory, the best first.
	places []string
	path   string
	lock   *os.File
}

// folderName begins the names of the folders, lockName is the file in each that
// is locked as long as it is used.
const (
	folderName = "fairlead-creds-"
	lockName   = ".lock"
)

func newFiles(env func(string) string) *files {
	f := &files{}
	if dir := env("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		f.places = append(f.places, dir)
	}
	f.places = append(f.places, "/dev/shm")
	return f
}

// write writes a file and gives its path.
func (f *files) write(name string, data []byte) (path string, err error) {
	if f.path == "" {
		if err := f.make(); err != nil {
			return "", err
		}
	}
	for n := 0; ; n++ {
		path := filepath.Join(f.path, strings.ToLower(name))
		if n > 0 {
			path = filepath.Join(f.path, fmt.Sprintf("%d-%s", n, strings.ToLower(name)))
		}
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if os.IsExist(err) {
			continue
		}
		if err == nil {
			_, err = file.Write(data)
			if closed := file.Close(); err == nil {
				err = closed
			}
		}
		if err != nil {
			return "", fault.New(fault.FailedPrecondition, "the credential cannot be written into %s", f.path).WithFix("Make room there, or use --env.").Because(err)
		}
		return path, nil
	}
}

// make makes the folder.
func (f *files) make() error {
	for _, place := range f.places {
		if !inMemory(place) {
			continue
		}
		sweep(place)
		path, err := os.MkdirTemp(place, folderName)
		if err != nil {
			continue
		}
		f.path = path
		f.lock, err = os.OpenFile(filepath.Join(path, lockName), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err == nil && lock(f.lock) {
			return nil
		}
		f.remove()
	}
	return fault.New(fault.FailedPrecondition, "none of %s is a folder in memory that you may write to, and a credential is not written to a disk", strings.Join(f.places, ", ")).
		WithFix("Use --env in place of --file.")
}

// remove takes all away, as far as it is there.
func (f *files) remove() {
	if f.path != "" {
		_ = os.RemoveAll(f.path) // what stays is swept by the next
		f.path = ""
	}
	if f.lock != nil {
		f.lock.Close()
		f.lock = nil
	}
}

// abandonedAfter is how old a folder is at least that nobody holds.
const abandonedAfter = time.Minute

// sweep removes folders whose owner was killed before it could.
func sweep(place string) {
	found, _ := filepath.Glob(filepath.Join(place, folderName+"*")) // the pattern is well formed
	for _, path := range found {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < abandonedAfter || !ours(info) {
			continue
		}
		held, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR, 0)
		if err == nil && !lock(held) {
			held.Close()
			continue
		}
		_ = os.RemoveAll(path) // the next one tries again
		if err == nil {
			held.Close()
		}
	}
}
