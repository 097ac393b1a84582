#!/bin/sh
# guard FOLDER PROGRAM ARGUMENTS…: run the server, wait for the end of standard
# input, then end the server and remove its folder.
dir=$1
shift
"$@" </dev/null >>"$dir/server.log" 2>&1 &
pid=$!
cat >/dev/null
kill -KILL "$pid" 2>/dev/null
wait "$pid" 2>/dev/null
rm -rf --one-file-system "$dir"
