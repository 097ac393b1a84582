package web

import "github.com/weirhq/weir/internal/web/ui"

func (w *Web) settings(r *Request) (View, error) {
	ctx := r.Context()
	var settings []Setting
	if w.config.Settings != nil {
		settings = w.config.Settings()
	}
	return View{
		Head: ui.Head{Title: ui.Say(ctx, "word.settings"), Sub: settingsSub()}, Body: settingsPage(settings),
		Still: true,
	}, nil
}
