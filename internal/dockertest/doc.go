// Package dockertest gives tests a real Docker engine of their own, and an image to run
// on it. The product never imports it.
//
//	func TestMain(m *testing.M) { dockertest.Main(m) }
//
//	func TestRuns(t *testing.T) {
//		host := dockertest.Daemon(t)        // unix://…/docker.sock
//		image := dockertest.Image(t, host)  // one static binary, see testdata/probe
//	}
//
//	test process ──starts──► dockerd ─► containerd ─► containers
//	      │ pipe                 ▲            (one cgroup, one folder)
//	      └──────► guard ────────┘ ends all of it when the pipe closes
//
// The engine has its own folder, socket and cgroup, no bridge and no firewall rules, so
// it disturbs neither the machine nor another test process. It lives as long as the
// process; without Main, as long as a test uses it. The guard is a small shell script
// that waits for the end of a pipe: whatever happens to the test process, the guard
// removes the engine, its containers, its mounts and its folder with it.
//
// No image registry is needed: the image is built from a Go program of this repository.
// Where Docker is missing or may not run, tests are skipped with the reason; with CI=true
// they fail.
package dockertest
