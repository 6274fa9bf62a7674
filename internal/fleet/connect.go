package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// namespaceFile is where a pod finds the name of its namespace.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// ErrNoCluster says that neither a kubeconfig nor a pod's service account tells
// where the cluster is.
var ErrNoCluster = errors.New("no service account of a cluster here")

// Options say which Leases there are and who asks for them.
type Options struct {
	// Permits is how many nodes may hold one at a time, 1 or more.
	Permits int
	// Lease begins the names of the Leases.
	Lease string
	// Namespace of the Leases; empty for that of the pod, or of the kubeconfig.
	Namespace string
	// Kubeconfig is the path of a file that tells where the cluster is and who asks;
	// empty for the service account of the pod.
	Kubeconfig string
	// Duration is how long a permit lasts that is not renewed, 1 s or more.
	Duration time.Duration
	// Node is the name of this machine.
	Node string
	// OfNode says that a permit belongs to the node, not to this process: what it was for outlives a process
	// that is killed, and the next one of the node takes the permit over with Resume.
	OfNode bool
	// Spent is asked before a permit that ran out is taken: has the node that had it ended what the permit was
	// for? nil takes it in any case.
	Spent func(ctx context.Context, node string) (bool, error)
}

// Connect returns the semaphore of a cluster. It sends nothing yet. Errors:
// ErrNoCluster, and those of reading a kubeconfig or a service account.
func Connect(o Options) (*Semaphore, error) {
	c, namespace, err := Access(o.Kubeconfig, o.Namespace)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	client, err := newClient(c, namespace)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	return New(client, o), nil
}

// Access returns how the API server is reached, and a namespace: that of the kubeconfig, or of the pod, unless it is
// given. Errors: ErrNoCluster, and those of reading a kubeconfig or a service account.
func Access(kubeconfig, namespace string) (*rest.Config, string, error) {
	if kubeconfig != "" {
		file := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
			&clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig}, &clientcmd.ConfigOverrides{})
		c, err := file.ClientConfig()
		if err != nil {
			return nil, "", err
		}
		if namespace != "" {
			return c, namespace, nil
		}
		namespace, _, err = file.Namespace()
		return c, namespace, err
	}
	c, err := rest.InClusterConfig()
	switch {
	case errors.Is(err, rest.ErrNotInCluster): // in words for who knows the library
		return nil, "", ErrNoCluster
	case errors.Is(err, os.ErrNotExist):
		return nil, "", fmt.Errorf("%w: %w", ErrNoCluster, err)
	case err != nil:
		return nil, "", err
	}
	if namespace != "" {
		return c, namespace, nil
	}
	text, err := os.ReadFile(namespaceFile)
	return c, strings.TrimSpace(string(text)), err
}
