package archtest

import "regexp"

// imports is the map of ARCHITECTURE.md. Imports point down, never up or sideways.
var imports = importRules{
	module: "github.com/weirhq/weir",
	layers: []layer{
		{"cmd", []string{"cmd/weir"}, "main only hands over to cli"},
		{"cli", []string{"internal/cli"}, "commands are the outermost face: nothing depends on how it is typed"},
		{"app", []string{"internal/app"}, "app is the one place that wires, so nothing below knows of it"},
		{"faces", []string{"internal/httpapi", "internal/web", "internal/proxy", "internal/agent", "internal/metrics", "internal/remote"}, "each face can be left out of a deployment, so none needs another"},
		{"domains", []string{"internal/account", "internal/work", "internal/workflow", "internal/rollout", "internal/fleet", "internal/workspace"}, "domains never import one another: what two of them need belongs in engine"},
		{"operations", []string{"internal/op"}, "an operation is described once, by its domain, and carried out by whoever has a store or a server"},
		{"engine", []string{"internal/engine", "internal/node"}, "the engine contains no domain word, and machines are not tasks"},
		{"facts", []string{"internal/timeline", "internal/vault", "internal/auth", "internal/trace"}, "what happened, what is stored, what is secret, who asks, where it is watched: none needs to know about work"},
		{"blob", []string{"internal/blob"}, "a bucket does not know what is put into it, and old facts are put there too"},
		{"problem", []string{"internal/problem"}, "every face shows errors the same way, and everything below may make one"},
		{"pg", []string{"internal/pg"}, "connections and migrations know no table"},
		{"bridge", []string{"weirotel"}, "it joins the SDK to a library that the SDK must not know"},
		{"ground", []string{"schema", "."}, "the ground knows nothing above it: schema is data, the SDK is what users vendor"},
		{"tending", []string{"internal/tending", "internal/coordinator"}, "who leads and what time brings about are the same for the SDK and the server"},
		{"wire", []string{"internal/listen"}, "the LISTEN connection and the address are what the SDK and the server share"},
		{"address", []string{"internal/dsn"}, "whoever connects reads the address in one place"},
		{"request", []string{"internal/requestinfo", "internal/pgtext", "internal/spelling", "internal/locale", "internal/reason", "internal/blame", "internal/pattern", "internal/period", "internal/uptime", "internal/leasing", "internal/refusal", "internal/loop"}, "what all faces note of the request they serve, what is done to text and patterns of others, the words of pages and reasons, whose fault an error is, what a refusal says to programs, how a length of time is written, how long the machine is up, the clock: they stand on nothing"},
	},
	free: allowed{
		"internal/testdb":                          "gives tests a database; the product never imports it",
		"internal/testwait":                        "lets tests wait; the product never imports it",
		"internal/archtest":                        "reads the tree; the product never imports it",
		"internal/mutate":                          "takes guards out of the tree; the product never imports it",
		"internal/buildtest":                       "builds programs for tests; the product never imports it",
		"internal/dockertest":                      "gives tests a Docker engine; the product never imports it",
		"internal/redistest":                       "gives tests a Redis; the product never imports it",
		"internal/mariatest":                       "gives tests a MariaDB; the product never imports it",
		"internal/agent/agenttest":                 "drives the transports of agents from outside",
		"internal/web/webtest":                     "drives the dashboard from outside",
		"internal/blob/blobtest":                   "gives tests an S3 server; the product never imports it",
		"internal/workspace/provider/providertest": "drives the providers of workspaces from outside",
		"chaos":     "drives the whole product from outside",
		"scenarios": "drives the whole product from outside",
		"examples":  "is a user of the product",
		"scripts":   "is a tool of the developer",
	},
	only: []only{
		{".", []string{"github.com/jackc/pgx/v5", "github.com/weirhq/weir/internal/listen", "github.com/weirhq/weir/internal/pgtext", "github.com/weirhq/weir/internal/blame", "github.com/weirhq/weir/internal/dsn", "github.com/weirhq/weir/internal/uptime", "github.com/weirhq/weir/internal/leasing", "github.com/weirhq/weir/internal/refusal", "github.com/weirhq/weir/internal/tending", "github.com/weirhq/weir/internal/coordinator", "github.com/weirhq/weir/internal/loop"}, "the SDK is the standard library and pgx: every further dependency would be forced on its users"},
		{"schema", nil, "schema is SQL and its embedding, nothing else"},
		{"internal/loop", nil, "a clock needs the standard library only"},
		{"internal/requestinfo", nil, "what everything may import imports nothing"},
		{"internal/dsn", []string{"github.com/jackc/pgx/v5"}, "the SDK imports it, and the SDK is the standard library and pgx"},
		{"internal/blame", []string{"github.com/jackc/pgx/v5"}, "the SDK imports it, and the SDK is the standard library and pgx"},
		{"internal/uptime", nil, "the SDK imports it, and the SDK is the standard library and pgx"},
		{"internal/leasing", nil, "the SDK imports it, and the SDK is the standard library and pgx"},
		{"internal/tending", []string{"github.com/jackc/pgx/v5", "github.com/weirhq/weir/internal/listen", "github.com/weirhq/weir/internal/blame", "github.com/weirhq/weir/internal/loop"}, "the SDK imports it, and the SDK is the standard library and pgx"},
		{"internal/coordinator", []string{"github.com/jackc/pgx/v5", "github.com/weirhq/weir/internal/blame", "github.com/weirhq/weir/internal/loop"}, "the SDK imports it, and the SDK is the standard library and pgx"},
		{"internal/pgtext", nil, "the SDK imports it, and the SDK is the standard library and pgx"},
	},
	owners: []owner{
		{"github.com/spf13/cobra", []string{"internal/cli", "cmd/weir"}, "how a command is typed is no concern of the rest"},
		{"github.com/pressly/goose/v3", []string{"internal/pg"}, "one place migrates"},
		{"github.com/jackc/pgx/v5", []string{
			".", "internal/app", "internal/agent", "internal/coordinator", "internal/tending", "internal/work", "internal/workflow", "internal/rollout", "internal/fleet",
			"internal/workspace", "internal/engine", "internal/node", "internal/timeline", "internal/vault", "internal/blob/garbage", "internal/auth", "internal/problem", "internal/pg", "internal/listen", "internal/blame", "internal/dsn", "internal/trace",
			"internal/testdb", "chaos", "scenarios", "examples",
		}, "httpapi, web, proxy and cli ask a store, so that rules and SQL stay in one place"},
		{"github.com/danielgtaylor/huma/v2", []string{"internal/httpapi"}, "how a route is described is no concern of the rest"},
		{"github.com/prometheus", []string{"internal/metrics"}, "the rest is measured and need not know by what"},
		{"go.opentelemetry.io", []string{"internal/trace", "internal/app", "weirotel", "examples"}, "the rest is handed a context that carries its trace"},
		{"github.com/exaring/otelpgx", []string{"internal/trace"}, "one place traces statements"},
		{"database/sql", []string{"internal/pg", "internal/rollout/target", "internal/mariatest"}, "we speak pgx; only the migration library and the driver of MySQL want database/sql"},
		{"github.com/go-sql-driver/mysql", []string{"internal/rollout/target", "internal/mariatest"}, "one place speaks MySQL"},
		{"github.com/minio/minio-go/v7", []string{"internal/blob"}, "one place speaks S3"},
		{"github.com/versity/versitygw", []string{"internal/blob/blobtest"}, "test code never reaches the binary"},
		{"github.com/a-h/templ", []string{"internal/web"}, "how a page is written is no concern of the rest"},
		{"testing", []string{"internal/agent/agenttest", "internal/workspace/provider/providertest", "internal/testdb", "internal/testwait", "internal/blob/blobtest", "internal/dockertest", "internal/mariatest", "internal/redistest", "internal/web/webtest", "chaos", "scenarios"}, "test code never reaches the binary"},
		{"github.com/chromedp/chromedp", []string{"internal/web/webtest"}, "test code never reaches the binary"},
		{"pgregory.net/rapid", []string{"chaos"}, "test code never reaches the binary"},
		{"github.com/anishathalye/porcupine", []string{"chaos"}, "test code never reaches the binary"},
		{"github.com/Shopify/toxiproxy/v2", []string{"chaos"}, "test code never reaches the binary"},
		{"go.uber.org/goleak", []string{"internal/testwait", "internal/testdb", "internal/dockertest"}, "test code never reaches the binary"},
		{"github.com/rogpeppe/go-internal", []string{"scenarios"}, "test code never reaches the binary"},
	},
}

// clocks may start timers. All other packages implement a Tick that receives the time.
var clocks = allowed{
	"internal/loop":          "is the clock",
	"internal/pg":            "waits for a server process to start or stop, before and after any loop can run",
	"internal/listen":        "waits between two connects, inside the SDK too",
	"internal/leasing":       "renews leases in the user's process, inside the SDK too",
	".":                      "the SDK's worker claims and reports in the user's process, and waits for what a loop does not know",
	"internal/agent":         "supervises processes, whose grace and deadlines no loop can keep",
	"internal/blob/blobtest": "waits for a server to start",
	"chaos":                  "a fault lasts for a time",
}

// patterns may compile text that is not a constant.
var patterns = allowed{
	"internal/pattern":  "counts what a pattern costs before it compiles it",
	"internal/archtest": "reads the tree; the product never imports it",
}

// embeddedSQL keeps statements where a reader looks for them.
var embeddedSQL = sqlRules{
	none: allowed{
		"cmd":              "main only hands over",
		"internal/cli":     "a command asks a store or the API",
		"internal/httpapi": "routes hold no rules and no SQL",
		"internal/web":     "a page shows what a store read",
		"internal/proxy":   "the proxy asks the workspace store",
		"internal/loop":    "a clock has no database",
		"internal/remote":  "a client asks the API",
		"internal/metrics": "a scrape shows what a store read",
	},
	free: allowed{
		"internal/rollout/target": "speaks to databases of others: SQL is its subject",
	},
	store: allowed{
		"internal/workflow":  "a domain keeps all its SQL in one file",
		"internal/rollout":   "a domain keeps all its SQL in one file",
		"internal/fleet":     "a domain keeps all its SQL in one file",
		"internal/workspace": "a domain keeps all its SQL in one file",
	},
}

// positions requires that rows are read and built by name, because an added column would
// shift a list of names that was not updated.
var positions = wordRule{
	name:  "positions",
	dirs:  []string{"schema/functions", "schema/views"},
	words: regexp.MustCompile(`\)( with ordinality)? \w+ \((\w+, ){6,}|\brow\(`),
	why:   "read a row by the names of its type (unnest(rows) with ordinality r, r.column), and build it by a function with named arguments",
	known: allowed{
		"schema/functions/engine/_finished_row.sql":  "builds the row for all others; TestRowsAreBuiltByName",
		"schema/functions/fleet/_fleet_pick_row.sql": "builds the row for all others; TestRowsAreBuiltByName",
	},
}

// sentences are for people. A state, a kind or a field that is read out of one would
// change with its wording.
var sentences = wordRule{
	name:  "sentences",
	dirs:  []string{"schema/functions", "schema/views"},
	words: regexp.MustCompile(`\blike '[a-z][^']* [^']*'`),
	why:   "a sentence is for people, and decides nothing",
}

// refusals carry their field, pattern and arguments. See decision 0023.
var refusals = wordRule{
	name:  "refusals",
	dirs:  []string{"schema/functions"},
	words: regexp.MustCompile(`\braise exception\b|\b_(invalid|fault)\((format\(|'[^']*[: ])`),
	why:   "a refusal is weir._invalid(field, pattern, arguments), or another that calls weir._raise",
	known: allowed{
		"schema/functions/engine/_raise.sql":  "the others call it",
		"schema/functions/auth/_own_node.sql": "an error of PostgreSQL, not one of ours",
	},
}

// domains are the users of the engine. A domain takes part in the engine's work by a trigger,
// by a view in its folder or by a function that weir._hook finds.
var domains = wordRule{
	name:  "domains",
	dirs:  []string{"schema/functions/engine", "schema/views/engine"},
	why:   "SQL of the engine knows no domain",
	words: regexp.MustCompile(`\bweir\.(\w*(fleet|device|rollout|workspace|workflow)\w*|pcs)\b`),
	known: allowed{
		"schema/functions/engine/_fire.sql":   "a schedule starts tasks, fleet jobs or workflows; a thousand of them may be due at once, and a hook would look up a function for each",
		"schema/functions/engine/doctor.sql":  "the doctor asks each domain, in the order in which people read it",
		"schema/functions/engine/_submit.sql": "a submission compares its services with the one that the fleet keeps for itself; a hook would cost each submission a query",
		"schema/functions/engine/claim.sql":   "a claim does, too",
	},
}

// recipes are what is added most often to the engine. A place that is forgotten and a place
// that nobody wrote down both fail.
var recipes = []recipe{
	{
		heading: "Add a column to a task",
		names:   regexp.MustCompile(`(?m)^type task_spec\n((?:  .*\n)+)`),
		form:    `\b%[1]s\b|\b%[2]s\b`,
		list:    5,
		most:    6,
		but: map[string]string{
			"schema/functions/engine/submit.sql":           "key needs rule plan run", // of a job, or for an agent
			"schema/functions/engine/_write_job_tasks.sql": "idempotency_key unique_key",
			"task.go":                 "plan", // the planner alone sets it
			"internal/work/submit.go": "plan",
		},
	},
	{
		heading: "Add a gate",
		names:   regexp.MustCompile(`(?m)^enum gate: (.*)$`),
		form:    `['"]%[1]s['"]|\bGate%[2]s\b|"gate\.%[1]s"`,
		list:    5,
		most:    10,
		but:     map[string]string{"schema/functions/engine/_next_gate.sql": "needs"}, // it comes after needs
	},
}

// locks are the classes of advisory locks, each with its owner. See decision 0022.
var locks = []lockRule{
	{85, []string{"schema/functions/engine"}, "partitions are made and dropped by one at a time"},
	{86, []string{"schema/functions/engine"}, "the leader's work (0 tends, 1 marks and floors, 2 takes a restored database over)"},
	{87, []string{"schema/functions/engine"}, "a bucket of lanes or pools, by its number"},
	{88, []string{"schema/functions/engine", "schema/functions/fleet"}, "claims of one worker come one by one, by its id"},
	{89, []string{"schema/functions/fleet"}, "fleets (1 tends, all others: which job of a lane is active, 0 the default one, by its hash)"},
	{90, []string{"schema/functions/flow"}, "a job that is inserted with its id, by its hash"},
	{91, []string{"schema/functions/flow"}, "a place in the order of jobs"},
	{93, []string{"schema/functions/rollout"}, "commands on one database of rollouts, by the hash of its name"},
	{94, []string{"schema/functions/engine"}, "a lane, by the hash of its name"},
	{95, []string{"schema/functions/engine"}, "a pool, by the hash of its name"},
	{96, []string{"schema/functions/flow"}, "versions of one workflow, by the hash of its name"},
	{97, []string{"internal/auth"}, "users are made, changed and removed by one at a time"},
	{98, []string{"schema/functions/rollout"}, "commands on one rollout, by the hash of its id"},
}

// vague names say where code was put, not what it is.
var vague = allowed{
	"util":    "name the noun it is about",
	"utils":   "name the noun it is about",
	"common":  "what is common has a name of its own",
	"helpers": "put the function beside its caller",
	"types":   "a type lives with what it does",
	"manager": "say what it does to what",
}

// sizes follow exemplary codebases: their longest files and functions end about here.
var sizes = sizeRules{
	fileLines:   600,
	funcLines:   90,
	folderFiles: 45,
	columns:     map[string]int{"schema": 120},
	made:        []string{"schema/golden.sql", "schema/functions/engine/_words.sql"},
	long: allowed{
		".":                          "the SDK is one package for its users, and the root has the files of the repository",
		"chaos":                      "one history and one judge for all faults",
		"internal/app":               "wiring has one scope; its tests run the whole server",
		"internal/engine/enginetest": "the tests of the SQL share one rig",
		"internal/engine/view":       "read queries of one store",
		"internal/rollout/target":    "one protocol for two engines of databases",
		"internal/workspace":         "a domain with its store, controller, clock and collector",
	},
}

// texts keeps details of the author's machine out of the repository.
var texts = textRules{
	banned: []banned{
		{sign: []string{"/work"}, re: regexp.MustCompile("(^|[\\s\"'(=`])/work(/|$|[\\s\"'`)])"), why: "it is a path of one machine"},
		{sign: []string{"/root/", "/farm/"}, re: regexp.MustCompile("(^|[\\s\"'(=`])/(root|farm)/"), why: "it is a path of one machine"},
		{sign: []string{"/home/"}, re: regexp.MustCompile(`/home/[a-z]\w*/`), but: []string{"/home/linuxbrew/"}, why: "it is a path of one machine"},
		{sign: []string{"/tmp/"}, re: regexp.MustCompile("(^|[\\s\"'(=`])/tmp/"), in: []string{".md", ".txt", ".yaml", ".yml"}, why: "a guide names a folder the reader chooses"},
		{sign: []string{".pyenv"}, re: regexp.MustCompile(`\.pyenv\b`), why: "it is a set-up of one machine"},
		{sign: []string{"registry.npmjs.org", "proxy.golang.org", "deb.debian.org", "files.pythonhosted.org"}, re: regexp.MustCompile(`(registry\.npmjs|proxy\.golang|deb\.debian|files\.pythonhosted)\.org`), why: "the reader's own tools know their registry"},
		{sign: []string{"TODO", "FIXME", "XXX"}, re: regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`), in: []string{".go", ".sql", ".sh", ".py", ".md"}, why: "decide it, or write a decision and link it"},
		{sign: []string{"#nosec", "//lint:ignore", "//nolint"}, re: regexp.MustCompile(`(#nosec[ G0-9,]*|//lint:ignore \S+|//nolint\S*)\s*$`), in: []string{".go"}, why: "a silenced linter needs its reason on the same line"},
	},
	quiet: allowed{
		"internal/archtest": "holds these rules and their bad examples",
	},
}
