package node

// Info is what a machine says of itself.
type Info struct {
	Name   string
	Labels map[string]string
	// Capacity is how many tasks of each service it runs at once. Its keys are
	// the services.
	Capacity map[string]int
	Drivers  []string
	// Version is that of the agent.
	Version string
	// Holder tells this agent from another that goes by the same name. Empty: it
	// does not say.
	Holder string
}

// The modes of a node.
const (
	Active   = "active"
	Draining = "draining" // finish what runs, claim nothing
	Paused   = "paused"   // claim nothing
)

// Orders is what a machine is told with each heartbeat.
type Orders struct {
	Mode string
	// Sleep: it has been idle long enough; it may go to sleep.
	Sleep bool
	// Labels and Capacity are those in force: somebody may have changed them.
	Labels   map[string]string
	Capacity map[string]int
}
