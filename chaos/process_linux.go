package chaos

import "syscall"

// dieWithParent ends an agent whose parent was killed, even one that is paused.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
