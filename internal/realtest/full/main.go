// Command full is the demo on real servers: the company of fairleadd demo in a
// Gitea, deployed by an Argo CD, its databases in a PostgreSQL whose users a
// Vault lends, and its objectives measured by a Prometheus. It is run by make
// demo-full, and is no part of what is shipped.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// options are what the program is told.
type options struct {
	// dir is a folder that is empty or not there yet; "" is a temporary one,
	// which is removed at the end.
	dir string
	// listen is where Fairlead serves.
	listen string
	// programs is the folder of fairleadd and fairlead.
	programs string
	// ui is the folder of the built front end, which Sam opens; "" for none.
	ui string
	// built tells that the servers' programs are there.
	built bool
	out   io.Writer
}

func main() {
	o := options{out: os.Stdout}
	flag.StringVar(&o.dir, "dir", "", "where everything is put: a `folder` that is empty or not there yet; a temporary one, removed at the end, if left out")
	flag.StringVar(&o.listen, "listen", "127.0.0.1:7007", "the `address` to serve at")
	flag.StringVar(&o.programs, "programs", "bin", "the `folder` of fairleadd and fairlead")
	flag.StringVar(&o.ui, "ui", "", "the `folder` of the built front end, served with Sam, who is on call, as its guest")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo-full:", err)
		os.Exit(1)
	}
}

// run starts everything, and ends it when the context does.
func run(ctx context.Context, o options) (err error) {
	w, err := newWorld(o)
	if err != nil {
		return err
	}
	defer func() {
		fmt.Fprintln(o.out, "ending the servers")
		err = errors.Join(err, w.close())
	}()
	if err := w.start(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // it was told to end while it started
		}
		return err
	}
	if err := w.tell(); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case <-w.fairlead.Ended():
		return fmt.Errorf("the server ended; the end of %s:\n%s", w.path("fairleadd.log"), realtest.LastLines(w.path("fairleadd.log")))
	}
}

// newWorld prepares the folder.
func newWorld(o options) (*world, error) {
	w := &world{options: o, began: time.Now()}
	var err error
	if w.root, err = checkout(); err != nil {
		return nil, err
	}
	if w.programs, err = filepath.Abs(o.programs); err != nil {
		return nil, err
	}
	if err := free(o.listen); err != nil {
		return nil, err
	}
	if o.dir == "" {
		if w.dir, err = os.MkdirTemp("", "fairlead-demo-full-"); err != nil {
			return nil, err
		}
		w.temporary = true
		return w, nil
	}
	if w.dir, err = filepath.Abs(o.dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return nil, err
	}
	if there, err := os.ReadDir(w.dir); err != nil || len(there) > 0 {
		return nil, errors.Join(fmt.Errorf("the folder %s is not empty; name one that is, or that is not there yet", w.dir), err)
	}
	return w, nil
}
