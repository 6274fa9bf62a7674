package nvme_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/ssdprobe/ssdprobe/pkg/nvme"
	"github.com/ssdprobe/ssdprobe/pkg/nvme/nvmetest"
)

// exampleDrive stands in for a drive; the result of Open works the same way.
func exampleDrive() *nvme.Device {
	identify := make([]byte, 4096)
	copy(identify[24:], "Example SSD 1TB")
	copy(identify[64:], "1.2.3")
	copy(identify[80:], []byte{0, 4, 1, 0}) // revision 1.4
	identify[520] = 1 << 4                  // features can be saved, and report their capabilities

	smart := make([]byte, 512)
	copy(smart[1:], []byte{0x36, 0x01}) // 310 K
	smart[3], smart[5] = 100, 2         // percent
	smart[48] = 200                     // data units written

	script := nvmetest.New(nil)
	script.On(nvme.IdentifyCommand(nvme.IdentifyController, 0)).Return(identify)
	script.On(nvme.LogPageCommand(nvme.LogPageRequest{Page: nvme.LogSMART, Bytes: 512})).Return(smart)
	script.On(nvme.GetFeatureCommand(nvme.FeatureInterruptCoalescing, nvme.SelectCapabilities, 0)).Result(4)
	script.On(nvme.SetFeatureCommand(nvme.FeatureInterruptCoalescing, 0x0107, nvme.UntilReset)).Result(0)
	return nvme.NewDevice(script)
}

func Example() {
	d := exampleDrive() // nvme.Open("/dev/nvme0")
	defer d.Close()

	controller, err := d.Controller()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(controller.ModelNumber, controller.FirmwareRevision, controller.Version)

	smart, err := d.SMART()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("used:", smart.PercentageUsed)
	if smart.DataWrittenBytes != nil { // drives need not report it
		fmt.Println("written:", *smart.DataWrittenBytes, "bytes")
	}
	if smart.Temperature != nil {
		fmt.Println("temperature:", *smart.Temperature)
	}
	// Output:
	// Example SSD 1TB 1.2.3 1.4
	// used: 2 %
	// written: 102400000 bytes
	// temperature: 37 °C
}

// A missing feature is distinguishable from a failure, and adds no entry to the drive's error log.
func ExampleDevice_SelfTests() {
	d := exampleDrive()
	_, err := d.SelfTests()
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		fmt.Println("the drive has no self-tests")
	case errors.Is(err, fs.ErrPermission):
		fmt.Println("CAP_SYS_ADMIN is missing")
	case err != nil:
		fmt.Println(err)
	}
	// Output: the drive has no self-tests
}

func ExampleFeatureWriter() {
	d := exampleDrive()
	err := nvme.NewFeatureWriter(d).SetInterruptCoalescing(
		nvme.InterruptCoalescing{Time: 100 * time.Microsecond, Threshold: 8}, nvme.UntilReset)
	fmt.Println(err)
	// Output: <nil>
}

func ExampleUint128() {
	counter := nvme.Uint128{High: 1} // 2⁶⁴, which does not fit in 64 bits
	text, err := json.Marshal(counter)
	fmt.Println(counter, counter.Float64(), string(text), err)
	// Output: 18446744073709551616 1.8446744073709552e+19 "18446744073709551616" <nil>
}
