package node

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirhq/weir"
	"github.com/weirhq/weir/internal/pgtext"
	"github.com/weirhq/weir/internal/problem"
)

// Devices records which devices are attached to this node, and so makes it a PC. It
// returns which attempts have lost their device.
func (d *Desk) Devices(ctx context.Context, report DeviceReport) (DeviceOrders, error) {
	var orders DeviceOrders
	if len(report.Devices) > DevicesMost {
		return orders, problem.Refuse("devices", "spread them over more PCs", "%d are more than the %d that a PC may have", len(report.Devices), DevicesMost)
	}
	for i, device := range report.Devices {
		if err := device.Check(); err != nil {
			p := problem.Explain(err)
			return orders, p.At(fmt.Sprintf("devices[%d].%s", i, p.Field))
		}
	}
	// A node that may not serve devices must not take over those of other PCs either, by
	// reporting them as attached.
	var most int
	if err := d.pool.QueryRow(ctx, `select (weir.bound_slots($1, array[$2], array[$3::int], $3))[1]`, d.node, Fleet, max(report.Slots, 1)).Scan(&most); err != nil {
		return orders, wrap("report devices", err)
	}
	if most < 1 {
		return orders, problem.New(problem.Forbidden, "let it join with a token for the service "+Fleet, "the node %s may not serve devices", d.node)
	}
	var slots *int
	if report.Slots > 0 {
		slots = &most
	}
	devices := report.Devices
	if devices == nil {
		devices = []Device{} // not nil: it becomes an empty list
	}
	batch := &pgx.Batch{}
	if !report.Blind {
		batch.Queue(`select task, attempt, coalesce(why, '') from weir.fleet_report($1, $2, slots => $3)`, d.node, devices, slots).Query(func(rows pgx.Rows) (err error) {
			orders.Stop, err = pgx.CollectRows(rows, pgx.RowToStructByPos[DeviceStop])
			return err
		})
	}
	batch.Queue(`select weir.fleet_trouble($1, nullif($2, ''), $3)`, d.node, pgtext.Cut(pgtext.Text(report.Trouble), troubleMost), report.Blind)
	batch.Queue(`select coalesce(weir.pc_slots($1), 0)`, d.node).QueryRow(func(row pgx.Row) error { return row.Scan(&orders.Slots) })
	return orders, wrap("report devices", d.pool.SendBatch(ctx, batch).Close())
}

// troubleMost is how many bytes of a trouble are kept.
const troubleMost = 1000

// claimDevices leases work on the devices of this node.
func (d *Desk) claimDevices(ctx context.Context, id weir.ID, n int, length time.Duration) ([]Assignment, error) {
	if n < 1 {
		return nil, nil
	}
	// A node that may serve no devices gets no row of b, and so no claim.
	const sql = `select ` + claimColumns + `, coalesce(serial, ''), coalesce(target, '')
		from (select (weir.bound_slots($2, array[$3], array[$4::int], $4))[1] as most offset 0) b, lateral (select b.most where b.most > 0 offset 0) c,
		lateral weir.fleet_claim($1, $2, max => c.most, lease => $5, claim_id => $6)`
	var tasks []Assignment
	// Slots are counted correctly only in this isolation level, and a pooler does not
	// accept a default from the client. One batch is one round trip.
	batch := &pgx.Batch{}
	batch.Queue(`begin isolation level read committed`)
	batch.Queue(sql, d.worker, d.node, Fleet, n, length, id).Query(func(rows pgx.Rows) (err error) {
		tasks, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (Assignment, error) {
			var device Device
			a, err := assignment(row, &device.Serial, &device.Target)
			if device.Serial != "" {
				a.Device = &device
			}
			return a, err
		})
		return err
	})
	batch.Queue(`commit`)
	if err := d.pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, wrap("claim", err)
	}
	return tasks, nil
}

// failDevices reports that the infrastructure of attempts has failed, or that they could
// not be started.
func (d *Desk) failDevices(ctx context.Context, batch []Outcome) ([]Refusal, error) {
	var refused []Refusal
	for _, o := range batch {
		more, err := d.ask(ctx, "fail", []Lease{o.Lease}, ours+`select g.task, g.attempt, weir.fleet_fail(g.task, g.attempt, g.token, $5,
			infra => $6, harmless => $7, final => $8, reason => nullif($9, '')) from g`,
			pgtext.Text(o.Error), o.Infra, o.Harmless, o.Final, o.Reason)
		refused = append(refused, more...)
		if err != nil {
			return refused, err
		}
	}
	return refused, nil
}

// unclean records that the clean-up after an attempt on a device failed, before its end. An
// attempt that is over is refused when its end is reported.
func (d *Desk) unclean(ctx context.Context, o Outcome) error {
	_, err := d.ask(ctx, "record the clean-up", []Lease{o.Lease}, ours+`select g.task, g.attempt, weir.fleet_unclean(g.task, g.attempt, g.token, $5) from g`,
		pgtext.Text(o.Unclean))
	return err
}

// room returns how many tasks of the ith service there is room for.
func room(r ClaimRequest, i int) int {
	if i < len(r.Slots) {
		return min(r.N, r.Slots[i])
	}
	return r.N
}

// without returns the request without its ith service.
func without(r ClaimRequest, i int) ClaimRequest {
	r.Services = slices.Delete(slices.Clone(r.Services), i, i+1)
	if i < len(r.Slots) {
		r.Slots = slices.Delete(slices.Clone(r.Slots), i, i+1)
	}
	return r
}
