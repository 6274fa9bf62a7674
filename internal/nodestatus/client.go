package nodestatus

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// cluster is the part of an API server that is used here. A change names the version that it was made from. It
// is refused as a conflict when the node has another version by then.
type cluster interface {
	// node returns the Node with this name.
	node(ctx context.Context, name string) (node, error)
	// nodes returns all Nodes, in the order of their names.
	nodes(ctx context.Context) ([]node, error)
	// setCondition adds the condition of this package, or replaces the existing one.
	setCondition(ctx context.Context, n node, c condition) (node, error)
	// removeCondition removes the condition; it need not exist.
	removeCondition(ctx context.Context, n node) (node, error)
	// setTaints replaces all taints.
	setTaints(ctx context.Context, n node, taints []json.RawMessage) (node, error)
	// createEvent creates an event; no event with the same name may exist.
	createEvent(ctx context.Context, e event) error
}

// client is the cluster that an API server manages.
type client struct{ rest rest.Interface }

// patience is how long the API server may take to answer. Several such waits fit into endPatience.
const patience = 3 * time.Second

// pagePatience is the same for a page of nodes. Only the cleanup asks for them, which has a quarter of an hour and little memory.
const pagePatience = 30 * time.Second

func newClient(c *rest.Config) (*client, error) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, metav1.Unversioned) // errors have this version
	c = rest.CopyConfig(c)
	c.APIPath, c.GroupVersion = "/api", &schema.GroupVersion{Version: "v1"}
	c.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	c.UserAgent = "ssdprobe"
	c.WarningHandler = rest.NoWarnings{} // the default handler writes to standard error
	r, err := rest.RESTClientFor(c)
	return &client{r}, err
}

func (c *client) node(ctx context.Context, name string) (node, error) {
	return ask[node](ctx, c.rest.Get().AbsPath("/api/v1/nodes", name))
}

// object is part of an object in a patch.
type object map[string]any

func (c *client) setCondition(ctx context.Context, n node, to condition) (node, error) {
	return c.patchStatus(ctx, n, to)
}

func (c *client) removeCondition(ctx context.Context, n node) (node, error) {
	return c.patchStatus(ctx, n, object{"$patch": "delete", "type": ConditionType})
}

// patchStatus changes one condition. A strategic merge patch leaves the other conditions as they are.
func (c *client) patchStatus(ctx context.Context, n node, condition any) (node, error) {
	return c.patch(ctx, types.StrategicMergePatchType, n, "/status", object{"status": object{"conditions": []any{condition}}})
}

// setTaints replaces the whole list, because Kubernetes defines no merge key for taints.
func (c *client) setTaints(ctx context.Context, n node, taints []json.RawMessage) (node, error) {
	return c.patch(ctx, types.MergePatchType, n, "", object{"spec": object{"taints": taints}})
}

func (c *client) patch(ctx context.Context, kind types.PatchType, n node, part string, patch object) (node, error) {
	patch["metadata"] = object{"resourceVersion": n.Metadata.ResourceVersion}
	text, err := json.Marshal(patch)
	if err != nil {
		return node{}, err
	}
	return ask[node](ctx, c.rest.Patch(kind).AbsPath("/api/v1/nodes/"+n.Metadata.Name+part).Body(text))
}

func (c *client) createEvent(ctx context.Context, e event) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = ask[struct{}](ctx, c.rest.Post().SetHeader("Content-Type", runtime.ContentTypeJSON).
		AbsPath("/apis/events.k8s.io/v1/namespaces", e.Metadata.Namespace, "events").Body(text))
	return err
}

// page is how many nodes are requested at a time. With images, labels and annotations a node may have 50 KB, and an answer
// takes several times its size in memory.
const page = 100

func (c *client) nodes(ctx context.Context) ([]node, error) {
	type list struct {
		Metadata struct {
			Continue string `json:"continue"`
		} `json:"metadata"`
		Items []node `json:"items"`
	}
	var all []node
	for next := ""; ; {
		l, err := askWithin[list](ctx, pagePatience, c.rest.Get().AbsPath("/api/v1/nodes").Param("limit", strconv.Itoa(page)).Param("continue", next))
		if err != nil {
			return nil, err
		}
		all = append(all, l.Items...)
		if next = l.Metadata.Continue; next == "" {
			return all, nil
		}
	}
}

// ask sends a request and decodes the answer.
func ask[T any](ctx context.Context, r *rest.Request) (T, error) {
	return askWithin[T](ctx, patience, r)
}

// askWithin is ask with a time of its own.
func askWithin[T any](ctx context.Context, limit time.Duration, r *rest.Request) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var answer T
	result := r.Do(ctx)
	if err := result.Error(); err != nil { // the error of Raw does not give the reason
		return answer, err
	}
	text, err := result.Raw()
	if err != nil {
		return answer, err
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return answer, fmt.Errorf("read the answer of the API server: %w", err)
	}
	return answer, nil
}
