package lab

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

// console keeps what the guest writes to its serial line and what QEMU writes to its standard error.
type console struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.buf.Write(p)
}

func (c *console) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.ToValidUTF8(strings.ReplaceAll(c.buf.String(), "\r", ""), "?")
}

// with adds the console's output to an error about the machine.
func (c *console) with(err error) error {
	return fmt.Errorf("%w\nconsole:\n%s", err, c)
}
