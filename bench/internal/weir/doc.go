// Package weir drives Weir through its Go SDK, as an application would: the client
// submits, a worker with a handler works, and no server runs. The worker then tends the
// engine itself, so every figure includes that cost.
package weir
