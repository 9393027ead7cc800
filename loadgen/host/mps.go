package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics/gpu"
)

const (
	mpsControl = "nvidia-cuda-mps-control"
	mpsPipe    = "CUDA_MPS_PIPE_DIRECTORY"
	// defaultPipe is where clients look without mpsPipe.
	defaultPipe = "/tmp/nvidia-mps"
	// mpsLimit bounds one question to the control daemon.
	mpsLimit = 5 * time.Second
	// mpsServer is the server's program, as programOf cuts it.
	mpsServer = "nvidia-cuda-mps"
)

// mpsVariables say that a process is to run under MPS, by their values.
var mpsVariables = []string{"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "CUDA_MPS_SM_PARTITION", mpsPipe}

// isMPS reports whether a program is a server of MPS, to which nvidia-smi may put what its clients do.
func isMPS(program string) bool { return program == mpsServer }

// UnderMPS looks at whether MPS serves a family that has this environment; nil if the environment
// does not say that it is to run under MPS.
func UnderMPS(ctx context.Context, environment []string, of Family) *gpu.MPS {
	m := &gpu.MPS{Pipe: defaultPipe}
	for _, name := range mpsVariables {
		value := valueOf(environment, name)
		if value == "" {
			continue
		}
		if m.Variable == "" {
			m.Variable = name + "=" + value
		}
		if name == mpsPipe {
			m.Pipe = value
		}
	}
	if m.Variable == "" {
		return nil
	}
	if _, err := exec.LookPath(mpsControl); err != nil {
		m.Unknown = err.Error()
		return m
	}
	askMPS(ctx, m, of)
	return m
}

// valueOf is the last value of a variable in an environment.
func valueOf(environment []string, name string) (value string) {
	for _, variable := range environment {
		if v, ok := strings.CutPrefix(variable, name+"="); ok {
			value = v
		}
	}
	return value
}

// askMPS asks the control daemon for its servers and their clients.
func askMPS(ctx context.Context, m *gpu.MPS, of Family) {
	servers, err := mpsAnswer(ctx, m.Pipe, "get_server_list")
	switch {
	case errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil:
		m.Unknown = fmt.Sprintf("%s did not answer in %v", mpsControl, mpsLimit)
		return
	case err != nil && strings.Contains(strings.ToLower(err.Error()), "permission denied"):
		m.Unknown = err.Error() // another user's, which may serve this server
		return
	case err != nil:
		m.Absent = err.Error()
		return
	}
	for _, pid := range numbers(servers) {
		s := gpu.MPSServer{PID: pid}
		status, _ := mpsAnswer(ctx, m.Pipe, fmt.Sprintf("get_server_status %d", pid))
		if words := strings.Fields(status); len(words) == 1 { // else it does not know the command
			s.Status = words[0]
		}
		clients, err := mpsAnswer(ctx, m.Pipe, fmt.Sprintf("get_client_list %d", pid))
		if err != nil && s.Status != gpu.Fault {
			m.Unknown = err.Error()
		}
		for _, client := range numbers(clients) {
			s.Clients++
			member, known := of.has(client)
			if member {
				s.Ours++
			}
			if !known {
				s.Hidden++
			}
		}
		m.Servers = append(m.Servers, s)
	}
}

// mpsAnswer is what the control daemon with that pipe answers to a command. The error has what it
// printed.
func mpsAnswer(ctx context.Context, pipe, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, mpsLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, mpsControl)
	cmd.Env = append(os.Environ(), mpsPipe+"="+pipe)
	cmd.Stdin = strings.NewReader(command + "\n")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		said := head{}
		said.Write(out)
		return "", fmt.Errorf("%s: %w: %s", mpsControl, err, strings.Join(strings.Fields(string(said)), " "))
	}
	return string(out), nil
}

// numbers are the lines that are numbers.
func numbers(text string) (all []int) {
	for line := range strings.Lines(text) {
		if n, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
			all = append(all, n)
		}
	}
	return all
}
