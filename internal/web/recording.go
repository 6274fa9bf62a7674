package web

import (
	"bytes"
	"net/http"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/report/html"
)

// serveRecording is one recording, whole.
func (h handler) serveRecording(w http.ResponseWriter, r *http.Request) {
	if rec, ok := h.recording(w, r); ok {
		h.writeJSON(w, http.StatusOK, rec)
	}
}

// serveRecordingPage is one recording with its plots.
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

// recording is the one that is asked for; ok is false when the answer has been given.
func (h handler) recording(w http.ResponseWriter, r *http.Request) (rec record.Recording, ok bool) {
	rec, found, err := h.Recording(r.PathValue("id"))
	rec = rec.WithoutNames() // who reaches the port need not know who uses the node
	switch {
	case err != nil:
		h.broken(w, err)
	case !found:
		h.fail(w, http.StatusNotFound, "no recording has this id; /api/v1/recordings lists them")
	}
	return rec, found && err == nil
}
