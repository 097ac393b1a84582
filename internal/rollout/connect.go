package rollout

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"regexp"
	"strings"

	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/rollout/script"
	"github.com/weirhq/weir/internal/rollout/target"
)

// connect opens a database to look at it.
func (s *Store) connect(ctx context.Context, engine, secret string) (target.Target, error) {
	return s.connectWith(ctx, engine, secret, target.Options{Log: s.log})
}

// connectWith opens a database. The address stays in here: it is in no error.
func (s *Store) connectWith(ctx context.Context, engine, secret string, o target.Options) (target.Target, error) {
	if s.vault == nil {
		return nil, noVault()
	}
	if secret == "" {
		return nil, problem.New(problem.NotFound, "register it again", "the database is not registered any more").Run("weir database add")
	}
	values, err := s.vault.Open(ctx, []string{secret})
	if err != nil {
		return nil, err
	}
	t, err := target.Open(ctx, script.Engine(engine), values[secret], o)
	if err != nil {
		return nil, connectProblem(err)
	}
	return t, nil
}

func noVault() error {
	return problem.New(problem.Conflict, "set secret_key_file, so that addresses of databases can be kept", "this Weir keeps no secrets")
}

// connectProblem turns an error of a target into a problem.
func connectProblem(err error) error {
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

// recognise refuses a database that is not the one of that name.
func (s *Store) recognise(ctx context.Context, t target.Target, name string) error {
	d, err := s.Database(ctx, name)
	if err != nil {
		return err
	}
	return isOne(ctx, t, name, d.Identity)
}

// isOne refuses a database that has another identity; none is any.
func isOne(ctx context.Context, t target.Target, name, identity string) error {
	if identity == "" {
		return nil
	}
	id, err := t.Identity(ctx)
	if err != nil || id.String() == identity {
		return err
	}
	return problem.New(problem.Conflict, wayBack(name), "the address of %s leads to another database: expected %s, found %s", name, identity, id)
}

// noteReachable writes down that a database answers, or why it does not. Other errors say
// nothing of that.
func (s *Store) noteReachable(ctx context.Context, name string, err error) {
	var (
		f     *target.Failure
		other *problem.Problem
		seen  found
	)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return
	case errors.As(err, &f):
		if f.Code != target.CodeUnreachable && f.Code != target.CodePooled && f.Code != target.CodeDrift {
			return
		}
		seen.fault = f.Error()
	case errors.As(err, &other) && (other.Kind == problem.Conflict || other.Kind == problem.Unreachable):
		seen.fault = other.What + "; " + other.Next
	default:
		return
	}
	if err := s.checked(ctx, name, seen, nil, false, ""); err != nil {
		s.log.Warn("whether a database answers could not be written down", "database", name, "error", err)
	}
}

// wayBack is what to do about an address that leads to another database.
func wayBack(name string) string {
	return "put the address back: weir database set " + name + "; or take the other one from now on: weir database check " + name + " --accept"
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

// said is what a person should read of an error.
func said(err error) string {
	p := problem.Explain(err)
	return cmp.Or(p.What, err.Error())
}
