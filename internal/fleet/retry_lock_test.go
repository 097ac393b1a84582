package fleet

import (
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testdb"
)

// A claim does not wait for the holder of a retry, such as a transaction that cancels it.
func TestARetryThatSomebodyHasIsLeft(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.report("PC-01", named("d", 1)...)
	r.submit("job", nil)
	r.fail(r.claim("PC-01", 1)...)
	r.wait(10 * time.Minute)
	r.want("retries", r.count(`select count(*) from weir.available`), 1)
	r.play(nil, testdb.Overlap{
		Name: "cancel, claim", Passes: true,
		First: `select from weir.available for update`, Second: `select weir.fleet_claim('PC-01', 'PC-01', 1, at => {t})`,
		Then: `select not exists (select from weir.running)`,
	})
}
