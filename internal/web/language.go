package web

import (
	"net/http"

	"github.com/weirhq/weir/internal/locale"
	"github.com/weirhq/weir/internal/web/site"
)

// languageCookie is what a person chose. It is no secret and no right.
const languageCookie = "weir_language"

// language is that of a reader: the one they chose, else the one their browser asks for.
func language(hr *http.Request) *locale.Words {
	chosen := ""
	if cookie, err := hr.Cookie(languageCookie); err == nil {
		chosen = cookie.Value
	}
	return locale.Pick(chosen, hr.Header.Get("Accept-Language"))
}

// setLanguage keeps the choice of a person in their browser.
func (w *Web) setLanguage(rw http.ResponseWriter, hr *http.Request) {
	code := hr.PostFormValue("language")
	if locale.Known(code) {
		http.SetCookie(rw, &http.Cookie{ // #nosec G124 -- without Secure only on plain http, where a browser would drop it
			Name: languageCookie, Value: code, Path: "/", MaxAge: 365 * 24 * 3600, HttpOnly: true,
			Secure: w.config.Door.Secure(), SameSite: http.SameSiteLaxMode,
		})
	}
	http.Redirect(rw, hr, site.Local(hr.PostFormValue("back")), http.StatusSeeOther) // #nosec G710 -- local keeps it here
}
