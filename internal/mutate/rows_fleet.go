package mutate

const fleetTests = "./internal/fleet"

// fleetRows are the guards of fleets.
var fleetRows = []Row{
	{
		"slots are counted under the PC's lock", "schema/functions/fleet_claim.sql",
		`where x.id = n.id for no key update;`, `where x.id = n.id;`,
		fleetTests, "TestSlotsAreCountedUnderThePCsLock",
	},
	{
		"a repeated claim of a PC gets the same leases", "schema/functions/fleet_claim.sql",
		`if s.again then`, `if false then`,
		fleetTests, "TestClaimAgain",
	},
	{
		"a device runs one task", "schema/migrations/0011_fleets.sql",
		`create unique index running_device`, `create index running_device`,
		fleetTests, "TestTheIndexesOfFleets",
	},
	{
		"one job is active", "schema/migrations/0011_fleets.sql",
		`create unique index fleet_active`, `create index fleet_active`,
		fleetTests, "TestTheIndexesOfFleets",
	},
	{
		"a unit has one task", "schema/migrations/0011_fleets.sql",
		`create unique index fleet_units_task`, `create index fleet_units_task`,
		fleetTests, "TestTheIndexesOfFleets",
	},
	{
		"a failure by the infrastructure is for the live lease", "schema/functions/fleet_fail.sql",
		` and x.token = fleet_fail.token and x.device is not null`, ` and x.device is not null`,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"a harmless failure is for the live lease", "schema/functions/fleet_fail.sql",
		` and x.token = fleet_fail.token) then`, `) then`,
		engineTests, "TestR4StaleTokenChangesNothing",
	},
	{
		"a PC reports of its own attempt", "schema/functions/_fleet_holds.sql",
		`if r.node = n.id and (of_attempt`, `if (of_attempt`,
		fleetTests, "TestAPCReportsOfItsOwnRuns",
	},
	{
		"a retired device needs a release", "schema/functions/_device_command.sql",
		`if d.health <> all (from_states) then`, `if false then`,
		fleetTests, "TestDeviceCommands",
	},
	{
		"set_slots takes the PC's lock", "schema/functions/set_slots.sql",
		` for no key update of n;`, `;`,
		fleetTests, "TestSlotsAreCountedUnderThePCsLock",
	},
}
