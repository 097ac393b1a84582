package web

import "github.com/weirhq/weir/internal/web/ui"

func (w *Web) settings(*Request) (View, error) {
	var settings []Setting
	if w.config.Settings != nil {
		settings = w.config.Settings()
	}
	return View{Head: ui.Head{Title: "Settings", Sub: settingsSub()}, Body: settingsPage(settings), Still: true}, nil
}
