package host

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// machine writes the folder of processes and the cgroup files of a machine. A file's name is below the
// mount, which is MOUNT in mountinfo.
func machine(t *testing.T, cgroup, mountinfo string, files map[string]string) (proc, mount string) {
	t.Helper()
	proc, mount = t.TempDir(), t.TempDir()
	write := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(proc, "7", "cgroup"), cgroup)
	write(filepath.Join(proc, "7", "mountinfo"), strings.ReplaceAll(mountinfo, "MOUNT", mount))
	if err := os.Symlink("7", filepath.Join(proc, "self")); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		write(filepath.Join(mount, name), text)
	}
	return proc, mount
}

const (
	mountV1 = "35 30 0:30 %s MOUNT rw,relatime shared:9 - cgroup cgroup rw,memory,cpu\n"
	mountV2 = "35 30 0:30 %s MOUNT rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
)

func TestLimitsOfContainers(t *testing.T) {
	for name, c := range map[string]struct {
		cgroup, mount string
		files         map[string]string
		memory        []memoryBound // by names below the mount
		cores         []float64
	}{
		"a container with its own names": {"0::/\n", fmt.Sprintf(mountV2, "/"), map[string]string{
			"memory.max": "209715200\n", "memory.high": "max\n", "memory.current": "52428800\n", "memory.stat": "anon 1\ninactive_file 12428800\nactive_file 3\n", "cpu.max": "50000 100000\n",
		}, []memoryBound{{"memory.max", 209715200, 40000000}}, []float64{0.5}},
		"a slice around the service": {"0::/system.slice/job.service\n", fmt.Sprintf(mountV2, "/"), map[string]string{
			"system.slice/job.service/memory.max": "max\n", "system.slice/job.service/memory.high": "300\n", "system.slice/job.service/memory.current": "30\n", "system.slice/job.service/cpu.max": "max 100000\n",
			"system.slice/memory.max": "200\n", "system.slice/memory.high": "max\n", "system.slice/memory.current": "190\n", "system.slice/cpu.max": "150000 100000\n",
		}, []memoryBound{{"system.slice/job.service/memory.high", 300, 30}, {"system.slice/memory.max", 200, 190}}, []float64{1.5}},
		"a container with the host's names": {"9:cpu,memory:/docker/abc\n0::/\n", fmt.Sprintf(mountV1, "/docker/abc"), map[string]string{
			"memory.limit_in_bytes": "209715200\n", "memory.usage_in_bytes": "100\n", "memory.stat": "inactive_file 7\ntotal_inactive_file 40\n", "cpu.cfs_quota_us": "200000\n", "cpu.cfs_period_us": "100000\n",
		}, []memoryBound{{"memory.limit_in_bytes", 209715200, 60}}, []float64{2}},
		"the host's names are out of sight": {"4:memory,cpu:/kubepods/pod1/c\n", fmt.Sprintf(mountV1, "/"), map[string]string{
			"memory.limit_in_bytes": "500\n", "memory.usage_in_bytes": "100\n", "cpu.cfs_quota_us": "-1\n", "cpu.cfs_period_us": "100000\n",
		}, []memoryBound{{"memory.limit_in_bytes", 500, 100}}, nil},
		"above the root of the namespace": {"0::/../other\n", fmt.Sprintf(mountV2, "/"), map[string]string{"memory.max": "500\n", "memory.current": "100\n"},
			[]memoryBound{{"memory.max", 500, 100}}, nil},
		"a job inside a job": {"4:memory,cpu:/slurm/uid_1/job_2/step_0\n", fmt.Sprintf(mountV1, "/"), map[string]string{
			"slurm/uid_1/job_2/step_0/memory.limit_in_bytes": "9223372036854771712\n", "slurm/uid_1/job_2/step_0/memory.usage_in_bytes": "10\n",
			"slurm/uid_1/job_2/memory.limit_in_bytes": "400\n", "slurm/uid_1/job_2/memory.usage_in_bytes": "100\n",
		}, []memoryBound{{"slurm/uid_1/job_2/step_0/memory.limit_in_bytes", 9223372036854771712, 10}, {"slurm/uid_1/job_2/memory.limit_in_bytes", 400, 100}}, nil},
		"no cgroup is mounted": {"0::/\n", "22 28 0:21 / /proc rw,relatime - proc proc rw\n", nil, nil, nil},
		"no cgroups":           {"", "", nil, nil, nil},
	} {
		proc, mount := machine(t, c.cgroup, c.mount, c.files)
		var memory []memoryBound
		var cores []float64
		for _, g := range cgroupsOf(proc, "memory") {
			for _, b := range g.memory() {
				b.name, _ = filepath.Rel(mount, b.name)
				memory = append(memory, b)
			}
		}
		for _, g := range cgroupsOf(proc, "cpu") {
			if n, known := g.cores(); known {
				cores = append(cores, n)
			}
		}
		if !reflect.DeepEqual(memory, c.memory) || !reflect.DeepEqual(cores, c.cores) {
			t.Errorf("%s: memory %v, cores %v; want %v, %v", name, memory, cores, c.memory, c.cores)
		}
	}
	if all := cgroupsOf(filepath.Join(t.TempDir(), "none"), "memory"); all != nil {
		t.Errorf("without /proc: %v", all)
	}
}

func TestMemoryOfASlurmJob(t *testing.T) {
	t.Setenv("SLURM_MEM_PER_NODE", "1")
	m, known := FreeMemory()
	if want := (Memory{0, "SLURM_MEM_PER_NODE (0.0 GiB)"}); !known || m != want {
		t.Errorf("%+v, %t, want %+v", m, known, want)
	}
	for _, text := range []string{"0", "many", ""} {
		t.Setenv("SLURM_MEM_PER_NODE", text)
		if m, _ := FreeMemory(); strings.HasPrefix(m.Limit, "SLURM") {
			t.Errorf("%q: %+v", text, m)
		}
	}
}

func TestCoresAreNotMoreThanThereAre(t *testing.T) {
	if n := cores(); n <= 0 || Cores() < 1 || float64(Cores()) < n || Cores() > runtime.NumCPU() {
		t.Errorf("%g cores, %d whole", n, Cores())
	}
}
