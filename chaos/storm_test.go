//go:build unix

package chaos

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/auth"
	"github.com/weirhq/weir/internal/auth/door"
	"github.com/weirhq/weir/internal/blob"
	"github.com/weirhq/weir/internal/engine/view"
	"github.com/weirhq/weir/internal/httpapi"
	"github.com/weirhq/weir/internal/listen"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/workflow"
	"github.com/weirhq/weir/internal/workflow/definition"
)

// stormLease is the lease of machines in a storm.
const stormLease = 3 * time.Second

// storm is a run of a workflow on machines of the product: separate processes, half of
// them over SQL, half over HTTPS, each behind a proxy.
type storm struct {
	*run
	// root is the folder of all machines, and ledger is the file that their steps write
	// to.
	root, ledger string
	bucket       blob.Bucket
	server       *httptest.Server
	ca           string
	auth         *auth.Store
	flows        *workflow.Store
	jobs         []weir.ID
}

// machine is one of them, which may be restarted several times.
type machine struct {
	*Agent
	storm  *storm
	orders Orders
	proxy  *Proxy
}

func newStorm(t *testing.T, r *run) *storm {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	r.ctx, r.lease = ctx, stormLease
	s := &storm{run: r, root: t.TempDir(), flows: workflow.New(r.pool, workflow.Options{})}
	s.ledger = filepath.Join(s.root, "ledger")
	r.silent["nobody"] = true // the worker of a step that ended by a decision and did not run
	var err error
	if s.bucket, err = blob.Open(ctx, "folder://"+filepath.Join(s.root, "bucket")); err != nil {
		t.Fatal(err)
	}
	return s
}

// conductor starts a server, which leads if no other does.
func (s *storm) conductor(name string) *Agent {
	s.Helper()
	return s.agent(Orders{Name: name, Kind: "conductor", Lease: 2 * time.Second}, nil)
}

// serve starts the HTTPS server of agents, in this process.
func (s *storm) serve() {
	s.Helper()
	log := slog.New(slog.DiscardHandler)
	sdk, err := weir.New(s.pool, &weir.Config{Logger: log})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(sdk.Close)
	s.auth = auth.New(s.pool, auth.Options{Log: log})
	entrance, err := door.New(s.auth, door.Config{Log: log})
	if err != nil {
		s.Fatal(err)
	}
	hints := s.hints()
	api := httpapi.New(httpapi.Config{
		Store: view.New(s.pool), Auth: s.auth, Door: entrance, Version: "chaos", Log: log,
		Desks: func(name string) httpapi.Desk {
			return node.NewDesk(s.pool, name, node.Options{Bucket: s.bucket, Hints: hints, Log: log})
		},
	})
	s.server = httptest.NewUnstartedServer(api.Handler())
	s.server.EnableHTTP2 = true
	s.server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	s.server.StartTLS()
	s.Cleanup(func() {
		api.Close()
		s.server.Close()
	})
	s.ca = filepath.Join(s.root, "ca.pem")
	if err := os.WriteFile(s.ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.server.Certificate().Raw}), 0o600); err != nil {
		s.Fatal(err)
	}
}

// hints returns the hints that agents wait for.
func (s *storm) hints() *node.Hints {
	listener := listen.New(s.pool.Config().ConnConfig, nil)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = listener.Run(ctx) // until the test ends
	}()
	hints := node.NewHints(s.pool, listener)
	s.Cleanup(func() {
		hints.Close()
		cancel()
		<-over
	})
	return hints
}

// machine starts a machine over sql or https, and waits until it is known.
func (s *storm) machine(name, way string, change ...func(*Orders)) *machine {
	s.Helper()
	target := s.url
	if way == "https" {
		target = s.server.URL
	}
	p, err := NewProxy(name, target)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(p.Close)
	m := &machine{storm: s, proxy: p, orders: Orders{
		Name: name, Kind: "machine", URL: p.URL(), Services: []string{"exec"}, Slots: 3,
		Machine: &Machine{Dir: filepath.Join(s.root, name), Bucket: "folder://" + filepath.Join(s.root, "bucket")},
	}}
	if way == "https" {
		m.orders.Machine.Server, m.orders.Machine.CA = p.URL(), s.ca
		if m.orders.Machine.Join, err = s.auth.CreateJoin(s.ctx, auth.System("chaos"), auth.NewJoin{Node: name, Any: true}); err != nil {
			s.Fatal(err)
		}
	}
	for _, f := range change {
		f(&m.orders)
	}
	s.silent[node.Worker(name)] = true
	s.Cleanup(func() {
		if s.Failed() {
			text, _ := os.ReadFile(m.orders.Machine.LogFile()) // it may have none
			s.Logf("log of %s:\n%s", name, text)
		}
	})
	m.start()
	s.eventually(name+" is known", func() bool {
		return s.count(`select count(*) from weir.workers where name = $1`, node.Worker(name)) == 1
	})
	return m
}

// start restarts the machine.
func (m *machine) start() { m.Agent = m.storm.agent(m.orders, nil) }

// adopted returns how often it continued the work of a previous process.
func (m *machine) adopted() int {
	text, _ := os.ReadFile(m.orders.Machine.LogFile()) // it may have none
	return strings.Count(string(text), "work of an earlier life goes on")
}

// busy waits until the machine runs something. It returns false if there is no work.
func (m *machine) busy() bool {
	busy := func() bool {
		begun, err := filepath.Glob(filepath.Join(m.orders.Machine.Dir, "attempts", "*", "state", "*"))
		return err == nil && len(begun) > 0
	}
	m.storm.within(20*time.Second, func() bool { return busy() || m.storm.live() == 0 })
	return busy()
}

func (s *storm) count(sql string, args ...any) (n int) {
	s.Helper()
	if err := s.pool.QueryRow(s.ctx, sql, args...).Scan(&n); err != nil {
		s.Error(err)
	}
	return n
}

// live returns how many jobs have not ended.
func (s *storm) live() int { return s.count(`select count(*) from weir.job_live`) }

// script is what a step does: it records in the ledger that it lives, leaves a process
// behind or fails if it is configured to, and reports who it was.
const script = `say() { echo "$1 $WEIR_TASK_ID $WEIR_ATTEMPT $WEIR_FENCE $$" >>"$LEDGER"; }
say begin
[ -z "$STRAY" ] || setsid sleep 600 &
i=0
while [ $i -lt "$BEATS" ]; do sleep 0.1; say beat; i=$((i+1)); done
if [ "$WEIR_ATTEMPT" -le "$FAILS" ]; then say fail; exit 3; fi
say end
echo "::result {\"attempt\": $WEIR_ATTEMPT, \"token\": \"$WEIR_FENCE\", \"pid\": $$}"`

// steps returns n steps in layers: each needs two of the layer before. Every tenth reads
// the result of one, so that it must be planned.
func (s *storm) steps(n, width int) []map[string]any {
	list := make([]map[string]any, n)
	key := func(i int) string { return fmt.Sprintf("s%03d", i) }
	for i := range list {
		env := map[string]string{"LEDGER": s.ledger, "BEATS": fmt.Sprint(5 + i*7%15), "FAILS": "0"}
		if i%13 == 5 {
			env["FAILS"] = "1"
		}
		if i%17 == 3 {
			env["STRAY"] = "yes"
		}
		list[i] = map[string]any{
			"key": key(i), "run": map[string]any{"argv": []string{"/bin/sh", "-c", script}, "env": env},
			"retry": map[string]any{"max_attempts": 20, "backoff": "100ms"},
		}
		if i >= width {
			above := i - i%width - width
			one, two := key(above+i%width), key(above+(i*3+1)%width)
			list[i]["needs"] = []string{one}
			if one != two {
				list[i]["needs"] = []string{one, two}
			}
			if i%10 == 7 {
				list[i]["params"] = map[string]any{"after": "{{ .needs." + one + ".result.pid }}"}
			}
		}
	}
	return list
}

// put stores a workflow.
func (s *storm) put(d map[string]any) {
	s.Helper()
	text, err := json.Marshal(d)
	if err != nil {
		s.Fatal(err)
	}
	parsed, faults := definition.Parse("storm.json", text)
	if err := faults.Err(); err != nil {
		s.Fatal(err)
	}
	if _, _, err := s.flows.Put(s.ctx, "chaos", parsed, string(text), workflow.PutOptions{}); err != nil {
		s.Fatal(err)
	}
}

// begin runs a workflow.
func (s *storm) begin(name string) weir.ID {
	s.Helper()
	job, err := s.flows.Run(s.ctx, workflow.RunRequest{Workflow: name, By: "chaos"})
	if err != nil {
		s.Fatal(err)
	}
	s.jobs = append(s.jobs, job)
	return job
}

// clears judges the storm when it is over: the engine's records, and what the steps
// wrote.
func (s *storm) clears(steps int) []Finding {
	s.Helper()
	return append(s.ended(steps), s.effects()...)
}

// ended judges the engine's records.
func (s *storm) ended(steps int) []Finding {
	s.Helper()
	found := s.findings()
	for _, job := range s.jobs {
		var state string
		var done, rows int
		if err := s.pool.QueryRow(s.ctx, `select j.state, (select count(*) from weir.task t where t.job = j.id and t.state = 'done'), (select count(*) from weir.finished f join weir.tasks t on t.id = f.task where t.job = j.id)
			from weir.job j where j.id = $1`, job).Scan(&state, &done, &rows); err != nil {
			s.Fatal(err)
		}
		if state != "done" || done != steps || rows != steps {
			found = append(found, Finding{ruleJob, "", fmt.Sprintf("job %s is %s: %d of %d steps are done, %d ended", job, state, done, steps, rows)})
		}
	}
	return found
}

// done returns the steps that succeeded.
func (s *storm) done() []Ran {
	s.Helper()
	rows, err := s.pool.Query(s.ctx, `select t.id::text, t.key, t.attempt, t.result from weir.task t where t.state = 'done' and t.run is not null`)
	if err != nil {
		s.Fatal(err)
	}
	done, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Ran])
	if err != nil {
		s.Fatal(err)
	}
	return done
}

// effects judges the ledger.
func (s *storm) effects() []Finding {
	s.Helper()
	done := s.done()
	file, err := os.Open(s.ledger)
	if err != nil {
		s.Fatal(err)
	}
	defer file.Close()
	entries, err := ReadLedger(file)
	if err != nil {
		s.Fatal(err)
	}
	attempts := map[lease]bool{}
	for _, e := range entries {
		attempts[lease{e.Task, e.Attempt}] = true
	}
	s.Logf("%d steps took %d attempts; %d lines in the ledger", len(done), len(attempts), len(entries))
	return JudgeLedger(entries, done)
}

// remains judges that the machines leave nothing behind: no work when all has ended, no
// folder of an attempt, and no process at all when they are gone.
func (s *storm) remains(machines ...*machine) []Finding {
	s.Helper()
	var found []Finding
	gone := func(what string, look func() ([]string, error)) {
		var left []string
		s.within(20*time.Second, func() bool {
			var err error
			if left, err = look(); err != nil {
				s.Fatal(err)
			}
			return len(left) == 0
		})
		if len(left) > 0 {
			found = append(found, Finding{ruleRemains, "", what + " " + strings.Join(left, ", ")})
		}
	}
	gone("work", func() ([]string, error) { return Remains(s.root, true) })
	gone("folders", func() ([]string, error) { return filepath.Glob(filepath.Join(s.root, "*", "attempts", "*")) })
	for _, m := range machines {
		m.Stop()
	}
	gone("processes", func() ([]string, error) { return Remains(s.root, false) })
	return found
}
