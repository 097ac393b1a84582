package systempages

import (
	"slices"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/engine/view"
)

// A minute in which nothing happened is a zero, and the one that goes on is not
// told yet.
func TestMinutes(t *testing.T) {
	now := time.Date(2026, 1, 2, 10, 5, 30, 0, time.UTC)
	at := func(minute int) time.Time { return time.Date(2026, 1, 2, 10, minute, 0, 0, time.UTC) }
	got := minutes([]view.Rate{{At: at(1), Done: 3}, {At: at(3), Done: 5}, {At: at(5), Done: 1}}, now)
	var done []int64
	for i, m := range got {
		done = append(done, m.Done)
		if !m.At.Equal(at(i + 1)) {
			t.Errorf("minute %d is %s", i, m.At)
		}
	}
	if !slices.Equal(done, []int64{3, 0, 5, 0}) {
		t.Errorf("%v", done)
	}
	if minutes(nil, now) != nil {
		t.Error("nothing has minutes")
	}
}
