package web

import (
	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

func (w *Web) settings(r *site.Request) (site.View, error) {
	ctx := r.Context()
	var settings []site.Setting
	if w.config.Settings != nil {
		settings = w.config.Settings()
	}
	return site.View{
		Head: ui.Head{Title: ui.Say(ctx, "word.settings"), Sub: settingsSub()}, Body: settingsPage(settings),
		Still: true,
	}, nil
}
