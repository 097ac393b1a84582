// Package redistest gives tests a private redis-server, with its own port and folder, that
// can be killed and started again. The product never imports it.
package redistest
