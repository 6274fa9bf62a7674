package record_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/record/recordtest"
)

func TestConditionsAreComparedByName(t *testing.T) {
	a := record.Conditions{Firmware: "A", Kernel: "6.1", PCIeLink: record.LinkRate{GTs: 8, Lanes: 4}}
	b := a
	assert.Equal(t, a, b)
	assert.Empty(t, a.Changes(b))
	b.Firmware, b.Kernel, b.PCIeLink.Lanes = "B", "", 2
	changes := a.Changes(b)
	assert.Equal(t, []record.Change{
		{Condition: "firmware", From: "A", To: "B"}, {Condition: "pcie_link", From: "8 GT/s x4", To: "8 GT/s x2"},
		{Condition: "kernel", From: "6.1", To: ""},
	}, changes)
	assert.Equal(t, "firmware A → B", changes[0].String())
	assert.Equal(t, "PCIe link 8 GT/s x4 → 8 GT/s x2", changes[1].String())
	assert.Equal(t, "kernel 6.1 → unknown", changes[2].String())
}

// Every condition has a name, a text, no text while it is unknown, and survives being stored. Its values are
// compared, so it must differ from an unknown one.
func TestEveryConditionIsComplete(t *testing.T) {
	full, unknown := recordtest.Conditions(), record.Conditions{}.List()
	for i, c := range full.List() {
		require.NotEmpty(t, c.Value, "%s: give recordtest.Conditions a value of it", c.Name)
		assert.Regexp(t, `^[a-z_]+$`, c.Name)
		assert.Empty(t, unknown[i].Value, c.Name)
		one := record.Conditions{}
		reflect.ValueOf(&one).Elem().Field(i).Set(reflect.ValueOf(full).Field(i))
		assert.Equal(t, []record.Change{{Condition: c.Name, To: c.Value}}, record.Conditions{}.Changes(one))
		stored, err := json.Marshal(one)
		require.NoError(t, err)
		var back record.Conditions
		require.NoError(t, json.Unmarshal(stored, &back), "%s", stored)
		assert.Equal(t, one, back, "%s", stored)
		assert.NotEqual(t, "{}", string(stored), c.Name)
	}
	empty, err := json.Marshal(record.Conditions{})
	require.NoError(t, err)
	assert.JSONEq(t, "{}", string(empty))
}

// The stored form does not depend on the texts for people.
func TestStoredConditions(t *testing.T) {
	stored, err := json.Marshal(recordtest.Conditions())
	require.NoError(t, err)
	assert.JSONEq(t, `{"model":"M","firmware":"F","transport":"pcie",
		"format":{"logical_bytes":4096,"physical_bytes":8192,"metadata_bytes":8,"protection":"T10-DIF-TYPE1-CRC"},
		"pcie_link":{"gts":2.5,"lanes":4},"aspm":{"states":"L0s L1","policy":"default"},"numa_node":0,"scheduler":"none","nr_requests":1023,
		"write_cache":"write back","drive_cache":["on"],"coalescing":[{"threshold":11,"time_ns":200000}],"power_state":[{"state":0}],
		"polling":{"mode":"on","queues":4},"governor":"powersave","kernel":"6.1","stack":"crypt on eui.1","filesystem":"ext4",
		"mount_options":"rw","engine":"ssdprobe-1"}`, string(stored))
}

// texts are all forms in which version 1 stored the conditions that have types now.
func texts() map[string]map[string]record.Conditions {
	coalescing := func(threshold int, wait time.Duration) record.Coalescing {
		return record.Coalescing{Threshold: threshold, Time: wait}
	}
	set := func(n int) record.PowerState { return record.PowerState{State: record.NumberOf(n)} }
	return map[string]map[string]record.Conditions{
		"format": {
			"512/4096":                          {Format: record.BlockFormat{LogicalBytes: 512, PhysicalBytes: 4096}},
			"4096/4096 + 8 bytes of metadata":   {Format: record.BlockFormat{LogicalBytes: 4096, PhysicalBytes: 4096, MetadataBytes: 8}},
			"512/512, T10-DIF-TYPE1-CRC":        {Format: record.BlockFormat{LogicalBytes: 512, PhysicalBytes: 512, Protection: "T10-DIF-TYPE1-CRC"}},
			"512/512 + 8 bytes of metadata, x":  {Format: record.BlockFormat{LogicalBytes: 512, PhysicalBytes: 512, MetadataBytes: 8, Protection: "x"}},
			"4096/16384":                        {Format: record.BlockFormat{LogicalBytes: 4096, PhysicalBytes: 16384}},
			"4096/4096 + 64 bytes of metadata":  {Format: record.BlockFormat{LogicalBytes: 4096, PhysicalBytes: 4096, MetadataBytes: 64}},
			"512/512 + 8 bytes of metadata, a+": {Format: record.BlockFormat{LogicalBytes: 512, PhysicalBytes: 512, MetadataBytes: 8, Protection: "a+"}},
		},
		"pcie_link": {
			"2.5 GT/s x1": {PCIeLink: record.LinkRate{GTs: 2.5, Lanes: 1}},
			"64 GT/s x16": {PCIeLink: record.LinkRate{GTs: 64, Lanes: 16}},
		},
		"aspm": {
			"off":                   {ASPM: record.ASPM{States: record.Off}},
			"L0s L1 L1.1 L1.2":      {ASPM: record.ASPM{States: "L0s L1 L1.1 L1.2"}},
			"policy powersave":      {ASPM: record.ASPM{Policy: "powersave"}},
			"L1, policy default":    {ASPM: record.ASPM{States: "L1", Policy: "default"}},
			"off, policy powersave": {ASPM: record.ASPM{States: record.Off, Policy: "powersave"}},
		},
		"numa_node":   {"0": {NUMANode: record.NumberOf(0)}, "1": {NUMANode: record.NumberOf(1)}},
		"nr_requests": {"64": {NrRequests: record.NumberOf(64)}, "1023": {NrRequests: record.NumberOf(1023)}},
		"drive_cache": {"on": {DriveCache: record.EachOf(record.On)}, "off": {DriveCache: record.EachOf(record.Off)}, "on and off": {DriveCache: record.EachOf(record.Off, record.On)}},
		"coalescing": {
			"off":                    {Coalescing: record.EachOf(coalescing(1, 0))},
			"11 / 200µs":             {Coalescing: record.EachOf(coalescing(11, 200*time.Microsecond))},
			"256 / 25.5ms":           {Coalescing: record.EachOf(coalescing(256, 25500*time.Microsecond))},
			"2 / 0s":                 {Coalescing: record.EachOf(coalescing(1, 0))}, // the time switches it off
			"off and 8 / 1ms":        {Coalescing: record.EachOf(coalescing(8, time.Millisecond), coalescing(1, 0))},
			"8 / 1ms and 11 / 100µs": {Coalescing: record.EachOf(coalescing(8, time.Millisecond), coalescing(11, 100*time.Microsecond))},
			"11 / 100µs and 8 / 1ms": {Coalescing: record.EachOf(coalescing(8, time.Millisecond), coalescing(11, 100*time.Microsecond))},
		},
		"power_state": {
			"0": {PowerState: record.EachOf(set(0))}, "4": {PowerState: record.EachOf(set(4))},
			"autonomous":       {PowerState: record.EachOf(record.PowerState{Autonomous: true})},
			"0 and autonomous": {PowerState: record.EachOf(record.PowerState{Autonomous: true}, set(0))},
			"0 and 3":          {PowerState: record.EachOf(set(3), set(0))},
		},
		"polling": {
			"off": {Polling: record.Polling{Mode: record.Off}}, "on": {Polling: record.Polling{Mode: record.On}},
			"on, poll_queues 0": {Polling: record.Polling{Mode: record.On, Queues: record.NumberOf(0)}},
			"on, poll_queues 4": {Polling: record.Polling{Mode: record.On, Queues: record.NumberOf(4)}},
		},
	}
}

func TestConditionsOfVersion1(t *testing.T) {
	covered := texts()
	for i, c := range recordtest.Conditions().List() {
		kind := reflect.TypeFor[record.Conditions]().Field(i).Type.Kind()
		assert.Equal(t, kind != reflect.String, covered[c.Name] != nil, "%s is in texts", c.Name)
		for text, want := range covered[c.Name] {
			var got record.Conditions
			require.NoError(t, json.Unmarshal([]byte(`{"`+c.Name+`":"`+text+`"}`), &got), text)
			assert.Equal(t, want, got, text)
		}
		var got record.Conditions
		require.NoError(t, json.Unmarshal([]byte(`{"`+c.Name+`":""}`), &got))
		assert.Zero(t, got)
	}
	require.Error(t, json.Unmarshal([]byte(`{"pcie_link":"NaN GT/s x4"}`), new(record.Conditions)), "it would differ from itself")
	for name, text := range map[string]string{
		"format": "512", "pcie_link": "8 GT/s x4 and more", "numa_node": "one", "coalescing": "8 / long", "power_state": "deep",
		"polling": "on, poll_queues many", "nr_requests": "1 2",
	} {
		var got record.Conditions
		require.ErrorContains(t, json.Unmarshal([]byte(`{"`+name+`":"`+text+`"}`), &got), "condition "+name)
	}
}

func TestConditionsExtended(t *testing.T) {
	before := record.Conditions{Firmware: "A"}
	assert.True(t, record.Conditions{}.Extended(before))
	assert.True(t, before.Extended(before))
	assert.True(t, before.Extended(record.Conditions{Firmware: "A", DriveCache: record.EachOf(record.On)}), "only more is known")
	assert.False(t, before.Extended(record.Conditions{Firmware: "B", DriveCache: record.EachOf(record.On)}))
	assert.False(t, before.Extended(record.Conditions{}), "what is not known any more is a change")
}

func TestWhatOnlyTheDriveKnowsIsRemembered(t *testing.T) {
	before := recordtest.Conditions()
	silent := record.Conditions{Firmware: "B"}
	assert.Equal(t, record.Conditions{
		Firmware: "B", DriveCache: before.DriveCache, Coalescing: before.Coalescing, PowerState: before.PowerState,
	}, silent.Remember(before))
	off := record.Conditions{DriveCache: record.EachOf(record.Off)}
	assert.Equal(t, off.DriveCache, off.Remember(before).DriveCache)
}
