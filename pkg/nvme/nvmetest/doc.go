// Package nvmetest helps to test programs that use package nvme. It provides a controller that
// gives programmed answers, and nothing else.
//
//	script := nvmetest.New(t)
//	script.On(nvme.IdentifyCommand(nvme.IdentifyController, 0)).Return(identifyPage)
//	script.On(nvme.LogPageCommand(nvme.LogPageRequest{Page: nvme.LogSMART, Bytes: 512})).Return(smartPage)
//	smart, err := nvme.NewDevice(script).SMART()
//
// It does not guess: a command without a programmed answer fails the test, because a real drive
// might refuse the command and add an entry to its error log.
package nvmetest
