package testdb

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
)

// admins are connections to the maintenance database that nobody uses just now. A
// new one costs both sides more than what a test asks of it.
var admins struct {
	sync.Mutex
	idle []*pgx.Conn
}

// asAdmin calls do with a connection to the maintenance database. A connection that
// do breaks is not used again.
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

// takeAdmin is an idle connection, or nil.
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

// closeAdmins ends the connections that nobody uses any more.
func closeAdmins(ctx context.Context) {
	admins.Lock()
	defer admins.Unlock()
	for _, admin := range admins.idle {
		_ = admin.Close(ctx) // the process ends anyway
	}
	admins.idle = nil
}
