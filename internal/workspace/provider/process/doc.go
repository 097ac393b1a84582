// Package process runs workspaces as processes of this machine, each with a folder as its
// home. It is for a machine with one owner: a process can do whatever its user can.
//
//	DIR/volumes/ws-{id}-home/
//	    data/        the home
//	    filling-*/   what is being put there; swapped in when it is whole
//	    dying-*/     what is being removed
//	    state.json   says what data holds and how often it was mounted; written last
//	DIR/run/
//	    {hash}.lock    held by the process as long as it lives, with its number in it
//	    {hash}.sock    where it answers
//	    {hash}.volume  held by whoever changes the volume, for a moment
//	DIR/logs/ws-{id}.log
//
// Whether a process lives is asked of the lock that it holds, and not of its number,
// which may be another's by now. So processes outlive the server that started them, and
// the next one finds them.
package process
