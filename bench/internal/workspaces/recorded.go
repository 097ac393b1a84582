package workspaces

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/workspace/ladder"
	"github.com/weirhq/weir/internal/workspace/provider"
)

// recorded is a provider that answers from a recording. It never has to act, because the
// wanted state is the recorded one.
type recorded struct {
	provider.Provider
	world provider.World
}

const recording = "recorded"

func (*recorded) Name() string { return recording }

func (r *recorded) Look(context.Context) (provider.World, error) {
	return provider.World{Containers: maps.Clone(r.world.Containers), Volumes: maps.Clone(r.world.Volumes)}, nil
}

// listed is a bucket that measures its listings. hidden objects are left out of them.
type listed struct {
	blob.Bucket
	took   atomic.Int64
	hidden map[string]bool
}

func (l *listed) List(ctx context.Context, prefix, after string, limit int) ([]blob.Object, error) {
	began := time.Now()
	defer func() { l.took.Add(int64(time.Since(began))) }()
	all, err := l.Bucket.List(ctx, prefix, after, limit)
	for i := range all {
		if l.hidden[all[i].Key] {
			// The replacement is a name at the same position that means nothing.
			all[i].Key += "~"
		}
	}
	return all, err
}

// One in a hundred runs, which is the default limit of 100 for 10,000 workspaces, and
// three in ten are in standby with their home; the others are archived.
const (
	runPart, restPart = 100, 10
	restOf            = 3
)

// record writes n workspaces into the database, the recording of the provider's state,
// and archives for all workspaces that do not run.
func (b *Base) record(ctx context.Context, n int, bucket string) (world provider.World, keys []string, err error) {
	world = provider.World{Containers: map[weir.ID]provider.Container{}, Volumes: map[weir.ID]provider.Volume{}}
	rows, err := b.Pool.Query(ctx, `
		insert into weir.workspaces (id, owner, name, provider, created_at, desired, desired_at, last_access_at, phase, phase_changed_at, had_home, observed_generation,
			volume_generation, mounted, archive_generation, archive_op_id, archive_key, archive_meta)
		select x.id, $1, 'recorded-' || x.i, $2, now(), x.phase, now(), now(), x.phase, now(), true, 1, x.mounts, x.mounts, case when x.phase <> 'RUNNING' then 1 else 0 end, case when x.phase <> 'RUNNING' then x.op end,
			case when x.phase <> 'RUNNING' then format('workspaces/%s/%s/home.tar.zst', x.id, x.op) end,
			case when x.phase <> 'RUNNING' then '{"format": 1, "sha256": "x", "size": 1, "entries": 1, "bytes": 0}'::jsonb end
		from (select y.*, case when y.phase = 'ARCHIVED' then 1 else 2 end as mounts from (
			select i, gen_random_uuid() as id, gen_random_uuid() as op, case when i <= $3 / $4 then 'RUNNING' when i <= $3 / $4 + $3 * $6 / $5 then 'STANDBY' else 'ARCHIVED' end as phase
			from generate_series(1, $3::int) i) y) x
		returning id, phase, coalesce(archive_key, '')`, b.Owner, recording, n, runPart, restPart, restOf)
	if err != nil {
		return world, nil, err
	}
	var id weir.ID
	var phase, key string
	if _, err = pgx.ForEachRow(rows, []any{&id, &phase, &key}, func() error {
		if phase == string(ladder.Running) {
			world.Containers[id] = provider.Container{Ready: true, Since: time.Now()}
		}
		if phase != string(ladder.Archived) {
			world.Volumes[id] = provider.Volume{Marker: provider.Fresh, Mounts: 2}
		}
		if phase == string(ladder.Standby) {
			keys = append(keys, key)
		}
		if key == "" {
			return nil
		}
		return archived(bucket, key)
	}); err != nil {
		return world, nil, fmt.Errorf("record: %w", err)
	}
	// This is the mark of the bucket that has the archives.
	if err := os.WriteFile(filepath.Join(bucket, "workspaces", ".bucket"), nil, 0o644); err != nil {
		return world, nil, fmt.Errorf("record: %w", err)
	}
	_, err = b.Pool.Exec(ctx, `vacuum (analyze) weir.workspaces`)
	return world, keys, err
}

// archived writes an archive and its meta in the form of a bucket in a folder.
func archived(bucket, key string) error {
	path := filepath.Join(bucket, filepath.FromSlash(key))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
		return err
	}
	return os.WriteFile(path+".meta", []byte("{}"), 0o644)
}
