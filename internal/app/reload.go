package app

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// lookEvery is how often a handshake looks whether the files of the certificate
// have changed.
const lookEvery = time.Second

// certificate is the server's own, read again when its files change. A pair that
// does not fit is not taken: who renews writes one file after the other.
type certificate struct {
	cert, key string
	log       *slog.Logger

	mu   sync.Mutex
	pair *tls.Certificate
	// looked is when the files were last looked at, seen what they were then.
	looked time.Time
	seen   [2]stamp
}

// stamp moves when a file is written.
type stamp struct {
	at   time.Time
	size int64
}

func loadCertificate(cert, key string, log *slog.Logger) (*certificate, error) {
	c := &certificate{cert: cert, key: key, log: log, looked: time.Now()}
	c.seen = c.stamps()
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("read the certificate (tls_cert, tls_key): %w", err)
	}
	c.pair = &pair
	return c, nil
}

// get is for a handshake.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.looked) >= lookEvery {
		c.looked = now
		c.look()
	}
	return c.pair, nil
}

// reload looks at the files at once.
func (c *certificate) reload() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
}

func (c *certificate) look() {
	now := c.stamps()
	if now == c.seen {
		return
	}
	c.seen = now
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		c.log.Error("the new certificate cannot be used; the old one stays", "tls_cert", c.cert, "tls_key", c.key, "error", err)
		return
	}
	c.pair = &pair
	until := time.Time{}
	if pair.Leaf != nil {
		until = pair.Leaf.NotAfter
	}
	c.log.Warn("took a new certificate", "tls_cert", c.cert, "valid_until", until)
}

// stamps are those of both files; zero for one that is not there.
func (c *certificate) stamps() (s [2]stamp) {
	for i, path := range []string{c.cert, c.key} {
		if info, err := os.Stat(path); err == nil {
			s[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return s
}

// reload takes what can change while the server runs: the level of the log and
// the certificate. What else has changed waits for a restart, and is named.
func (s *Server) reload() {
	if s.certificate != nil {
		s.certificate.reload()
	}
	if s.options.Reread == nil {
		return
	}
	config, err := s.options.Reread()
	if err != nil {
		s.log.Error("the configuration was not read again; what was stays", "error", err)
		return
	}
	if s.options.Level != nil {
		s.options.Level.Set(config.Level())
	}
	waits := []string{}
	for _, setting := range settings {
		if setting.name != "log_level" && setting.get(&config) != setting.get(&s.config) {
			waits = append(waits, setting.name)
		}
	}
	s.log.Warn("read the configuration again", "log_level", config.LogLevel, "changed_and_needs_a_restart", waits)
}
