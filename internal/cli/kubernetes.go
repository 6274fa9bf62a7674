package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/ssdprobe/ssdprobe/internal/config"
	"github.com/ssdprobe/ssdprobe/internal/fleet"
	"github.com/ssdprobe/ssdprobe/internal/nodestatus"
	"github.com/ssdprobe/ssdprobe/internal/units"
)

func (a *app) kubernetesCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "kubernetes",
		Short:   "Remove what ssdprobe set on Kubernetes nodes",
		Example: `  ssdprobe kubernetes cleanup --kubeconfig /root/.kube/config --node stor-07`,
		Args:    noSubcommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.kubernetesCleanupCommand())
	return c
}

type cleanupOptions struct {
	allNodes   bool
	kubeconfig string
}

func (a *app) kubernetesCleanupCommand() *cobra.Command {
	var o cleanupOptions
	c := &cobra.Command{
		Use:   "cleanup",
		Short: "Remove the condition and the taint of ssdprobe from nodes of a cluster",
		Long: `Removes the condition SlowDrive and the taint ssdprobe/slow-drive of this node, or of all nodes.
A daemon with kubernetes.enabled puts them back: uninstall it first. The chart does this after
its pods have lost their rights. Kubernetes deletes events by itself after an hour.

It needs the rights to get nodes (with --all-nodes, to list them), and to patch nodes and their
status. The name of this node is $SSDPROBE_NODE, --node or node of the configuration.`,
		Example: `  ssdprobe kubernetes cleanup --kubeconfig /root/.kube/config --node stor-07
  ssdprobe kubernetes cleanup --kubeconfig /root/.kube/config --all-nodes`,
		Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return a.kubernetesCleanup(c.Context(), o) },
	}
	c.Flags().BoolVar(&o.allNodes, "all-nodes", false, "all nodes of the cluster instead of this one")
	c.Flags().StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig `FILE` of the cluster; default: kubernetes.kubeconfig of the configuration, or the service account of the pod")
	return c
}

func (a *app) kubernetesCleanup(ctx context.Context, o cleanupOptions) error {
	limitMemory(slog.New(slog.NewTextHandler(a.stderr, nil))) // a page of large nodes is most of what the Job may use
	var c config.Config
	var err error
	if !o.allNodes || a.configFile != "" { // otherwise nothing of this machine is needed, such as a home directory for the state
		if c, err = a.settings(); err != nil {
			return err
		}
	}
	if o.kubeconfig == "" {
		o.kubeconfig = c.Kubernetes.Kubeconfig
	}
	cleaner, err := nodestatus.NewCleaner(o.kubeconfig)
	switch {
	case errors.Is(err, fleet.ErrNoCluster):
		return usage(fmt.Errorf("%w; name a kubeconfig with --kubeconfig", err))
	case err != nil && o.kubeconfig != "": // nothing was asked yet
		return usage(err)
	case err != nil:
		return err
	}
	if !o.allNodes {
		done, err := cleaner.Clean(ctx, c.Node)
		if err == nil || done.Any() {
			err = errors.Join(err, tell(a.stdout, "%s\n", done))
		}
		return err
	}
	cleaned, others, err := cleaner.CleanAll(ctx)
	problems := []error{err}
	for _, done := range cleaned {
		problems = append(problems, tell(a.stdout, "%s\n", done))
	}
	if others > 0 {
		problems = append(problems, tell(a.stdout, "%s: nothing to remove\n", units.Plural(others, "other node")))
	}
	return errors.Join(problems...)
}
