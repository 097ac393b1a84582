package weir

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestJudge(t *testing.T) {
	fault := errors.New("fault")
	for name, c := range map[string]struct {
		result     any
		err, cause error
		want       verdict
		final      bool
	}{
		"nothing":                    {nil, nil, nil, asDone, false},
		"a result":                   {1, nil, nil, asDone, false},
		"a bad result":               {func() {}, nil, nil, asFailed, true},
		"an error":                   {nil, fault, nil, asFailed, false},
		"a permanent error, wrapped": {nil, fmt.Errorf("x: %w", Permanent(fault)), nil, asFailed, true},
		"retry":                      {nil, RetryAfter(time.Second, fault), nil, asFailed, false},
		"snooze":                     {nil, Snooze(time.Second), nil, asSnoozed, false},
		"canceled":                   {nil, context.Canceled, ErrCanceled, asCanceled, false},
		"canceled but done":          {1, nil, ErrCanceled, asCanceled, false},
		"canceled but committed":     {Committed(1), nil, ErrCanceled, asDone, false},
		"canceled, half committed":   {Committed(1), fault, ErrCanceled, asCanceled, false},
		"committed":                  {Committed(1), nil, nil, asDone, false},
		"committed, timed out":       {Committed(1), nil, errTimedOut, asFailed, false},
		"stopped":                    {nil, context.Canceled, ErrStopped, asReturned, false},
		"stopped, own error":         {nil, fault, ErrStopped, asReturned, false},
		"stopped but done":           {1, nil, ErrStopped, asDone, false},
		"stopped, permanent":         {nil, Permanent(fault), ErrStopped, asFailed, true},
		"lost":                       {1, nil, ErrLeaseLost, dropped, false},
		"unsure but done":            {1, nil, errUnsure, asDone, false},
		"unsure":                     {nil, context.Canceled, errUnsure, asReturned, false},
		"timed out":                  {nil, context.DeadlineExceeded, errTimedOut, asFailed, false},
		"timed out but done":         {1, nil, errTimedOut, asFailed, false},
	} {
		got := judge(c.result, c.err, c.cause, time.Second)
		if got.verdict != c.want || got.final != c.final {
			t.Errorf("%s: %+v", name, got)
		}
		if _, ok := c.result.(*committed); ok && got.verdict == asDone && string(got.result) != "1" {
			t.Errorf("%s: the result is %s", name, got.result)
		}
	}
}
