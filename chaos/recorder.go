package chaos

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"sync"
	"time"
)

// Recorder is the history of a run. It is safe for concurrent use.
type Recorder struct {
	mu    sync.Mutex
	calls []record
}

type record struct {
	client   string
	call     Call
	callNS   int64
	reply    *Reply
	returnNS int64
}

// NewRecorder makes an empty history.
func NewRecorder() *Recorder { return &Recorder{} }

// Client returns the log of one client.
func (r *Recorder) Client(name string) Log { return clientLog{r, name} }

type clientLog struct {
	r    *Recorder
	name string
}

func (l clientLog) Begin(c Call) int         { return l.r.begin(l.name, c) }
func (l clientLog) End(id int, answer Reply) { l.r.end(id, answer) }

func (r *Recorder) begin(client string, c Call) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, record{client: client, call: c, callNS: time.Now().UnixNano()})
	return len(r.calls) - 1
}

func (r *Recorder) end(id int, answer Reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[id].reply, r.calls[id].returnNS = &answer, time.Now().UnixNano()
}

// Ops returns the history so far, one line per task of a call. A call without an answer
// is included, with the outcome unknown.
func (r *Recorder) Ops() []Op {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ops []Op
	for n := range r.calls {
		ops = append(ops, r.calls[n].lines(n)...)
	}
	return ops
}

func (c *record) lines(n int) []Op {
	base := Op{N: n, Client: c.client, Op: c.call.Op, Key: c.call.Key, Lease: c.call.Lease, Call: c.callNS, Return: Never, Out: Unknown}
	items := c.call.Items
	if c.reply != nil {
		base.Out, base.Err = c.reply.Out, c.reply.Err
		if base.Out != Unknown {
			base.Return = c.returnNS
		}
		if c.reply.Items != nil {
			items = c.reply.Items
		}
	}
	if len(items) == 0 {
		return []Op{base}
	}
	ops := make([]Op, 0, len(items))
	for _, item := range items {
		op := base
		op.Task, op.Attempt, op.Token, op.Value = item.Task, item.Attempt, item.Token, item.Value
		if item.Key != "" {
			op.Key = item.Key
		}
		ops = append(ops, op)
	}
	return ops
}

// Find returns the first op that fits.
func (r *Recorder) Find(fits func(Op) bool) (Op, bool) {
	ops := r.Ops()
	if i := slices.IndexFunc(ops, fits); i >= 0 {
		return ops[i], true
	}
	return Op{}, false
}

// Save writes the history as JSONL.
func (r *Recorder) Save(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	lines := json.NewEncoder(w)
	for _, op := range r.Ops() {
		if err := lines.Encode(op); err != nil {
			return err
		}
	}
	return w.Flush()
}
