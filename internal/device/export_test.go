package device

// BelowResolved is BelowFile without this process's own links in the path, for
// machines that are made up.
var BelowResolved = belowResolved
