package command

import "os"

// Signaled is why a command is asked to end: the cause of its context.
type Signaled struct{ Signal os.Signal }

func (s *Signaled) Error() string { return "asked to end by signal: " + s.Signal.String() }
