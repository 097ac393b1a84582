package picture

import "time"

// Timetable is when each task of a job waited and ran.
type Timetable struct {
	Title    string
	Rows     []Row
	Now      time.Time // where the line "now" stands, if something still runs
	Limit    int       // rows to draw; 0: 60. The others share a last row
	Width    int       // 0: 1000
	MoreHref string    // where "+ 380 more" leads
}

// Row is one task.
type Row struct {
	Name    string
	Service string
	State   State
	Href    string
	Created time.Time
	Waits   []Wait // if known; without them the time before each attempt is one wait
	Bars    []Bar  // one per attempt, in order
	Needs   []int  // rows this one needed, for the critical path
}

// Wait is a stretch of time behind one gate.
type Wait struct {
	Gate     string
	From, To time.Time // To zero: still
}

// Bar is one attempt.
type Bar struct {
	Attempt  int
	Outcome  State
	Worker   string
	From, To time.Time // To zero: still running
}
