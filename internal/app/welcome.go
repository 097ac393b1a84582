package app

import (
	"net"
	"slices"
	"strings"
	"time"
)

// welcome says where things are and what to try next.
func (s *Server) welcome() {
	p := s.parts.Load()
	s.say.line("")
	s.say.line("Weir is up after %s. Stop it with Ctrl-C.", took(time.Since(s.say.began)))
	if p.link != "" {
		s.say.line("  Log in    %s", p.link)
		s.say.line("            works once, for %.0f minutes; another one: %s open%s", linkFor.Minutes(), s.options.Program, s.again())
	} else {
		s.say.line("  Dashboard %s", s.url())
	}
	s.say.line("  API       %s/api/v1/docs", s.url())
	if s.clear() {
		s.say.line("  Note      plain HTTP on a network: passwords and cookies can be read on the way. Set tls_cert and tls_key, or public_url to an https proxy")
	}
	if s.private {
		s.say.line("  Database  %s", MaskURL(p.url))
		s.try()
	}
	s.say.line("")
}

// clear says that browsers on other machines would talk to us in the clear.
func (s *Server) clear() bool {
	if strings.HasPrefix(s.url(), "https:") {
		return false
	}
	host, _, err := net.SplitHostPort(s.listener.Addr().String())
	ip := net.ParseIP(host)
	return err == nil && ip != nil && !ip.IsLoopback()
}

// again is what weir open needs to make another link.
func (s *Server) again() string {
	if s.private {
		return s.where()
	}
	return " --public-url " + s.url() + ", with WEIR_DATABASE_URL"
}

// where is what a command needs to find this server. The folders that are
// likely it finds by itself.
func (s *Server) where() string {
	if !s.private || slices.Contains(dataFolders(), s.config.Data) {
		return ""
	}
	return " --data " + s.config.Data
}

// try suggests commands.
func (s *Server) try() {
	weir, where := s.options.Program, s.where()
	s.say.line("            psql \"$(%s url%s)\"", weir, where)
	s.say.line("  Try       %s task list%s", weir, where)
	if s.options.Demo {
		s.say.line("            %s job list%s", weir, where)
		s.say.line("            %s task submit hello --params '{\"name\": \"you\"}'%s", weir, where)
		s.say.line("            %s workflow init && %s run hello.yaml --watch%s", weir, weir, where)
		s.say.line("            %s rollout list%s    # one waits for your approval: %s rollout approve ID prod%s", weir, where, weir, where)
		s.say.line("            %s pc list --watch%s    # three PCs with simulated devices", weir, where)
	} else {
		s.say.line("            %s task submit NAME%s    # it waits for a worker that serves NAME", weir, where)
	}
	s.say.line("            %s events --follow%s", weir, where)
	s.say.line("            %s doctor%s", weir, where)
}
