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

// The throttle is a leaky count of failures: of an account from one address, of an
// address, and of an account from all addresses. The first few cost nothing, each further
// one doubles the wait, up to a quarter of an hour. An attempt is charged before the
// password is checked, so that a thousand at once are not all free; success gives the
// charge back. A refused attempt is not charged, so that hammering does not lengthen the
// wait.
//
// No client can lock out another: the first two counts delay only clients that failed
// themselves, from their own address. The count from all addresses keeps many addresses
// from guessing one password together, and it only slows: a login from an address that is
// within its own free tries of the account is checked nevertheless, so that the right
// password is accepted at once. An address beyond them waits as long as the failures of
// all addresses require.
type bucket struct {
	free int           // failures without a wait
	leak time.Duration // one failure is forgiven after this time
}

const (
	firstWait = time.Second
	mostWait  = 15 * time.Minute
)

var (
	perAccount = bucket{free: 5, leak: 15 * time.Minute}
	// Many people may share an address.
	perAddress = bucket{free: 20, leak: time.Minute}
	// perTarget counts an account from all addresses.
	perTarget = bucket{free: 20, leak: time.Minute}
)

// Wait is the cause of a problem of kind Throttled.
type Wait struct{ For time.Duration }

func (w *Wait) Error() string { return fmt.Sprintf("wait %v", w.For) }

// RetryAfter returns how many seconds to wait, if err contains a [Wait].
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

// throttleKey hides the text that was typed, because people type passwords where names
// belong.
func throttleKey(kind, value string) []byte {
	sum := sha256.Sum256([]byte("weir login " + kind + " " + value))
	return sum[:]
}

// network returns the part of an address that counts as one client, because a household
// has a /64 of IPv6.
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

// count is a row of weir.login_attempts at the present time.
type count struct {
	failures int
	ago      time.Duration // since the last charge
	wait     time.Duration // until the next attempt is checked
	noted    bool          // the timeline has an event about the wait
}

// charge returns the count after one more attempt, and the wait if that attempt fails.
func (b bucket) charge(c count) (failures int, wait time.Duration) {
	failures = max(0, c.failures-int(max(0, c.ago)/b.leak)) + 1
	if over := failures - b.free; over > 0 {
		// The bound keeps the shift from overflowing.
		wait = min(mostWait, firstWait<<min(over-1, 20))
	}
	return failures, wait
}

// lockCount reads a count and locks it until the transaction ends. The update changes
// nothing: it takes the lock, also when a good login has just removed the row.
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

// throttleKeys returns the rows that an attempt is counted in. They are always locked in
// this order, so that two logins never deadlock.
func throttleKeys(name, address string) (target, account, place []byte) {
	where := network(address)
	return throttleKey("target", name), throttleKey("account", name+" "+where), throttleKey("address", where)
}

// attempt charges an attempt to log in, or returns a problem with the time to wait. An
// unknown name is throttled like a known one.
func (s *Store) attempt(ctx context.Context, name string, from Client) error {
	var refusal error
	err := s.tx(ctx, "count the attempt", func(tx pgx.Tx) error {
		targetKey, accountKey, addressKey := throttleKeys(name, from.Address)
		target, err := s.lockCount(ctx, tx, targetKey)
		if err != nil {
			return err
		}
		account, err := s.lockCount(ctx, tx, accountKey)
		if err != nil {
			return err
		}
		address, err := s.lockCount(ctx, tx, addressKey)
		if err != nil {
			return err
		}
		failures, wait := perAccount.charge(account)
		switch {
		case account.wait > 0:
			refusal = throttled(account.wait, "too many failed attempts to log in with this name")
			return s.noteThrottled(ctx, tx, accountKey, account, "name", from)
		case address.wait > 0:
			refusal = throttled(address.wait, "too many failed attempts to log in from this address")
			return s.noteThrottled(ctx, tx, addressKey, address, "address", from)
		case target.wait > 0 && failures > perAccount.free:
			refusal = throttled(target.wait, "too many failed attempts to log in with this name")
			return s.noteThrottled(ctx, tx, targetKey, target, "name", from)
		}
		if err := s.writeCount(ctx, tx, accountKey, failures, wait); err != nil {
			return err
		}
		failures, wait = perAddress.charge(address)
		if err := s.writeCount(ctx, tx, addressKey, failures, wait); err != nil {
			return err
		}
		failures, wait = perTarget.charge(target)
		return s.writeCount(ctx, tx, targetKey, failures, max(wait, target.wait))
	})
	if err != nil {
		return err
	}
	return refusal
}

// Unsigned counts a delivery with a wrong signature against the address that it came from,
// and returns a problem with the time to wait if there were too many. It is called after
// the signature was found to be wrong, so it never delays a delivery that is signed.
func (s *Store) Unsigned(ctx context.Context, from Client) error {
	var refusal error
	err := s.tx(ctx, "count the delivery", func(tx pgx.Tx) error {
		key := throttleKey("delivery", network(from.Address))
		c, err := s.lockCount(ctx, tx, key)
		if err != nil {
			return err
		}
		if c.wait > 0 {
			refusal = throttled(c.wait, "too many deliveries with a wrong signature from this address")
			return nil
		}
		failures, wait := perAddress.charge(c)
		return s.writeCount(ctx, tx, key, failures, wait)
	})
	if err != nil {
		return err
	}
	return refusal
}

// noteThrottled writes one event per wait, because a flood of attempts must not become a
// flood of events.
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

// forgive gives the charge of a good login back. Address and account keep their other
// failures, because an attacker with one account must not use it to clear their guesses,
// and a login of a user must not make room for further guesses of that account.
func (s *Store) forgive(ctx context.Context, tx pgx.Tx, name string, from Client) error {
	target, account, address := throttleKeys(name, from.Address)
	if _, err := tx.Exec(ctx, `update weir.login_attempts set failures = failures - 1 where key = $1`, target); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `delete from weir.login_attempts where key = $1 or key = $2 and failures <= 0`, account, target); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		update weir.login_attempts set failures = greatest(failures - 1, 0), until = coalesce($1, now()) where key = $2`,
		s.clock(), address)
	return err
}
