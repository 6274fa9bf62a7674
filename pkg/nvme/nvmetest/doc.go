// Package nvmetest helps to test programs that use package nvme: a controller that
// answers what it was told to, and nothing else.
//
//	script := nvmetest.New(t)
//	script.On(nvme.IdentifyCommand(nvme.IdentifyController, 0)).Return(identifyPage)
//	script.On(nvme.LogPageCommand(nvme.LogPageRequest{Page: nvme.LogSMART, Bytes: 512})).Return(smartPage)
//	smart, err := nvme.NewDevice(script).SMART()
//
// It refuses to guess: a command that was not programmed fails the test, because on a
// real drive it might be refused and grow the drive's error log.
package nvmetest
