package docker

// Ward puts a container of a test on a leash.
func Ward(d *Driver, id, file string) error { return d.tell(ward{id, file}) }
