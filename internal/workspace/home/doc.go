// Package home packs the home of a workspace into one archive, and brings it back as
// it was. It knows no database, no bucket and no engine: it reads a folder and writes
// a stream, or the other way round.
//
//	folder ── Pack ──▶ tar ──▶ zstd ──▶ sha256 ──▶ writer        Summary: what is in it
//	reader ── Verify ▶ zstd ──▶ tar ──▶ (nothing)                 the same Summary, or an error
//	reader ── Unpack ▶ zstd ──▶ tar ──▶ a folder that is empty    the same Summary, or an error
//
// # What is kept
//
// Names as bytes, content, holes of sparse files, hard links, symbolic links with
// their targets as they are, FIFOs, modes, owners as numbers, times to the nanosecond,
// attributes (user.*) and access lists, and all of that for the folder itself, too: it
// is the first entry, "./". GNU tar reads the archive.
//
// # What is not
//
// Sockets and device nodes are left out and named in the Summary. The bits setuid and
// setgid of files are dropped, and so are capabilities: they give rights of a machine
// that the archive may outlive. A file of zeros may come back with holes.
//
// # What nobody can make it do
//
// An archive is the text of somebody else, even if Weir wrote it. Whatever it says,
// nothing is read or written outside the folder, nothing is written through a link,
// and no bound of Limits is passed. An archive that is cut, or followed by more, or
// whose count of entries is another, is an error: whoever got a Summary without one has
// seen all of it.
package home
