package replay

import (
	"strconv"
	"time"
)

// Seconds is a time that JSON writes as unix seconds, as the CSV has it.
type Seconds time.Time

// MarshalJSON writes unix seconds with as many decimals as are needed.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(time.Time(s).UnixMilli())/1e3, 'f', -1, 64), nil
}

// String writes the time for people, in UTC.
func (s Seconds) String() string { return time.Time(s).UTC().Format("2006-01-02 15:04") }
