package state

import "github.com/ssdprobe/ssdprobe/internal/history"

// History returns the stored history of a target's figures over the last month; false if there is none.
func (d Dir) History(id string) (s history.State, found bool, err error) {
	found, err = d.Load(kindHistories, id, &s)
	return s, found, err
}

// SaveHistory replaces the stored history of a target.
func (d Dir) SaveHistory(id string, s history.State) error { return d.Save(kindHistories, id, s) }

// SetHistoryAside renames the file of an invalid history, and returns a *store.DamagedError that says so.
func (d Dir) SetHistoryAside(id string, cause error) error {
	return d.SetAside(kindHistories, id, cause)
}
