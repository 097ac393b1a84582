package mutate

// openerRows are the locks of the functions that open gates, end leases and raise floors.
var openerRows = []Row{
	{
		"a task at a lane that somebody has is left", "schema/functions/engine/_open.sql",
		` and p.gate = 'lane' for update skip locked`, ` and p.gate = 'lane' for update`,
		engineTests, "TestOpenersWaitForNobody",
	},
	{
		"a task at a pool that somebody has is left", "schema/functions/engine/_open_pools.sql",
		`for update skip locked`, `for update`,
		engineTests, "TestOpenersWaitForNobody",
	},
	{
		"a lease whose job somebody has is left", "schema/functions/engine/_expire.sql",
		`where j.job = x.job for update skip locked)`, `where j.job = x.job for update)`,
		engineTests, "TestOpenersWaitForNobody",
	},
	{
		"the pool of a map is made under its lock", "schema/functions/flow/_map_pools.sql",
		`perform weir._hold_keys(names, false);`, `null;`,
		engineTests, "TestOpenersWaitForNobody",
	},
	{
		"set_pool takes the pool's lock", "schema/functions/engine/set_pool.sql",
		`perform weir._hold_keys(array[set_pool.name], false);`, ``,
		engineTests, "TestOpenersWaitForNobody",
	},
	{
		"one raises the floors", "schema/functions/engine/_raise_floors.sql",
		` or not pg_try_advisory_xact_lock(86, 1)`, ``,
		engineTests, "TestOneRaisesTheFloors",
	},
	{
		"floors wait for open transactions", "schema/functions/engine/_raise_floors.sql",
		` or h.xid >= pg_snapshot_xmin(pg_current_snapshot())::text::bigint`, ``,
		engineTests, "TestR2AFloorWaitsForOpenSubmitters",
	},
	{
		"a retry that somebody has is left", "schema/functions/fleet/_fleet_lease_retries.sql",
		`and a.position = p.position
      for update skip locked`, `and a.position = p.position for update`,
		fleetTests, "TestARetryThatSomebodyHasIsLeft",
	},
}
