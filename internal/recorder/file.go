package recorder

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/ssdprobe/ssdprobe/internal/record"
)

const (
	format  = "ssdprobe/recording"
	version = 1
	// maxFileBytes bounds how much of a recording is read; 1000 busy devices for five minutes need less.
	maxFileBytes = 256 << 20
)

// The values of about.About.
const (
	aboutHost    = "host"    // a record.HostSecond
	aboutSecond  = "second"  // a record.DeviceSecond
	aboutReading = "reading" // a record.DeviceReading
	aboutSlow    = "slow_io" // a record.SlowIO
)

// head is the first line of a file.
type head struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	record.RecordingHead
	Devices []record.Device `json:"devices"`
	Idle    []string        `json:"idle,omitempty"`
}

// about holds the first fields of each further line.
type about struct {
	About string `json:"about"`
	// Device is the kernel's name of the device, and ID its stable identity.
	Device string `json:"device,omitempty"`
	ID     string `json:"id,omitempty"`
}

// Encode returns a recording as gzip of JSON lines: a head, then a line for each reading and slow I/O and for
// each second of the host and of each device.
func Encode(rec record.Recording) ([]byte, error) {
	h := head{Format: format, Version: version, RecordingHead: rec.RecordingHead, Devices: []record.Device{}, Idle: rec.Idle}
	h.Bytes = 0
	for _, d := range rec.Devices {
		h.Devices = append(h.Devices, d.Device)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	e := json.NewEncoder(z)
	if err := e.Encode(h); err != nil {
		return nil, fmt.Errorf("encode a recording: %w", err)
	}
	for l := range lines(rec) {
		if err := e.Encode(l); err != nil {
			return nil, fmt.Errorf("encode a recording: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("encode a recording: %w", err)
	}
	return b.Bytes(), nil
}

// lines returns the lines after the head: first the readings and slow I/Os, then second after second. Seconds
// are in the order of the rows, because the clock may be set back.
func lines(rec record.Recording) iter.Seq[any] {
	return func(yield func(any) bool) {
		of := func(what string, d record.Device) about { return about{what, d.Name, d.ID} }
		for _, d := range rec.Devices {
			for _, r := range d.Readings {
				if !yield(readingLine{of(aboutReading, d.Device), r}) {
					return
				}
			}
			for _, s := range d.Slow {
				if !yield(slowLine{of(aboutSlow, d.Device), s}) {
					return
				}
			}
		}
		next := make([]int, len(rec.Devices))
		for _, h := range rec.Host {
			if !yield(hostLine{about{About: aboutHost}, h}) {
				return
			}
			for i, d := range rec.Devices {
				if n := next[i]; n < len(d.Seconds) && d.Seconds[n].Time.Equal(h.Time) {
					next[i]++
					if !yield(secondLine{of(aboutSecond, d.Device), d.Seconds[n]}) {
						return
					}
				}
			}
		}
	}
}

type hostLine struct {
	about
	record.HostSecond
}

type secondLine struct {
	about
	record.DeviceSecond
}

type readingLine struct {
	about
	record.DeviceReading
}

type slowLine struct {
	about
	record.SlowIO
}

// Decode reads a recording that Encode has written.
func Decode(r io.Reader) (record.Recording, error) {
	rec, err := decode(r)
	if err != nil {
		return record.Recording{}, fmt.Errorf("not a recording of ssdprobe: %w", err)
	}
	return rec, nil
}

func decode(r io.Reader) (rec record.Recording, err error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return rec, err
	}
	limited := &io.LimitedReader{R: z, N: maxFileBytes}
	d := json.NewDecoder(limited)
	var h head
	if err := d.Decode(&h); err != nil {
		return rec, fmt.Errorf("its first line: %w", err)
	}
	switch {
	case h.Format != format:
		return rec, fmt.Errorf("its format is %q, not %q", h.Format, format)
	case h.Version < 1 || h.Version > version:
		return rec, fmt.Errorf("its version is %d, and this ssdprobe knows 1 to %d", h.Version, version)
	}
	if err := h.Check(); err != nil {
		return rec, fmt.Errorf("its first line: %w", err)
	}
	rec = record.Recording{RecordingHead: h.RecordingHead, Host: []record.HostSecond{}, Devices: []record.DeviceRecording{}, Idle: h.Idle}
	for _, device := range h.Devices {
		rec.Devices = append(rec.Devices, record.DeviceRecording{Device: device})
	}
	for n := 2; ; n++ {
		var text json.RawMessage
		err := d.Decode(&text)
		switch {
		case limited.N == 0:
			return rec, fmt.Errorf("it holds more than %d MiB", maxFileBytes>>20)
		case errors.Is(err, io.EOF):
			return rec, nil
		case err == nil:
			err = take(&rec, text)
		}
		if err != nil {
			return rec, fmt.Errorf("line %d: %w", n, err)
		}
	}
}

// take adds a line to a recording.
func take(rec *record.Recording, text json.RawMessage) error {
	var a about
	if err := json.Unmarshal(text, &a); err != nil {
		return err
	}
	if a.About == aboutHost {
		return add(&rec.Host, text)
	}
	i := slices.IndexFunc(rec.Devices, func(d record.DeviceRecording) bool { return d.Device.ID == a.ID })
	if i < 0 {
		return fmt.Errorf("the device %q is not in the first line", a.ID)
	}
	d := &rec.Devices[i]
	switch a.About {
	case aboutSecond:
		return add(&d.Seconds, text)
	case aboutReading:
		return add(&d.Readings, text)
	case aboutSlow:
		return add(&d.Slow, text)
	}
	return nil // written by a newer ssdprobe
}

// add decodes a line and appends it to the list of those of its kind.
func add[T any](list *[]T, text json.RawMessage) error {
	var v T
	err := json.Unmarshal(text, &v)
	*list = append(*list, v)
	return err
}
