package picture

// Graph is the tasks of a job and what they need.
type Graph struct {
	Title string   // what it is the graph of: "Job nightly-build"
	Tasks []Task   // in the order of their position
	Edges [][2]int // need → task, by index into Tasks
	More  int      // tasks that exist and are not in Tasks
	// GroupHref says where the box of a group of equal tasks leads; nil: nowhere.
	GroupHref func(service string) string
}

// Task is one box.
type Task struct {
	Key     string
	Service string
	State   State
	Gate    string // the gate a pending task stands at
	Attempt int    // shown from the second on
	Percent int    // progress of a running task, 0 to 100
	Href    string
	Note    string // one more line of the tooltip
}
