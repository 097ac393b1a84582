//go:build unix

package chaos

import (
	"sync/atomic"
	"testing"
	"time"
)

// proxied starts an agent behind its own proxy.
func (r *run) proxied(o Orders, hook func(*Proxy, Call)) *Proxy {
	r.Helper()
	p, err := NewProxy(o.Name, r.url)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(p.Close)
	o.URL = p.URL()
	o.Patience = 400 * time.Millisecond
	r.agent(o, func(_ *Agent, c Call) {
		if hook != nil {
			hook(p, c)
		}
	})
	return p
}

// loseReplyOf makes the proxy drop the answers of the first few calls of a kind, and lets
// everything pass when the call is repeated.
func (r *run) loseReplyOf(op string, times int32) func(*Proxy, Call) {
	var lost atomic.Int32
	last := ""
	return func(p *Proxy, c Call) {
		if c.Op != op {
			return
		}
		id := c.Key
		if len(c.Items) > 0 {
			id = c.Items[0].Task
		}
		if id == last || lost.Load() == times {
			p.Heal()
			return
		}
		last = id
		lost.Add(1)
		if err := p.LoseReplies(); err != nil {
			r.Error(err)
		}
	}
}

// TestR3_ReplyOfClaimLost loses the answers of claims. The repeated claim returns the
// same leases: no task is claimed twice, no slot is lost.
func TestR3_ReplyOfClaimLost(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	r.submit(40, short50)
	p := r.proxied(with(plain(), func(o *Orders) { o.Name = "deaf"; o.Listen, o.Tend = false, false }), r.loseReplyOf("claim", 3))
	lost := func(o Op) bool { return o.Client == "deaf" && o.Op == "claim" && o.Out == Unknown }
	claim := r.seen("an answer is lost", lost)
	r.seen("its repeat returns leases", func(o Op) bool {
		return o.Op == "claim" && o.Key == claim.Key && o.Out == OK && o.Task != ""
	})
	r.eventually("three answers are lost", func() bool {
		n := 0
		for _, o := range r.rec.Ops() {
			if lost(o) {
				n++
			}
		}
		return n >= 3
	})
	r.agent(with(plain(), func(o *Orders) { o.Name = "steady" }), nil)
	p.Heal()
	r.heal()
	r.clean()
}

// TestR5_ReplyOfFinishLost loses the answers of finishes. The repeated report gets the
// answer that it had been accepted: there is one terminal move.
func TestR5_ReplyOfFinishLost(t *testing.T) {
	t.Parallel()
	r := newRun(t)
	r.submit(20, short50)
	p := r.proxied(with(plain(), func(o *Orders) { o.Name = "deaf"; o.Slots = 1; o.Listen, o.Tend = false, false }), r.loseReplyOf("finish", 5))
	r.seen("a lost report is sent again and was accepted before", func(o Op) bool { return o.Op == "finish" && o.Value == "repeated" })
	r.agent(with(plain(), func(o *Orders) { o.Name = "steady" }), nil)
	r.eventually("the work ends", func() bool { _, err := r.drain(time.Millisecond); return err == nil })
	p.Heal()
	r.heal()
	r.clean()
}

// TestR4R12_Partition cuts an agent off both ways for two leases. It stops its work by
// itself, another agent takes over, and it can work again when it comes back.
func TestR4R12_Partition(t *testing.T) { both(t, partition) }

func partition(r *run, o Orders) {
	r.tended()
	p := r.proxied(o.named("island"), nil)
	r.submit(12, func(int) Spec { return workFor(r.lease / 2) })
	r.seen("the island works", func(o Op) bool { return o.Op == "run" && o.Client == "island" })
	if err := p.Partition(); err != nil {
		r.Fatal(err)
	}
	r.agent(o.named("mainland"), nil)
	r.pass(2 * r.lease)
	p.Heal()
	r.heal()
	r.submit(12, short50)
	r.clean()
}
