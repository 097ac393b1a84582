package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"
)

// listen opens the port and answers at once: until all is there, /readyz says
// no, and everything else asks to come back.
func (s *Server) listen(ctx context.Context) (err error) {
	var secure *tls.Config
	if s.config.TLSCert != "" {
		if s.certificate, err = loadCertificate(s.config.TLSCert, s.config.TLSKey, s.log); err != nil {
			return err
		}
		secure = &tls.Config{GetCertificate: s.certificate.get, MinVersion: tls.VersionTLS12}
	}
	var config net.ListenConfig
	if s.listener, err = config.Listen(ctx, "tcp", s.config.Listen); err != nil {
		return fmt.Errorf("listen on %s: %w", s.config.Listen, err)
	}
	health := &health{server: s}
	mux := http.NewServeMux()
	health.routes(mux)
	mux.HandleFunc("/", s.face)
	s.http = &http.Server{
		Handler:           s.byHost(mux),
		TLSConfig:         secure,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug), // what clients do wrong is their affair
	}
	s.group.Go(func() {
		serve := s.http.Serve
		if secure != nil {
			serve = func(l net.Listener) error { return s.http.ServeTLS(l, "", "") }
		}
		if err := serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("serve HTTP: %w", err)
		}
	})
	return nil
}

// face answers with the dashboard and the API once they are there.
func (s *Server) face(w http.ResponseWriter, r *http.Request) {
	p := s.parts.Load()
	if s.draining.Load() {
		w.Header().Set("Connection", "close") // the next request of this client goes to another server
	}
	if p == nil {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "Weir is starting. Try again in a moment.", http.StatusServiceUnavailable)
		return
	}
	if lasts(r) {
		// A stream watches its own deadlines.
		control := http.NewResponseController(w)
		_ = control.SetReadDeadline(time.Time{})
		_ = control.SetWriteDeadline(time.Time{})
	}
	p.face.ServeHTTP(w, r)
}

// lasts says that a request is for a stream. What a client says it wants does not
// count, nor does a body: both could be used to send or read for ever.
func lasts(r *http.Request) bool {
	return r.Method == http.MethodGet && r.ContentLength == 0 && (r.URL.Path == "/api/v1/events" || r.URL.Path == "/live")
}

// url is where people reach the server.
func (s *Server) url() string {
	if s.config.PublicURL != "" {
		return strings.TrimSuffix(s.config.PublicURL, "/")
	}
	scheme := "http"
	if s.config.TLSCert != "" {
		scheme = "https"
	}
	host, port, err := net.SplitHostPort(s.listener.Addr().String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		host = hostname() // it listens everywhere
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}
