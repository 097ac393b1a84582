package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
)

// ForwardChannel carries the name of a PC for which a forward waits, or the id of a forward
// that its agent refused.
const ForwardChannel = "weir_forward"

// Why a forward ends.
const (
	ForwardGone        = "gone"        // its row is gone
	ForwardMoved       = "moved"       // the device hangs on another PC
	ForwardRetired     = "retired"     // the device is retired
	ForwardReservation = "reservation" // the reservation or maintenance ended
	ForwardAgent       = "agent"       // the agent or its connection ended
	ForwardIdle        = "idle"        // nothing was carried for too long
	ForwardForbidden   = "forbidden"   // the person may not any more
	ForwardUnchecked   = "unchecked"   // the database did not say that it may go on
	ForwardStopping    = "stopping"    // the server stops
	ForwardUser        = "user"        // the user ended it
)

// ForwardRequest asks for a forward.
type ForwardRequest struct {
	Serial string
	Port   int
	// Force does without a reservation; the caller has checked that the person may.
	Force bool
	Who   auth.Subject
	// Server is where other servers reach the one that carries it; empty: they do not.
	Server string
}

// ForwardOrder is a forward that an agent should take up.
type ForwardOrder struct {
	ID     weir.ID
	Serial string
	Port   int
}

// OpenForward asks the agent of a device's PC for a forward, and returns the name of the PC.
func (s *Store) OpenForward(ctx context.Context, id weir.ID, r ForwardRequest) (pc string, err error) {
	who := holderOf(r.Who)
	err = s.pool.QueryRow(ctx, forwardOpenSQL, id, r.Serial, r.Port, who.By, who.Name, r.Force, r.Server).Scan(&pc)
	if err != nil {
		return "", fmt.Errorf("open forward: %w", err)
	}
	return pc, nil
}

// ForwardOrders returns the forwards that the agent of a PC should take up, and records which
// ports it allows.
func (s *Store) ForwardOrders(ctx context.Context, pc, ports string) ([]ForwardOrder, error) {
	list, err := s.forwardOrders(ctx, pc, ports)
	if err != nil {
		return nil, fmt.Errorf("read forwards: %w", err)
	}
	return list, nil
}

// RefuseForward records why an agent does not take up a forward of its PC.
func (s *Store) RefuseForward(ctx context.Context, id weir.ID, pc, why string) error {
	return s.forward(ctx, "refuse forward", forwardRefuseSQL, id, pc, why)
}

// JoinForward records that the agent took up a forward.
func (s *Store) JoinForward(ctx context.Context, id weir.ID) error {
	return s.forward(ctx, "join forward", forwardJoinSQL, id)
}

// KeepForward returns why a forward has to end, and why its agent refused it. Both are empty
// while it may go on.
func (s *Store) KeepForward(ctx context.Context, id weir.ID) (ends, refused string, err error) {
	if err := s.pool.QueryRow(ctx, forwardKeepSQL, id).Scan(&ends, &refused); err != nil {
		return "", "", fmt.Errorf("keep forward: %w", err)
	}
	return ends, refused, nil
}

// EndForward records that a forward ended, why, and how many bytes the user sent and
// received.
func (s *Store) EndForward(ctx context.Context, id weir.ID, why string, sent, received int64) error {
	return s.forward(ctx, "end forward", forwardEndSQL, id, why, sent, received)
}

// ForwardServer returns where the server is reached that carries a forward of a PC. It is
// empty if that is not known.
func (s *Store) ForwardServer(ctx context.Context, id weir.ID, pc string) (server string, err error) {
	if err := s.pool.QueryRow(ctx, forwardServerSQL, id, pc).Scan(&server); err != nil {
		return "", fmt.Errorf("find forward: %w", err)
	}
	return server, nil
}

func (s *Store) forward(ctx context.Context, op, sql string, args ...any) error {
	if _, err := s.pool.Exec(ctx, sql, args...); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// ForwardIdleAfter is how long a forward may carry nothing.
const ForwardIdleAfter = 30 * time.Minute
