package local

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/previews"
)

const (
	// maxLine bounds a line of the log; what is longer becomes several.
	maxLine = 8 << 10
	// defaultTail is how many lines are told where no number is asked for.
	defaultTail = 100
)

// Logs are the last lines that the preview wrote, oldest first; 100 of them
// unless tail is above 0. There are none of a preview that is not there.
func (d *Deployer) Logs(ctx context.Context, w previews.Wish, tail int) ([]previews.LogLine, error) {
	f, err := d.folder(w.ID)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	lines, err := readLog(f, tail)
	return lines, broken0("reading the log", w.ID, err)
}

func readLog(f folder, tail int) ([]previews.LogLine, error) {
	if tail <= 0 {
		tail = defaultTail
	}
	var data []byte
	for _, path := range []string{f.log() + ".1", f.log()} {
		part, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		data = append(data, part...)
	}
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	lines = lines[max(0, len(lines)-tail):]
	out := make([]previews.LogLine, 0, len(lines))
	for _, line := range lines {
		stamp, text, ok := strings.Cut(string(line), " ")
		if at, err := time.Parse(time.RFC3339Nano, stamp); ok && err == nil {
			out = append(out, previews.LogLine{At: at, Text: text})
		}
	}
	return out, nil
}

// logWriter writes lines with their times to a file, which becomes log.1 when
// it is full: the disk that logs take is bounded.
type logWriter struct {
	path  string
	limit int64
	hide  *strings.Replacer // nil for nothing to hide

	mu   sync.Mutex
	file *os.File
	size int64
	rest []byte // a line that has not ended yet
}

func openLog(path string, limit int64, secrets map[string]string) (*logWriter, error) {
	w := &logWriter{path: path, limit: limit, hide: hider(secrets)}
	return w, w.open()
}

func (w *logWriter) open() error {
	f, err := os.OpenFile(w.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	w.file, w.size = f, info.Size()
	return nil
}

// Write takes output as it comes.
func (w *logWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(p)
	now := time.Now().UTC().Format(time.RFC3339Nano)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		take := i
		if i < 0 {
			take = len(p)
		}
		if left := maxLine - len(w.rest); take > left {
			take, i = left, -1
		}
		w.rest = append(w.rest, p[:take]...)
		p = p[take:]
		if i >= 0 {
			p = p[1:]
		}
		if i >= 0 || len(w.rest) >= maxLine {
			if err := w.line(now); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// line ends the line that has been gathered.
func (w *logWriter) line(now string) error {
	text := strings.TrimSuffix(string(w.rest), "\r")
	w.rest = w.rest[:0]
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	if w.hide != nil {
		text = w.hide.Replace(text)
	}
	line := now + " " + text + "\n"
	if w.size+int64(len(line)) > w.limit {
		if err := w.rotate(); err != nil {
			return err
		}
	}
	m, err := io.WriteString(w.file, line)
	w.size += int64(m)
	return err
}

func (w *logWriter) rotate() error {
	return errors.Join(w.file.Close(), os.Rename(w.path, w.path+".1"), w.open())
}

// close writes what has no end of line.
func (w *logWriter) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var err error
	if len(w.rest) > 0 {
		err = w.line(time.Now().UTC().Format(time.RFC3339Nano))
	}
	return errors.Join(err, w.file.Close())
}
