#!/bin/sh
# guard FOLDER CGROUP: wait for the end of standard input, then end the Docker
# engine that lives in FOLDER, and everything in it.
dir=$1 cgroup=$2
cat >/dev/null

# members PROGRAM…: run the program for each list of processes of our cgroup.
members() {
	find /sys/fs/cgroup -path "*/$cgroup/*" -name cgroup.procs 2>/dev/null | while read -r list; do
		"$@" "$list"
	done
}
kill_all() { while read -r pid; do kill -9 "$pid" 2>/dev/null; done <"$1"; }

# gone PID SECONDS: wait until the process has ended. One that is dead but not
# collected by its parent counts as gone.
gone() {
	left=$(($2 * 10))
	while [ $left -gt 0 ]; do
		[ -d "/proc/$1" ] || return 0
		grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null && return 0
		left=$((left - 1))
		sleep 0.1
	done
	return 1
}

# A frozen engine cannot end; one without containers ends at once.
pid=$(cat "$dir/dockerd.pid" 2>/dev/null)
[ -z "$pid" ] || kill -CONT "$pid" 2>/dev/null
members kill_all
if [ -n "$pid" ]; then
	kill -TERM "$pid" 2>/dev/null
	gone "$pid" 30 || kill -KILL "$pid" 2>/dev/null
fi
members kill_all

# What an engine that was killed left behind: its containerd and the shims.
for p in /proc/[0-9]*; do
	tr '\0' ' ' <"$p/cmdline" 2>/dev/null | grep -q -F -- "$dir/exec" && kill -9 "${p#/proc/}" 2>/dev/null
done

# The deepest mounts first.
cut -d' ' -f2 /proc/mounts | grep -F "$dir/" | sort -r | while read -r mount; do umount -l "$mount"; done
find /sys/fs/cgroup -depth -type d -path "*/$cgroup*" -exec rmdir {} \; 2>/dev/null
left=50
while [ $left -gt 0 ] && ! rm -rf --one-file-system "$dir" 2>/dev/null; do
	left=$((left - 1))
	sleep 0.1
done
