package node

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/blob/blobtest"
)

// put uploads to an address, as its node or any other holder of the address can.
func (r *rig) put(address, text string) {
	r.Helper()
	q, err := http.NewRequestWithContext(r.Context(), http.MethodPut, address, strings.NewReader(text))
	r.ok(err)
	q.Close = true
	answer, err := http.DefaultClient.Do(q)
	r.ok(err)
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		r.Fatalf("the bucket answered %s", answer.Status)
	}
}

// A recorded object does not change: the address that a node was given works for longer,
// but leads elsewhere.
func TestARecordedObjectIsNotOverwritten(t *testing.T) {
	for name, most := range map[string]int64{"carried": carryMost, "copied": 3} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, blobtest.Open(t))
			r.carryMost = most
			r.submit()
			a := r.claim()
			meta := ArtifactMeta{Kind: OutputArtifact, Name: "x", Size: 5, ContentType: "text/plain", SHA256: sumOf("hello")}
			address, err := r.Presign(t.Context(), a.Holds(), meta)
			r.ok(err)
			r.put(address, "hello")
			r.ok(r.Commit(t.Context(), a.Holds(), meta))
			key, sum := r.output(a, "x")
			if sum != sumOf("hello") || r.content(key) != "hello" {
				t.Fatalf("recorded %s of %q", sum, r.content(key))
			}
			// The answer to the first call was lost.
			r.ok(r.Commit(t.Context(), a.Holds(), meta))

			r.put(address, "evil!")
			if got := r.content(key); got != "hello" {
				t.Errorf("the object is %q", got)
			}
			if most == carryMost {
				// The object cannot be committed as something that it is not.
				if err := r.Commit(t.Context(), a.Holds(), meta); !errors.Is(err, blob.ErrCorrupt) {
					t.Errorf("the commit of something else: %v", err)
				}
				if got := r.content(key); got != "hello" {
					t.Errorf("the object is %q", got)
				}
			}
			// While it holds the lease, a node may openly replace the object.
			other := meta
			other.SHA256 = sumOf("evil!")
			r.ok(r.Commit(t.Context(), a.Holds(), other))
			if _, sum := r.output(a, "x"); sum != sumOf("evil!") || r.content(key) != "evil!" {
				t.Errorf("recorded %s of %q", sum, r.content(key))
			}
			if left, err := r.bucket.List(t.Context(), blob.IncomingPrefix, "", 0); err != nil || len(left) != 0 {
				t.Errorf("left where it came in: %+v, %v", left, err)
			}
		})
	}
}

// The server computes the hash if a node does not report it.
func TestCommitWithoutASum(t *testing.T) {
	r := newRig(t, blobtest.Open(t))
	r.submit()
	a := r.claim()
	meta := ArtifactMeta{Kind: OutputArtifact, Name: "x", Size: 5}
	address, err := r.Presign(t.Context(), a.Holds(), meta)
	r.ok(err)
	r.put(address, "hello")
	r.ok(r.Commit(t.Context(), a.Holds(), meta))
	if _, sum := r.output(a, "x"); sum != sumOf("hello") {
		t.Errorf("recorded %q", sum)
	}
}

// An upload whose content does not match stores nothing and removes nothing.
func TestADamagedUploadLeavesTheEarlierObject(t *testing.T) {
	twins(t, func(r *rig) {
		r.submit()
		a := r.claim()
		for _, size := range []int{5, 3 << 20, 20 << 20} {
			good, bad := strings.Repeat("g", size), strings.Repeat("b", size)
			meta := ArtifactMeta{Kind: OutputArtifact, Name: "x", Size: int64(size), SHA256: sumOf(good)}
			r.ok(r.Upload(r.Context(), a.Holds(), meta, strings.NewReader(good)))
			if err := r.Upload(r.Context(), a.Holds(), meta, strings.NewReader(bad)); !errors.Is(err, blob.ErrCorrupt) {
				r.Errorf("%d bytes: %v", size, err)
			}
			if key, sum := r.output(a, "x"); sum != sumOf(good) || sumOf(r.content(key)) != sum {
				r.Errorf("%d bytes: the earlier object is gone or another", size)
			}
		}
	})
}
