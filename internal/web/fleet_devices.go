package web

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/fleet"
	"github.com/weirhq/weir/internal/timeline"
	"github.com/weirhq/weir/internal/web/ui"
)

// devicesView is a list of devices.
type devicesView struct {
	rows               []fleet.Device
	filter             fleet.DeviceFilter
	presence           string
	healths, presences []chip
	newest, older      string
}

func (v devicesView) filtered() bool {
	return v.filter.PC != "" || v.filter.Health != "" || v.presence != "" || v.filter.Search != ""
}

// presences are what a list of devices may be narrowed to.
var presences = []string{"online", "offline"}

func (w *Web) devices(r *Request, store *fleet.Store) (View, error) {
	health, err := r.OneOf("health", fleet.Healths)
	if err != nil {
		return View{}, err
	}
	there, err := r.OneOf("presence", presences)
	if err != nil {
		return View{}, err
	}
	v := devicesView{
		filter: fleet.DeviceFilter{PC: r.Query("pc"), Health: health, Search: r.Query("search")}, presence: there,
		healths: chips(r, "health", "health.", fleet.Healths, health), presences: chips(r, "presence", "presence.", presences, there),
	}
	if there != "" {
		v.filter.Online = strconv.FormatBool(there == "online")
	}
	rows, err := store.Devices(r.Context(), v.filter, namesPage(r))
	if err != nil {
		return View{}, err
	}
	v.rows, v.newest, v.older = namesPaged(r, rows, func(d fleet.Device) string { return d.Serial })
	return View{Body: devicesPage(v)}, nil
}

// outHealths are what keeps a device out until somebody or something brings it back.
var outHealths = []string{fleet.HealthQuarantined, fleet.HealthMaintenance}

// quarantineView is every device that a run, a person or its health put out.
type quarantineView struct {
	rows   []fleet.Device
	health string
	chips  []chip
	// checked says that there is a health task, which may bring one back.
	checked       bool
	can           fleetRights
	newest, older string
}

func (w *Web) quarantine(r *Request, store *fleet.Store) (View, error) {
	health, err := r.OneOf("health", outHealths)
	if err != nil {
		return View{}, err
	}
	v := quarantineView{can: fleetRightsOf(r), health: health, chips: chips(r, "health", "health.", outHealths, health)}
	var rows []fleet.Device
	for _, out := range outHealths {
		if health != "" && health != out {
			continue
		}
		more, err := store.Devices(r.Context(), fleet.DeviceFilter{Health: out}, namesPage(r))
		if err != nil {
			return View{}, err
		}
		rows = append(rows, more...)
	}
	slices.SortFunc(rows, func(a, b fleet.Device) int { return strings.Compare(a.Serial, b.Serial) })
	v.rows, v.newest, v.older = namesPaged(r, rows, func(d fleet.Device) string { return d.Serial })
	policy, err := store.Policy(r.Context())
	if err != nil {
		return View{}, err
	}
	v.checked = policy.Health != nil
	return View{Body: quarantinePage(v)}, nil
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
	// checked says that there is a health task, which may bring it back.
	checked bool
	can     fleetRights
}

// The commands that make sense; the store decides.
func (v deviceView) mayMaintain() bool {
	return v.can.device && v.Health != fleet.HealthMaintenance && v.Health != fleet.HealthRetired
}

func (v deviceView) mayRelease() bool {
	return v.can.device && (v.Health == fleet.HealthQuarantined || v.Health == fleet.HealthMaintenance || v.Health == fleet.HealthSuspect)
}

func (v deviceView) mayQuarantine() bool {
	return v.can.device && (v.Health == fleet.HealthGood || v.Health == fleet.HealthUnknown || v.Health == fleet.HealthSuspect)
}

func (v deviceView) mayRetire() bool { return v.can.device && v.Health != fleet.HealthRetired }

func (w *Web) device(r *Request) (View, error) {
	store, err := w.fleets()
	if err != nil {
		return View{}, err
	}
	ctx, serial := r.Context(), r.PathValue("serial")
	v := deviceView{can: fleetRightsOf(r)}
	if v.Device, err = store.Device(ctx, serial); err != nil {
		return View{}, err
	}
	if v.log, err = store.DeviceLog(ctx, serial, logShown); err != nil {
		return View{}, err
	}
	if v.runs, err = store.DeviceUnits(ctx, serial, unitsShown); err != nil {
		return View{}, err
	}
	policy, err := store.Policy(ctx)
	if err != nil {
		return View{}, err
	}
	v.checked = policy.Health != nil
	// What runs on it is told by its task, which may be one of many in an event.
	follow := &timeline.Filter{Match: func(e *timeline.Event) bool {
		return e.Kind == "device" && e.Subject == serial || e.Kind == "pc" || e.Kind == "task"
	}}
	return View{Head: ui.Head{Title: ui.Line(v.Serial)}, Plain: true, Body: devicePage(v), Follow: follow}, nil
}

// pcsView is the PCs with their slots.
type pcsView struct {
	rows          []fleet.PC
	filter        fleet.PCFilter
	shows         []chip
	can           fleetRights
	newest, older string
}

func (v pcsView) filtered() bool { return v.filter != fleet.PCFilter{} }

func (w *Web) pcs(r *Request, store *fleet.Store) (View, error) {
	show, err := r.OneOf("show", []string{trouble})
	if err != nil {
		return View{}, err
	}
	v := pcsView{filter: fleet.PCFilter{Search: r.Query("pc"), Trouble: show == trouble}, shows: shows(r, show), can: fleetRightsOf(r)}
	rows, err := store.PCPage(r.Context(), v.filter, namesPage(r))
	if err != nil {
		return View{}, err
	}
	v.rows, v.newest, v.older = namesPaged(r, rows, func(p fleet.PC) string { return p.Name })
	return View{Body: pcsPage(v)}, nil
}

func (w *Web) fleetPolicy(r *Request, store *fleet.Store) (View, error) {
	p, err := store.Policy(r.Context())
	if err != nil {
		return View{}, err
	}
	return View{Body: fleetPolicyPage(p, healthText(p.Health), fleetRightsOf(r).policy)}, nil
}

// eventLook is how a line of the log looks: as the state that it leads to.
func eventLook(e fleet.DeviceEvent) look {
	if l, ok := deviceLooks[e.Type]; ok {
		return l
	}
	switch e.Type {
	case "online":
		return look{"live", "is-done"}
	case "offline":
		return look{"offline", "is-idle"}
	case "check_failed":
		return look{"failed", "is-failed"}
	case "conflict":
		return look{"alert", "is-held"}
	}
	return look{"info", "is-pending"}
}

// eventWord is what happened to a device, in the reader's language.
func eventWord(ctx context.Context, e fleet.DeviceEvent) string {
	if _, ok := deviceLooks[e.Type]; ok {
		return ui.Code(ctx, "health.", e.Type)
	}
	return ui.Code(ctx, "devicelog.", e.Type)
}
