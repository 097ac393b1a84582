package redishint

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/problem"
)

const (
	// DefaultPrefix begins the names of the channels.
	DefaultPrefix = "weir:sse:"
	// quiet is the time without a message after which the connection is checked.
	quiet = 20 * time.Second
	// pong is the timeout of that check.
	pong = 5 * time.Second
	// retryFirst and retryLast bound the wait between two connects.
	retryFirst, retryLast = 100 * time.Millisecond, 10 * time.Second
)

// Bus is a server's connection to Redis.
type Bus struct {
	client  *redis.Client
	channel string
	log     *slog.Logger
	wake    chan struct{}

	mu sync.Mutex
	// said is the last state that was logged, for each direction.
	said map[string]bool
}

var mute sync.Once

// New prepares a bus; it connects when it runs. It fails only if the URL is invalid.
func New(address, prefix string, log *slog.Logger) (*Bus, error) {
	options, err := redis.ParseURL(address)
	if err != nil {
		// The URL may hold a password, and errors of net/url repeat it.
		if inner := new(url.Error); errors.As(err, &inner) {
			err = inner.Err
		}
		return nil, problem.Refuse("redis-url", "for example redis://:password@localhost:6379/0, or rediss:// for TLS", "%v", err)
	}
	// The bus logs errors itself, once; the library would repeat them.
	mute.Do(logging.Disable)
	options.MaxRetries = -1
	options.PoolSize = 2
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = 5*time.Second, 5*time.Second, 5*time.Second
	options.ClientName = "weir"
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if prefix == "" {
		prefix = DefaultPrefix
	}
	return &Bus{client: redis.NewClient(options), channel: prefix + "events", log: log, wake: make(chan struct{}, 1), said: map[string]bool{}}, nil
}

// C receives a value when the timeline may have grown.
func (b *Bus) C() <-chan struct{} { return b.wake }

// Close ends all connections. Run must have ended.
func (b *Bus) Close() error { return b.client.Close() }

// Run subscribes until ctx ends, and subscribes again after an error.
func (b *Bus) Run(ctx context.Context) {
	for retry := retryFirst; ctx.Err() == nil; retry = min(2*retry, retryLast) {
		heard, err := b.listen(ctx)
		if heard {
			retry = retryFirst
		}
		b.tell(ctx, "hints", err)
		b.signal() // look for events that were missed
		loop.Wait(ctx, retry, nil)
	}
}

// listen runs one subscription. It ends with an error; heard reports that it began.
func (b *Bus) listen(ctx context.Context) (heard bool, err error) {
	sub := b.client.Subscribe(ctx, b.channel)
	defer sub.Close()
	// The library's reads do not end with the context, but with the connection.
	defer context.AfterFunc(ctx, func() { _ = sub.Close() })()
	wait := pong
	for asked := true; ; {
		m, err := sub.ReceiveTimeout(ctx, wait)
		var late net.Error
		switch {
		case err == nil:
			asked, wait = false, quiet
		case errors.As(err, &late) && late.Timeout() && !asked:
			if err := sub.Ping(ctx); err != nil {
				return heard, err
			}
			asked, wait = true, pong
			continue
		default:
			return heard, err
		}
		switch m.(type) {
		case *redis.Subscription:
			heard = true
			b.tell(ctx, "hints", nil)
			b.signal()
		case *redis.Message:
			b.signal()
		}
	}
}

// publish announces that the timeline has grown up to the cursor.
func (b *Bus) publish(ctx context.Context, cursor string) error {
	err := b.client.Publish(ctx, b.channel, cursor).Err()
	if err != nil {
		err = fmt.Errorf("publish to Redis: %w", err)
	}
	return err
}

func (b *Bus) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// tell logs when something begins to fail, and when it works again.
func (b *Bus) tell(ctx context.Context, what string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch failing := b.said[what]; {
	case ctx.Err() != nil:
	case err != nil && !failing:
		b.said[what] = true
		b.log.Warn("no "+what+" through Redis; polling goes on", "error", plain(err))
	case err == nil && failing:
		b.said[what] = false
		b.log.Info(what + " through Redis again")
	}
}

// plain makes one line of an error.
func plain(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
