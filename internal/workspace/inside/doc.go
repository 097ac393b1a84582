// Package inside is the workspace that needs no image: a page with the files of the home,
// an editor and a terminal. It runs within a workspace and serves whoever reaches it; who
// may do that is the proxy's to say.
//
//	GET    /                     the page
//	GET    /healthz              200
//	GET    /name                 what the workspace is called, if it is known
//	GET    /files/{path…}        a folder as JSON, or a file as it is
//	PUT    /files/{path…}        writes a file; If-Match with the ETag of what was read,
//	                             If-None-Match: * for one that is new
//	POST   /files/{path…}?make=folder | ?move=TO
//	DELETE /files/{path…}
//	GET    /terminal             WebSocket (weir.terminal): a shell on a terminal; bytes are what
//	                             is typed and printed, a text is the size: {"rows":24,"cols":80}
//
// All files are reached through the folder of the home: no path and no link leads out of
// it. A shell, of course, sees what its user sees.
package inside
