package definition

import (
	"fmt"
	"net/url"
	"path"
	"strings"
)

func (l *linter) step(i int) {
	s, at := &l.Steps[i], item("steps", i)
	if s.Rule != "" && len(s.Needs) == 0 && !s.Finally {
		l.warn(at+".rule", "remove it, or say what it needs", "a rule without needs says nothing")
	}
	if s.Finally {
		l.finally(s, at)
	}
	if s.Params == nil {
		l.every = true
	}
	for _, name := range sortedKeys(s.Params) { // options.params may replace it by name
		l.read[name] = l.read[name] || !hasTemplate(s.Params[name])
	}
	l.plainTexts(s, at)
	l.references(s, i, at)
	l.earlier(s, i, at)
	l.given(s, at)
	l.command(s, at)
	l.asked(s, at)
	l.shell(s, at)
	if s.Workflow != "" || s.Map != nil {
		l.stands(s, at)
	}
	if s.Timeout != nil && s.Timeout.Run > 0 && s.Timeout.Heartbeat > s.Timeout.Run {
		l.warn(at+".timeout.heartbeat", "make it shorter than run", "a heartbeat that may take longer than the run is never missed")
	}
	if driver := s.driver(); s.Retry != nil && len(s.Retry.On) > 0 && driver != "exec" && driver != "docker" {
		l.warn(at+".retry.on", "leave it out", "only a command has an exit code")
	}
}

func hasTemplate(v any) bool {
	switch v := v.(type) {
	case string:
		return isTemplate(v)
	case []any:
		for _, one := range v {
			if hasTemplate(one) {
				return true
			}
		}
	case map[string]any:
		for _, one := range v {
			if hasTemplate(one) {
				return true
			}
		}
	}
	return false
}

// plainTexts refuses templates where they are not evaluated, because what decides where
// work goes must be known before anything runs.
func (l *linter) plainTexts(s *Step, at string) {
	texts := map[string]string{"service": s.Service, "pool": s.Pool, "workflow": s.Workflow}
	for name, secret := range s.Secrets {
		texts["secrets."+name] = secret
	}
	for name, secret := range s.Files {
		texts["files."+name] = secret
	}
	for i, glob := range s.Artifacts {
		texts[item("artifacts", i)] = glob
	}
	for _, key := range sortedKeys(texts) {
		if isTemplate(texts[key]) {
			l.add(join(at, key), "write it out; params, labels and run may have templates", "%s is not a template", strings.SplitN(key, ".", 2)[0])
		}
	}
}

// references checks what templates and expressions read.
func (l *linter) references(s *Step, i int, at string) {
	c, faults := l.compile(s)
	l.faults = append(l.faults, faults...)
	check := func(path, text string, refs []ref, items bool) {
		for _, r := range refs {
			if len(l.faults) > 2*faultLimit { // more would not be read, and each costs a search in the file
				return
			}
			if what, next := l.reference(r.path, s, i, items); what != "" {
				l.faults = append(l.faults, l.faultIn(join(at, path), text, r.offset, next, "%s", what))
			}
		}
	}
	if c.when != nil {
		check("when", s.When, c.when.refs, false)
	}
	if c.over != nil {
		check("map.over", c.over.source, c.over.refs, false)
	}
	for _, axis := range sortedKeys(c.axes) {
		check("map.matrix."+axis, c.axes[axis].source, c.axes[axis].refs, false)
	}
	for _, site := range s.sites() {
		if t := c.templates[site.text]; t != nil {
			check(site.path, site.text, t.refs, s.Map != nil && !strings.HasPrefix(site.path, "map."))
		}
	}
}

var roots = map[string][]string{
	"params": nil, "needs": nil, "item": nil, "index": nil, "job": {"id", "name", "scheduled_at", "options"}, "workflow": {"name", "version"},
}

var outcome = []string{"state", "result", "error", "node", "items"}

// reference returns what is wrong with a reference, or "".
func (l *linter) reference(path []string, s *Step, i int, items bool) (what, next string) {
	root := path[0]
	fields, known := roots[root]
	switch {
	case root == "secrets" || root == "secret":
		return "a secret is never part of a template: it would be stored and shown", "give it as a variable (secrets: {TOKEN: name}) or a file (files: {token.txt: name})"
	case !known:
		if next = Meant(root, sortedKeys(roots)); next == "" {
			next = "there is params, needs, item, index, job and workflow"
		}
		return fmt.Sprintf("there is no %q to read", root), next
	case (root == "item" || root == "index") && !items:
		return fmt.Sprintf("%s exists only in the params, labels and run of a step with map", root), "add map:, or read params or needs"
	case len(path) == 1:
		if root == "params" {
			l.every = true
		}
		return "", ""
	case fields != nil && !contains(fields, path[1]):
		return fmt.Sprintf("%s has no %q", root, path[1]), "there is " + list(fields)
	case root == "params":
		return l.param(path[1])
	case root == "needs":
		return l.need(path, s, i)
	}
	return "", ""
}

func (l *linter) param(name string) (what, next string) {
	l.read[name] = true
	_, inSchema := l.params[name]
	_, inDefaults := l.Defaults[name]
	if inSchema || inDefaults || !l.closed {
		return "", ""
	}
	if next = Meant(name, sortedKeys(l.params)); next == "" {
		next = "the params are " + list(sortedKeys(l.params))
	}
	return fmt.Sprintf("params has no %q", name), next
}

func (l *linter) need(path []string, s *Step, i int) (what, next string) {
	n, ok := l.number[path[1]]
	switch {
	case !ok && l.lost:
		return "", ""
	case !ok:
		if next = Meant(path[1], l.keys()); next == "" {
			next = "the steps are " + list(l.keys())
		}
		return fmt.Sprintf("there is no step %q", path[1]), next
	case l.before != nil && !l.precedes(n, i):
		return fmt.Sprintf("step %q does not wait for %q, so its outcome is not known", s.Key, path[1]), fmt.Sprintf("add %s to its needs", path[1])
	case len(path) > 2 && !contains(outcome, path[2]):
		return fmt.Sprintf("the outcome of a step has no %q", path[2]), fmt.Sprintf("there is %s; did you mean needs.%s.result.%s?", list(outcome), path[1], path[2])
	}
	return "", ""
}

// earlier checks the steps that sticky and inputs name.
func (l *linter) earlier(s *Step, i int, at string) {
	check := func(path, key string) {
		if what, next := l.need([]string{"needs", key}, s, i); what != "" {
			l.add(path, next, "%s", what)
		}
	}
	if s.Sticky != nil {
		check(at+".sticky.to", s.Sticky.To)
		if to := l.Step(s.Sticky.To); to != nil && (to.Map != nil || to.Workflow != "") {
			l.add(at+".sticky.to", "name a step that runs once", "%q runs on many nodes or none", s.Sticky.To)
		}
	}
	for j, in := range s.Inputs {
		check(item(at+".inputs", j), in.From)
		l.glob(item(at+".inputs", j), in.Name)
	}
	for j, glob := range s.Artifacts {
		l.glob(item(at+".artifacts", j), glob)
	}
}

func (l *linter) glob(at, glob string) {
	if _, err := path.Match(glob, ""); err != nil {
		l.add(at, "close the bracket: [a-z]*.wav", "%q is no pattern of file names", glob)
	} else if glob != "" && !isTemplate(glob) && !local(glob) {
		l.add(at, "write a path below the folder, such as out/*.wav", "%q leads out of the folder", glob)
	}
}

// local reports whether a path stays below its start, on every system.
func local(name string) bool {
	if name == "" || strings.HasPrefix(name, "/") || strings.ContainsAny(name, "\\\x00") || len(name) > 1 && name[1] == ':' {
		return false
	}
	for _, part := range strings.Split(name, "/") {
		if part == ".." {
			return false
		}
	}
	return true
}

// given checks the environment, secrets and files that the work is given.
func (l *linter) given(s *Step, at string) {
	if s.Run != nil {
		l.variables(at+".run.env", s.Run.Env)
	}
	l.variables(at+".env", s.Env)
	if len(s.Env) > 0 && s.driver() == "http" {
		l.add(at+".env", "give it in the headers or the params", "an http call has no environment")
	}
	for _, name := range sortedKeys(s.Secrets) {
		path := at + ".secrets." + name
		switch {
		case !envPattern.MatchString(name):
			l.add(path, "write TOKEN: name_of_the_secret; files: takes paths", "%q is no name of a variable", name)
		case strings.HasPrefix(name, "WEIR_"):
			l.add(path, "choose another name", "names that begin with WEIR_ are Weir's own")
		case s.Run != nil && s.Run.Env[name] != "" || s.Env[name] != "":
			l.add(path, "keep one of the two", "%s is in env and in secrets", name)
		}
		l.secret(path, s.Secrets[name])
	}
	for _, name := range sortedKeys(s.Files) {
		if !local(name) {
			l.add(at+".files."+name, "write a path below the folder, such as keys/token", "%q leads out of the folder", name)
		}
		l.secret(at+".files."+name, s.Files[name])
	}
}

func (l *linter) secret(path, name string) {
	if !secretPattern.MatchString(name) && !isTemplate(name) {
		l.add(path, "write the secret's name: letters, digits and _; its value is set with weir secret set", "%q is no name of a secret", clip(name))
	}
}

// variables checks the names of an environment.
func (l *linter) variables(path string, env map[string]string) {
	for _, name := range sortedKeys(env) {
		if !envPattern.MatchString(name) {
			l.add(join(path, name), "use ASCII letters, digits and _", "%q is no name of a variable", name)
		}
		if strings.HasPrefix(name, "WEIR_") {
			l.add(join(path, name), "choose another name", "names that begin with WEIR_ are Weir's own")
		}
	}
}

// runsShell reports whether the command is a line for a shell.
func runsShell(argv []string) bool {
	if len(argv) < 3 || !strings.HasPrefix(argv[1], "-") {
		return false
	}
	switch path.Base(argv[0]) {
	case "sh", "bash", "dash", "ash", "zsh", "ksh":
		return true
	}
	return false
}

// command checks how the step is run.
func (l *linter) command(s *Step, at string) {
	if s.Run == nil {
		return
	}
	for _, name := range sortedKeys(s.Secrets) {
		for i, arg := range s.Run.Argv {
			if runsShell(s.Run.Argv) {
				break // the shell reads the variable itself, and only its name is an argument
			}
			if strings.Contains(arg, "$"+name) || strings.Contains(arg, "${"+name+"}") {
				l.add(item(at+".run.argv", i), fmt.Sprintf("let the command read the variable %s itself, or use files:", name), "a secret is never part of a command: every user of the machine could see it, and there is no shell to fill it in")
			}
		}
	}
	for key, text := range map[string]string{"run.url": s.Run.URL, "run.compose.url": composeURL(s.Run)} {
		if text == "" || isTemplate(text) {
			continue
		}
		if u, err := url.Parse(text); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			l.add(join(at, key), "write http://localhost:8080/path", "%q is no address", text)
		} else if u.User != nil {
			l.add(join(at, key), "give it as a secret, in the environment or a file", "an address holds no password")
		}
	}
	if net := s.Run.Network; net == "host" || strings.HasPrefix(net, "container:") || strings.HasPrefix(net, "ns:") {
		l.add(at+".run.network", "write none, or a network that the node allows (weir agent --docker-network bridge)", "a step never has the network of the machine or of another container")
	}
	if c := s.Run.Compose; c != nil && c.File != "" && !isTemplate(c.File) && !local(c.File) {
		l.add(at+".run.compose.file", "name a file of the folder that the operator of the node gave for it", "%q leads out of the folder", c.File)
	}
	for _, name := range sortedKeys(s.Run.Headers) {
		if strings.ContainsAny(name+s.Run.Headers[name], "\r\n") || strings.ContainsAny(name, " :\t") || name == "" {
			l.add(at+".run.headers."+name, "write Name: value on one line", "%q is no header", name)
		}
	}
}

func composeURL(run *Run) string {
	if run.Compose == nil {
		return ""
	}
	return run.Compose.URL
}

// stands checks a step that stands for others: its items, or a workflow. It never runs
// itself, so settings of its own run would have no effect.
func (l *linter) stands(s *Step, at string) {
	if s.Approval != nil {
		l.add(at+".approval", "put the approval on a step of its own, and let this one need it", "a step with map or workflow is not held itself")
	}
	if s.Delay > 0 {
		l.add(at+".delay", "put the delay on a step before it", "a step with map or workflow is not delayed itself")
	}
	if s.Map != nil {
		l.matrix(s, at)
	}
	if s.Workflow == "" {
		if s.Map.Limit > 0 && s.Pool != "" { // a limit is a pool, and a task has one
			l.add(at+".map.limit", "drop limit, or give the pool that size", "the items are in pool %q, which limits them already", s.Pool)
		}
		return
	}
	name, version, versioned := strings.Cut(s.Workflow, "@")
	if !validKey(name) || versioned && parseVersion(version) == 0 {
		l.add(at+".workflow", "write name or name@3", "%q is no name of a workflow", s.Workflow)
	}
	if name == l.Name && s.When == "" {
		l.add(at+".workflow", "add when:, so that it ends somewhere", "the workflow would run itself without end")
	}
	used := map[string]bool{
		"service": s.Service != "", "run": s.Run != nil, "script": s.Script != "", "env": len(s.Env) > 0, "secrets": len(s.Secrets) > 0, "files": len(s.Files) > 0, "inputs": len(s.Inputs) > 0, "artifacts": len(s.Artifacts) > 0,
		"pool": s.Pool != "", "sticky": s.Sticky != nil, "prefer": s.Prefer != nil, "labels": len(s.Labels) > 0, "timeout": s.Timeout != nil,
		"disconnect": s.Disconnect != nil,
	}
	for _, key := range sortedKeys(used) {
		if used[key] {
			l.add(join(at, key), fmt.Sprintf("say it in the steps of %s", name), "a step that is a workflow has no %s", key)
		}
	}
}
