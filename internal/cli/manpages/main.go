// Command manpages writes a man page for ssdprobe and for each of its commands into a directory, from the texts
// that --help prints. It is a separate program, so that its dependencies stay out of ssdprobe:
//
//	go run ./internal/cli/manpages v1.2.3 2026-11-21 DIRECTORY
//
// The version and the date are printed on the pages. With those of the commit, the pages of a commit are
// reproducible.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/ssdprobe/ssdprobe/internal/cli"
)

func main() {
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "manpages:", err)
		os.Exit(1)
	}
}

func write(args []string) error {
	if len(args) != 3 {
		return errors.New("want VERSION DATE DIRECTORY")
	}
	date, err := time.Parse(time.DateOnly, args[1])
	if err != nil {
		return err
	}
	return writeTree(cli.Commands(), "ssdprobe "+args[0], date, args[2])
}

// writeTree writes the page of a command and those of the commands below it.
func writeTree(c *cobra.Command, source string, date time.Time, dir string) error {
	c.LocalFlags().VisitAll(describe)
	var page bytes.Buffer
	c.DisableAutoGenTag = true // the tag would contain the day of generation
	header := doc.GenManHeader{Section: "1", Source: source, Manual: "ssdprobe", Date: &date}
	if err := doc.GenMan(c, &header, &page); err != nil {
		return err
	}
	name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
	if err := os.WriteFile(filepath.Join(dir, name), tidy(page.Bytes(), date), 0o644); err != nil {
		return err
	}
	for _, child := range c.Commands() {
		if !child.IsAvailableCommand() {
			continue
		}
		if err := writeTree(child, source, date, dir); err != nil {
			return err
		}
	}
	return nil
}

// describe moves a flag's default behind its text, as in --help, and puts the name of the flag's value where
// the generator prints the default.
func describe(flag *pflag.Flag) {
	value, text := pflag.UnquoteUsage(flag)
	if value == "" { // a switch without a value
		return
	}
	if flag.DefValue != "" && flag.DefValue != "0" && flag.DefValue != "[]" {
		text += " (default " + flag.DefValue + ")"
	}
	flag.DefValue, flag.Usage = value, text
}

// tidy changes a page to what man readers expect: the full date, and each flag as a tagged paragraph.
func tidy(page []byte, date time.Time) []byte {
	for _, r := range []struct{ pattern, by string }{
		{`(?m)^(\.TH "\S+" "1") "[^"]*"`, `$1 "` + date.Format(time.DateOnly) + `"`},
		{`(?m)^(?:\.PP\n)?(\\fB-.*)\n\t`, ".TP\n$1\n"},
		{`(?m)^(\\fB-.*\\fP)\[=false\]$`, "$1"},
		{`(?m)^(\\fB-.*\\fP)="(.*)"$`, "$1=$2"},
	} {
		page = regexp.MustCompile(r.pattern).ReplaceAll(page, []byte(r.by))
	}
	return page
}
