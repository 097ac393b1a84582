package testwait

import (
	"fmt"
	"os"
	"slices"
	"time"

	"go.uber.org/goleak"
)

// libraries leave these behind, whatever a test does: the proxy of faults when a
// connection ends while a toxic is taken out.
var libraries = []goleak.Option{
	goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run"),
	goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2.(*ToxicLink).read"),
	goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2.(*ToxicLink).write"),
}

// Ended is the exit code of a test binary whose tests ended with code: 1 if they
// passed and left goroutines behind. Those that are on their way out get the time
// for it: a dial or a warden that asked a hung engine gives up after a deadline of
// its own.
func Ended(code int, options ...goleak.Option) int {
	if code != 0 {
		return code
	}
	for deadline := time.Now().Add(Limit); ; {
		err := goleak.Find(slices.Concat(libraries, options)...)
		if err == nil {
			return 0
		}
		if time.Now().After(deadline) {
			fmt.Fprintln(os.Stderr, "goroutines left behind:", err)
			return 1
		}
	}
}
