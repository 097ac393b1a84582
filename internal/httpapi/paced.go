package httpapi

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// pace extends the deadline of a connection while bytes flow, so that a large object may
// take its time and a stalled client may not.
type pace struct {
	move func(time.Time) error
	at   time.Time
}

// step is called before each piece. Setting a timer costs, so a piece may get a quarter
// less time.
func (p *pace) step() {
	if now := time.Now(); p.at.Sub(now) < stall*3/4 {
		p.at = now.Add(stall)
		_ = p.move(p.at) // only the connection of a test has no deadlines
	}
}

// paced reads the body of a request.
type paced struct {
	pace
	control *http.ResponseController
	r       io.Reader
	// broken is set if the body did not arrive: then an error is the client's fault.
	broken bool
}

func newPaced(w http.ResponseWriter, r io.Reader) *paced {
	control := http.NewResponseController(w)
	// The server's own limit is for answers that are made at once.
	_ = control.SetWriteDeadline(time.Time{})
	return &paced{pace: pace{move: control.SetReadDeadline}, control: control, r: r}
}

// Read implements [io.Reader].
func (p *paced) Read(b []byte) (int, error) {
	p.step()
	n, err := p.r.Read(b)
	p.broken = p.broken || err != nil && !errors.Is(err, io.EOF)
	return n, err
}

// done gives the answer the usual time.
func (p *paced) done() { _ = p.control.SetWriteDeadline(time.Now().Add(stall)) }

// pacedWriter writes an answer of any size.
type pacedWriter struct {
	pace
	w io.Writer
}

func newPacedWriter(w http.ResponseWriter) *pacedWriter {
	return &pacedWriter{pace{move: http.NewResponseController(w).SetWriteDeadline}, w}
}

// Write implements [io.Writer].
func (p *pacedWriter) Write(b []byte) (int, error) {
	p.step()
	return p.w.Write(b)
}
