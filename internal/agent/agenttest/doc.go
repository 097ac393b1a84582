// Package agenttest is the one suite that every transport of an agent passes, so that
// transports are interchangeable.
//
//	func TestSQL(t *testing.T) {
//		agenttest.Suite(t, func(t *testing.T, p *agenttest.Parts, node string) agent.Transport {
//			return node.NewDesk(p.DB.Pool, node, …)
//		})
//	}
package agenttest
