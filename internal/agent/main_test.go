package agent_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirhq/weir/internal/agent"
	"github.com/weirhq/weir/internal/agent/agenttest"
	"github.com/weirhq/weir/internal/agent/driver/exec"
	"github.com/weirhq/weir/internal/node"
	"github.com/weirhq/weir/internal/testdb"
)

func TestMain(m *testing.M) {
	exec.KeeperMain()
	agentMain()
	testdb.Main(m)
}

func TestDeskIsATransport(t *testing.T) {
	agenttest.Suite(t, func(_ *testing.T, p *agenttest.Parts, name string) agent.Transport {
		return node.NewDesk(p.DB.Pool, name, node.Options{Bucket: p.Bucket, Vault: p.Vault, Hints: p.Hints})
	})
}

// A node needs no rights other than those of weir_worker.
func TestDeskAsAWorkerOfTheDatabase(t *testing.T) {
	agenttest.Suite(t, func(t *testing.T, p *agenttest.Parts, name string) agent.Transport {
		config := p.DB.Pool.Config()
		config.ConnConfig.RuntimeParams["role"] = "weir_worker"
		pool, err := pgxpool.NewWithConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pool.Close)
		return node.NewDesk(pool, name, node.Options{Bucket: p.Bucket, Vault: p.Vault, Hints: p.Hints})
	})
}
