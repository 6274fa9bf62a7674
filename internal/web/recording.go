package web

import (
	"bytes"
	"cmp"
	"net/http"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/report/html"
)

// serveRecording serves one complete recording.
func (h handler) serveRecording(w http.ResponseWriter, r *http.Request) {
	if rec, ok := h.recording(w, r); ok {
		h.writeJSON(w, http.StatusOK, rec)
	}
}

// serveRecordingPage serves one recording as a page with plots.
func (h handler) serveRecordingPage(w http.ResponseWriter, r *http.Request) {
	rec, ok := h.recording(w, r)
	if !ok {
		return
	}
	var body bytes.Buffer
	if err := report.RecordingHTML(&body, rec); err != nil {
		h.broken(w, err)
		return
	}
	w.Header().Set("Content-Security-Policy", policyOf(html.Style()))
	h.write(w, http.StatusOK, "text/html; charset=utf-8", body.Bytes())
}

// recording returns the requested recording. When ok is false, the answer has already been written.
func (h handler) recording(w http.ResponseWriter, r *http.Request) (rec record.Recording, ok bool) {
	rec, found, err := h.Recording(r.PathValue("id"))
	rec = rec.WithoutNames() // clients of the port need not know who uses the node
	switch {
	case err != nil:
		h.broken(w, err)
	case !found:
		text := "no recording has this id; /api/v1/recordings lists them"
		if s := h.Snapshot(); s.Recorder != nil {
			text = cmp.Or(report.NotFinished(s.Recorder.Unfinished, r.PathValue("id")), text)
		}
		h.fail(w, http.StatusNotFound, text)
	}
	return rec, found && err == nil
}
