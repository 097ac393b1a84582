package patience

import (
	"fmt"
	"os"
	"time"

	"go.uber.org/goleak"
)

// Ended is the exit code of a test binary whose tests ended with code: 1 if they
// passed and left goroutines behind. Those that are on their way out get the time
// for it: a dial or a warden that asked a hung engine gives up after a deadline of
// its own.
func Ended(code int, options ...goleak.Option) int {
	if code != 0 {
		return code
	}
	for deadline := time.Now().Add(Limit); ; {
		err := goleak.Find(options...)
		if err == nil {
			return 0
		}
		if time.Now().After(deadline) {
			fmt.Fprintln(os.Stderr, "goroutines left behind:", err)
			return 1
		}
	}
}
