//go:build unix

package chaos

// brokenRollouts are builds without one of the guards of rollouts, each with a rule that
// must be found broken.
var brokenRollouts = []struct {
	name string
	edit edit
	rule string
}{
	{"lane without exclusive", edit{"_rollout_specs", `'exclusive', x.kind <> 'data'`, `'exclusive', false`}, ruleBeside},
	{"lane that nobody holds alone", edit{"_open", `where (select h.exclusive or o.exclusive from weir.running o where o.lane = h.lane limit 1) is not true
        and (select h.exclusive or o.exclusive from weir.available o where o.lane = h.lane limit 1) is not true
        and (select h.exclusive or o.exclusive from weir.pending o
          where o.lane = h.lane and o.gate = 'pool' limit 1) is not true
        and `, `where `}, ruleBeside},
	{"lane without order", edit{"_rollout_specs", `'rank', (c.value ->> 'rank')::bigint`, `'rank', null`}, ruleOrder},
	{"rollout without its limit", edit{"_rollout_specs", `'pool', _rollout_specs.pool`, `'pool', null`}, ruleParallel},
}
