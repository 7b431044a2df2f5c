package loan

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Server is where a loan comes from and goes back to.
type Server interface {
	// Opened says that the wrapping has been opened by who should.
	Opened(ctx context.Context, lease string) (Status, error)
	// Alarm says that somebody else has opened it.
	Alarm(ctx context.Context, lease string) (Status, error)
	// Beat says that the credential is still in use.
	Beat(ctx context.Context, lease string) (Status, error)
	// Revoke gives it back.
	Revoke(ctx context.Context, lease string) (Status, error)
}

// User uses one loan for one program.
type User struct {
	Server   Server
	Opener   *Opener
	Loan     *Loan
	Delivery Delivery
	Program  Program
	// Env gives variables of this process.
	Env func(string) string
	// Signals are passed on to the program.
	Signals <-chan os.Signal
	// Say tells people what happens.
	Say func(format string, args ...any)
}

const (
	// answerWithin is how long the server is given to answer one call.
	answerWithin = 8 * time.Second
	// tryAgainAfter is how long to wait before it is asked again.
	tryAgainAfter = 500 * time.Millisecond
	// exitEnded is the exit code where a program was ended that then says that
	// all went well.
	exitEnded = 3
)

// Use takes the credential out of its wrapping, runs the program with it, and
// gives it back however that ends. It gives the program's exit code, 128 and the
// signal's number where one ended it. ctx is for what comes before the program
// starts.
func (u *User) Use(ctx context.Context) (code int, err error) {
	defer u.giveBack()
	c, err := u.open(ctx)
	if err != nil {
		return 0, err
	}
	defer c.Wipe()
	hide, short, err := c.Scrubber()
	if err != nil {
		return 0, err
	}
	defer hide.Wipe()
	for _, field := range short {
		u.Say("the field %s is too short to be kept out of what the command writes", field)
	}
	dir := newFiles(u.Env)
	defer dir.remove()
	env, err := c.environment(u.Delivery, u.Loan.Env, u.Program.Env, dir)
	if err != nil {
		return 0, err
	}
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	run, err := start(u.Program, env, "FAIRLEAD_LEASE="+u.Loan.Lease, hide)
	clear(env)
	c.Wipe()
	if err != nil {
		return 0, fault.New(fault.Invalid, "%s cannot be started", u.Program.Path).WithFix("Name a program that this machine runs.").Because(err)
	}
	return u.wait(run), nil
}

// open takes the credential out of its wrapping, and says so, or that somebody
// else has.
func (u *User) open(ctx context.Context) (*Credential, error) {
	c, err := u.Opener.Open(ctx, u.Loan)
	switch {
	case errors.Is(err, ErrUsed):
		_ = u.insist(u.Server.Alarm) // its reaper finds that out, too
		return nil, fault.New(fault.Forbidden, "the wrapping of lease %s was opened by somebody else before: the alarm is raised and the lease is revoked", u.Loan.Lease).
			WithFix("Find out who reads what goes between you, the server and Vault. Then request another.")
	case err != nil:
		return nil, err
	}
	if err := u.insist(u.Server.Opened); err != nil {
		c.Wipe()
		return nil, err
	}
	return c, nil
}

// insist asks the server again while it cannot be reached, for a while.
func (u *User) insist(do func(context.Context, string) (Status, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	for {
		_, err := do(ctx, u.Loan.Lease)
		if err == nil || fault.CodeOf(err) != fault.Unavailable {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(tryAgainAfter):
		}
	}
}

// wait waits for the program's end, passes on signals, and ends it where the
// credential ends first.
func (u *User) wait(run *child) int {
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan string, 1)
	k := keeper{server: u.Server, lease: u.Loan.Lease, expires: u.Loan.ExpiresAt}
	go func() {
		over <- k.watch(ctx)
	}()
	ended := false
	for {
		select {
		case <-run.done:
			cancel()
			if !ended {
				<-over
			}
			run.finish()
			if code := run.code(); code != 0 || !ended {
				return code
			}
			return exitEnded
		case sig := <-u.Signals:
			if number, ok := sig.(syscall.Signal); ok {
				run.signal(number)
			}
		case why := <-over:
			ended = true
			u.Say("the credential is over: %s; the command is ended", why)
			go run.end()
		}
	}
}

// giveBack revokes the lease, and waits a while until that is done.
func (u *User) giveBack() {
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	for {
		st, err := u.Server.Revoke(ctx, u.Loan.Lease)
		switch {
		case err == nil && st.State != stateRevoking && st.State != stateLive:
			return
		case err != nil && fault.CodeOf(err) != fault.Unavailable:
			u.Say("lease %s could not be revoked: %s; the server does that when it no longer hears of this command, within 90s", u.Loan.Lease, fault.From(err).Message)
			return
		}
		select {
		case <-ctx.Done():
			u.Say("lease %s is not revoked yet; the server goes on with that, and at the latest when it has not heard of this command for 90s", u.Loan.Lease)
			return
		case <-time.After(tryAgainAfter):
		}
	}
}
