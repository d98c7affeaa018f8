// Package conformance holds programs written with Kubernetes' own client libraries. Each test directs a stage: it says what shall happen to the
// replicas and hosts, is told what is true, and compares that with what its client sees through kube-apiserver.
//
// The same source is built against several releases of the libraries, one module file for each: go.mod (the newest) and oldest.mod.
package conformance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

var (
	hypervisors = schema.GroupVersionResource{Group: "hypervisor.c5c3.io", Version: "v1", Resource: "hypervisors"}
	evictions   = schema.GroupVersionResource{Group: "hypervisor.c5c3.io", Version: "v1", Resource: "evictions"}
	migrations  = schema.GroupVersionResource{Group: "hypervisor.c5c3.io", Version: "v1alpha1", Resource: "migrations"}
	ovsNodes    = schema.GroupVersionResource{Group: "ovs.c5c3.io", Version: "v1alpha1", Resource: "ovsnodes"}
)

const (
	// For what happens at once on a quiet machine.
	soon  = 60 * time.Second
	pause = 100 * time.Millisecond
)

type truth struct {
	Hosts        map[string][]string `json:"hosts"`
	OVSNamespace string              `json:"ovs_namespace"`
}

func (t truth) names() []string { return keys(t.Hosts) }

var (
	stageLock sync.Mutex
	answers   = bufio.NewReader(os.Stdin)
)

// ask has the stage do something, and reads what it says into answer, which may be nil.
func ask(t *testing.T, wish map[string]any, answer any) {
	t.Helper()
	stageLock.Lock()
	defer stageLock.Unlock()
	line, err := json.Marshal(wish)
	must(t, err)
	fmt.Printf("\n@stage %s\n", line)
	text, err := answers.ReadBytes('\n')
	must(t, err)
	var said struct {
		OK    json.RawMessage `json:"ok"`
		Error string          `json:"error"`
	}
	must(t, json.Unmarshal(text, &said))
	if said.Error != "" {
		t.Fatalf("the stage could not do %s: %s", line, said.Error)
	}
	if answer != nil {
		must(t, json.Unmarshal(said.OK, answer))
	}
}

func whatIsTrue(t *testing.T) truth {
	t.Helper()
	var found truth
	ask(t, map[string]any{"do": "truth"}, &found)
	return found
}

// startDomain starts a domain more on a host; it is stopped again when the test ends.
func startDomain(t *testing.T, host string) string {
	t.Helper()
	var domain string
	ask(t, map[string]any{"do": "start-domain", "host": host}, &domain)
	t.Cleanup(func() { ask(t, map[string]any{"do": "stop-domain", "host": host, "domain": domain}, nil) })
	return domain
}

// killReplica ends the replica that serves, without a word; returns how to bring it back.
func killReplica(t *testing.T) (replace func()) {
	t.Helper()
	var replica int
	ask(t, map[string]any{"do": "kill-replica"}, &replica)
	back := false
	replace = func() {
		if !back {
			back = true
			ask(t, map[string]any{"do": "replace-replica", "replica": replica}, nil)
		}
	}
	t.Cleanup(replace)
	return replace
}

func config(t *testing.T) *rest.Config {
	t.Helper()
	found, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(t, err)
	// These tests are about what is asked, not about how many may ask.
	found.QPS, found.Burst = 200, 400
	found.UserAgent = "c5c3-conformance"
	return found
}

// eventually asks until the answer is no error.
func eventually(t *testing.T, limit time.Duration, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s; last: %v", what, limit, err)
		}
		time.Sleep(pause)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func keys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func same(what string, got, want []string) error {
	got, want = append([]string(nil), got...), append([]string(nil), want...)
	sort.Strings(got)
	sort.Strings(want)
	if strings.Join(got, " ") != strings.Join(want, " ") {
		return fmt.Errorf("%s: got %v, want %v", what, got, want)
	}
	return nil
}

func contains(words []string, word string) bool {
	for _, found := range words {
		if found == word {
			return true
		}
	}
	return false
}

func containsText(text, part string) bool { return strings.Contains(text, part) }
