// Package imagetest carries out deploy/container/Containerfile without docker and
// without a registry, for tests of the images: the few instructions that it uses, in a
// fresh Debian where it begins with Debian's image, and by the Go of this machine where
// it begins with Go's. It needs root, and debootstrap.
//
//	images := imagetest.Build(t, imagetest.Options{Arch: "amd64", Version: "v1.2.3"})
//	root := images.Stages[images.Last]
//
// It refuses an instruction that it does not know.
package imagetest
