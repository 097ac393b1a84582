package agenttest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/loop"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/testwait"
)

// Suite tests a transport.
func Suite(t *testing.T, make New) {
	for _, c := range []struct {
		name string
		run  func(*rig)
	}{
		{"register and heartbeat", registers},
		{"a claim gives all there is to know", claims},
		{"a lost answer to a claim", repeatsClaim},
		{"a claim waits", waits},
		{"a wait ends when somebody cancels", looks},
		{"start, renew, record", lives},
		{"ends", ends},
		{"refusals", refuses},
		{"a lease of another node", foreign},
		{"secrets", secrets},
		{"artifacts", artifacts},
		{"logs", logs},
		{"stop hands back", stops},
		{"detach keeps the leases", detaches},
		{"faults are reported", reportsFaults},
		{"devices are reported", reportsDevices},
		{"a claim gives work on devices", claimsDevices},
		{"what fails on a device", failsDevices},
		{"devices that are lost together", losesDevices},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(newRig(t, make)) })
	}
}

func registers(r *rig) {
	if got := r.text(`select concat_ws(' ', version, drivers[1], labels ->> 'zone', capacity ->> 'svc') from weir.nodes where name = 'mine'`); got != "v1 exec eu 10" {
		r.Errorf("registered as %s", got)
	}
	orders, err := r.mine.Heartbeat(r.Context())
	r.ok(err)
	if orders.Mode != node.Active || orders.Sleep || !maps.Equal(orders.Capacity, map[string]int{"svc": 10}) || orders.Labels["zone"] != "eu" {
		r.Errorf("got %+v", orders)
	}
	r.exec(`select weir.set_node_mode('mine', 'draining', 'new disk')`)
	r.exec(`select weir.set_node('mine', capacity => '{"svc": 3}')`)
	orders, err = r.mine.Heartbeat(r.Context())
	r.ok(err)
	if orders.Mode != node.Draining || orders.Capacity["svc"] != 3 {
		r.Errorf("got %+v", orders)
	}
}

func claims(r *rig) {
	run := json.RawMessage(`{"driver": "exec", "argv": ["true"]}`)
	job := r.submit(map[string]any{"key": "a", "params": map[string]int{"x": 1}, "run": run, "timeout": "1 min", "max_attempts": 5})
	a := r.claim(1)[0]
	if a.Job != job || a.Key != "a" || a.Service != "svc" || a.Attempt != 1 || a.MaxAttempts != 5 || a.Token == "" {
		r.Errorf("got %+v", a)
	}
	var params map[string]int
	if err := json.Unmarshal(a.Params, &params); err != nil || params["x"] != 1 {
		r.Errorf("params %s", a.Params)
	}
	got, err := node.ParseRun(a.Run)
	r.ok(err)
	if got.Driver != "exec" || !slices.Equal(got.Argv, []string{"true"}) {
		r.Errorf("run %s", a.Run)
	}
	if a.Lease <= 20*time.Second || a.Lease > 30*time.Second || a.Deadline <= 50*time.Second || a.Deadline > time.Minute {
		r.Errorf("lease %s, deadline %s", a.Lease, a.Deadline)
	}
	r.submit(map[string]any{"key": "b"})
	if b := r.claim(1)[0]; b.Deadline != 0 || b.Run != nil && string(b.Run) != "null" {
		r.Errorf("got %+v", b)
	}
}

func repeatsClaim(r *rig) {
	r.submit(map[string]any{"key": "a"}, map[string]any{"key": "b"}, map[string]any{"key": "c"})
	q := request(2)
	first, err := r.mine.Claim(r.Context(), q)
	r.ok(err)
	again, err := r.mine.Claim(r.Context(), q)
	r.ok(err)
	holds := func(list []node.Assignment) (all []node.Lease) {
		for _, a := range list {
			all = append(all, a.Holds())
		}
		return all
	}
	if len(first.Tasks) != 2 || !slices.Equal(holds(first.Tasks), holds(again.Tasks)) {
		r.Errorf("first %v, then %v", holds(first.Tasks), holds(again.Tasks))
	}
	next, err := r.mine.Claim(r.Context(), request(2))
	r.ok(err)
	if len(next.Tasks) != 1 {
		r.Errorf("another claim got %d", len(next.Tasks))
	}
}

func waits(r *rig) {
	q := request(1)
	q.Wait = 30 * time.Second
	type answer struct {
		node.Claimed
		error
	}
	got, asked := make(chan answer, 1), time.Now()
	go func() {
		c, err := r.mine.Claim(r.Context(), q)
		got <- answer{c, err}
	}()
	loop.Wait(r.Context(), time.Second, nil) // so that the claim waits instead of finding the task at its first look
	r.submit(map[string]any{"key": "a"})
	a := <-got
	if a.error != nil || len(a.Tasks) != 1 {
		r.Fatalf("got %+v", a)
	}
	// The lease and the deadline count from the end of the wait, not from the time after
	// the task was taken.
	if early := r.text(`select (claimed_at >= $2)::text from weir.running where task = $1`, a.Tasks[0].Task, asked.Add(a.Waited)); a.Waited <= 0 || early != "true" {
		r.Errorf("asked at %s, it waited %s, taken after that: %s", asked, a.Waited, early)
	}
	ctx, cancel := context.WithCancel(r.Context())
	go func() {
		c, err := r.mine.Claim(ctx, q)
		got <- answer{c, err}
	}()
	cancel()
	<-got // it returns instead of waiting for work
	q = request(1)
	q.Wait = 50 * time.Millisecond
	empty, err := r.mine.Claim(r.Context(), q)
	r.ok(err)
	if len(empty.Tasks) != 0 || empty.Look {
		r.Errorf("got %+v", empty)
	}
}

func looks(r *rig) {
	a := r.one(map[string]any{})
	testwait.Until(r, "hints are heard", r.Hints.Hearing)
	got := make(chan node.Claimed, 1)
	go func() {
		c, err := r.mine.Claim(r.Context(), node.ClaimRequest{ID: newID(), Wait: 30 * time.Second, Held: []weir.ID{a.Task}})
		if err != nil {
			r.Error(err)
		}
		got <- c
	}()
	r.exec(`select weir.cancel($1)`, a.Task)
	if c := <-got; !c.Look {
		r.Errorf("got %+v", c)
	}
	if answer := r.refusal(r.mine.Renew(r.Context(), []node.Lease{a.Holds()}, 0)); answer != node.Cancel {
		r.Errorf("renew says %s", answer)
	}
}

func lives(r *rig) {
	a := r.one(map[string]any{})
	lease := []node.Lease{a.Holds()}
	if answer := r.refusal(r.mine.Start(r.Context(), lease, 0)); answer != "ok" {
		r.Errorf("start: %s", answer)
	}
	if answer := r.refusal(r.mine.Renew(r.Context(), lease, 10*time.Minute)); answer != "ok" {
		r.Errorf("renew: %s", answer)
	}
	if left := r.text(`select (until > clock_timestamp() + interval '9 min')::text from weir.running where task = $1`, a.Task); left != "true" {
		r.Error("the lease was not prolonged")
	}
	notes := []node.Note{
		{Lease: a.Holds(), Type: "progress", Data: json.RawMessage(`{"percent": 40}`)},
		{Lease: a.Holds(), Type: "note", Level: "warn", Message: "hm"},
		{Lease: a.Holds(), Type: "done"}, // belongs to the engine
	}
	if refused, err := r.mine.Record(r.Context(), notes); err == nil || len(refused) > 0 {
		r.Errorf("a note with a name of the engine's: %v, %v", refused, err)
	}
	if n := r.text(`select count(*)::text from weir.events where task = $1 and (type = 'note' and message = 'hm' and level = 'warn' or type = 'progress')`, a.Task); n != "2" {
		r.Errorf("%s of two notes were written", n)
	}
}

func ends(r *rig) {
	r.submit(map[string]any{"key": "done"}, map[string]any{"key": "failed", "max_attempts": 3}, map[string]any{"key": "retried", "max_attempts": 3},
		map[string]any{"key": "returned", "max_attempts": 1}, map[string]any{"key": "canceled"}, map[string]any{"key": "broken"})
	by := map[string]node.Assignment{}
	for _, a := range r.claim(6) {
		by[a.Key] = a
	}
	r.exec(`select weir.cancel($1)`, by["canceled"].Task)
	outcomes := []node.Outcome{
		{Lease: by["done"].Holds(), Verdict: node.Done, Result: json.RawMessage(`{"n": 1}`)},
		{Lease: by["failed"].Holds(), Verdict: node.Failed, Error: "no use", Final: true},
		{Lease: by["retried"].Holds(), Verdict: node.Failed, Error: "later", RetryIn: time.Hour},
		{Lease: by["returned"].Holds(), Verdict: node.Returned, Error: "leaving"},
		{Lease: by["canceled"].Holds(), Verdict: node.Canceled},
		{Lease: by["broken"].Holds(), Verdict: node.Done, Result: json.RawMessage(`1e400000`)},
	}
	refused, err := r.mine.End(r.Context(), outcomes)
	r.ok(err)
	if len(refused) > 0 {
		r.Errorf("refused: %v", refused)
	}
	want := map[string]string{"done": "done", "failed": "failed", "retried": "pending", "returned": "available", "canceled": "canceled", "broken": "failed"}
	for key, state := range want {
		if got := r.state(by[key].Task); got != state {
			r.Errorf("%s is %s", key, got)
		}
	}
	if got := r.text(`select result::text from weir.task where id = $1`, by["done"].Task); got != `{"n": 1}` {
		r.Errorf("the result is %s", got)
	}
	// If the answer was lost, reporting the same ends again has the same effect.
	refused, err = r.mine.End(r.Context(), outcomes[:3])
	r.ok(err)
	for _, x := range refused {
		if x.Refusal != node.Repeated {
			r.Errorf("told again: %+v", x)
		}
	}
}

func refuses(r *rig) {
	a := r.one(map[string]any{})
	stale, unknown := a.Holds(), a.Holds()
	stale.Token = newID()
	unknown.Task, _ = weir.ParseID("01890a5d-ac96-774b-bcce-b302099a8057")
	for want, lease := range map[string]node.Lease{node.LeaseLost: stale, node.Unknown: unknown} {
		for op, answer := range r.tellAll(r.mine, lease) {
			if answer != want {
				r.Errorf("%s: %s, not %s", op, answer, want)
			}
		}
	}
	if got := r.state(a.Task); got != "running" {
		r.Errorf("a stale call made it %s", got)
	}
	stale.Token = "not a token"
	if answer := r.refusal(r.mine.Renew(r.Context(), []node.Lease{stale}, 0)); answer != node.LeaseLost {
		r.Errorf("a token that is none: %s", answer)
	}
}

// tellAll makes every batched call about one lease.
func (r *rig) tellAll(t agent.Transport, l node.Lease) map[string]string {
	r.Helper()
	return map[string]string{
		"start":    r.refusal(t.Start(r.Context(), []node.Lease{l}, 0)),
		"renew":    r.refusal(t.Renew(r.Context(), []node.Lease{l}, 0)),
		"record":   r.refusal(t.Record(r.Context(), []node.Note{{Lease: l, Type: "note", Message: "x"}})),
		"done":     r.refusal(t.End(r.Context(), []node.Outcome{{Lease: l, Verdict: node.Done}})),
		"failed":   r.refusal(t.End(r.Context(), []node.Outcome{{Lease: l, Verdict: node.Failed, Error: "x"}})),
		"returned": r.refusal(t.End(r.Context(), []node.Outcome{{Lease: l, Verdict: node.Returned}})),
		"canceled": r.refusal(t.End(r.Context(), []node.Outcome{{Lease: l, Verdict: node.Canceled}})),
	}
}

func foreign(r *rig) {
	r.ok(r.Vault.Put(r.Context(), "ann", "db", "hunter22hunter22", ""))
	a := r.one(map[string]any{"run": map[string]any{"argv": []string{"true"}, "secrets": map[string]string{"DB": "db"}, "inputs": []any{map[string]string{"from": "x"}}}})
	for op, answer := range r.tellAll(r.other, a.Holds()) {
		if answer != node.LeaseLost {
			r.Errorf("%s: %s", op, answer)
		}
	}
	for op, err := range r.askAll(r.other, a.Holds()) {
		if !errors.Is(err, weir.ErrLeaseLost) {
			r.Errorf("%s: %v", op, err)
		}
	}
	if got := r.state(a.Task); got != "running" {
		r.Errorf("another node made it %s", got)
	}
	if got := r.text(`select count(*)::text from weir.artifacts`); got != "0" {
		r.Errorf("%s artifacts", got)
	}
	if answer := r.refusal(r.mine.End(r.Context(), []node.Outcome{{Lease: a.Holds(), Verdict: node.Done}})); answer != "ok" {
		r.Errorf("its own end: %s", answer)
	}
	for op, err := range r.askAll(r.mine, a.Holds()) {
		if !errors.Is(err, weir.ErrLeaseLost) {
			r.Errorf("after its end, %s: %v", op, err)
		}
	}
}

// askAll makes every call about one lease that is not batched.
func (r *rig) askAll(t agent.Transport, l node.Lease) map[string]error {
	answers := map[string]error{}
	_, answers["secrets"] = t.Secrets(r.Context(), l)
	_, answers["inputs"] = t.Inputs(r.Context(), l)
	answers["upload"] = t.Upload(r.Context(), l, node.ArtifactMeta{Kind: node.OutputArtifact, Name: "x", Size: 1, ContentType: "text/plain"}, strings.NewReader("x"))
	answers["log"] = t.AppendLog(r.Context(), l, node.LogChunk{Lines: []byte("{}\n")})
	_, answers["fetch"] = t.Fetch(r.Context(), l, "outputs/a/b/1/x")
	return answers
}

func secrets(r *rig) {
	for name, value := range map[string]string{"db": "hunter22hunter22", "key": "-----\nline\n-----", "not_yours": "secret"} {
		r.ok(r.Vault.Put(r.Context(), "ann", name, value, ""))
	}
	a := r.one(map[string]any{"run": map[string]any{"argv": []string{"true"}, "secrets": map[string]string{"DB": "db"}, "files": map[string]string{"id": "key"}}})
	got, err := r.mine.Secrets(r.Context(), a.Holds())
	r.ok(err)
	if !maps.Equal(got, map[string]string{"db": "hunter22hunter22", "key": "-----\nline\n-----"}) {
		r.Errorf("got %d secrets", len(got))
	}
}

func artifacts(r *rig) {
	input := map[string]any{"argv": []string{"true"}, "inputs": []any{map[string]string{"from": "a", "name": "*.txt"}}}
	r.submit(map[string]any{"key": "a"}, map[string]any{"key": "b", "needs": []string{"a"}, "run": input})
	a := r.claim(1)[0]
	body := bytes.Repeat([]byte("text "), 50_000)
	for name, text := range map[string][]byte{"sub dir/ő.txt": body, "other.bin": {0, 1, 2}} {
		meta := node.ArtifactMeta{Kind: node.OutputArtifact, Name: name, Size: int64(len(text)), ContentType: "text/plain"}
		for range 2 { // an answer may be lost
			r.ok(r.mine.Upload(r.Context(), a.Holds(), meta, bytes.NewReader(text)))
		}
	}
	if got := r.text(`select string_agg(concat_ws(' ', kind, name, size, length(sha256)), ', ' order by name) from weir.artifacts where task = $1`, a.Task); got != "output other.bin 3 64, output sub dir/ő.txt 250000 64" {
		r.Errorf("recorded: %s", got)
	}
	for _, bad := range []string{"../x", "/x", "", "a\x00b"} {
		if err := r.mine.Upload(r.Context(), a.Holds(), node.ArtifactMeta{Kind: node.OutputArtifact, Name: bad, Size: 1, ContentType: "text/plain"}, strings.NewReader("x")); err == nil {
			r.Errorf("%q is no name", bad)
		}
	}
	meta := node.ArtifactMeta{Kind: node.OutputArtifact, Name: "cut", Size: 1, ContentType: "text/plain", SHA256: strings.Repeat("0", 64)}
	if err := r.mine.Upload(r.Context(), a.Holds(), meta, strings.NewReader("x")); err == nil {
		r.Error("its hash is not the one that was told")
	}
	r.refusal(r.mine.End(r.Context(), []node.Outcome{{Lease: a.Holds(), Verdict: node.Done}}))

	b := r.claim(1)[0]
	inputs, err := r.mine.Inputs(r.Context(), b.Holds())
	r.ok(err)
	if len(inputs) != 1 || inputs[0].Step != "a" || inputs[0].Name != "sub dir/ő.txt" || inputs[0].Size != 250_000 {
		r.Fatalf("got %+v", inputs)
	}
	in, err := r.mine.Fetch(r.Context(), b.Holds(), inputs[0].Key)
	r.ok(err)
	defer in.Close()
	if got, err := io.ReadAll(in); err != nil || !bytes.Equal(got, body) {
		r.Errorf("%d bytes, %v", len(got), err)
	}
	key, err := blob.Key(blob.Output, a.Job.String(), "a", 1, "other.bin")
	r.ok(err)
	if in, err := r.mine.Fetch(r.Context(), b.Holds(), key); err == nil {
		_ = in.Close()
		r.Error("what is no input was given out")
	}
}

func logs(r *rig) {
	a := r.one(map[string]any{})
	now := time.Now()
	for seq, text := range []string{"{\"text\":\"one\"}\n{\"text\":\"two\"}\n", "{\"text\":\"three\"}\n"} {
		for range 2 { // an answer may be lost
			r.ok(r.mine.AppendLog(r.Context(), a.Holds(), node.LogChunk{Seq: seq, Lines: []byte(text), From: now, To: now}))
		}
	}
	in, _, err := r.Bucket.Get(r.Context(), blob.LogKey(a.Job.String(), "a", 1, 0), 0, -1)
	r.ok(err)
	defer in.Close()
	if got, err := io.ReadAll(in); err != nil || string(got) != "{\"text\":\"one\"}\n{\"text\":\"two\"}\n" {
		r.Errorf("got %q, %v", got, err)
	}
	if got := r.text(`select string_agg(distinct concat_ws(' ', data ->> 'seq', data ->> 'lines', data ->> 'key'), ', ') from weir.events where task = $1 and type = 'log'`, a.Task); got !=
		"0 2 "+blob.LogKey(a.Job.String(), "a", 1, 0)+", 1 1 "+blob.LogKey(a.Job.String(), "a", 1, 1) {
		r.Errorf("events: %s", got)
	}
	// A quiet chunk is stored as well, and the next event counts its lines.
	quiet := node.LogChunk{Seq: 2, Lines: []byte("{\"text\":\"four\"}\n"), From: now, To: now, Quiet: true}
	r.ok(r.mine.AppendLog(r.Context(), a.Holds(), quiet))
	r.ok(r.mine.AppendLog(r.Context(), a.Holds(), node.LogChunk{Seq: 3, Lines: []byte("{\"text\":\"five\"}\n"), From: now, To: now, Before: 1}))
	if _, err := r.Bucket.Stat(r.Context(), blob.LogKey(a.Job.String(), "a", 1, 2)); err != nil {
		r.Error(err)
	}
	if got := r.text(`select string_agg(concat_ws(' ', data ->> 'seq', data ->> 'lines'), ', ') from weir.events where task = $1 and type = 'log' and (data ->> 'seq')::int > 1`, a.Task); got != "3 2" {
		r.Errorf("events: %s", got)
	}
}

func stops(r *rig) {
	a := r.one(map[string]any{"max_attempts": 1})
	r.ok(r.mine.Stop(r.Context()))
	if got := r.state(a.Task); got != "available" {
		r.Errorf("it is %s", got)
	}
	if _, err := r.mine.Heartbeat(r.Context()); err != nil {
		r.Errorf("an agent that comes back: %v", err)
	}
}

func detaches(r *rig) {
	a := r.one(map[string]any{"max_attempts": 1})
	r.ok(r.mine.Detach(r.Context()))
	if got := r.state(a.Task); got != "running" {
		r.Errorf("it is %s", got)
	}
	refused, err := r.mine.Renew(r.Context(), []node.Lease{a.Holds()}, time.Minute)
	r.ok(err)
	if len(refused) != 0 {
		r.Errorf("an agent that comes back: %v", refused)
	}
}

func reportsFaults(r *rig) {
	r.ok(r.mine.Faults(r.Context(), []node.Fault{
		{Service: "svc", Fault: node.DiskFull, Message: "0 bytes are left", RetryIn: time.Minute},
		{Service: "other", Fault: node.NoDriver, Message: "no socket"},
	}))
	const has = `select coalesce(string_agg(concat_ws(' ', service, fault, message, retry_at > now() + interval '30 s'), ', ' order by service), '') from weir.node_faults`
	if got := r.text(has); got != "other no_driver no socket, svc disk_full 0 bytes are left t" {
		r.Errorf("reported as %s", got)
	}
	r.ok(r.mine.Faults(r.Context(), nil))
	if got := r.text(has); got != "" {
		r.Errorf("still %s", got)
	}
	a := r.one(map[string]any{"max_attempts": 1})
	out := node.Outcome{Lease: a.Holds(), Verdict: node.Returned, Error: "disk full", Fault: node.DiskFull, Begun: true}
	if _, err := r.mine.End(r.Context(), []node.Outcome{out}); err != nil || r.state(a.Task) != "available" {
		r.Errorf("a broken node spends an attempt: %v", err)
	}
	if got := r.text(`select concat_ws(' ', data ->> 'reason', data ->> 'fault', message) from weir.events where type = 'returned'`); got != "node disk_full disk full" {
		r.Errorf("the timeline says %q", got)
	}
}
