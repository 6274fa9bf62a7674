// Package runfolder keeps a run as a folder that another engineer can check without
// asking: the report in several forms, the fio jobs as they ran, what fio itself
// reported, the conditions, and the checksums of all of it.
//
// It owns the names of the files and their order. A folder appears whole or not at all:
// it is filled beside its place, under a name that ends with "partial", and renamed.
// Nothing that is there is ever overwritten.
package runfolder
