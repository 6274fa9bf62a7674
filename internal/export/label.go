package export

import "github.com/ssdprobe/ssdprobe/internal/printable"

// labelValue returns s as it may stand in a label. One byte that is not UTF-8 in a path
// would make Prometheus refuse the whole scrape, and replacing all such bytes by one mark
// could make two ids equal.
func labelValue(s string) string { return printable.Text(s) }
