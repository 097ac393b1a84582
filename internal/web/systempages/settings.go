package systempages

import (
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

func (w *pages) settings(r *site.Request) (site.View, error) {
	ctx := r.Context()
	var settings []site.Setting
	if w.Settings != nil {
		settings = w.Settings()
	}
	return site.View{
		Head: ui.Head{Title: ui.Say(ctx, "word.settings"), Sub: settingsSub()}, Body: settingsPage(settings),
		Still: true,
	}, nil
}
