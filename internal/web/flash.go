package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/weirhq/weir/internal/web/site"
	"github.com/weirhq/weir/internal/web/ui"
)

// flashCookie carries what is said on the next page. It is signed with a key
// that only this session has, so nobody else can put words in our mouth, and
// every server of several can read it.
const flashCookie = "weir_flash"

// say keeps words for the next page.
func (w *Web) say(rw http.ResponseWriter, r *site.Request, f ui.Flash) {
	f.Text = ui.Cut(f.Text, 500)
	data, err := json.Marshal(f)
	key := sessionKey(r)
	if err != nil || f.Text == "" || len(key) == 0 {
		return
	}
	text := base64.RawURLEncoding.EncodeToString(data)
	http.SetCookie(rw, w.flash(text+"."+sign(key, text), 60))
}

func (w *Web) flash(value string, age int) *http.Cookie {
	return &http.Cookie{ // #nosec G124 -- without Secure only on plain http, where a browser would drop it
		Name: flashCookie, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: w.config.Door.Secure(), SameSite: http.SameSiteLaxMode,
	}
}

// takeFlash is what the page before left to say, and forgets it.
func (w *Web) takeFlash(rw http.ResponseWriter, r *site.Request) *ui.Flash {
	cookie, err := r.Cookie(flashCookie)
	if err != nil {
		return nil
	}
	http.SetCookie(rw, w.flash("", -1))
	text, sum, _ := strings.Cut(cookie.Value, ".")
	key := sessionKey(r)
	if len(key) == 0 || !hmac.Equal([]byte(sum), []byte(sign(key, text))) {
		return nil
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	var f ui.Flash
	if err != nil || json.Unmarshal(data, &f) != nil {
		return nil
	}
	return &f
}

// sessionKey is made of the secret that the browser shares with us.
func sessionKey(r *site.Request) []byte {
	for _, name := range []string{"__Host-weir_session", "weir_session"} {
		if cookie, err := r.Cookie(name); err == nil && cookie.Value != "" {
			key := sha256.Sum256([]byte("weir flash " + cookie.Value))
			return key[:]
		}
	}
	return nil
}

func sign(key []byte, text string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte("flash:" + text))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}
