package app

import (
	"context"
	"net/http"
	"time"
)

// linkFor is how long a link to log in works.
const linkFor = 15 * time.Minute

// open makes the dashboard and the API.
func (s *Server) open(_ context.Context, p *parts) (string, error) {
	p.face = http.NotFoundHandler()
	return s.url(), nil
}
