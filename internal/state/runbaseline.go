package state

import (
	"fmt"

	"github.com/ssdprobe/ssdprobe/internal/record"
	"github.com/ssdprobe/ssdprobe/internal/store"
)

// runBaselineName is unique because names of suites contain no spaces.
func runBaselineName(suite, targetID string) string { return suite + " " + targetID }

// CanSaveRunBaseline returns why a run could not be saved as the baseline of a suite on a
// target: the stored one was written by a newer ssdprobe, or the directory is not
// writable. Call it before the run, so that the user does not learn this only afterwards.
func (d Dir) CanSaveRunBaseline(suite, targetID string) error {
	if _, _, err := d.RunBaseline(suite, targetID); err != nil {
		return err
	}
	return d.Writable(kindRunBaselines)
}

// SaveRunBaseline makes r the run with which later runs of its suite on its target are
// compared. Its disturbed parts are saved with their warnings and do not decide
// comparisons.
func (d Dir) SaveRunBaseline(r record.RunReport) error {
	return d.Save(kindRunBaselines, runBaselineName(r.Suite, r.TargetID), r)
}

// RunBaseline returns the saved run of a suite on a target; false if there is none.
func (d Dir) RunBaseline(suite, targetID string) (r record.RunReport, found bool, err error) {
	found, err = d.Load(kindRunBaselines, runBaselineName(suite, targetID), &r)
	if found && r.Version > record.RunReportVersion {
		return r, false, fmt.Errorf("saved run of %s: %w", suite, store.ErrNewer)
	}
	return r, found, err
}

// RunBaselines returns all saved runs. The error joins what could not be read.
func (d Dir) RunBaselines() ([]record.RunReport, error) {
	return all[record.RunReport](d, kindRunBaselines)
}

// RemoveRunBaseline removes the saved run of a suite on a target.
func (d Dir) RemoveRunBaseline(suite, targetID string) error {
	return d.Remove(kindRunBaselines, runBaselineName(suite, targetID))
}
