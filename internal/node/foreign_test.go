package node

import (
	"testing"

	"github.com/weirhq/weir/internal/blob/blobtest"
)

// A desk cannot change a lease of another node, even with its token: every report is
// refused, and the lease stays as it was.
func TestADeskTouchesItsOwnLeases(t *testing.T) {
	bucket := blobtest.Folder(t)
	r := newRig(t, bucket)
	ctx := t.Context()
	r.submit()
	lease := r.claim().Holds()
	other := NewDesk(r.db.Pool, "n2", Options{Bucket: bucket})
	r.ok(other.Register(ctx, Info{Name: "n2", Capacity: map[string]int{"s": 5}}))
	const state = `select md5(string_agg(x::text, '')) from (select r::text as x from weir.running r union all select count(*)::text from weir.events where type <> 'registered') x`
	before := one[string](r, state)
	for name, ask := range map[string]func() ([]Refusal, error){
		"start":  func() ([]Refusal, error) { return other.Start(ctx, []Lease{lease}, 0) },
		"renew":  func() ([]Refusal, error) { return other.Renew(ctx, []Lease{lease}, 0) },
		"record": func() ([]Refusal, error) { return other.Record(ctx, []Note{{Lease: lease, Type: "note"}}) },
		"done":   func() ([]Refusal, error) { return other.End(ctx, []Outcome{{Lease: lease, Verdict: Done}}) },
		"failed": func() ([]Refusal, error) {
			return other.End(ctx, []Outcome{{Lease: lease, Verdict: Failed, Error: "no"}})
		},
		"infra": func() ([]Refusal, error) {
			return other.End(ctx, []Outcome{{Lease: lease, Verdict: Failed, Infra: true}})
		},
		"back": func() ([]Refusal, error) { return other.End(ctx, []Outcome{{Lease: lease, Verdict: Returned}}) },
	} {
		refused, err := ask()
		if err != nil || len(refused) != 1 || refused[0].Refusal != "lease_lost" {
			t.Errorf("%s: %+v, %v, want lease_lost", name, refused, err)
		}
		if now := one[string](r, state); now != before {
			t.Errorf("%s: the lease of another node was changed", name)
			before = now
		}
	}
	if refused, err := r.End(ctx, []Outcome{{Lease: lease, Verdict: Done}}); err != nil || len(refused) > 0 {
		t.Errorf("its own node: %+v, %v", refused, err)
	}
}
