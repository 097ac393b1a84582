package app

import (
	"slices"
	"time"
)

// welcome says where things are and what to try next.
func (s *Server) welcome() {
	p := s.parts.Load()
	s.say.line("")
	s.say.line("Weir is up after %s. Stop it with Ctrl-C.", took(time.Since(s.say.began)))
	if p.link != "" {
		s.say.line("  Log in    %s", p.link)
		s.say.line("            works once, for %s; another one: %s open", linkFor, s.options.Program)
	} else {
		s.say.line("  Dashboard %s", s.url())
	}
	s.say.line("  API       %s/api/v1/docs", s.url())
	if s.private {
		s.say.line("  Database  %s", MaskURL(p.url))
		s.try()
	}
	s.say.line("")
}

// try suggests commands. They find the folders that are likely by themselves.
func (s *Server) try() {
	weir, where := s.options.Program, ""
	if !slices.Contains(dataFolders(), s.config.Data) {
		where = " --data " + s.config.Data
	}
	s.say.line("            psql \"$(%s url%s)\"", weir, where)
	s.say.line("  Try       %s task list%s", weir, where)
	if s.options.Demo {
		s.say.line("            %s job list%s", weir, where)
		s.say.line("            %s task submit hello --params '{\"name\": \"you\"}'%s", weir, where)
	} else {
		s.say.line("            %s task submit NAME%s    # it waits for a worker that serves NAME", weir, where)
	}
	s.say.line("            %s events --follow%s", weir, where)
	s.say.line("            %s doctor%s", weir, where)
}
