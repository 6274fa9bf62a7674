package state

import "github.com/ssdprobe/ssdprobe/internal/history"

// History returns what is stored of the figures of a target over the last month; false when nothing is.
func (d Dir) History(id string) (s history.State, found bool, err error) {
	found, err = d.Load(kindHistories, id, &s)
	return s, found, err
}

// SaveHistory replaces what is stored of a target's figures.
func (d Dir) SaveHistory(id string, s history.State) error { return d.Save(kindHistories, id, s) }

// SetHistoryAside renames the file of a history that makes no sense, and returns the *store.DamagedError that says so.
func (d Dir) SetHistoryAside(id string, cause error) error {
	return d.SetAside(kindHistories, id, cause)
}
