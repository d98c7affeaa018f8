package conformance

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Writers of a test that adds one to the same number over and over, and how often each does.
const (
	writers   = 10
	additions = 5
)

func object(kind, name string) *unstructured.Unstructured {
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(hypervisors.GroupVersion().WithKind(kind))
	found.SetName(name)
	return found
}

// declare creates a host that has no Node, and takes it back when the test ends.
func declare(t *testing.T, writer client.Client, name string) {
	t.Helper()
	ctx := context.Background()
	must(t, writer.Create(ctx, object("Hypervisor", name)))
	t.Cleanup(func() {
		must(t, client.IgnoreNotFound(writer.Delete(ctx, object("Hypervisor", name))))
		eventually(t, soon, name+" is gone", func() error {
			if err := writer.Get(ctx, client.ObjectKey{Name: name}, object("Hypervisor", name)); !apierrors.IsNotFound(err) {
				return fmt.Errorf("%v", err)
			}
			return nil
		})
	})
}

// Applied fields belong to who applied them; another manager conflicts, and wins with force; applying again changes nothing.
//
// covers: C21 CR2
func TestApply(t *testing.T) {
	ctx := context.Background()
	writer, err := client.New(config(t), client.Options{Scheme: scheme()})
	must(t, err)
	name := fmt.Sprintf("applied-%d", time.Now().UnixNano())
	wish := func(reason string) runtime.ApplyConfiguration {
		found := object("Hypervisor", name)
		must(t, unstructured.SetNestedField(found.Object, "manual", "spec", "maintenance"))
		must(t, unstructured.SetNestedField(found.Object, reason, "spec", "maintenanceReason"))
		return client.ApplyConfigurationFromUnstructured(found)
	}
	read := func() *unstructured.Unstructured {
		t.Helper()
		found := object("Hypervisor", name)
		must(t, writer.Get(ctx, client.ObjectKey{Name: name}, found))
		return found
	}
	reason := func() string {
		t.Helper()
		found, _, _ := unstructured.NestedString(read().Object, "spec", "maintenanceReason")
		return found
	}
	must(t, writer.Apply(ctx, wish("disk"), client.FieldOwner("first")))
	t.Cleanup(func() { must(t, writer.Delete(ctx, object("Hypervisor", name))) })
	before := read()
	must(t, writer.Apply(ctx, wish("disk"), client.FieldOwner("first")))
	after := read()
	if before.GetGeneration() != after.GetGeneration() || len(after.GetManagedFields()) != len(before.GetManagedFields()) {
		t.Fatalf("applying the same again changed %v to %v", before.Object["metadata"], after.Object["metadata"])
	}
	owned := false
	for _, entry := range after.GetManagedFields() {
		owned = owned || entry.Manager == "first" && entry.Operation == "Apply" && containsText(string(entry.FieldsV1.Raw), "maintenanceReason")
	}
	if !owned {
		t.Fatalf("nobody is said to have applied it: %v", after.GetManagedFields())
	}
	err = writer.Apply(ctx, wish("memory"), client.FieldOwner("second"))
	if !apierrors.IsConflict(err) || !containsText(err.Error(), "maintenanceReason") || !containsText(err.Error(), "first") {
		t.Fatalf("another manager gets %v", err)
	}
	if found := reason(); found != "disk" {
		t.Fatalf("a conflict has written %q", found)
	}
	must(t, writer.Apply(ctx, wish("memory"), client.FieldOwner("second"), client.ForceOwnership))
	if found := reason(); found != "memory" {
		t.Fatalf("with force it is %q", found)
	}
	dry := client.NewDryRunClient(writer)
	must(t, dry.Apply(ctx, wish("fan"), client.FieldOwner("second"), client.ForceOwnership))
	if found := reason(); found != "memory" {
		t.Fatalf("a dry run has written %q", found)
	}
}

// Ten writers read, add one and write, with the version that they have read: no addition is lost, though the status moves all the while.
//
// covers: CR2
func TestTenWriters(t *testing.T) {
	ctx := context.Background()
	writer, err := client.New(config(t), client.Options{Scheme: scheme()})
	must(t, err)
	name := fmt.Sprintf("contended-%d", time.Now().UnixNano())
	declare(t, writer, name)
	patient := wait.Backoff{Steps: 200, Duration: 5 * time.Millisecond, Factor: 1.1, Jitter: 0.5, Cap: 200 * time.Millisecond}
	var all sync.WaitGroup
	failures := make(chan error, writers)
	for range writers {
		all.Add(1)
		go func() {
			defer all.Done()
			for range additions {
				err := retry.RetryOnConflict(patient, func() error {
					found := object("Hypervisor", name)
					_, err := controllerutil.CreateOrUpdate(ctx, writer, found, func() error {
						annotations := found.GetAnnotations()
						if annotations == nil {
							annotations = map[string]string{}
						}
						number, _ := strconv.Atoi(annotations["conformance/number"])
						annotations["conformance/number"] = strconv.Itoa(number + 1)
						found.SetAnnotations(annotations)
						return nil
					})
					return err
				})
				if err != nil {
					failures <- err
					return
				}
			}
		}()
	}
	all.Wait()
	close(failures)
	for err := range failures {
		t.Error(err)
	}
	found := object("Hypervisor", name)
	must(t, writer.Get(ctx, client.ObjectKey{Name: name}, found))
	if number := found.GetAnnotations()["conformance/number"]; number != strconv.Itoa(writers*additions) {
		t.Fatalf("%d additions make %s", writers*additions, number)
	}
}

// An Eviction lives: created, a stale version is refused, what cannot change says so, and deletion waits for a finalizer.
//
// covers: C23 F5 R10
func TestEvictionLives(t *testing.T) {
	ctx := context.Background()
	writer, err := client.New(config(t), client.Options{Scheme: scheme()})
	must(t, err)
	name := fmt.Sprintf("eviction-%d", time.Now().UnixNano())
	host := fmt.Sprintf("evicted-%d", time.Now().UnixNano())
	declare(t, writer, host)
	eviction := object("Eviction", name)
	must(t, unstructured.SetNestedField(eviction.Object, host, "spec", "hypervisor"))
	must(t, unstructured.SetNestedField(eviction.Object, "conformance", "spec", "reason"))
	must(t, writer.Create(ctx, eviction))
	twin := eviction.DeepCopy()
	twin.SetResourceVersion("")
	twin.SetUID("")
	if err := writer.Create(ctx, twin); !apierrors.IsAlreadyExists(err) {
		t.Fatalf("created a second time: %v", err)
	}
	stale := eviction.DeepCopy()
	controllerutil.AddFinalizer(eviction, "conformance.c5c3.io/wait")
	must(t, writer.Update(ctx, eviction))
	stale.SetLabels(map[string]string{"stale": "yes"})
	if err := writer.Update(ctx, stale); !apierrors.IsConflict(err) {
		t.Fatalf("an update of what was read before gets %v", err)
	}
	changed := eviction.DeepCopy()
	must(t, unstructured.SetNestedField(changed.Object, "another", "spec", "hypervisor"))
	if err := writer.Update(ctx, changed); !apierrors.IsInvalid(err) || !containsText(err.Error(), "immutable") {
		t.Fatalf("another host gets %v", err)
	}
	must(t, writer.Delete(ctx, eviction))
	must(t, writer.Get(ctx, client.ObjectKey{Name: name}, eviction))
	if eviction.GetDeletionTimestamp() == nil {
		t.Fatal("it is not marked as going")
	}
	controllerutil.RemoveFinalizer(eviction, "conformance.c5c3.io/wait")
	must(t, writer.Update(ctx, eviction))
	eventually(t, soon, "it is gone", func() error {
		if err := writer.Get(ctx, client.ObjectKey{Name: name}, eviction); !apierrors.IsNotFound(err) {
			return fmt.Errorf("%v", err)
		}
		return nil
	})
}
