package node

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"testing"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/blobtest"
	"github.com/weirhq/weir/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// rig is the desk of a node on a real database and bucket.
type rig struct {
	*testing.T
	*Desk
	db *testdb.DB
}

func newRig(t *testing.T, bucket blob.Bucket) *rig {
	t.Helper()
	r := &rig{T: t, db: testdb.New(t)}
	r.Desk = NewDesk(r.db.Pool, "n1", Options{Bucket: bucket})
	r.ok(r.Register(t.Context(), Info{Name: "n1", Capacity: map[string]int{"s": 5}}))
	return r
}

// twins runs a test on every kind of bucket.
func twins(t *testing.T, test func(r *rig)) {
	t.Run("folder", func(t *testing.T) { test(newRig(t, blobtest.Folder(t))) })
	t.Run("s3", func(t *testing.T) { test(newRig(t, blobtest.Open(t))) })
}

func (r *rig) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// one reads a single value.
func one[T any](r *rig, sql string, args ...any) (v T) {
	r.Helper()
	if err := r.db.Pool.QueryRow(r.Context(), sql, args...).Scan(&v); err != nil {
		r.Fatalf("%s: %v", sql, err)
	}
	return v
}

// submit submits a job of one step with many attempts.
func (r *rig) submit() weir.ID {
	r.Helper()
	text, err := json.Marshal([]map[string]any{{"service": "s", "key": "a", "max_attempts": 1000, "backoff": "0 s"}})
	r.ok(err)
	return one[weir.ID](r, `select weir.submit_job($1, 'test')`, text)
}

// claim leases the one waiting task.
func (r *rig) claim() Assignment {
	r.Helper()
	var id weir.ID
	_, _ = rand.Read(id[:]) // never fails
	got, err := r.Claim(r.Context(), ClaimRequest{ID: id.String(), Services: []string{"s"}, Slots: []int{1}, N: 1})
	r.ok(err)
	if len(got.Tasks) != 1 {
		r.Fatalf("%d tasks", len(got.Tasks))
	}
	return got.Tasks[0]
}

// content returns an object of the bucket.
func (r *rig) content(key string) string {
	r.Helper()
	body, _, err := r.bucket.Get(context.Background(), key, 0, -1)
	r.ok(err)
	defer body.Close()
	text, err := io.ReadAll(body)
	r.ok(err)
	return string(text)
}

// output returns the key of an assignment's artifact, and the recorded hash.
func (r *rig) output(a Assignment, name string) (key, sum string) {
	r.Helper()
	r.ok(r.db.Pool.QueryRow(r.Context(), `select key, coalesce(sha256, '') from weir.artifacts where task = $1 and attempt = $2 and name = $3`, a.Task, a.Attempt, name).Scan(&key, &sum))
	return key, sum
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
