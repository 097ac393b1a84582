package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// note is a line on the pipe from an agent to its parent. The parent answers a call with
// the number of the note, and stamps both with its own clock.
type note struct {
	ID    int    `json:"id"`
	Call  *Call  `json:"call,omitempty"`
	Reply *Reply `json:"reply,omitempty"`
}

// pipeLog is the agent's end of the pipe.
type pipeLog struct {
	mu   sync.Mutex
	out  *json.Encoder
	next int
	wait map[int]chan struct{}
}

// newPipeLog starts to read the parent's answers; end is called when the parent closes
// the pipe or is gone.
func newPipeLog(in io.Reader, out io.Writer, end func()) *pipeLog {
	l := &pipeLog{out: json.NewEncoder(out), wait: map[int]chan struct{}{}}
	go func() {
		defer end()
		lines := bufio.NewScanner(in)
		for lines.Scan() {
			var id int
			if _, err := fmt.Sscan(lines.Text(), &id); err != nil {
				return
			}
			l.mu.Lock()
			close(l.wait[id])
			delete(l.wait, id)
			l.mu.Unlock()
		}
	}()
	return l
}

// Begin waits for the parent, which has injected its fault by then.
func (l *pipeLog) Begin(c Call) int {
	l.mu.Lock()
	l.next++
	id, heard := l.next, make(chan struct{})
	l.wait[id] = heard
	_ = l.out.Encode(note{ID: id, Call: &c}) // without a parent the agent ends
	l.mu.Unlock()
	<-heard
	return id
}

func (l *pipeLog) End(id int, answer Reply) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.out.Encode(note{ID: id, Reply: &answer}) // as above
}

// timeWatch reports every statement that carries a time. The engine decides by its own
// clock, so an agent has no time to send (R14).
type timeWatch struct{ log Log }

func (w timeWatch) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	for _, arg := range data.Args {
		switch arg.(type) {
		case time.Time, *time.Time, []time.Time, pgtype.Timestamptz, pgtype.Timestamp:
			w.log.End(w.log.Begin(Call{Op: "sent_time", Key: data.SQL}), Reply{Out: OK})
		}
	}
	return ctx
}

func (w timeWatch) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
