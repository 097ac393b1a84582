package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir/internal/problem"
)

// The throttle is a leaky count of failures per account and per address. The
// first few cost nothing, each further one doubles the wait, up to a quarter of
// an hour: long enough against guessing, short enough that nobody is locked out
// for good. An attempt is charged before the password is looked at, so that a
// thousand at once are not all free; success gives the charge back. What is
// refused is not charged, so that hammering does not lengthen the wait.
type bucket struct {
	free int           // failures without a wait
	leak time.Duration // one failure is forgiven in this time
}

const (
	firstWait = time.Second
	mostWait  = 15 * time.Minute
)

var (
	perAccount = bucket{free: 5, leak: 15 * time.Minute}
	// Many people share an address.
	perAddress = bucket{free: 20, leak: time.Minute}
)

// Wait is the error behind a problem of kind Throttled.
type Wait struct{ For time.Duration }

func (w *Wait) Error() string { return fmt.Sprintf("wait %v", w.For) }

// RetryAfter is how many seconds to wait, if err is about that.
func RetryAfter(err error) (seconds int, ok bool) {
	var wait *Wait
	if !errors.As(err, &wait) {
		return 0, false
	}
	return max(1, int(math.Ceil(wait.For.Seconds()))), true
}

func throttled(wait time.Duration, what string) error {
	err := &Wait{max(wait, time.Second).Round(time.Second)}
	p := problem.New(problem.Throttled, fmt.Sprintf("try again in %v", err.For), "%s", what)
	p.Err = err
	return p
}

// throttleKey hides what was typed: people type passwords where names belong.
func throttleKey(kind, value string) []byte {
	sum := sha256.Sum256([]byte("weir login " + kind + " " + value))
	return sum[:]
}

// network is what counts as one address: a household has a /64 of IPv6.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	if ip = ip.Unmap().WithZone(""); ip.Is6() {
		prefix, _ := ip.Prefix(64)
		return prefix.String()
	}
	return ip.String()
}

// count is a row of weir.login_attempts, as seen now.
type count struct {
	failures int
	ago      time.Duration // since the last charge
	wait     time.Duration // until the next attempt is looked at
	noted    bool          // the timeline was told of the wait
}

// charge is the count after one more attempt, and the wait it brings if that
// attempt fails.
func (b bucket) charge(c count) (failures int, wait time.Duration) {
	failures = max(0, c.failures-int(max(0, c.ago)/b.leak)) + 1
	if over := failures - b.free; over > 0 {
		// The bound keeps the shift from running over.
		wait = min(mostWait, firstWait<<min(over-1, 20))
	}
	return failures, wait
}

// lockCount reads a count and holds it until the transaction ends. The update
// changes nothing: it takes the lock, also when a good login has just removed
// the row.
func (s *Store) lockCount(ctx context.Context, tx pgx.Tx, key []byte) (c count, err error) {
	var ago, wait float64
	err = tx.QueryRow(ctx, `
		insert into weir.login_attempts as a (key, failures, at, until) values ($2, 0, coalesce($1, now()), coalesce($1, now()))
		on conflict (key) do update set failures = a.failures
		returning failures, extract(epoch from coalesce($1, now()) - at)::float8, extract(epoch from until - coalesce($1, now()))::float8, noted`,
		s.clock(), key).Scan(&c.failures, &ago, &wait, &c.noted)
	c.ago, c.wait = time.Duration(ago*float64(time.Second)), time.Duration(wait*float64(time.Second))
	return c, err
}

func (s *Store) writeCount(ctx context.Context, tx pgx.Tx, key []byte, failures int, wait time.Duration) error {
	_, err := tx.Exec(ctx, `
		update weir.login_attempts set failures = $3, at = coalesce($1, now()), until = coalesce($1, now()) + $4::interval, noted = false where key = $2`,
		s.clock(), key, failures, wait)
	return err
}

// attempt charges an attempt to log in, or is the problem that says how long to
// wait. userID may be empty: a name that nobody has is throttled like one that
// somebody has.
func (s *Store) attempt(ctx context.Context, name, userID string, from Client) error {
	var refusal error
	err := s.tx(ctx, "count the attempt", func(tx pgx.Tx) error {
		// Always in this order, so that two logins never wait for each other.
		accountKey, addressKey := throttleKey("account", name), throttleKey("address", network(from.Address))
		account, err := s.lockCount(ctx, tx, accountKey)
		if err != nil {
			return err
		}
		address, err := s.lockCount(ctx, tx, addressKey)
		if err != nil {
			return err
		}
		if account.wait > 0 && address.wait <= 0 {
			// Somebody else's guesses do not keep people out where they are logged in already.
			var known bool
			if err := tx.QueryRow(ctx, `
				select exists (select from weir.sessions where user_id = nullif($2, '')::uuid and address = $3 and expires_at > coalesce($1, now()))`,
				s.clock(), userID, from.Address).Scan(&known); err != nil {
				return err
			}
			if known {
				account.wait = 0
			}
		}
		switch {
		case account.wait > 0:
			refusal = throttled(account.wait, "too many failed attempts to log in with this name")
			return s.noteThrottled(ctx, tx, accountKey, account, "name", from)
		case address.wait > 0:
			refusal = throttled(address.wait, "too many failed attempts to log in from this address")
			return s.noteThrottled(ctx, tx, addressKey, address, "address", from)
		}
		failures, wait := perAccount.charge(account)
		if err := s.writeCount(ctx, tx, accountKey, failures, wait); err != nil {
			return err
		}
		failures, wait = perAddress.charge(address)
		return s.writeCount(ctx, tx, addressKey, failures, wait)
	})
	if err != nil {
		return err
	}
	return refusal
}

// noteThrottled tells the timeline once per wait: a flood of attempts must not
// become a flood of events.
func (s *Store) noteThrottled(ctx context.Context, tx pgx.Tx, key []byte, c count, what string, from Client) error {
	if c.noted {
		return nil
	}
	if _, err := tx.Exec(ctx, `update weir.login_attempts set noted = true where key = $1`, key); err != nil {
		return err
	}
	return s.note(ctx, tx, event{
		typ: "login_throttled", level: "warn", message: "too many failed attempts with one " + what,
		data: map[string]any{"address": from.Address, "failures": c.failures, "per": what},
	})
}

// forgive gives the charge of a good login back. The address keeps its other
// failures: whoever has one account must not use it to wash their guesses.
func (s *Store) forgive(ctx context.Context, tx pgx.Tx, name string, from Client) error {
	if _, err := tx.Exec(ctx, `delete from weir.login_attempts where key = $1`, throttleKey("account", name)); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		update weir.login_attempts set failures = greatest(failures - 1, 0), until = coalesce($1, now()) where key = $2`,
		s.clock(), throttleKey("address", network(from.Address)))
	return err
}
