// Oracle plays random histories through the libraries that kube-apiserver itself uses for server-side apply, and prints what they did.
//
// One line per history: {"seed", "steps": [{"op", "manager", "body", "object" | "error"}]}. Every step starts with all earlier times set to
// 2020, so that "now" in an answer means that the time moved. The Rust tests replay the committed lines (data/oracle.jsonl), and fresh
// ones where SSA_ORACLE names this program, built.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"sort"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

var gvk = schema.GroupVersionKind{Group: "ssa.example.com", Version: "v1", Kind: "Host"}

const objectMeta = `{"type":"object","properties":{
 "annotations":{"type":"object","additionalProperties":{"type":"string"}},"labels":{"type":"object","additionalProperties":{"type":"string"}},
 "creationTimestamp":{"type":"string","format":"date-time"},"finalizers":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"},
 "generation":{"type":"integer"},"generateName":{"type":"string"},"name":{"type":"string"},"namespace":{"type":"string"},
 "managedFields":{"type":"array","items":{"type":"object"},"x-kubernetes-list-type":"atomic"},
 "resourceVersion":{"type":"string"},"uid":{"type":"string"}}}`

var updaters bool

type nothing struct{}

func (nothing) Default(runtime.Object) {}
func (nothing) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(kind)
	return o, nil
}
func (nothing) Convert(in, out, context any) error { return fmt.Errorf("one version only") }
func (nothing) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}
func (nothing) ConvertFieldLabel(_ schema.GroupVersionKind, l, v string) (string, string, error) {
	return l, v, nil
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func newManager(schemaFile string) *managedfields.FieldManager {
	text, err := os.ReadFile(schemaFile)
	must(err)
	var host, meta spec.Schema
	must(json.Unmarshal(text, &host))
	must(json.Unmarshal([]byte(objectMeta), &meta))
	host.Properties["metadata"] = meta
	host.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind}})
	converter, err := managedfields.NewTypeConverter(map[string]*spec.Schema{"com.example.ssa.v1.Host": &host}, false)
	must(err)
	reset := map[fieldpath.APIVersion]fieldpath.Filter{
		"ssa.example.com/v1": fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.MakePathOrDie("status"))),
	}
	m, err := managedfields.NewDefaultCRDFieldManager(converter, nothing{}, nothing{}, nothing{}, gvk, gvk.GroupVersion(), "", reset)
	must(err)
	return m
}

type step struct {
	Op      string         `json:"op"`
	Manager string         `json:"manager"`
	Body    map[string]any `json:"body"`
	Object  map[string]any `json:"object,omitempty"`
	Error   string         `json:"error,omitempty"`
}

func main() {
	schemaFile := flag.String("schema", "../data/schema.json", "structural schema of the kind")
	seed := flag.Int64("seed", 1, "first seed")
	count := flag.Int("count", 100, "histories")
	steps := flag.Int("steps", 6, "steps of each")
	flag.BoolVar(&updaters, "updaters", false, "also histories of very many updaters")
	flag.Parse()
	manager := newManager(*schemaFile)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for s := *seed; s < *seed+int64(*count); s++ {
		line, err := json.Marshal(map[string]any{"seed": s, "steps": play(manager, rand.New(rand.NewSource(s)), *steps)})
		must(err)
		out.Write(append(line, '\n'))
	}
}

func play(manager *managedfields.FieldManager, r *rand.Rand, n int) []step {
	var live *unstructured.Unstructured
	var history []step
	g := generator{r}
	many := updaters && r.Intn(4) == 0
	if many {
		n *= 3
	}
	for range n {
		if live != nil {
			age(live)
		}
		s := step{Op: []string{"apply", "apply", "force", "update"}[r.Intn(4)], Manager: []string{"a", "b", "kubectl"}[r.Intn(3)]}
		s.Body = g.host()
		if many && live != nil {
			// Enough updaters for the oldest to be folded.
			s.Op, s.Manager = "update", fmt.Sprintf("u%d", r.Intn(40))
			s.Body = g.touch(live)
		}
		if !many && r.Intn(6) == 0 {
			s.Op, s.Manager = "update", "kubectl-client-side-apply"
			annotate(s.Body)
		}
		if s.Op == "update" && live != nil && s.Manager != "kubectl-client-side-apply" && !many && r.Intn(2) == 0 {
			s.Body = g.edit(live)
		}
		body := &unstructured.Unstructured{Object: decode(s.Body)}
		before := live
		if before == nil {
			o, _ := nothing{}.New(gvk)
			before = o.(*unstructured.Unstructured)
		}
		old := before.DeepCopy()
		var after runtime.Object
		var err error
		if s.Op == "update" {
			after = manager.UpdateNoErrors(before.DeepCopy(), body, s.Manager)
		} else {
			after, err = manager.Apply(before.DeepCopy(), body, s.Manager, s.Op == "force")
		}
		if err != nil {
			s.Error = err.Error()
			live = old
			if len(history) == 0 || history[len(history)-1].Object == nil && old.GetUID() == "" {
				live = nil
			}
		} else {
			live = after.(*unstructured.Unstructured)
			live.SetUID("6a3a1c9e-0000-4000-8000-000000000000")
			young(live)
			s.Object = decode(live.Object)
		}
		history = append(history, s)
	}
	return history
}

// annotate leaves in an object what kubectl's client-side apply leaves there.
func annotate(body map[string]any) {
	text, err := json.Marshal(body)
	must(err)
	if _, taken := body["metadata"].(map[string]any)["managedFields"]; !taken {
		body["metadata"].(map[string]any)["annotations"] = map[string]any{"kubectl.kubernetes.io/last-applied-configuration": string(text)}
	}
}

// decode copies, with whole numbers as int64, as kube-apiserver has them.
func decode(v map[string]any) map[string]any {
	text, err := json.Marshal(v)
	must(err)
	o := &unstructured.Unstructured{}
	if _, _, err := unstructured.UnstructuredJSONScheme.Decode(text, nil, o); err != nil {
		panic(err)
	}
	return o.Object
}

func times(o *unstructured.Unstructured, change func(entry map[string]any)) {
	fields, found, _ := unstructured.NestedSlice(o.Object, "metadata", "managedFields")
	if !found {
		return
	}
	for _, f := range fields {
		if e := f.(map[string]any); e["time"] != nil {
			change(e)
		}
	}
	must(unstructured.SetNestedSlice(o.Object, fields, "metadata", "managedFields"))
}

const longAgo, justNow = "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"

func age(o *unstructured.Unstructured) {
	times(o, func(e map[string]any) { e["time"] = longAgo })
}

func young(o *unstructured.Unstructured) {
	times(o, func(e map[string]any) {
		if e["time"] != longAgo {
			e["time"] = justNow
		}
	})
}

type generator struct{ *rand.Rand }

func (g generator) host() map[string]any {
	meta := map[string]any{"name": "h"}
	if g.Intn(3) == 0 {
		meta["labels"] = g.words(2)
	}
	if g.Intn(5) == 0 {
		meta["finalizers"] = g.list("example.com/f", 3, true)
	}
	o := map[string]any{"apiVersion": "ssa.example.com/v1", "kind": "Host", "metadata": meta}
	if g.Intn(8) > 0 {
		o["spec"] = g.spec()
	}
	return o
}

func (g generator) edit(live *unstructured.Unstructured) map[string]any {
	o := decode(live.Object)
	spec, _ := o["spec"].(map[string]any)
	if spec == nil {
		spec = map[string]any{}
	}
	for k, v := range g.spec() {
		if g.Intn(2) == 0 {
			spec[k] = v
		}
	}
	for _, k := range keys(spec) {
		if g.Intn(5) == 0 {
			delete(spec, k)
		}
	}
	o["spec"] = spec
	return o
}

// touch changes one number of an object and nothing else.
func (g generator) touch(live *unstructured.Unstructured) map[string]any {
	o := decode(live.Object)
	spec, _ := o["spec"].(map[string]any)
	if spec == nil {
		spec = map[string]any{}
	}
	ratios, _ := spec["overcommit"].(map[string]any)
	if ratios == nil {
		ratios = map[string]any{}
	}
	ratios[fmt.Sprintf("k%d", g.Intn(60))] = int64(g.Intn(100))
	spec["overcommit"] = ratios
	o["spec"] = spec
	return o
}

func keys(m map[string]any) []string {
	out := []string{}
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func (g generator) word() string { return string(rune('a' + g.Intn(3))) }

func (g generator) words(n int) map[string]any {
	m := map[string]any{}
	for range g.Intn(n + 1) {
		m[g.word()] = g.word()
	}
	return m
}

// list is a list of strings; a set has each once, except now and then.
func (g generator) list(prefix string, n int, set bool) []any {
	out := []any{}
	for _, i := range g.Perm(4)[:g.Intn(n+1)] {
		if !set && g.Intn(2) == 0 {
			i = 0
		}
		out = append(out, fmt.Sprintf("%s%d", prefix, i))
	}
	if set && len(out) > 0 && g.Intn(25) == 0 {
		out = append(out, out[0])
	}
	return out
}

func (g generator) spec() map[string]any {
	fields := map[string]func() any{
		"mode":             func() any { return g.word() },
		"lifecycleEnabled": func() any { return g.Intn(2) == 0 },
		"priority":         func() any { return int64(g.Intn(3)) },
		"reserve":          func() any { return []any{int64(1), 1.5, 2.0}[g.Intn(3)] },
		"quantity":         func() any { return []any{int64(1), "1", "a"}[g.Intn(3)] },
		"note":             func() any { return []any{nil, "x", "y"}[g.Intn(3)] },
		"traits":           func() any { return g.list("t", 3, false) },
		"aggregates":       func() any { return g.list("g", 4, true) },
		"cores":            func() any { return g.cores() },
		"steps": func() any {
			return []any{map[string]any{"name": g.word()}, map[string]any{"run": g.word()}}[:g.Intn(3)]
		},
		"overcommit":  func() any { return g.overcommit() },
		"pinned":      func() any { return g.words(2) },
		"ref":         func() any { return map[string]any{"kind": g.word(), "name": g.word()} },
		"maintenance": func() any { return g.maintenance() },
		"taints":      func() any { return g.taints() },
		"ports":       func() any { return g.ports() },
		"extra":       func() any { return g.extra(2) },
	}
	names := []string{}
	for k := range fields {
		names = append(names, k)
	}
	sort.Strings(names)
	spec := map[string]any{}
	for _, k := range names {
		if g.Intn(4) == 0 {
			spec[k] = fields[k]()
		}
	}
	return spec
}

func (g generator) cores() []any {
	out := []any{}
	for _, i := range g.Perm(12)[:g.Intn(4)] {
		out = append(out, int64(i))
	}
	return out
}

func (g generator) overcommit() map[string]any {
	m := map[string]any{}
	for range g.Intn(3) {
		m[g.word()] = []any{int64(1), 2.0, 2.5}[g.Intn(3)]
	}
	return m
}

func (g generator) maintenance() any {
	m := map[string]any{}
	if g.Intn(12) == 0 {
		return nil
	}
	if g.Intn(2) == 0 {
		m["reason"] = g.word()
	}
	if g.Intn(2) == 0 {
		w := map[string]any{}
		if g.Intn(2) == 0 {
			w["start"] = g.word()
		}
		if g.Intn(2) == 0 {
			w["minutes"] = int64(g.Intn(2))
		}
		m["window"] = w
	}
	return m
}

func (g generator) taints() []any {
	out := []any{}
	for _, i := range g.Perm(3)[:g.Intn(4)] {
		t := map[string]any{"key": fmt.Sprintf("k%d", i)}
		if g.Intn(2) == 0 {
			t["value"] = g.word()
		}
		if g.Intn(3) == 0 {
			t["tags"] = g.list("x", 3, true)
		}
		out = append(out, t)
	}
	if len(out) > 0 && g.Intn(25) == 0 {
		out = append(out, map[string]any{"key": "k1", "value": "again"})
	}
	return out
}

func (g generator) ports() []any {
	out := []any{}
	for _, i := range g.Perm(3)[:g.Intn(3)] {
		p := map[string]any{"port": int64(80 + i)}
		if g.Intn(2) == 0 {
			p["protocol"] = []any{"TCP", "UDP"}[g.Intn(2)]
		}
		if g.Intn(2) == 0 {
			p["name"] = g.word()
		}
		out = append(out, p)
	}
	return out
}

func (g generator) extra(depth int) any {
	switch k := g.Intn(6); {
	case k == 0 && depth < 2:
		return g.word()
	case k == 1 && depth < 2:
		return g.list("e", 2, false)
	case k == 2 && depth < 2:
		return nil
	default:
		m := map[string]any{}
		if depth > 0 {
			for range g.Intn(3) {
				m[g.word()] = g.extra(depth - 1)
			}
		}
		return m
	}
}
