package activity

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/problem"
	"github.com/weirhq/weir/internal/workspace"
)

const (
	defaultPrefix = "weir:workspaces:"
	// redisWithin is the timeout of Redis.
	redisWithin = 2 * time.Second
	// listMost is the most entries that one read returns.
	listMost = 10_000
)

// shelf is the part of the record that servers share: a sorted set of workspaces by the
// time of their last use, on the clock of Redis, and beside it the source.
type shelf struct {
	client *redis.Client
	keys   []string
	log    *slog.Logger

	mu   sync.Mutex
	away bool
}

// put is an entry of the shelf, with the score by which it is removed.
type put struct {
	workspace.Use
	score string
}

func newShelf(address, prefix string, log *slog.Logger) (*shelf, error) {
	options, err := redis.ParseURL(address)
	if err != nil {
		// The URL may hold a password, and errors of net/url repeat it.
		if inner := new(url.Error); errors.As(err, &inner) {
			err = inner.Err
		}
		return nil, problem.Refuse("redis-url", "for example redis://:password@localhost:6379/0, or rediss:// for TLS", "%v", err)
	}
	options.MaxRetries = -1
	options.PoolSize = 2
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = redisWithin, redisWithin, redisWithin
	options.ClientName = "weir"
	if prefix == "" {
		prefix = defaultPrefix
	}
	return &shelf{client: redis.NewClient(options), keys: []string{prefix + "used", prefix + "source"}, log: log}, nil
}

// Each script runs alone in Redis. Ages and scores are microseconds.
var (
	// putScript moves times forward only: GT.
	putScript = redis.NewScript(`
		local t = redis.call('TIME')
		local now = t[1] * 1000000 + t[2]
		for i = 1, #ARGV, 3 do
			local score = string.format('%.0f', now - ARGV[i + 1])
			if redis.call('ZADD', KEYS[1], 'GT', 'CH', score, ARGV[i]) == 1 then
				redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 2])
			end
		end
		return 1`)
	listScript = redis.NewScript(`
		local t = redis.call('TIME')
		local now = t[1] * 1000000 + t[2]
		local out = {}
		local all = redis.call('ZRANGE', KEYS[1], 0, ARGV[1] - 1, 'WITHSCORES')
		for i = 1, #all, 2 do
			out[#out + 1] = {all[i], all[i + 1], string.format('%.0f', now - all[i + 1]), redis.call('HGET', KEYS[2], all[i]) or ''}
		end
		return out`)
	// takeScript removes entries that have not changed since they were read, so that a
	// use that arrived meanwhile stays.
	takeScript = redis.NewScript(`
		for i = 1, #ARGV, 2 do
			local score = redis.call('ZSCORE', KEYS[1], ARGV[i])
			if score and tonumber(score) == tonumber(ARGV[i + 1]) then
				redis.call('ZREM', KEYS[1], ARGV[i])
				redis.call('HDEL', KEYS[2], ARGV[i])
			end
		end
		return 1`)
)

func (s *shelf) put(ctx context.Context, uses []workspace.Use) error {
	var args []any
	for _, u := range uses {
		args = append(args, u.ID.String(), max(u.Ago, 0).Microseconds(), u.Source)
	}
	return s.run(ctx, putScript, args).Err()
}

func (s *shelf) list(ctx context.Context) ([]put, error) {
	rows, err := s.run(ctx, listScript, []any{listMost}).Slice()
	if err != nil {
		return nil, err
	}
	var out []put
	for _, row := range rows {
		p, err := readPut(row)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func readPut(row any) (p put, err error) {
	parts, _ := row.([]any)
	text := make([]string, len(parts))
	for i, part := range parts {
		text[i], _ = part.(string)
	}
	if len(text) != 4 {
		return p, fmt.Errorf("what Redis holds is no use of a workspace: %v", row)
	}
	if p.ID, err = weir.ParseID(text[0]); err != nil {
		return p, fmt.Errorf("what Redis holds is no use of a workspace: %w", err)
	}
	age, err := time.ParseDuration(text[2] + "us")
	if err != nil {
		return p, fmt.Errorf("what Redis holds is no use of a workspace: %w", err)
	}
	p.Ago, p.score, p.Source = max(age, 0), text[1], text[3]
	return p, nil
}

func (s *shelf) take(ctx context.Context, puts []put) error {
	var args []any
	for _, p := range puts {
		args = append(args, p.ID.String(), p.score)
	}
	return s.run(ctx, takeScript, args).Err()
}

func (s *shelf) run(ctx context.Context, script *redis.Script, args []any) *redis.Cmd {
	ctx, cancel := context.WithTimeout(ctx, redisWithin)
	defer cancel()
	return script.Run(ctx, s.client, s.keys, args...)
}

// tell logs once that Redis is away, and once that it is back.
func (s *shelf) tell(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil && !s.away:
		s.log.Warn("Redis does not keep the use of workspaces; it goes straight to the database", "error", err)
	case err == nil && s.away:
		s.log.Info("Redis keeps the use of workspaces again")
	}
	s.away = err != nil
}
