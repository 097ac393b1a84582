// Package providertest is the contract of package provider as tests. A new provider passes
// it as it is, with real parts:
//
//	func TestContract(t *testing.T) { providertest.Suite(t, func(t *testing.T) providertest.Subject { … }) }
//
// The workspaces that it starts have to be the built-in one, since it reads and writes
// their files to see what is in a home.
package providertest
