package chaos

import "syscall"

// dieWithParent ends an agent whose parent was killed, even a paused one.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
