package rollout

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"regexp"
	"strings"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
)

// reach opens a database to look at it.
func (s *Store) reach(ctx context.Context, engine, secret string) (target.Target, error) {
	return s.reachWith(ctx, engine, secret, target.Options{Log: s.log})
}

// reachWith opens a database. The address stays in here: it is in no error.
func (s *Store) reachWith(ctx context.Context, engine, secret string, o target.Options) (target.Target, error) {
	if s.vault == nil {
		return nil, noVault()
	}
	if secret == "" {
		return nil, problem.New(problem.NotFound, "register it again: weir database add", "the database is not registered any more")
	}
	values, err := s.vault.Open(ctx, []string{secret})
	if err != nil {
		return nil, err
	}
	t, err := target.Open(ctx, script.Engine(engine), values[secret], o)
	if err != nil {
		return nil, unreached(err)
	}
	return t, nil
}

func noVault() error {
	return problem.New(problem.Conflict, "set secret_key_file, so that addresses of databases can be kept", "this Weir keeps no secrets")
}

// unreached turns an error of a target into a problem.
func unreached(err error) error {
	var f *target.Failure
	if own := new(problem.Problem); err == nil || errors.As(err, &own) || !errors.As(err, &f) {
		return err
	}
	kind := problem.Conflict
	if f.Code == target.CodeUnreachable || f.Code == target.CodeLost {
		kind = problem.Unreachable
	}
	return &problem.Problem{Kind: kind, What: f.Error(), Next: f.Next, Err: err}
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// secretFor is the name under which the address of a database is kept if nobody
// chose another.
func secretFor(database string) string {
	name := strings.Map(func(r rune) rune {
		if plainName.MatchString(string(r)) {
			return r
		}
		return '_'
	}, database)
	if name != database { // a-b and a_b are two
		sum := sha256.Sum256([]byte(database))
		name += "_" + hex.EncodeToString(sum[:3])
	}
	return "DATABASE_" + strings.ToUpper(name)
}

// run is what a target is asked about.
func (m mystery) run() (target.Run, error) {
	change := m.change.change(m.sql)
	steps, err := script.Steps(script.Engine(m.engine), change)
	if err != nil {
		return target.Run{}, fault("change", err)
	}
	return target.Run{Rollout: m.rollout.String(), Task: m.task.String(), Attempt: m.attempt, Token: m.token.String(), Change: change, Steps: steps, By: m.by}, nil
}

// newest is the highest version of a history.
func newest(entries []target.Entry) (version string, rank *int64) {
	for _, e := range entries {
		if e.Version == "" {
			continue
		}
		if r, err := script.Rank(e.Version); err == nil && (rank == nil || r > *rank) {
			version, rank = e.Version, &r
		}
	}
	return version, rank
}

// idOrNil is a page's place among ids.
func idOrNil(after string) (*weir.ID, error) {
	if after == "" {
		return nil, nil
	}
	id, err := weir.ParseID(after)
	if err != nil {
		return nil, problem.Refuse("after", "use the id of the last row of the page before", "%.80q is not an id", after)
	}
	return &id, nil
}

// said is what a person should read of an error.
func said(err error) string {
	p := problem.Explain(err)
	return cmp.Or(p.What, err.Error())
}
