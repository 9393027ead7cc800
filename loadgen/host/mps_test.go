//go:build linux

package host

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics/gpu"
)

// playControl is a shell script that plays nvidia-cuda-mps-control, the only program there is.
func playControl(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if script != "" {
		if err := os.WriteFile(filepath.Join(dir, mpsControl), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

func TestMPSSaysWhomItServes(t *testing.T) {
	me, parent := os.Getpid(), os.Getppid()
	const absent = 1 << 30 // greater than any id of Linux
	daemon := fmt.Sprintf(`
test "$CUDA_MPS_PIPE_DIRECTORY" = /my/pipe || exit 3
read -r command server
case $command in
get_server_list) echo 77; echo 78 ;;
get_server_status) if test $server = 77; then echo ACTIVE; else echo FAULT; fi ;;
get_client_list) if test $server = 77; then echo %d; echo %d; echo %d; fi ;;
esac
`, me, parent, absent)
	half := []string{"A=1", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50", "CUDA_MPS_PIPE_DIRECTORY=/my/pipe"}
	for _, row := range []struct {
		name, script string
		environment  []string
		want         *gpu.MPS
	}{
		{"a server without MPS", daemon, []string{"A=1", "CUDA_MPS_LOG_DIRECTORY=/x", "CUDA_MPS_PIPE_DIRECTORY="}, nil},
		{"a client", daemon, half, &gpu.MPS{Variable: half[1], Pipe: "/my/pipe", Servers: []gpu.MPSServer{
			{PID: 77, Status: "ACTIVE", Clients: 3, Ours: 1, Hidden: 1}, {PID: 78, Status: "FAULT"},
		}}},
		{"no daemon", "echo Cannot find MPS control daemon process; exit 1", []string{"CUDA_MPS_SM_PARTITION=GPU-a/Dx"},
			&gpu.MPS{Variable: "CUDA_MPS_SM_PARTITION=GPU-a/Dx", Pipe: defaultPipe, Absent: mpsControl + ": exit status 1: Cannot find MPS control daemon process"}},
		{"no status", `read -r command server; case $command in get_server_list) echo 77 ;; get_client_list) echo no such command; exit 1 ;; *) echo unknown command ;; esac`, half[2:],
			&gpu.MPS{Variable: half[2], Pipe: "/my/pipe", Unknown: mpsControl + ": exit status 1: no such command", Servers: []gpu.MPSServer{{PID: 77}}}},
		{"another user's daemon", "echo Failed to open /my/pipe/control: Permission denied; exit 1", half[2:],
			&gpu.MPS{Variable: half[2], Pipe: "/my/pipe", Unknown: mpsControl + ": exit status 1: Failed to open /my/pipe/control: Permission denied"}},
		{"no program", "", half[2:], &gpu.MPS{Variable: half[2], Pipe: "/my/pipe", Unknown: `exec: "nvidia-cuda-mps-control": executable file not found in $PATH`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			playControl(t, row.script)
			if got := UnderMPS(t.Context(), row.environment, FamilyOf(me)); !reflect.DeepEqual(got, row.want) {
				t.Errorf("%+v, want %+v", got, row.want)
			}
		})
	}
	if !isMPS("nvidia-cuda-mps-server"[:15]) || isMPS(strings.ToUpper(mpsServer)) {
		t.Error("the server of MPS is not recognised")
	}
}
