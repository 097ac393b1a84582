package requestinfo

import "net/http"

// Response remembers how a request was answered. Everything else of the writer
// behind it is reached by [http.ResponseController].
type Response struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Record makes a writer remember. One that does already is returned as it is.
func Record(w http.ResponseWriter) *Response {
	if r, ok := w.(*Response); ok {
		return r
	}
	return &Response{ResponseWriter: w}
}

// Status is that of the answer. A handler that wrote nothing answered 200.
func (r *Response) Status() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}

// Bytes is how long the body is so far.
func (r *Response) Bytes() int64 { return r.bytes }

// WriteHeader implements [http.ResponseWriter].
func (r *Response) WriteHeader(status int) {
	if r.status == 0 && status >= 200 { // what comes before is a hint
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *Response) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(p)
	r.bytes += int64(n)
	return n, err
}

// Flush implements [http.Flusher], for those who ask for it by type.
func (r *Response) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() } // who cannot flush need not

// Unwrap is for [http.ResponseController].
func (r *Response) Unwrap() http.ResponseWriter { return r.ResponseWriter }
