package app

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// welcome says where things are and what to try next, in one piece: a line of
// the log must not come between.
func (s *Server) welcome() {
	p := s.parts.Load()
	var text bytes.Buffer
	say := &progress{out: &text}
	say.line("")
	say.line("Weir is up after %s. Stop it with Ctrl-C.", took(time.Since(s.say.began)))
	if p.link != "" {
		say.line("  Log in    %s", p.link)
		say.line("            works once, for %.0f minutes; another one: %s open%s", linkFor.Minutes(), s.options.Program, s.again())
	} else {
		say.line("  Dashboard %s", s.url())
	}
	say.line("  API       %s/api/v1/docs", s.url())
	if s.clear() {
		say.line("  Note      plain HTTP on a network: passwords and cookies can be read on the way. Set tls_cert and tls_key, or public_url to an https proxy")
	}
	if s.private {
		say.line("  Database  %s", MaskURL(p.url))
		s.try(say)
	}
	say.line("")
	fmt.Fprint(s.say.out, text.String())
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
func (s *Server) try(say *progress) {
	weir, where := s.options.Program, s.where()
	say.line("            psql \"$(%s url%s)\"", weir, where)
	say.line("  Try       %s task list%s", weir, where)
	if s.options.Demo {
		say.line("            %s job list%s", weir, where)
		say.line("            %s task submit hello --params '{\"name\": \"you\"}'%s", weir, where)
		say.line("            %s workflow init && %s run hello.yaml --watch%s", weir, weir, where)
		say.line("            %s rollout list%s    # one waits for your approval: %s rollout approve ID prod%s", weir, where, weir, where)
		say.line("            %s pc list --watch%s    # three PCs with simulated devices", weir, where)
		say.line("            %s workspace list%s    # once you have logged in: %s workspace open playground%s", weir, where, weir, where)
	} else {
		say.line("            %s task submit NAME%s    # it waits for a worker that serves NAME", weir, where)
	}
	say.line("            %s events --follow%s", weir, where)
	say.line("            %s doctor%s", weir, where)
}
