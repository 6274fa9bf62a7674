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

// namespaceFile is where a pod finds the name of its own namespace.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// ErrNoCluster says that there is neither a kubeconfig nor a pod's service account that says where the cluster
// is.
var ErrNoCluster = errors.New("no service account of a cluster here")

// Options configure a Semaphore.
type Options struct {
	// Permits is how many permits there are, 1 or more.
	Permits int
	// Lease is the prefix of the names of the Leases.
	Lease string
	// Namespace is that of the Leases; empty for the namespace of the pod or of the kubeconfig.
	Namespace string
	// Kubeconfig is the path of a file that says how to reach the cluster, and as whom; empty for the service
	// account of the pod.
	Kubeconfig string
	// Duration is how long a permit lasts without renewal, 1 s or more.
	Duration time.Duration
	// Node is the name of this machine.
	Node string
	// OfNode says that a permit belongs to the node, not to this process. What the permit is for then outlives
	// a process that is killed, and the next process of the node takes over the permit with Resume.
	OfNode bool
	// Spent is called before a permit that ran out is taken. It reports whether the node that held the permit
	// has ended what the permit was for. If Spent is nil, the permit is always taken.
	Spent func(ctx context.Context, node string) (bool, error)
}

// Connect returns the semaphore of a cluster. It sends no request yet. Errors: ErrNoCluster, and those of
// reading a kubeconfig or a service account.
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

// Access returns how to reach the API server, and a namespace: the one given, or else that of the kubeconfig or
// of the pod. Errors: ErrNoCluster, and those of reading a kubeconfig or a service account.
func Access(kubeconfig, namespace string) (*rest.Config, string, error) {
	if kubeconfig != "" {
		file := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
			&clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig}, &clientcmd.ConfigOverrides{})
		c, err := file.ClientConfig()
		if clientcmd.IsEmptyConfig(err) { // its text is for those who know the library
			err = errors.New("it names no cluster")
		}
		if err != nil {
			return nil, "", fmt.Errorf("kubeconfig %s: %w", kubeconfig, err)
		}
		if namespace != "" {
			return c, namespace, nil
		}
		namespace, _, err = file.Namespace()
		return c, namespace, err
	}
	c, err := rest.InClusterConfig()
	switch {
	case errors.Is(err, rest.ErrNotInCluster): // its text is for those who know the library
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
