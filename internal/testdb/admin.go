package testdb

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
)

// admins are idle connections to the maintenance database. They are reused because a new
// connection costs both sides more than the work that a test does with it.
var admins struct {
	sync.Mutex
	idle []*pgx.Conn
}

// asAdmin calls do with a connection to the maintenance database. A connection that do
// breaks is not reused.
func asAdmin(ctx context.Context, adminURL string, do func(admin *pgx.Conn) error) error {
	admin := takeAdmin()
	if admin == nil {
		var err error
		if admin, err = pgx.Connect(ctx, adminURL); err != nil {
			return fmt.Errorf("connect to the test cluster: %w", err)
		}
	}
	defer func() {
		if admin.IsClosed() {
			return
		}
		admins.Lock()
		defer admins.Unlock()
		admins.idle = append(admins.idle, admin)
	}()
	return do(admin)
}

// takeAdmin returns an idle connection, or nil.
func takeAdmin() *pgx.Conn {
	admins.Lock()
	defer admins.Unlock()
	n := len(admins.idle)
	if n == 0 {
		return nil
	}
	admin := admins.idle[n-1]
	admins.idle = admins.idle[:n-1]
	return admin
}

// closeAdmins closes the idle connections.
func closeAdmins(ctx context.Context) {
	admins.Lock()
	defer admins.Unlock()
	for _, admin := range admins.idle {
		_ = admin.Close(ctx) // the process ends anyway
	}
	admins.idle = nil
}
