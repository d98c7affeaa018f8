package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	toolswatch "k8s.io/client-go/tools/watch"
)

// hypervisorNames lists the hosts through a client.
func listWatch(client dynamic.Interface) cache.ListerWatcherWithContext {
	return cache.ToListerWatcherWithContext(&cache.ListWatch{
		ListFunc: func(options metav1.ListOptions) (runtime.Object, error) {
			return client.Resource(hypervisors).List(context.Background(), options)
		},
		WatchFunc: func(options metav1.ListOptions) (watch.Interface, error) {
			return client.Resource(hypervisors).Watch(context.Background(), options)
		},
	})
}

// A watch that retries goes on from the version of a list, over the end of the replica that served it, and misses nothing.
//
// covers: C4 R9 Q2
func TestRetryWatcher(t *testing.T) {
	ctx, stop := context.WithTimeout(context.Background(), 3*time.Minute)
	defer stop()
	ask(t, map[string]any{"do": "settle"}, nil)
	client, err := dynamic.NewForConfig(config(t))
	must(t, err)
	list, err := client.Resource(hypervisors).List(ctx, metav1.ListOptions{})
	must(t, err)
	watcher, err := toolswatch.NewRetryWatcherWithContext(ctx, list.GetResourceVersion(), listWatch(client))
	must(t, err)
	defer watcher.Stop()
	hosts := whatIsTrue(t).names()
	await := func(host, domain string) {
		t.Helper()
		for {
			select {
			case event, open := <-watcher.ResultChan():
				if !open {
					t.Fatalf("the watch ended before it told of %s", host)
				}
				object, ok := event.Object.(*unstructured.Unstructured)
				if !ok || event.Type == watch.Error {
					t.Fatalf("an event that is none: %s %#v", event.Type, event.Object)
				}
				if object.GetResourceVersion() == "" {
					t.Fatalf("an event without resourceVersion: %s %s", event.Type, object.GetName())
				}
				if event.Type == watch.Deleted {
					t.Fatalf("%s was told to be deleted", object.GetName())
				}
				if object.GetName() != host {
					continue
				}
				for _, id := range domains(object.Object) {
					if id == domain {
						return
					}
				}
			case <-watcher.Done():
				t.Fatalf("the watch gave up before it told of %s", host)
			}
		}
	}
	await(hosts[0], startDomain(t, hosts[0]))
	replace := killReplica(t)
	await(hosts[1], startDomain(t, hosts[1]))
	replace()
	await(hosts[2], startDomain(t, hosts[2]))
}

// Lists in pages give every host once, in one order, with one version; a page token outlives the replica that issued it or says that it has not.
//
// covers: C6 C7 L5
func TestPager(t *testing.T) {
	ctx := context.Background()
	client, err := dynamic.NewForConfig(config(t))
	must(t, err)
	want := whatIsTrue(t).names()
	pages := 0
	versions := map[string]bool{}
	page := func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		list, err := client.Resource(hypervisors).List(ctx, options)
		if err == nil {
			pages++
			versions[list.GetResourceVersion()] = true
		}
		return list, err
	}
	inPages := pager.New(page)
	inPages.PageSize = 5
	var names []string
	must(t, inPages.EachListItem(ctx, metav1.ListOptions{}, func(object runtime.Object) error {
		names = append(names, object.(*unstructured.Unstructured).GetName())
		return nil
	}))
	must(t, same("names", names, want))
	if pages != (len(want)+4)/5 || len(versions) != 1 {
		t.Fatalf("%d pages with the versions %v", pages, keys(versions))
	}
	forged, err := client.Resource(hypervisors).List(ctx, metav1.ListOptions{Limit: 5, Continue: "bm9uZQ"})
	if !apierrors.IsBadRequest(err) {
		t.Fatalf("a token that nobody issued gives %v %v", forged, err)
	}
	first, err := client.Resource(hypervisors).List(ctx, metav1.ListOptions{Limit: 5})
	must(t, err)
	killReplica(t)
	// What a pager does: goes on, or begins anew when told that the snapshot is gone.
	eventually(t, soon, "the second page, or word that it is gone", func() error {
		second, err := client.Resource(hypervisors).List(ctx, metav1.ListOptions{Limit: 5, Continue: first.GetContinue()})
		if apierrors.IsResourceExpired(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(second.Items) != 5 || second.Items[0].GetName() == first.Items[0].GetName() {
			t.Fatalf("the second page has %d items and begins with %s", len(second.Items), second.Items[0].GetName())
		}
		return nil
	})
	whole, _, err := pager.New(page).List(ctx, metav1.ListOptions{})
	must(t, err)
	if found := whole.(*unstructured.UnstructuredList); len(found.Items) != len(want) {
		t.Fatalf("%d items, not %d", len(found.Items), len(want))
	}
}

// Both ways of discovery tell the same, every kind with its verbs; nothing fails that walks all groups.
//
// covers: C12 K6 A2
func TestDiscovery(t *testing.T) {
	aggregated, err := discovery.NewDiscoveryClientForConfig(config(t))
	must(t, err)
	legacy, err := discovery.NewDiscoveryClientForConfig(config(t))
	must(t, err)
	legacy.UseLegacyDiscovery = true
	told := map[string]string{}
	for name, client := range map[string]*discovery.DiscoveryClient{"aggregated": aggregated, "legacy": legacy} {
		// kube-apiserver asks for discovery once a minute.
		eventually(t, 2*time.Minute, name+" discovery has our kinds", func() error {
			groups, lists, err := client.ServerGroupsAndResources()
			if err != nil {
				return err
			}
			ours := map[string][]metav1.APIResource{}
			for _, list := range lists {
				group, err := schema.ParseGroupVersion(list.GroupVersion)
				must(t, err)
				if group.Group == hypervisors.Group || group.Group == ovsNodes.Group {
					for _, resource := range list.APIResources {
						resource.Group, resource.Version = group.Group, group.Version
						// client-go gives a subresource its resource's singular name in one way only.
						if strings.Contains(resource.Name, "/") {
							resource.SingularName = ""
						}
						ours[list.GroupVersion] = append(ours[list.GroupVersion], resource)
					}
				}
			}
			preferred := map[string]string{}
			for _, group := range groups {
				preferred[group.Name] = group.PreferredVersion.Version
			}
			if preferred[hypervisors.Group] != "v1" || preferred[ovsNodes.Group] != "v1alpha1" {
				return fmt.Errorf("preferred versions %v", preferred)
			}
			var found []string
			for _, list := range ours {
				for _, resource := range list {
					found = append(found, resource.Group+"/"+resource.Version+"/"+resource.Name)
					verbs := []string{"get", "list", "watch"}
					if strings.Contains(resource.Name, "/") {
						verbs = []string{"get"}
					}
					for _, verb := range verbs {
						if !contains(resource.Verbs, verb) {
							return fmt.Errorf("%s is not promised for %s", verb, resource.Name)
						}
					}
				}
			}
			domains := hypervisors.GroupVersion().WithResource("hypervisors/domains")
			var want []string
			for _, resource := range []schema.GroupVersionResource{hypervisors, domains, evictions, migrations, ovsNodes} {
				want = append(want, resource.Group+"/"+resource.Version+"/"+resource.Resource)
			}
			if err := same("kinds", found, want); err != nil {
				return err
			}
			text, err := json.Marshal(ours)
			told[name] = string(text)
			return err
		})
	}
	if told["aggregated"] != told["legacy"] {
		t.Fatalf("aggregated discovery says\n%s\nand legacy discovery\n%s", told["aggregated"], told["legacy"])
	}
	_, err = aggregated.ServerPreferredResources()
	must(t, err)

	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(aggregated))
	kind, err := restmapper.NewShortcutExpander(mapper, aggregated, nil).KindFor(schema.GroupVersionResource{Resource: "hv"})
	must(t, err)
	if want := hypervisors.GroupVersion().WithKind("Hypervisor"); kind != want {
		t.Fatalf("hv is %s", kind)
	}
}

// kube-apiserver's own documents have our kinds with the marks that clients look for.
//
// covers: C28 A5 X3
func TestOpenAPI(t *testing.T) {
	client, err := discovery.NewDiscoveryClientForConfig(config(t))
	must(t, err)
	eventually(t, 2*time.Minute, "OpenAPI v3 has our groups", func() error {
		paths, err := client.OpenAPIV3().Paths()
		if err != nil {
			return err
		}
		found := paths["apis/hypervisor.c5c3.io/v1"]
		if found == nil {
			return fmt.Errorf("no path for hypervisor.c5c3.io/v1")
		}
		text, err := found.Schema("application/json")
		if err != nil {
			return err
		}
		var document struct {
			OpenAPI    string `json:"openapi"`
			Components struct {
				Schemas map[string]struct {
					Kinds []schema.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
				} `json:"schemas"`
			} `json:"components"`
		}
		must(t, json.Unmarshal(text, &document))
		for _, model := range document.Components.Schemas {
			for _, kind := range model.Kinds {
				if kind == hypervisors.GroupVersion().WithKind("Hypervisor") {
					return nil
				}
			}
		}
		return fmt.Errorf("no model is marked as Hypervisor in OpenAPI %s", document.OpenAPI)
	})
	eventually(t, 2*time.Minute, "OpenAPI v2 has our kinds, each once", func() error {
		document, err := client.OpenAPISchema()
		if err != nil {
			return err
		}
		count := map[string]int{}
		for _, model := range document.GetDefinitions().GetAdditionalProperties() {
			for _, extension := range model.GetValue().GetVendorExtension() {
				if extension.GetName() == "x-kubernetes-group-version-kind" {
					count[extension.GetValue().GetYaml()]++
				}
			}
		}
		ours := 0
		for text, number := range count {
			for _, kind := range []string{"kind: Hypervisor\n", "kind: OVSNode\n", "kind: Eviction\n", "kind: Migration\n"} {
				if containsText(text, kind) && containsText(text, "c5c3.io") {
					ours++
					if number != 1 {
						return fmt.Errorf("%d models are marked as %s", number, text)
					}
				}
			}
		}
		if ours != 4 {
			return fmt.Errorf("%d of our 4 kinds", ours)
		}
		return nil
	})
}
