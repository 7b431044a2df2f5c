package relay

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// event is one server-sent event.
type event struct {
	id   string
	name string
	data []byte
}

// events reads server-sent events and hands on those that hold data. It ends
// with the stream; retry is how long the server asked to wait before coming
// back, 0 if it did not.
func events(r io.Reader, hand func(event)) (lastID string, retry time.Duration, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	var e event
	var data [][]byte
	size := 0
	for {
		line, err := readLine(in, maxMessage)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return lastID, retry, err
		}
		if len(line) == 0 {
			if len(data) > 0 {
				e.data = bytes.Join(data, []byte("\n"))
				hand(e)
			}
			e, data, size = event{}, nil, 0
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			if size += len(value); size > maxMessage {
				return lastID, retry, fmt.Errorf("an event has more than %d bytes", maxMessage)
			}
			data = append(data, value)
		case "event":
			e.name = string(value)
		case "id":
			e.id, lastID = string(value), string(value)
		case "retry":
			if ms, err := strconv.Atoi(string(value)); err == nil && ms >= 0 && ms < 1<<30 {
				retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// errTooLong is a line beyond the limit; what follows it can still be read.
var errTooLong = errors.New("the line is too long")

// readLine reads up to a line break and leaves it out. A last line without
// one counts. A line beyond the limit is skipped.
func readLine(in *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if !long {
			line = append(line, part...)
			if len(line) > limit+2 {
				long, line = true, nil
			}
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(line) == 0 && !long):
			return nil, err
		case long:
			return nil, errTooLong
		}
		return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
	}
}
