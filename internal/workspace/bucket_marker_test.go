package workspace_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/workspace"
	"github.com/weirhq/weir/internal/workspace/ladder"
)

const bucketMark = "workspaces/.bucket"

// twoBuckets are the one that has the archives, and another one that can take its place.
type twoBuckets struct {
	blob.Bucket
	right, other blob.Bucket
}

func newTwoBuckets(t *testing.T) (*rig, *twoBuckets) {
	var b *twoBuckets
	r := newRig(t, func(r *rig, c *workspace.Config) {
		b = &twoBuckets{Bucket: r.bucket, right: r.bucket, other: blobtest.Folder(t)}
		c.Bucket = b
	})
	return r, b
}

func (r *rig) policy() workspace.Policy {
	r.Helper()
	p, err := r.store.Policy(r.Context())
	r.ok(err)
	return p
}

// A bucket that is empty, for its disk is not mounted, is no loss of what is archived:
// nothing is judged until the right one is back.
func TestAnotherBucketIsNoLoss(t *testing.T) {
	t.Parallel()
	r, b := newTwoBuckets(t)
	var ids []weir.ID
	for _, name := range []string{"one", "two"} {
		id := r.create(name, ladder.Archived)
		r.reach(id, ladder.Archived)
		ids = append(ids, id)
	}
	if _, err := b.right.Stat(t.Context(), bucketMark); err != nil {
		t.Fatal(err)
	}
	b.Bucket = b.other
	for range 3 {
		r.tick()
	}
	for _, id := range ids {
		if w := r.get(id); w.Phase != ladder.Archived || w.Error != "" {
			t.Errorf("%+v", w)
		}
	}
	p := r.policy()
	if !slices.Equal(p.UnknownOf, []string{"bucket"}) || p.Unknown != "bucket: it is not the one that has the archives, for workspaces/.bucket is not there: bring the right one back; if the archives are lost for good, store an empty object of that name" {
		t.Errorf("%+v", p)
	}
	if _, err := b.other.Stat(t.Context(), bucketMark); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("the other one is marked: %v", err)
	}
	b.Bucket = b.right
	r.want(ids[0], ladder.Standby)
	r.reach(ids[0], ladder.Standby)
	if p = r.policy(); p.UnknownAt != nil {
		t.Errorf("%+v", p)
	}
	// Who says that they are lost for good is believed.
	b.Bucket = b.other
	_, err := b.other.Put(t.Context(), bucketMark, strings.NewReader(""), 0, "")
	r.ok(err)
	if w := r.reach(ids[1], ladder.Error); w.Error != ladder.DataLost {
		t.Errorf("%+v", w)
	}
	y, err := r.store.Why(t.Context(), ids[1])
	if r.ok(err); !strings.Contains(y.Summary, ". Bring the archive back into the bucket and say weir workspace recover two, ") || !strings.HasSuffix(y.Summary, " --fresh") {
		t.Errorf("%s", y.Summary)
	}
}

// Without any archive every bucket is the right one.
func TestABucketIsChangedBeforeThereAreArchives(t *testing.T) {
	t.Parallel()
	r, b := newTwoBuckets(t)
	id := r.create("one", ladder.Standby)
	r.reach(id, ladder.Standby)
	b.Bucket = b.other
	r.want(id, ladder.Archived)
	r.reach(id, ladder.Archived)
	if _, err := b.other.Stat(t.Context(), bucketMark); err != nil {
		t.Error(err)
	}
}

// lyingBucket says that it has stored the mark, and has not.
type lyingBucket struct {
	blob.Bucket
	honest bool
}

func (b *lyingBucket) Stat(ctx context.Context, key string) (blob.Object, error) {
	if key == bucketMark && !b.honest {
		return blob.Object{}, blob.ErrNotFound
	}
	return b.Bucket.Stat(ctx, key)
}

func (b *lyingBucket) List(ctx context.Context, prefix, after string, limit int) ([]blob.Object, error) {
	all, err := b.Bucket.List(ctx, prefix, after, limit)
	return slices.DeleteFunc(all, func(o blob.Object) bool { return o.Key == bucketMark && !b.honest }), err
}

// Nothing is archived as long as the mark does not come back.
func TestAMarkThatDoesNotComeBack(t *testing.T) {
	t.Parallel()
	b := &lyingBucket{}
	r := newRig(t, func(r *rig, c *workspace.Config) {
		b.Bucket = r.bucket
		c.Bucket = b
	})
	id := r.create("one", ladder.Archived)
	r.tick()
	if w := r.get(id); w.Operation != ladder.None || w.ArchiveKey != "" || !slices.Equal(r.policy().UnknownOf, []string{"bucket"}) {
		t.Errorf("%+v", w)
	}
	b.honest = true
	r.reach(id, ladder.Archived)
}

// The collector takes nothing from another bucket, and forgets nothing because of it.
func TestTheCollectorKnowsTheBucket(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.standing("one")
	var keys []string
	for range 5 {
		keys = append(keys, y.stored(id))
		y.wait(2 * time.Hour)
	}
	y.ok(y.bucket.Bucket.Delete(t.Context(), bucketMark))
	for range 3 {
		y.ok(y.collect())
		y.wait(4 * time.Hour)
	}
	if y.there(keys...) != 10 || y.count(`select count(*) from weir.workspace_archives where orphan_since is not null`) != 0 {
		t.Error("it collects")
	}
	y.put(bucketMark)
	for range 3 {
		y.ok(y.collect())
		y.wait(4 * time.Hour)
	}
	if y.there(keys...) == 10 {
		t.Error("it does not collect")
	}
	if _, err := y.bucket.Bucket.Stat(t.Context(), bucketMark); err != nil {
		t.Errorf("the mark has gone: %v", err)
	}
}

// A workspace that nobody here runs is not promised anything.
func TestAProviderThatNobodyOffers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id, _, err := r.store.Create(t.Context(), "ann", workspace.Draft{Owner: r.owner, Name: "far", Provider: "docker", Desired: ladder.Running})
	r.ok(err)
	near := r.create("near", ladder.Standby)
	r.reach(near, ladder.Standby)
	const says = "no server that leads offers the provider docker"
	if p := r.policy(); !slices.Equal(p.UnknownOf, []string{"docker"}) || p.Unknown != says {
		t.Errorf("%+v", p)
	}
	y, err := r.store.Why(t.Context(), id)
	if r.ok(err); y.Next != nil || !strings.Contains(y.Summary, says) || strings.Contains(y.Summary, "will") {
		t.Errorf("%+v", y)
	}
	// It is told once, also by the next leader.
	r.lead()
	for range 3 {
		r.tick()
	}
	var told int
	r.ok(r.db.Pool.QueryRow(t.Context(), `select count(*) from weir.events where kind = 'workspaces' and type in ('unknown', 'seen')`).Scan(&told))
	if told != 1 {
		t.Errorf("it is told %d times", told)
	}
	_, err = r.db.Pool.Exec(t.Context(), `update weir.workspaces set phase = 'DELETED' where id = $1`, id)
	r.ok(err)
	r.tick()
	if p := r.policy(); p.UnknownAt != nil {
		t.Errorf("%+v", p)
	}
}
