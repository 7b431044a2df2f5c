package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Installation is what tells this state from every other one, for good: 26
// lower-case letters and digits, the same for all replicas. It is made when it
// is first asked for. unavailable where the database does not answer.
func (s *Store) Installation(ctx context.Context) (id string, err error) {
	_, err = s.write.ExecContext(ctx, s.query("INSERT INTO installation (one, id) VALUES (1, ?1) ON CONFLICT (one) DO NOTHING"), strings.ToLower(rand.Text()))
	if err == nil {
		err = s.write.QueryRowContext(ctx, "SELECT id FROM installation WHERE one = 1").Scan(&id)
	}
	if err != nil {
		return "", fault.New(fault.Unavailable, "the name of this installation could not be read").
			WithFix("Try again in a moment; the operators find the cause in the server's log.").Because(fmt.Errorf("%s: %w", s.where, err))
	}
	return id, nil
}
