package listen

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	mrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirhq/weir/internal/dsn"
)

const (
	// probeEvery is how often a quiet listener checks that notifications still arrive.
	probeEvery = 30 * time.Second
	// probeWait is how long that check may take.
	probeWait = 5 * time.Second
	// backoffFirst and backoffLast bound the wait between two connects.
	backoffFirst, backoffLast = 100 * time.Millisecond, 10 * time.Second
	// pooledEvery is the time between two tries through a pooler that carries no
	// notifications, because only a change of its configuration could help.
	pooledEvery = 10 * time.Minute
)

// errDeaf means that the connection sends but receives no notifications, as through a
// pooler in transaction mode.
var errDeaf = errors.New("a notification of our own did not come back: LISTEN needs a direct connection, not a pooler in transaction mode")

// errPooled says why a connection through a pooler receives no notifications.
var errPooled = errors.New("the database is reached through a pooler in transaction mode, which carries no notifications: give LISTEN a direct address")

// Listener is the one LISTEN connection of a process. Subscribe first, then call Run;
// subscribing later works too, at the price of one more statement.
//
// A Listener gives no guarantee: a notification can be lost while the connection is away.
// Therefore every subscriber gets a hint to look at everything whenever listening begins,
// and polls besides.
type Listener struct {
	config *pgx.ConnConfig
	log    *slog.Logger
	// probe is the listener's own channel, which no other process listens to.
	probe   string
	healthy atomic.Bool
	// changed interrupts the wait when a new channel must be listened to.
	changed chan struct{}

	mu   sync.Mutex
	subs map[*Subscription]struct{}
}

// New prepares a listener that connects as config says. Through a pooler in transaction
// mode it receives nothing, detects that and rarely tries again.
func New(config *pgx.ConnConfig, log *slog.Logger) *Listener {
	config = config.Copy()
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, 10*time.Second)
	config.RuntimeParams["application_name"] = "weir listen"
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Listener{
		config:  config,
		log:     log,
		probe:   "weir_probe_" + strings.ToLower(rand.Text()),
		changed: make(chan struct{}, 1),
		subs:    map[*Subscription]struct{}{},
	}
}

// Healthy reports whether notifications arrive at the moment. While they do not, poll at
// the usual rate; while they do, poll rarely.
func (l *Listener) Healthy() bool { return l.healthy.Load() }

// Listen subscribes to channels. Close the subscription when done with it.
func (l *Listener) Listen(channels ...string) *Subscription {
	s := &Subscription{listener: l, channels: channels, wake: make(chan struct{}, 1)}
	l.mu.Lock()
	l.subs[s] = struct{}{}
	l.mu.Unlock()
	select {
	case l.changed <- struct{}{}:
	default:
	}
	return s
}

// Run listens until ctx ends, and reconnects whenever necessary. It returns when the
// connection is closed; its error is that of ctx.
func (l *Listener) Run(ctx context.Context) error {
	wait, told := backoffFirst, ""
	for ctx.Err() == nil {
		err := l.session(ctx)
		if l.healthy.Swap(false) {
			wait, told = backoffFirst, ""
			l.tell(l.wanted()) // subscribers that wait long because of the listener must poll now
		}
		if ctx.Err() != nil {
			break
		}
		if err.Error() != told {
			told = err.Error()
			l.log.Warn("no hints from the database; polling goes on", "error", err)
		}
		if errors.Is(err, errPooled) {
			wait = pooledEvery
		}
		pause(ctx, wait/2+mrand.N(wait/2)) // #nosec G404 -- only spreads the load
		wait = min(2*wait, backoffLast)
	}
	return ctx.Err()
}

// session runs one connection. It ends with an error.
func (l *Listener) session(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, l.config)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ctx) // nothing on it to lose
	}()
	pooled, err := dsn.Pooled(ctx, conn)
	if err != nil {
		return err
	}
	var heard []string
	if pooled {
		// A LISTEN stays on a connection that other clients use next, so only the
		// listener's own channel is tried. In session mode it works, and then nothing
		// else is needed.
		if _, err := conn.Exec(ctx, `listen `+pgx.Identifier{l.probe}.Sanitize()); err != nil {
			return err
		}
		if err := l.check(ctx, conn); errors.Is(err, errDeaf) {
			return errPooled
		} else if err != nil {
			return err
		}
	}
	for {
		fresh, err := l.listenTo(ctx, conn, heard)
		if err != nil {
			return err
		}
		if err := l.check(ctx, conn); err != nil {
			return err
		}
		l.healthy.Store(true)
		l.tell(fresh)
		heard = append(heard, fresh...)
		if err := l.wait(ctx, conn); err != nil {
			return err
		}
	}
}

// listenTo adds the channels that are wanted and not listened to yet, and returns them.
func (l *Listener) listenTo(ctx context.Context, conn *pgx.Conn, heard []string) (fresh []string, err error) {
	for _, channel := range l.wanted() {
		if slices.Contains(heard, channel) {
			continue
		}
		if _, err := conn.Exec(ctx, `listen `+pgx.Identifier{channel}.Sanitize()); err != nil {
			return nil, err
		}
		fresh = append(fresh, channel)
	}
	return fresh, nil
}

// check sends a notification to itself and waits for it. That proves the whole path,
// which a ping would not.
func (l *Listener) check(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, probeWait)
	defer cancel()
	if _, err := conn.Exec(ctx, `select pg_notify($1, '')`, pgx.QueryExecModeExec, l.probe); err != nil {
		return err
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if ctx.Err() != nil {
			return errDeaf
		}
		if err != nil {
			return err
		}
		if n.Channel == l.probe {
			return nil
		}
		l.deliver(n)
	}
}

// wait delivers notifications until it is time to check, or until there are new channels
// to listen to.
func (l *Listener) wait(ctx context.Context, conn *pgx.Conn) error {
	quiet, cancel := context.WithTimeout(ctx, probeEvery)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-l.changed:
			cancel()
		case <-quiet.Done():
		}
	}()
	// The watcher must be gone first, or else it could swallow a later change.
	defer func() { cancel(); <-watched }()
	for {
		n, err := conn.WaitForNotification(quiet)
		switch {
		case err == nil:
			l.deliver(n)
		case ctx.Err() != nil || conn.IsClosed() || quiet.Err() == nil:
			return err
		default:
			return nil // only the timeout ended; the connection is good
		}
	}
}

// wanted returns the channels of all subscriptions, and the listener's own.
func (l *Listener) wanted() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	channels := []string{l.probe}
	for s := range l.subs {
		channels = append(channels, s.channels...)
	}
	slices.Sort(channels)
	return slices.Compact(channels)
}

func (l *Listener) deliver(n *pgconn.Notification) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.subs {
		if slices.Contains(s.channels, n.Channel) {
			s.add(Note{n.Channel, n.Payload})
		}
	}
}

// tell makes the subscribers of the channels look at everything.
func (l *Listener) tell(channels []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.subs {
		if slices.ContainsFunc(s.channels, func(c string) bool { return slices.Contains(channels, c) }) {
			s.addAll()
		}
	}
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
