package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/store"
)

// crashVar tells a child process of these tests which database to use.
const crashVar = "FAIRLEAD_TEST_CRASH"

// TestMain lets a child process do an act in which it is killed.
func TestMain(m *testing.M) {
	if dsn := os.Getenv(crashVar); dsn != "" {
		fmt.Println(crash(dsn)) // not reached
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func crash(dsn string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, dsn)
	if err != nil {
		return err
	}
	g, err := access.NewGuard(access.GuardConfig{Policy: accesstest.OpenPolicy(), Log: s, Quota: s})
	if err != nil {
		return err
	}
	_, err = access.Do(ctx, g, accesstest.As("alice"), access.Op{Action: access.RefreshCatalog, Target: "component:default/checkout"}, func(context.Context) (int, error) {
		return 0, syscall.Kill(os.Getpid(), syscall.SIGKILL)
	})
	return err
}

func TestAnActCutShortIsUnknown(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		name := dsn(t)
		s := open(t, name)
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), crashVar+"="+name)
		out, err := cmd.CombinedOutput()
		var ended *exec.ExitError
		if !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("the child was not killed in its act: %v\n%s", err, out)
		}
		entries, err := s.Audit(t.Context(), access.AuditQuery{Limit: 10})
		if err != nil || len(entries) != 1 {
			t.Fatalf("audit = %+v, %v", entries, err)
		}
		if e := entries[0]; e.Status != access.StatusUnknown || e.Target != "component:default/checkout" || e.Subject != "user:default/alice" {
			t.Errorf("entry = %+v", e)
		}
		if _, err := s.Begin(t.Context(), access.Begun{Who: accesstest.As("bob")}); err != nil {
			t.Errorf("the store stays locked: %v", err)
		}
	})
}

// TestNoTokenIsKeptOrTold plants a token wherever one may come in and looks
// for it in all that is kept or told.
func TestNoTokenIsKeptOrTold(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		name := dsn(t)
		s := open(t, name)
		token := access.NewToken().Reveal()
		var told bytes.Buffer
		logger := slog.New(slog.NewJSONHandler(&told, nil))
		auth, err := access.NewAuthenticator(access.AuthConfig{Tokens: []access.TokenConfig{{Name: "ci", Subject: "ci", TokenEnv: "T"}}},
			access.AuthOptions{Logger: logger, LookupEnv: func(string) (string, bool) { return token, true }})
		if err != nil {
			t.Fatal(err)
		}
		who, err := auth.Authenticate(t.Context(), access.Credential{Bearer: token})
		if err != nil {
			t.Fatal(err)
		}
		_, wrong := auth.Authenticate(t.Context(), access.Credential{Bearer: token + "x"})
		fmt.Fprintf(&told, "%v %+v %#v\n", wrong, who, who)

		g, err := access.NewGuard(access.GuardConfig{Policy: accesstest.OpenPolicy(), Log: s, Quota: s, Logger: logger})
		if err != nil {
			t.Fatal(err)
		}
		op := access.Op{Action: access.RefreshCatalog, Target: token, Input: map[string]string{"token": token, "reason": "with " + token}}
		acts := []func(context.Context) (int, error){
			func(context.Context) (int, error) { return 1, nil },
			func(context.Context) (int, error) { return 0, fault.New(fault.Conflict, "not with %s", token) },
			func(context.Context) (int, error) { return 0, errors.New("inside: " + token) },
			func(context.Context) (int, error) { panic(token) },
		}
		for _, act := range acts {
			_, err := access.Do(t.Context(), g, who, op, act)
			fmt.Fprintln(&told, fault.CodeOf(err))
		}
		if _, err := access.Do(t.Context(), g, access.Caller{}, op, acts[0]); err == nil {
			t.Error("nobody may act")
		} else {
			fmt.Fprintln(&told, err)
		}
		kept := dump(t, name)
		for place, text := range map[string]string{"database": kept, "log and errors": told.String()} {
			if strings.Contains(text, token) || strings.Contains(text, token[len("fairlead_"):]) {
				t.Errorf("the token is in the %s:\n%s", place, text)
			}
		}
		if strings.Count(kept, "[secret]") < 10 {
			t.Errorf("the audit was not written:\n%s", kept)
		}
	})
}

// dump gives all rows of all tables.
func dump(t *testing.T, dsn string) string {
	t.Helper()
	var out strings.Builder
	for _, table := range []string{"audit", "quota", "fairlead_schema"} {
		rows, err := raw(t, dsn).QueryContext(t.Context(), "SELECT * FROM "+table)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			row := make([]any, len(columns))
			into := make([]any, len(columns))
			for i := range row {
				into[i] = &row[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&out, row...)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}
