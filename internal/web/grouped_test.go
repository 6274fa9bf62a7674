package web_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/device"
	"github.com/ssdprobe/ssdprobe/internal/finding"
	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
	"github.com/ssdprobe/ssdprobe/internal/report"
	"github.com/ssdprobe/ssdprobe/internal/sysfs/sysfstest"
)

// nameless returns a node with drives that have no serial number, and as many that this process may not read.
func nameless(t *testing.T, names ...string) record.Snapshot {
	t.Helper()
	files, links := map[string]string{}, map[string]string{}
	for i, name := range names {
		disk := fmt.Sprintf("sys/devices/host%d/block/%s", i, name)
		files[disk+"/dev"], files[disk+"/size"] = fmt.Sprintf("8:%d\n", i*16), "1048576\n"
		links["sys/block/"+name] = "/" + disk
	}
	host := sysfstest.Make(t, files, links)
	devices, err := device.Scan(host)
	require.NoError(t, err)
	require.Len(t, devices, len(names))
	s := record.Snapshot{Time: recordtest.Snapshot().Time, Node: "stor-07"}
	for _, d := range devices {
		_, warnings, err := device.Conditions(host, d)
		require.NoError(t, err)
		s.Targets = append(s.Targets, record.TargetStatus{ID: d.ID, Path: "/dev/" + d.Name, Device: d, Warnings: warnings})
		s.Ignored = append(s.Ignored, record.Ignored{Device: record.Device{Name: "x" + d.Name}, Reason: "no permission", Denied: true})
	}
	return s
}

// A problem of five drives is shown once, with their number and names.
func TestWhatHoldsForSeveralDrivesIsToldOnce(t *testing.T) {
	s := nameless(t, "sda", "sdb", "sdc", "sdd", "sde")
	o := options()
	o.Snapshot = func() record.Snapshot { return s }
	server := serve(t, o)

	var drift, devices bytes.Buffer
	require.NoError(t, report.Drift(&drift, s))
	require.NoError(t, report.Devices(&devices, report.DeviceList{Findings: finding.Of(s)}, s.Time))
	for where, text := range map[string]string{
		"page": words(get(t, server.URL+"/").body), "drift": words(drift.String()), "devices": words(devices.String()),
	} {
		assert.Equal(t, 1, strings.Count(text, "no serial number"), "%s: %s", where, text)
		assert.Regexp(t, `5 drives:? no wwid, no serial number `, text, where)
		assert.Regexp(t, `/dev/sda ?,? /dev/sdb ?,? /dev/sdc ?,? /dev/sdd ?,? /dev/sde`, text, where)
		assert.Regexp(t, `5 drives:? not watched: no permission`, text, where)
		assert.Regexp(t, `/dev/xsda ?,? /dev/xsdb ?,? /dev/xsdc ?,? /dev/xsdd ?,? /dev/xsde`, text, where)
	}
	for _, f := range finding.Of(s) {
		assert.Equal(t, "/dev/"+f.Device, f.Path, "each one names its drive")
	}
}
