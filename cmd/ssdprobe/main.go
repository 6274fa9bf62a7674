// Command ssdprobe monitors the speed of drives. See package cli.
package main

import (
	"os"

	"github.com/ssdprobe/ssdprobe/internal/cli"
)

func main() {
	cli.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
}
