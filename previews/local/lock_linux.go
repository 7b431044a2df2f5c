package local

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockFolder makes the caller the only one that changes a preview, in this
// and every other process. The folder itself is what is locked, so nothing
// stays behind when it is removed.
func lockFolder(ctx context.Context, f folder, create bool) (func(), error) {
	for {
		if create {
			if err := os.MkdirAll(string(f), 0o700); err != nil {
				return nil, err
			}
		}
		dir, err := os.Open(string(f))
		if errors.Is(err, fs.ErrNotExist) && create {
			continue
		}
		if err != nil {
			return nil, err
		}
		for {
			err = unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB)
			if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
				break
			}
			if err := pause(ctx, 2*time.Millisecond); err != nil {
				dir.Close()
				return nil, err
			}
		}
		if err != nil {
			dir.Close()
			return nil, err
		}
		if same(dir, string(f)) {
			return func() { dir.Close() }, nil
		}
		dir.Close() // removed, and perhaps made anew, meanwhile
	}
}

// same tells whether an open file is still the one at a path.
func same(f *os.File, path string) bool {
	was, err := f.Stat()
	if err != nil {
		return false
	}
	is, err := os.Lstat(path) //nolint:gosec // the folder is named by Fairlead, or by whoever may run what they like
	return err == nil && os.SameFile(was, is)
}

// hold makes this process the supervisor of a folder, until it ends. It is an
// error where there is another one.
func hold(f folder) (*os.File, error) {
	file, err := os.OpenFile(f.lock(), os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the folder is named by Fairlead, or by whoever may run what they like
	if err != nil {
		return nil, err
	}
	lk := whole(unix.F_WRLCK)
	if err := unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &lk); err != nil {
		file.Close()
		return nil, err
	}
	if !same(file, f.lock()) {
		file.Close()
		return nil, fs.ErrNotExist
	}
	return file, nil
}

// alive tells whether a folder has a supervisor. Unlike the number of a
// process, a lock cannot pass on to another one.
func alive(f folder) bool {
	file, err := os.Open(f.lock())
	if err != nil {
		return false
	}
	defer file.Close()
	lk := whole(unix.F_WRLCK)
	return unix.FcntlFlock(file.Fd(), unix.F_OFD_GETLK, &lk) == nil && lk.Type != unix.F_UNLCK
}

func whole(kind int16) unix.Flock_t { return unix.Flock_t{Type: kind, Whence: io.SeekStart} }
