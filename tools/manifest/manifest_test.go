// Package manifest holds what servebench prints for Kubernetes against the types
// of Kubernetes' own API.
package manifest

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// printJob is what the built program prints for Kubernetes.
func printJob(t *testing.T, program string, flags ...string) []byte {
	t.Helper()
	var out, talk bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, append([]string{"shard", "kubernetes", "--image", "registry/servebench:1"}, flags...)...)
	cmd.Stdout, cmd.Stderr = &out, &talk
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &talk)
	}
	return out.Bytes()
}

func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "servebench")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/servebench")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// decode reads a Job as the API server does under strict validation.
func decode(t *testing.T, manifest []byte) (*batchv1.Job, error) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := batchv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	object, _, err := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer().Decode(manifest, nil, nil)
	if err != nil {
		return nil, err
	}
	job, ok := object.(*batchv1.Job)
	if !ok {
		t.Fatalf("it is a %T", object)
	}
	return job, nil
}

func TestJobsDecodeStrictly(t *testing.T) {
	program := build(t)
	for name, c := range map[string]struct {
		flags, run []string
		shards     int32
		namespace  string
		env        []corev1.EnvVar
	}{
		"plain": {run: []string{"--base-url", "http://vllm:8000"}, shards: 8},
		"all flags": {
			flags:     []string{"--shards", "3", "--start-in", "10m", "--name", "yes", "--namespace", "null", "--secret", "1e3"},
			run:       []string{"--base-url", "http://vllm:8000", "--max-concurrency", "64"},
			shards:    3,
			namespace: "null",
			env: []corev1.EnvVar{{Name: "OPENAI_API_KEY", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "1e3"}, Key: "OPENAI_API_KEY"}}}},
		},
		"odd words": {shards: 8, run: []string{"--metadata", "a=$(HOME)", "b=$$", "c=$", "d=it's", `e="x" \n`, "f=a: b #c", "g=\n\r\t", "h=é ✓ 😀 \u2028\u0085\ufeff\x01",
			"=", "~=1", "- i=*&!%@`", "{j: [=,]}", " k = ", "--seed", "0", "--label", "no", "--label", "1:20", "--label", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			manifest := printJob(t, program, append(append(c.flags, "--", "run"), c.run...)...)
			job, err := decode(t, manifest)
			if err != nil {
				t.Fatalf("%v\n%s", err, manifest)
			}
			container := job.Spec.Template.Spec.Containers[0]
			for i, word := range container.Args {
				if strings.Contains(strings.ReplaceAll(word, "$$", ""), "$(") {
					t.Errorf("the kubelet takes a part of %q for a variable", word)
				}
				container.Args[i] = strings.ReplaceAll(word, "$$", "$") // as the kubelet reads it
			}
			if n := len(container.Args) - len(c.run); n < 1 || !cmp.Equal(container.Args[n:], c.run) || container.Args[0] != "run" {
				t.Errorf("the run is %q, want the run of %q", container.Args, c.run)
			}
			env := append([]corev1.EnvVar{{Name: "SERVEBENCH_SHARDS", Value: fmt.Sprint(c.shards)}}, c.env...)
			if diff := cmp.Diff(env, container.Env); diff != "" {
				t.Errorf("environment: -want +got:\n%s", diff)
			}
			spec := job.Spec
			if *spec.Completions != c.shards || *spec.Parallelism != c.shards || *spec.CompletionMode != batchv1.IndexedCompletion || *spec.BackoffLimitPerIndex != 0 {
				t.Errorf("it does not run each of %d shards once: %+v", c.shards, spec)
			}
			if job.Namespace != c.namespace || spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever {
				t.Errorf("namespace %q, restart policy %s", job.Namespace, spec.Template.Spec.RestartPolicy)
			}
		})
	}
}

func TestMisspeltFieldIsCaught(t *testing.T) {
	manifest := printJob(t, build(t), "--", "run")
	for _, field := range []string{"parallelism:", "backoffLimitPerIndex:", "readOnlyRootFilesystem:", "topologyKey:"} {
		misspelt := bytes.Replace(manifest, []byte(field), []byte("x"+field), 1)
		if _, err := decode(t, misspelt); !runtime.IsStrictDecodingError(err) || !strings.Contains(err.Error(), "x"+strings.TrimSuffix(field, ":")) {
			t.Errorf("x%s is taken: %v", field, err)
		}
	}
}
