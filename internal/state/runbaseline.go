package state

import (
	"fmt"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// runBaselineName is unique since names of suites have no spaces.
func runBaselineName(suite, targetID string) string { return suite + " " + targetID }

// CanSaveRunBaseline returns why a run could not be saved as the baseline of a suite on a
// target, so that nobody learns it only after the run: what is saved there is of a newer
// ssdprobe, or the directory cannot be written to.
func (d Dir) CanSaveRunBaseline(suite, targetID string) error {
	if _, _, err := d.RunBaseline(suite, targetID); err != nil {
		return err
	}
	return d.Writable(kindRunBaselines)
}

// SaveRunBaseline makes r what later runs of its suite on its target are compared with.
// What of it was disturbed is saved with its warnings, and does not decide later.
func (d Dir) SaveRunBaseline(r record.RunReport) error {
	return d.Save(kindRunBaselines, runBaselineName(r.Suite, r.TargetID), r)
}

// RunBaseline returns the saved run of a suite on a target, false when there is none.
func (d Dir) RunBaseline(suite, targetID string) (r record.RunReport, found bool, err error) {
	found, err = d.Load(kindRunBaselines, runBaselineName(suite, targetID), &r)
	if found && r.Version > record.RunReportVersion {
		return r, false, fmt.Errorf("saved run of %s: %w", suite, store.ErrNewer)
	}
	return r, found, err
}

// RunBaselines returns all saved runs. What could not be read is joined in the error.
func (d Dir) RunBaselines() ([]record.RunReport, error) {
	return all[record.RunReport](d, kindRunBaselines)
}

// RemoveRunBaseline forgets the saved run of a suite on a target.
func (d Dir) RemoveRunBaseline(suite, targetID string) error {
	return d.Remove(kindRunBaselines, runBaselineName(suite, targetID))
}
