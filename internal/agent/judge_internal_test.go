package agent

import (
	"errors"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/agent/driver"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/problem"
)

func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		evidence
		verdict, cause string
		final          bool
	}{
		"success":                    {evidence{}, "done", "", false},
		"a code":                     {evidence{exit: driver.Exit{Code: 3}, last: "x\n"}, "failed", "exit code 3: x", false},
		"a code worth another":       {evidence{exit: driver.Exit{Code: 3}, retryOn: []int{3}}, "failed", "exit code 3", false},
		"a code that is final":       {evidence{exit: driver.Exit{Code: 4}, retryOn: []int{3}}, "failed", "exit code 4", true},
		"a signal":                   {evidence{exit: driver.Exit{Code: 137, Signal: "killed", Reason: "out of memory"}}, "failed", "killed by signal: killed (out of memory)", false},
		"lost":                       {evidence{cause: errLost}, "", "", false},
		"lost and failed":            {evidence{cause: errLost, err: errors.New("x")}, "", "", false},
		"unsure":                     {evidence{cause: errUnsure}, "returned", errUnsure.Error(), false},
		"leaving":                    {evidence{cause: errLeaving}, "returned", errLeaving.Error(), false},
		"canceled":                   {evidence{cause: errCanceled, err: errors.New("x")}, "canceled", "", false},
		"too long":                   {evidence{cause: tooLong(node.ByTimeout, "after %s", time.Second), last: "hm"}, "failed", "after 1s: hm", false},
		"it could not be run":        {evidence{err: errors.New("no driver")}, "failed", "no driver", false},
		"it can never be run":        {evidence{err: &refused{errors.New("bad")}}, "failed", "bad", true},
		"a driver that refuses it":   {evidence{err: problem.Refuse("image", "", "no such")}, "failed", "image: no such", true},
		"a driver that is away":      {evidence{err: problem.New(problem.Unreachable, "", "away")}, "failed", "away", false},
		"a result that is too large": {evidence{broken: errResultTooLarge}, "failed", errResultTooLarge.Error(), true},
	} {
		got := judge(c.evidence)
		if got.Verdict != c.verdict || got.Error != c.cause || got.Final != c.final {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := judge(evidence{exit: driver.Exit{Result: []byte("1")}}); string(got.Result) != "1" {
		t.Errorf("the driver's result: %s", got.Result)
	}
	if got := judge(evidence{result: []byte("2"), exit: driver.Exit{Result: []byte("1")}}); string(got.Result) != "2" {
		t.Errorf("a printed result wins: %s", got.Result)
	}
}
