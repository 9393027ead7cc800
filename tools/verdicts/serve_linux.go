package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"time"
)

// addresses are where the two servers listen.
type addresses struct {
	Plain  string `json:"plain"`
	Secure string `json:"secure"`
}

// serve is the main function of the servers' process. It prints their addresses, and ends with stdin.
func serve(out io.Writer) error {
	s, err := newServer(int(os.Stdin.Fd()))
	if err != nil {
		return err
	}
	listener, err := listenSecure()
	if err != nil {
		return err
	}
	go http.Serve(listener, &secureServer{base: time.Now()})
	a := addresses{Plain: fmt.Sprintf("http://127.0.0.1:%d", s.loop.Port), Secure: "https://" + listener.Addr().String()}
	if err := json.NewEncoder(out).Encode(a); err != nil {
		return err
	}
	return s.loop.Serve(s)
}

// A serving is the process of the servers.
type serving struct {
	addresses
	client *http.Client
	cmd    *exec.Cmd
	end    io.Closer
}

// startServing starts the servers, with real-time priority where that is allowed.
func startServing(priority []string) (*serving, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &serving{cmd: command(priority, self, "serve"), client: trusting()}
	s.cmd.Stderr = os.Stderr
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	s.end = stdin
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &s.addresses)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the server prints no address: %w", err), s.close())
	}
	return s, nil
}

func (s *serving) close() error {
	s.client.CloseIdleConnections()
	return errors.Join(s.end.Close(), s.cmd.Wait())
}

// url is where a load goes.
func (s *serving) url(l *load) string {
	if l.secure {
		return s.Secure
	}
	return s.Plain
}

// ask sends a request and writes the answer to w.
func (s *serving) ask(ctx context.Context, url string, w io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := s.client.Do(q)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, answer.Status)
	}
	_, err = io.Copy(w, answer.Body)
	return err
}

// command is a command behind the words of a priority, if any.
func command(priority []string, words ...string) *exec.Cmd {
	words = append(append([]string(nil), priority...), words...)
	return exec.Command(words[0], words[1:]...)
}

// allowed is a priority, or nothing if this process may not give it.
func allowed(priority ...string) []string {
	if command(priority, "true").Run() != nil {
		return nil
	}
	return priority
}
