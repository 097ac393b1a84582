package fleetpages

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// devicesView is a list of devices.
type devicesView struct {
	// used is how the PC was used, where the list is that of a PC.
	used               usedView
	rows               []fleet.Device
	filter             fleet.DeviceFilter
	presence           string
	healths, presences []site.Chip
	newest, older      string
}

func (v devicesView) filtered() bool {
	return v.filter.PC != "" || v.filter.Health != "" || v.presence != "" || v.filter.Search != ""
}

// presences are what a list of devices may be narrowed to.
var presences = []string{"online", "offline"}

func (w *pages) devices(r *site.Request, store *fleet.Store) (site.View, error) {
	health, err := r.OneOf("health", fleet.Healths)
	if err != nil {
		return site.View{}, err
	}
	there, err := r.OneOf("presence", presences)
	if err != nil {
		return site.View{}, err
	}
	v := devicesView{
		filter: fleet.DeviceFilter{PC: r.Query("pc"), Health: health, Search: r.Query("search")}, presence: there,
		healths: site.Chips(r, "health", "health.", fleet.Healths, health), presences: site.Chips(r, "presence", "presence.", presences, there),
	}
	if there != "" {
		v.filter.Online = strconv.FormatBool(there == "online")
	}
	rows, err := store.Devices(r.Context(), v.filter, site.NamesPage(r))
	if err != nil {
		return site.View{}, err
	}
	v.rows, v.newest, v.older = site.NamesPaged(r, rows, func(d fleet.Device) string { return d.Serial })
	if v.filter.PC != "" && len(rows) > 0 {
		spent, err := store.PCUsage(r.Context(), v.filter.PC)
		if err != nil {
			return site.View{}, err
		}
		v.used.windows = spent.Windows
	}
	return site.View{Body: devicesPage(v)}, nil
}

// outHealths are what keeps a device out until somebody or something brings it back.
var outHealths = []string{fleet.HealthQuarantined, fleet.HealthMaintenance}

// quarantineView is every device that a run, a person or its health put out.
type quarantineView struct {
	rows   []fleet.Device
	health string
	chips  []site.Chip
	// checked says that there is a health task, which may bring one back.
	checked       bool
	can           fleetRights
	newest, older string
}

func (w *pages) quarantine(r *site.Request, store *fleet.Store) (site.View, error) {
	health, err := r.OneOf("health", outHealths)
	if err != nil {
		return site.View{}, err
	}
	v := quarantineView{can: fleetRightsOf(r), health: health, chips: site.Chips(r, "health", "health.", outHealths, health)}
	var rows []fleet.Device
	for _, out := range outHealths {
		if health != "" && health != out {
			continue
		}
		more, err := store.Devices(r.Context(), fleet.DeviceFilter{Health: out}, site.NamesPage(r))
		if err != nil {
			return site.View{}, err
		}
		rows = append(rows, more...)
	}
	slices.SortFunc(rows, func(a, b fleet.Device) int { return strings.Compare(a.Serial, b.Serial) })
	v.rows, v.newest, v.older = site.NamesPaged(r, rows, func(d fleet.Device) string { return d.Serial })
	policy, err := store.Policy(r.Context())
	if err != nil {
		return site.View{}, err
	}
	v.checked = policy.Health != nil
	return site.View{Body: quarantinePage(v)}, nil
}

const (
	// logShown is how many lines the log of a device has, unitsShown how many runs.
	logShown, unitsShown = 100, 30
)

// deviceView is a device with what became of it.
type deviceView struct {
	fleet.Device
	log  []fleet.DeviceEvent
	runs []fleet.Unit
	used usedView
	// checked says that there is a health task, which may bring it back.
	checked bool
	can     fleetRights
}

// The commands that make sense; the store decides.
func (v deviceView) mayMaintain() bool {
	return v.can.device && v.Health != fleet.HealthMaintenance && v.Health != fleet.HealthRetired
}

func (v deviceView) mayRelease() bool {
	return v.can.device && (v.ReservedBy != "" || v.Health == fleet.HealthQuarantined || v.Health == fleet.HealthMaintenance || v.Health == fleet.HealthSuspect)
}

func (v deviceView) mayQuarantine() bool {
	return v.can.device && (v.Health == fleet.HealthGood || v.Health == fleet.HealthUnknown || v.Health == fleet.HealthSuspect)
}

func (v deviceView) mayReserve() bool {
	return v.can.device && v.ReservedBy == "" && v.Health != fleet.HealthRetired
}

func (v deviceView) mayRetire() bool { return v.can.device && v.Health != fleet.HealthRetired }

func (w *pages) device(r *site.Request) (site.View, error) {
	store, err := w.fleets()
	if err != nil {
		return site.View{}, err
	}
	ctx, serial := r.Context(), r.PathValue("serial")
	v := deviceView{can: fleetRightsOf(r)}
	if v.Device, err = store.Device(ctx, serial); err != nil {
		return site.View{}, err
	}
	if v.log, err = store.DeviceLog(ctx, serial, logShown); err != nil {
		return site.View{}, err
	}
	if v.runs, err = store.DeviceUnits(ctx, serial, unitsShown); err != nil {
		return site.View{}, err
	}
	past, err := store.DeviceHistory(ctx, serial, pastRead)
	if err != nil {
		return site.View{}, err
	}
	spent, err := store.DeviceUsage(ctx, serial)
	if err != nil {
		return site.View{}, err
	}
	v.used = usedView{windows: spent.Windows, life: devicePast(ctx, past, ui.Now(ctx))}
	policy, err := store.Policy(ctx)
	if err != nil {
		return site.View{}, err
	}
	v.checked = policy.Health != nil
	// What runs on it is told by its task, which may be one of many in an event.
	follow := &timeline.Filter{Match: func(e *timeline.Event) bool {
		return e.Kind == "device" && e.Subject == serial || e.Kind == "pc" || e.Kind == "task"
	}}
	return site.View{Head: ui.Head{Title: ui.Line(v.Serial)}, Plain: true, Body: devicePage(v), Follow: follow}, nil
}

// pcsView is the PCs with their slots.
type pcsView struct {
	rows          []fleet.PC
	filter        fleet.PCFilter
	shows         []site.Chip
	can           fleetRights
	newest, older string
}

func (v pcsView) filtered() bool { return v.filter != fleet.PCFilter{} }

func (w *pages) pcs(r *site.Request, store *fleet.Store) (site.View, error) {
	show, err := r.OneOf("show", []string{trouble})
	if err != nil {
		return site.View{}, err
	}
	v := pcsView{filter: fleet.PCFilter{Search: r.Query("pc"), Trouble: show == trouble}, shows: shows(r, show), can: fleetRightsOf(r)}
	rows, err := store.PCPage(r.Context(), v.filter, site.NamesPage(r))
	if err != nil {
		return site.View{}, err
	}
	v.rows, v.newest, v.older = site.NamesPaged(r, rows, func(p fleet.PC) string { return p.Name })
	return site.View{Body: pcsPage(v)}, nil
}

func (w *pages) fleetPolicy(r *site.Request, store *fleet.Store) (site.View, error) {
	p, err := store.Policy(r.Context())
	if err != nil {
		return site.View{}, err
	}
	return site.View{Body: fleetPolicyPage(p, healthText(p.Health), fleetRightsOf(r).policy)}, nil
}

// eventLook is how a line of the log looks: as the state that it leads to.
func eventLook(e fleet.DeviceEvent) site.Look {
	if l, ok := deviceLooks[e.Type]; ok {
		return l
	}
	switch e.Type {
	case "online":
		return site.Look{Icon: "live", Class: "is-done"}
	case "offline":
		return site.Look{Icon: "offline", Class: "is-idle"}
	case "power":
		return site.Look{Icon: "retry", Class: "is-pending"}
	case "check_failed":
		return site.Look{Icon: "failed", Class: "is-failed"}
	case "reserved", "forwarded":
		return site.Look{Icon: "lock", Class: "is-held"}
	case "unreserved", "unforwarded":
		return site.Look{Icon: "live", Class: "is-done"}
	case "conflict":
		return site.Look{Icon: "alert", Class: "is-held"}
	}
	return site.Look{Icon: "info", Class: "is-pending"}
}

// eventWord is what happened to a device, in the reader's language.
func eventWord(ctx context.Context, e fleet.DeviceEvent) string {
	if _, ok := deviceLooks[e.Type]; ok {
		return ui.Code(ctx, "health.", e.Type)
	}
	return ui.Code(ctx, "devicelog.", e.Type)
}
