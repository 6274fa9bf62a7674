// Package imagetest executes deploy/container/Containerfile without docker and without
// a registry, for tests of the images. It supports the few instructions that the file
// uses. A stage on Debian's image runs in a fresh Debian, a stage on Go's image with
// the Go of this machine. It needs root and debootstrap.
//
//	images := imagetest.Build(t, imagetest.Options{Arch: "amd64", Version: "v1.2.3"})
//	root := images.Stages[images.Last]
//
// An unknown instruction is an error.
package imagetest
