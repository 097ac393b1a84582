// Package agenttest is the one suite that every transport of an agent passes,
// so that an agent cannot tell them apart.
//
//	func TestSQL(t *testing.T) {
//		agenttest.Suite(t, func(t *testing.T, p *agenttest.Parts, node string) agent.Transport {
//			return node.NewDesk(p.DB.Pool, node, …)
//		})
//	}
package agenttest
