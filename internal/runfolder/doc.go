// Package runfolder stores a run as a folder that another engineer can check without
// asking: the report in several forms, the fio jobs as they ran, fio's own reports, the
// conditions, and the checksums of all these files.
//
// It owns the names of the files and their order. A folder appears complete or not at
// all: it is filled beside its final path, under a name that ends with "partial", and
// renamed. Nothing that exists is ever overwritten.
package runfolder
