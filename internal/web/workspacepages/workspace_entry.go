package workspacepages

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/weirhq/weir/internal/period"
	"github.com/weirhq/weir/internal/web/ui"
	"github.com/weirhq/weir/internal/workspace"
)

// entrySaid is what an entry of the log says beyond its kind: also what is wanted, and
// what was changed.
func entrySaid(ctx context.Context, e workspace.Entry) string {
	switch {
	case e.Type == "wanted":
		var data struct{ Desired string }
		if json.Unmarshal(e.Data, &data) != nil {
			break
		}
		return ui.Cut(strings.TrimSuffix(ui.Code(ctx, "phase.", data.Desired)+": "+ui.Line(e.Message), ": "), 200)
	case e.Type == "changed":
		return ui.Cut(ui.Line(changedSaid(ctx, e.Data)), 200)
	case e.Message == string(e.Operation):
		return ""
	case e.Type == "phase":
		return ui.Code(ctx, "phase.", e.Message)
	}
	return ui.Cut(ui.Line(e.Message), 200)
}

// changedLabels are what the fields of a change are called on the page.
var changedLabels = []struct{ field, label string }{
	{"name", "workspace.name"}, {"description", "workspace.description"}, {"image", "workspace.image"}, {"standby_ttl", "workspace.standby"}, {"archive_ttl", "workspace.archiveafter"},
}

// changedSaid is what a change has named. Forms name all fields: a name that stays is left out.
func changedSaid(ctx context.Context, raw json.RawMessage) string {
	var data map[string]*string
	if json.Unmarshal(raw, &data) != nil {
		return ""
	}
	var said []string
	for _, x := range changedLabels {
		value, named := data[x.field]
		if was := data["was"]; !named || x.field == "name" && value != nil && was != nil && *value == *was {
			continue
		}
		text := "–"
		if value != nil && *value != "" {
			text = *value
			if d, err := period.Parse(strings.ReplaceAll(text, " ", "")); err == nil && strings.HasSuffix(x.field, "_ttl") {
				text = ui.Duration(ctx, d)
			}
		}
		said = append(said, ui.Say(ctx, x.label)+": "+text)
	}
	return strings.Join(said, " · ")
}
