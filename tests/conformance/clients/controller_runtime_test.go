package conformance

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// hypervisor is what somebody's controller would have: a Go type with the fields that it needs.
type hypervisor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            struct {
		NumInstances *int64 `json:"numInstances,omitempty"`
		Instances    []struct {
			ID string `json:"id"`
		} `json:"instances,omitempty"`
	} `json:"status,omitempty"`
}

type hypervisorList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []hypervisor `json:"items"`
}

func (h *hypervisor) DeepCopyObject() runtime.Object {
	copied := *h
	h.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	copied.Status.Instances = append(copied.Status.Instances[:0:0], h.Status.Instances...)
	return &copied
}

func (l *hypervisorList) DeepCopyObject() runtime.Object {
	copied := *l
	copied.Items = make([]hypervisor, len(l.Items))
	for i := range l.Items {
		copied.Items[i] = *l.Items[i].DeepCopyObject().(*hypervisor)
	}
	return &copied
}

func scheme() *runtime.Scheme {
	known := runtime.NewScheme()
	version := hypervisors.GroupVersion()
	known.AddKnownTypeWithName(version.WithKind("Hypervisor"), &hypervisor{})
	known.AddKnownTypeWithName(version.WithKind("HypervisorList"), &hypervisorList{})
	metav1.AddToGroupVersion(known, version)
	return known
}

// A manager's cache with typed, unstructured and metadata objects comes to be synced, a cache of one object holds that object alone, and all follow
// over the end of a replica.
//
// covers: C1 C2 C8 C24 R1 R2 R8 CR1
func TestControllerRuntimeCache(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	want := whatIsTrue(t).names()
	all, err := cache.New(config(t), cache.Options{Scheme: scheme()})
	must(t, err)
	one, err := cache.New(config(t), cache.Options{Scheme: scheme(), ByObject: map[client.Object]cache.ByObject{
		&hypervisor{}: {Field: fields.OneTermEqualSelector("metadata.name", want[2])},
	}})
	must(t, err)
	for _, found := range []cache.Cache{all, one} {
		go func() {
			if err := found.Start(ctx); err != nil {
				t.Errorf("a cache ended: %v", err)
			}
		}()
	}
	if !all.WaitForCacheSync(ctx) || !one.WaitForCacheSync(ctx) {
		t.Fatal("a cache did not begin")
	}
	evictionList := &unstructured.UnstructuredList{}
	evictionList.SetGroupVersionKind(evictions.GroupVersion().WithKind("EvictionList"))
	partial := &metav1.PartialObjectMetadataList{}
	partial.SetGroupVersionKind(ovsNodes.GroupVersion().WithKind("OVSNodeList"))
	typed := &hypervisorList{}
	// Each blocks until its informer is synced.
	for name, list := range map[string]client.ObjectList{"typed": typed, "unstructured and empty": evictionList, "metadata": partial} {
		limited, cancel := context.WithTimeout(ctx, soon)
		if err := all.List(limited, list); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		cancel()
	}
	var names, switches []string
	for _, item := range typed.Items {
		names = append(names, item.Name)
	}
	for _, item := range partial.Items {
		switches = append(switches, item.Name)
	}
	must(t, same("typed", names, want))
	must(t, same("metadata", switches, want))
	single := &hypervisorList{}
	limited, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	must(t, one.List(limited, single))
	if len(single.Items) != 1 || single.Items[0].Name != want[2] {
		t.Fatalf("the cache of %s holds %d objects", want[2], len(single.Items))
	}

	replace := killReplica(t)
	domain := startDomain(t, want[2])
	for name, found := range map[string]cache.Cache{"all": all, "one": one} {
		eventually(t, soon, "the cache of "+name+" shows the domain", func() error {
			object := &hypervisor{}
			if err := found.Get(ctx, client.ObjectKey{Name: want[2]}, object); err != nil {
				return err
			}
			for _, instance := range object.Status.Instances {
				if instance.ID == domain {
					return nil
				}
			}
			return fmt.Errorf("%v", object.Status.Instances)
		})
	}
	replace()
	must(t, all.List(ctx, typed))
	if len(typed.Items) != len(want) {
		t.Fatalf("%d hosts are left in the cache", len(typed.Items))
	}
}

// A client without a cache gets, lists with selectors and pages, and watches.
//
// covers: C3 C7 C24 L5 CR1
func TestControllerRuntimeClient(t *testing.T) {
	ctx := context.Background()
	direct, err := client.NewWithWatch(config(t), client.Options{Scheme: scheme()})
	must(t, err)
	now := whatIsTrue(t)
	want := now.names()
	object := &hypervisor{}
	must(t, direct.Get(ctx, client.ObjectKey{Name: want[0]}, object))
	if object.Status.NumInstances == nil || int(*object.Status.NumInstances) != len(now.Hosts[want[0]]) {
		t.Fatalf("%s has %v instances, not %d", want[0], object.Status.NumInstances, len(now.Hosts[want[0]]))
	}
	missing := direct.Get(ctx, client.ObjectKey{Name: "no-such-host"}, &hypervisor{})
	if client.IgnoreNotFound(missing) != nil || missing == nil {
		t.Fatalf("a host that is not there gives %v", missing)
	}
	list := &hypervisorList{}
	must(t, direct.List(ctx, list, client.MatchingFields{"metadata.name": want[1]}))
	if len(list.Items) != 1 || list.Items[0].Name != want[1] {
		t.Fatalf("one name selects %d hosts", len(list.Items))
	}
	must(t, direct.List(ctx, list, client.MatchingLabels{"topology.kubernetes.io/zone": "zone-a"}))
	if len(list.Items) != len(want)/2 {
		t.Fatalf("zone-a has %d hosts", len(list.Items))
	}
	var paged []string
	next := ""
	for {
		must(t, direct.List(ctx, list, client.Limit(5), client.Continue(next)))
		for _, item := range list.Items {
			paged = append(paged, item.Name)
		}
		if next = list.Continue; next == "" {
			break
		}
	}
	must(t, same("pages", paged, want))

	watcher, err := direct.Watch(ctx, &hypervisorList{}, client.MatchingFields{"metadata.name": want[1]})
	must(t, err)
	defer watcher.Stop()
	first := <-watcher.ResultChan()
	if first.Type != watch.Added || first.Object.(*hypervisor).Name != want[1] {
		t.Fatalf("the watch of one host begins with %s", first.Type)
	}
	domain := startDomain(t, want[1])
	for event := range watcher.ResultChan() {
		found, ok := event.Object.(*hypervisor)
		if !ok || event.Type != watch.Modified || found.Name != want[1] {
			t.Fatalf("an event %s of %#v", event.Type, event.Object)
		}
		for _, instance := range found.Status.Instances {
			if instance.ID == domain {
				return
			}
		}
	}
	t.Fatal("the watch ended before it told of the domain")
}
