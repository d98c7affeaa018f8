package conformance

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// requests remembers the list and watch requests that a client has sent.
type requests struct {
	sync.Mutex
	seen []*url.URL
}

func (r *requests) watchOver(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			r.Lock()
			r.seen = append(r.seen, request.URL)
			r.Unlock()
			return next.RoundTrip(request)
		})
	})
}

func (r *requests) count(resource string, is func(url.Values) bool) int {
	r.Lock()
	defer r.Unlock()
	number := 0
	for _, found := range r.seen {
		if strings.HasSuffix(found.Path, "/"+resource) && is(found.Query()) {
			number++
		}
	}
	return number
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// follower is one informer and what it was told.
type follower struct {
	name     string
	resource schema.GroupVersionResource
	informer cache.SharedIndexInformer
	deletes  atomic.Int64
	updates  atomic.Int64
}

func follow(name string, resource schema.GroupVersionResource, informer cache.SharedIndexInformer) *follower {
	f := &follower{name: name, resource: resource, informer: informer}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, _ any) { f.updates.Add(1) },
		DeleteFunc: func(any) { f.deletes.Add(1) },
	})
	if err != nil {
		panic(err)
	}
	return f
}

// identities are name and UID of all that the cache holds.
func (f *follower) identities(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, object := range f.informer.GetStore().List() {
		accessor, err := meta.Accessor(object)
		must(t, err)
		if accessor.GetResourceVersion() == "" {
			t.Fatalf("%s: %s has no resourceVersion", f.name, accessor.GetName())
		}
		found = append(found, accessor.GetNamespace()+"/"+accessor.GetName()+"="+string(accessor.GetUID()))
	}
	return found
}

// followAll starts dynamic and metadata informers on every kind of ours.
func followAll(t *testing.T, ctx context.Context, config *rest.Config) []*follower {
	t.Helper()
	dynamicClient, err := dynamic.NewForConfig(config)
	must(t, err)
	metadataClient, err := metadata.NewForConfig(config)
	must(t, err)
	whole := dynamicinformer.NewDynamicSharedInformerFactory(dynamicClient, 0)
	partial := metadatainformer.NewSharedInformerFactory(metadataClient, 0)
	var all []*follower
	for _, resource := range []schema.GroupVersionResource{hypervisors, evictions, migrations, ovsNodes} {
		all = append(all,
			follow("dynamic "+resource.Resource, resource, whole.ForResource(resource).Informer()),
			follow("metadata "+resource.Resource, resource, partial.ForResource(resource).Informer()))
	}
	whole.Start(ctx.Done())
	partial.Start(ctx.Done())
	return all
}

// domains are the instances that an object says it has.
func domains(object map[string]any) []string {
	instances, _, _ := unstructured.NestedSlice(object, "status", "instances")
	var found []string
	for _, instance := range instances {
		if fields, ok := instance.(map[string]any); ok {
			found = append(found, fmt.Sprint(fields["id"]))
		}
	}
	return found
}

// Informers of every kind, also those without a single object, come to be synced, show what is true, follow what changes while the replica that
// serves them is killed, and end equal to a fresh list without a single deletion.
//
// covers: C1 C2 C3 C4 C10 C31 R1 R2 R4 R5 R7 R8
func TestInformers(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var asked requests
	watched := config(t)
	asked.watchOver(watched)
	all := followAll(t, ctx, watched)
	began := time.Now()
	for _, f := range all {
		eventually(t, soon, f.name+" is synced", func() error {
			if !f.informer.HasSynced() {
				return fmt.Errorf("not synced")
			}
			return nil
		})
	}
	t.Logf("%d informers synced within %s", len(all), time.Since(began).Round(time.Millisecond))
	streaming := func(q url.Values) bool { return q.Get("sendInitialEvents") == "true" }
	listing := func(q url.Values) bool { return q.Get("watch") == "" }
	if os.Getenv("KUBE_FEATURE_WatchListClient") == "true" {
		if asked.count("hypervisors", streaming) < 2 || asked.count("hypervisors", listing) != 0 {
			t.Fatalf("the list was to be streamed, but was not: %v", asked.seen)
		}
	} else if asked.count("hypervisors", streaming) != 0 || asked.count("hypervisors", listing) < 2 {
		t.Fatalf("the list was not to be streamed: %v", asked.seen)
	}
	compare(t, all)

	hosts := whatIsTrue(t).names()
	follows(t, all, hosts[0], startDomain(t, hosts[0]))
	for _, host := range hosts[1:3] {
		replace := killReplica(t)
		// Happens while one replica is away.
		domain := startDomain(t, host)
		follows(t, all, host, domain)
		replace()
		compare(t, all)
	}
	ask(t, map[string]any{"do": "roll"}, nil)
	follows(t, all, hosts[3], startDomain(t, hosts[3]))
	compare(t, all)
	for _, f := range all {
		if f.resource != migrations && f.deletes.Load() != 0 {
			t.Errorf("%s was told %d deletions, and nothing was deleted", f.name, f.deletes.Load())
		}
		t.Logf("%s: %d updates", f.name, f.updates.Load())
	}
}

// follows waits until the informers show a domain on its host.
func follows(t *testing.T, all []*follower, host, domain string) {
	t.Helper()
	for _, f := range all {
		if f.name != "dynamic hypervisors" {
			continue
		}
		eventually(t, soon, f.name+" shows the domain", func() error {
			object, exists, err := f.informer.GetStore().GetByKey(host)
			if err != nil || !exists {
				return fmt.Errorf("%s is not in the cache: %v", host, err)
			}
			found := domains(object.(*unstructured.Unstructured).Object)
			for _, id := range found {
				if id == domain {
					return nil
				}
			}
			return fmt.Errorf("%s has %v, not %s", host, found, domain)
		})
	}
}

// compare waits until every cache equals a fresh list and what is true.
func compare(t *testing.T, all []*follower) {
	t.Helper()
	client, err := metadata.NewForConfig(config(t))
	must(t, err)
	for _, f := range all {
		eventually(t, soon, f.name+" equals a fresh list", func() error {
			list, err := client.Resource(f.resource).List(context.Background(), metav1.ListOptions{})
			if err != nil {
				return err
			}
			var fresh []string
			for _, item := range list.Items {
				fresh = append(fresh, item.Namespace+"/"+item.Name+"="+string(item.UID))
			}
			return same(f.name, f.identities(t), fresh)
		})
		if f.name != "dynamic hypervisors" {
			continue
		}
		eventually(t, soon, f.name+" shows what is true", func() error {
			now := whatIsTrue(t)
			var names []string
			for _, object := range f.informer.GetStore().List() {
				found := object.(*unstructured.Unstructured)
				names = append(names, found.GetName())
				if err := same(found.GetName(), domains(found.Object), now.Hosts[found.GetName()]); err != nil {
					return err
				}
			}
			return same("hosts", names, now.names())
		})
	}
}
