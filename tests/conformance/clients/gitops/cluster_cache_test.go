package conformance

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/argoproj/gitops-engine/pkg/cache"
	"github.com/argoproj/gitops-engine/pkg/utils/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Argo CD's cache of a whole cluster comes to be synced with our kinds in it, follows over the end of a replica, and is told no deletion.
//
// covers: X1 X2 X3 R9
func TestClusterCache(t *testing.T) {
	want := whatIsTrue(t).names()
	ask(t, map[string]any{"do": "settle"}, nil)
	all := cache.NewClusterCache(config(t), cache.SetPopulateResourceInfoHandler(func(*unstructured.Unstructured, bool) (any, bool) {
		return nil, true
	}))
	defer all.Invalidate()
	must(t, all.EnsureSynced())
	hosts := func() (names []string, versions map[string]string) {
		versions = map[string]string{}
		for key, found := range all.FindResources("", func(r *cache.Resource) bool { return r.Ref.Kind == "Hypervisor" }) {
			names = append(names, key.Name)
			versions[key.Name] = found.ResourceVersion
		}
		return names, versions
	}
	names, before := hosts()
	must(t, same("hypervisors", names, want))
	if found := all.FindResources("ovn-system", func(r *cache.Resource) bool { return r.Ref.Kind == "OVSNode" }); len(found) != len(want) {
		t.Fatalf("%d OVSNodes", len(found))
	}
	var gone atomic.Int64
	defer all.OnResourceUpdated(func(now, _ *cache.Resource, _ map[kube.ResourceKey]*cache.Resource) {
		if now == nil {
			gone.Add(1)
		}
	})()
	replace := killReplica(t)
	startDomain(t, want[0])
	eventually(t, soon, "the cache has heard of the change", func() error {
		names, now := hosts()
		if now[want[0]] == before[want[0]] {
			return fmt.Errorf("%s is at %s", want[0], now[want[0]])
		}
		return same("hypervisors", names, want)
	})
	replace()
	if gone.Load() != 0 {
		t.Fatalf("%d deletions were told", gone.Load())
	}
	if all.GetOpenAPISchema() == nil {
		t.Fatal("no OpenAPI schema")
	}
	if len(all.GetAPIResources()) == 0 {
		t.Fatal("no API resources")
	}
}
