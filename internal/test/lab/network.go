package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// forwardedPorts asks QEMU which ports of the host it has assigned to those of the guest.
func (q *qmp) forwardedPorts(ctx context.Context) (map[int]string, error) {
	answer, err := q.execute(ctx, "human-monitor-command", object{"command-line": "info usernet"})
	if err != nil {
		return nil, err
	}
	var table string
	if err := json.Unmarshal(answer, &table); err != nil {
		return nil, fmt.Errorf("info usernet: %w", err)
	}
	return parseForwardedPorts(table)
}

// parseForwardedPorts reads lines such as
//
//	TCP[HOST_FORWARD]  13       127.0.0.1 34567       10.0.2.15  9000     0     0
func parseForwardedPorts(table string) (map[int]string, error) {
	addresses := map[int]string{}
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 6 || fields[0] != "TCP[HOST_FORWARD]" {
			continue
		}
		port, err := strconv.Atoi(fields[5])
		if err != nil {
			return nil, fmt.Errorf("info usernet: line %q: %w", line, err)
		}
		addresses[port] = net.JoinHostPort(fields[2], fields[3])
	}
	return addresses, nil
}
