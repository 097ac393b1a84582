package node

// Info is what a machine reports about itself.
type Info struct {
	Name   string
	Labels map[string]string
	// Capacity is how many tasks of each service the machine runs at once. Its keys are
	// the services.
	Capacity map[string]int
	Drivers  []string
	// Isolation is how the agent holds the processes of an attempt together.
	Isolation string
	// Version is the version of the agent.
	Version string
	// Holder distinguishes this agent from another one of the same name. Empty means that
	// it is not reported.
	Holder string
}

// The modes of a node.
const (
	Active   = "active"
	Draining = "draining" // finish running work, claim nothing
	Paused   = "paused"   // claim nothing
)

// Orders is the answer to each heartbeat.
type Orders struct {
	Mode string
	// Sleep is set if the machine has been idle long enough and may go to sleep.
	Sleep bool
	// Labels and Capacity are those in force, which an operator may have changed.
	Labels   map[string]string
	Capacity map[string]int
}
