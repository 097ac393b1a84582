package agent_test

import (
	"testing"

	"github.com/weirhq/weir/internal/agent/driver/exec"
	"github.com/weirhq/weir/internal/testdb"
)

func TestMain(m *testing.M) {
	exec.KeeperMain()
	agentMain()
	testdb.Main(m)
}
