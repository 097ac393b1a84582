package weir

// State says where a task is.
type State string

// The states of a task. The last four are its end.
const (
	Pending   State = "pending"
	Available State = "available"
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed"
	Canceled  State = "canceled"
	Skipped   State = "skipped"
)

// Ended reports whether a task in this state has come to its end.
func (s State) Ended() bool { return s == Done || s == Failed || s == Canceled || s == Skipped }

// Gate is where a task that is pending waits.
type Gate string

// The gates, in the order in which a task passes them. Order and exclusion are the two
// parts of the lane.
const (
	GateNeeds     Gate = "needs"
	GatePlan      Gate = "plan"
	GateTime      Gate = "time"
	GateHold      Gate = "hold"
	GateOrder     Gate = "order"
	GateExclusion Gate = "exclusion"
	GateLane      Gate = "lane"
	GatePool      Gate = "pool"
)

// Transition is one line of the state machine: in state Was, Event leads to
// Becomes. Was is empty for the first one of a task.
type Transition struct {
	Was     State
	Event   string
	Becomes State
}

// Transitions mirrors the table weir.transition, which weir doctor holds the timeline
// against.
// An event leads to one state wherever it starts, so the last transition of a
// task's timeline is its state.
var Transitions = []Transition{
	{"", "submitted", Available},
	{"", "gated", Pending},
	{Pending, "opened", Available},
	{Pending, "held", Pending},
	{Pending, "canceled", Canceled},
	{Pending, "skipped", Skipped},
	{Pending, "done", Done},
	{Pending, "failed", Failed},
	{Available, "claimed", Running},
	{Available, "held", Pending},
	{Available, "canceled", Canceled},
	{Available, "skipped", Skipped},
	{Available, "done", Done},
	{Available, "failed", Failed},
	{Running, "done", Done},
	{Running, "failed", Failed},
	{Running, "retrying", Pending},
	{Running, "snoozed", Pending},
	{Running, "expired", Available},
	{Running, "returned", Available},
	{Running, "canceled", Canceled},
	{Done, "retried", Pending},
	{Failed, "retried", Pending},
	{Failed, "skipped", Skipped},
	{Canceled, "retried", Pending},
	{Skipped, "retried", Pending},
}
