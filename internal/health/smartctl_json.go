package health

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/ssdprobe/ssdprobe/internal/printable"
	"github.com/ssdprobe/ssdprobe/internal/record"
)

// answer holds the parts of smartctl's JSON, format 1.0, that are used. A field is nil
// if the drive does not have the value or an older smartctl does not print it.
type answer struct {
	Smartctl *struct {
		Messages []struct {
			Text     string `json:"string"`
			Severity string `json:"severity"`
		} `json:"messages"`
		ExitStatus int `json:"exit_status"`
	} `json:"smartctl"`
	Status *struct {
		Passed *bool `json:"passed"`
		// SCSI is the exception that a SAS drive reports, with its additional sense code.
		SCSI struct {
			Code      int    `json:"asc"`
			Qualifier int    `json:"ascq"`
			Text      string `json:"ie_string"`
		} `json:"scsi"`
	} `json:"smart_status"`
	Temperature *struct {
		Current *int `json:"current"`
	} `json:"temperature"`
	PowerOn *struct {
		Hours *int64 `json:"hours"`
	} `json:"power_on_time"`
	PowerCycles *int64 `json:"power_cycle_count"`
	// Endurance is printed by smartctl 7.4 and later, SASEndurance for SAS drives since 7.3.
	Endurance *struct {
		CurrentPercent *float64 `json:"current_percent"`
	} `json:"endurance_used"`
	SASEndurance *float64 `json:"scsi_percentage_used_endurance_indicator"`
	GrownDefects *int64   `json:"scsi_grown_defect_list"`
	Attributes   *struct {
		Table []struct {
			ID   int    `json:"id"`
			Name string `json:"name"`
			Raw  struct {
				// String begins with the count. What smartctl prints as the value has the drive's other bytes in it, too.
				String string `json:"string"`
			} `json:"raw"`
		} `json:"table"`
	} `json:"ata_smart_attributes"`
}

// The bits of smartctl's exit status that say that the drive could not be asked.
const (
	statusUsage = 1 << 0
	statusOpen  = 1 << 1
)

// The attributes of ATA drives that are read. Some vendors have something else at the last two, such as the amount of data read
// (smartctl's drivedb.h); those are told by their names.
const (
	attributeReallocated   = 5
	attributePending       = 197
	attributeUncorrectable = 198
)

// pendingThatFlips is smartctl's name for attribute 197 of the Crucial MX500 and related
// drives, whose firmware flips it between 0 and 1 by itself
// (https://www.smartmontools.org/ticket/1227).
const pendingThatFlips = "Current_Pending_ECC_Cnt"

// ErrNoSmart says that a drive does not report its health.
var ErrNoSmart = errors.New("the drive does not report its health")

// parseSmartctl reads the health from an answer of smartctl and ignores everything else in it.
func parseSmartctl(data []byte) (record.DiskHealth, error) {
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return record.DiskHealth{}, fmt.Errorf("read the answer of smartctl (7.0 or later is needed): %w", err)
	}
	if a.Smartctl == nil {
		return record.DiskHealth{}, errors.New("read the answer of smartctl: it says nothing about itself")
	}
	switch status := a.Smartctl.ExitStatus; {
	case status == asleepStatus:
		return record.DiskHealth{Asleep: true}, nil
	case status&(statusUsage|statusOpen) != 0:
		return record.DiskHealth{}, a.failure()
	}
	h := record.DiskHealth{PowerCycles: a.PowerCycles, ReallocatedSectors: a.GrownDefects}
	if a.Status != nil {
		s := a.Status.SCSI
		h.Passed, h.Reason, h.TooHot = a.Status.Passed, printable.Name(s.Text), s.Code == 0x0B && s.Qualifier == 0x01
	}
	if a.Temperature != nil && a.Temperature.Current != nil && *a.Temperature.Current != 0 { // drives without a sensor report 0
		h.TemperatureCelsius = a.Temperature.Current
	}
	if a.PowerOn != nil {
		h.PowerOnHours = a.PowerOn.Hours
	}
	used := a.SASEndurance
	if a.Endurance != nil && a.Endurance.CurrentPercent != nil {
		used = a.Endurance.CurrentPercent
	}
	if used != nil {
		h.PercentageUsed = new(*used / 100)
	}
	if a.Attributes != nil {
		for _, attribute := range a.Attributes.Table {
			number, _, _ := strings.Cut(attribute.Raw.String, " ") // "3 (2000 0)"
			count, err := strconv.ParseInt(number, 10, 64)
			switch id := attribute.ID; {
			case err != nil:
			case id == attributeReallocated:
				h.ReallocatedSectors = &count
			case id == attributePending && strings.Contains(attribute.Name, "Pending"):
				h.PendingSectors, h.PendingFlips = &count, attribute.Name == pendingThatFlips
			case id == attributeUncorrectable && strings.Contains(attribute.Name, "Uncor"):
				h.UncorrectableSectors = &count
			}
		}
	}
	if h == (record.DiskHealth{}) {
		return h, ErrNoSmart
	}
	return h, nil
}

// deniedError is what smartctl says when it lacks a permission.
type deniedError string

func (s deniedError) Error() string { return "smartctl: " + string(s) }

func (deniedError) Unwrap() error { return fs.ErrPermission }

// failure says why the drive could not be asked, in smartctl's own words.
func (a answer) failure() error {
	var texts []string
	for _, m := range a.Smartctl.Messages {
		texts = append(texts, m.Text)
	}
	text := strings.Join(texts, "; ")
	if strings.Contains(text, "Permission denied") || strings.Contains(text, "Operation not permitted") {
		return deniedError(text)
	}
	return fmt.Errorf("smartctl: exit status %d: %s", a.Smartctl.ExitStatus, text)
}
