package remote

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/fleet/tunnel"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/node/wire"
)

var _ agent.Forwarder = (*Transport)(nil)

// Forwards waits for forwards to devices of this machine.
func (t *Transport) Forwards(ctx context.Context, ports string, wait time.Duration) ([]node.Forward, error) {
	var answer wire.Forwards
	body := wire.ForwardsWanted{Ports: ports, Wait: int(min(wait, time.Minute) / time.Second)}
	err := t.post(ctx, "forwards", body, &answer, wait)
	return answer.Node(), err
}

// RefuseForward says why a forward is not taken up.
func (t *Transport) RefuseForward(ctx context.Context, id weir.ID, why string) error {
	return t.post(ctx, "forwards/"+id.String()+"/refuse", wire.ForwardRefused{Why: why}, nil, 0)
}

// JoinForward opens the way on which the connections of a forward come. It is tried once: the
// forward is in the next answer of Forwards if it still waits.
func (t *Transport) JoinForward(ctx context.Context, id weir.ID) (agent.Tunnel, error) {
	ctx, cancel := context.WithTimeout(ctx, t.each)
	defer cancel()
	header := http.Header{"User-Agent": {t.agent}, "Authorization": {"Bearer " + t.credential}}
	conn, answer, err := tunnel.Dial(ctx, t.tunnels, t.base.String()+prefix+"/agent/forwards/"+id.String(), header)
	switch {
	case err == nil:
		return conn, nil
	case answer == nil || answer.Body == nil:
		return nil, t.unreachable(err)
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, answerLimit)) // what there is of it
	return nil, t.refused(answer, text)
}
