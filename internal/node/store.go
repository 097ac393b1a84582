package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/problem"
)

// ErrNoBucket means that there is no bucket for artifacts and logs.
var ErrNoBucket = problem.New(problem.Conflict, "give Weir a bucket: --bucket folder:///path or s3://host/bucket", "there is no bucket for artifacts and logs")

// Secrets returns the values of the secrets that the task's run names, by name.
func (d *Desk) Secrets(ctx context.Context, lease Lease) (map[string]string, error) {
	l, err := d.leased(ctx, lease)
	if err != nil {
		return nil, err
	}
	run, err := ParseRun(l.run)
	if err != nil {
		return nil, err
	}
	names := slices.AppendSeq(slices.Collect(maps.Values(run.Secrets)), maps.Values(run.Files))
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 0 {
		return map[string]string{}, nil
	}
	if d.vault == nil {
		return nil, problem.New(problem.Conflict, "start the server with a secret key", "the task needs secrets, and there is no key to open them with")
	}
	values, err := d.vault.Open(ctx, names)
	return values, wrap("open secrets", err)
}

// Upload stores an artifact of a leased task: first in the bucket, then in the record,
// which the fence guards.
func (d *Desk) Upload(ctx context.Context, lease Lease, meta ArtifactMeta, r io.Reader) error {
	key, err := d.objectKey(ctx, lease, meta)
	if err != nil {
		return err
	}
	// An upload whose content does not match breaks off before its end: nothing is
	// stored, and an existing object stays.
	object, sum, err := blob.Upload(ctx, d.bucket, key, blob.Verify(io.NopCloser(r), meta.SHA256, -1), meta.Size, meta.ContentType)
	if err != nil {
		return wrap("upload", err)
	}
	meta.Size, meta.SHA256 = object.Size, sum
	return d.recordArtifact(ctx, lease, meta, key)
}

// objectKey returns the key under which an artifact of a leased task is stored.
func (d *Desk) objectKey(ctx context.Context, lease Lease, meta ArtifactMeta) (string, error) {
	if d.bucket == nil {
		return "", ErrNoBucket
	}
	kinds := map[string]blob.Kind{InputArtifact: blob.Input, OutputArtifact: blob.Output}
	kind, ok := kinds[meta.Kind]
	if !ok {
		return "", problem.Refuse("kind", "input or output", "there is no kind %q", meta.Kind)
	}
	l, err := d.leased(ctx, lease)
	if err != nil {
		return "", err
	}
	job, task := l.place()
	return blob.Key(kind, job, task, lease.Attempt, meta.Name)
}

// recordArtifact records an object that is in the bucket.
func (d *Desk) recordArtifact(ctx context.Context, lease Lease, meta ArtifactMeta, key string) error {
	var answer string
	err := d.pool.QueryRow(ctx, `select weir.record_artifact($1, $2, $3, $4, $5, $6, $7, $8, $9, nullif($10, ''))`, lease.Task, lease.Attempt, token(lease),
		meta.Kind, meta.Name, d.bucket.Name(), key, meta.Size, meta.ContentType, meta.SHA256).Scan(&answer)
	if err == nil && answer != "ok" {
		err = weir.ErrLeaseLost
	}
	return wrap("record the artifact", err)
}

// Inputs returns the outputs of earlier steps that a leased task asked for.
func (d *Desk) Inputs(ctx context.Context, lease Lease) ([]InputObject, error) {
	l, err := d.leased(ctx, lease)
	if err != nil {
		return nil, err
	}
	run, err := ParseRun(l.run)
	if err != nil || len(run.Inputs) == 0 {
		return nil, err
	}
	rows, err := d.pool.Query(ctx, `select step, name, object, size, coalesce(sha256, '') from weir.inputs($1, $2, $3, $4)`, d.node, lease.Task, lease.Attempt, token(lease))
	if err != nil {
		return nil, wrap("list inputs", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (o InputObject, err error) {
		err = row.Scan(&o.Step, &o.Name, &o.Key, &o.Size, &o.SHA256)
		return o, err
	})
	return slices.DeleteFunc(all, func(o InputObject) bool { return !wanted(run.Inputs, o) }), wrap("list inputs", err)
}

// wanted reports whether one of the inputs asks for the object.
func wanted(inputs []Input, o InputObject) bool {
	return slices.ContainsFunc(inputs, func(in Input) bool {
		if in.From != o.Step && !isItem(o.Step, in.From) {
			return false
		}
		return in.Name == "" || Match(in.Name, o.Name)
	})
}

// isItem reports whether a key belongs to an item of a mapped step.
func isItem(key, step string) bool {
	return len(key) > len(step) && key[:len(step)] == step && key[len(step)] == '['
}

// Fetch reads an input of a leased task by its key, which must be one that
// Inputs lists.
func (d *Desk) Fetch(ctx context.Context, lease Lease, key string) (io.ReadCloser, error) {
	if d.bucket == nil {
		return nil, ErrNoBucket
	}
	inputs, err := d.Inputs(ctx, lease)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(inputs, func(o InputObject) bool { return o.Key == key }) {
		return nil, wrap("fetch", errors.Join(weir.ErrNotFound, fmt.Errorf("%q is no input of this task", key)))
	}
	r, _, err := d.bucket.Get(ctx, key, 0, -1)
	return r, wrap("fetch", err)
}
