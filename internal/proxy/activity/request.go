package activity

import (
	"hash/maphash"
	"net/http"
	"strings"
	"time"

	"github.com/weirhq/weir"
)

// A page that asks for the same again and again asks on its own.
const (
	repeated = 10 * time.Minute
	// remembered is how many addresses of a workspace are.
	remembered = 256
)

var seed = maphash.MakeSeed()

// asked are the addresses that a page of a workspace asked for lately.
type asked map[uint64]time.Time

// Request notes the use of a workspace by a request, unless it is one that a page makes
// on its own.
func (m *Meter) Request(id weir.ID, r *http.Request) {
	if !background(r) || m.fresh(id, r.URL.Path) {
		m.Use(id, HTTP)
	}
}

// background is what the script of a page asks for: it may be what somebody clicked on,
// and it may be a poll. On plain http browsers do not tell, and what they accept must do.
func background(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		return mode != "navigate"
	}
	return strings.HasPrefix(r.UserAgent(), "Mozilla/") && !strings.Contains(r.Header.Get("Accept"), "text/html")
}

// fresh reports whether a path has not been asked for lately, and remembers it.
func (m *Meter) fresh(id weir.ID, path string) bool {
	now := m.config.Now()
	key := maphash.String(seed, path)
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.asked[id]
	if list == nil {
		list = asked{}
		m.asked[id] = list
	}
	at, before := list[key]
	if len(list) >= remembered && !before {
		list.forget(now)
		list.shrink()
	}
	list[key] = now
	return !before || now.Sub(at) > repeated
}

// forget drops what was asked for long ago.
func (list asked) forget(now time.Time) {
	for key, at := range list {
		if now.Sub(at) > repeated {
			delete(list, key)
		}
	}
}

// shrink makes room, whatever goes.
func (list asked) shrink() {
	for key := range list {
		if len(list) < remembered {
			return
		}
		delete(list, key)
	}
}
