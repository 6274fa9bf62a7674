package fleet

import (
	"context"

	coordination "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
)

// client requests the Leases of one namespace from an API server. It does what client-go's client for the
// coordination group does. That client also registers the types of all other Kubernetes groups, which doubles
// the size of the program.
type client struct {
	rest      rest.Interface
	namespace string
}

func newClient(c *rest.Config, namespace string) (*client, error) {
	scheme := runtime.NewScheme()
	if err := coordination.AddToScheme(scheme); err != nil {
		return nil, err
	}
	metav1.AddToGroupVersion(scheme, metav1.Unversioned) // errors have this version
	c = rest.CopyConfig(c)
	c.APIPath, c.GroupVersion = "/apis", &coordination.SchemeGroupVersion
	c.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	c.UserAgent = "ssdprobe"
	c.WarningHandler = rest.NoWarnings{} // the default handler writes to standard error
	r, err := rest.RESTClientFor(c)
	if err != nil {
		return nil, err
	}
	return &client{r, namespace}, nil
}

// Get returns the Lease with this name.
func (c *client) Get(ctx context.Context, name string) (*coordination.Lease, error) {
	return c.do(ctx, c.rest.Get().Name(name))
}

// Create creates a Lease; no Lease with the same name may exist.
func (c *client) Create(ctx context.Context, l *coordination.Lease) (*coordination.Lease, error) {
	return c.do(ctx, c.rest.Post().Body(l))
}

// Update replaces a Lease, whose version must not have changed.
func (c *client) Update(ctx context.Context, l *coordination.Lease) (*coordination.Lease, error) {
	return c.do(ctx, c.rest.Put().Name(l.Name).Body(l))
}

func (c *client) do(ctx context.Context, r *rest.Request) (*coordination.Lease, error) {
	answer := &coordination.Lease{}
	if err := r.Namespace(c.namespace).Resource("leases").Do(ctx).Into(answer); err != nil {
		return nil, err
	}
	return answer, nil
}
