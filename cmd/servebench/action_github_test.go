package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/itchyny/gojq"
)

// A github is what the action knows GitHub by: runs of workflows and their artifacts, in a
// folder in which a stand-in for the gh command finds them.
type github struct {
	t         *testing.T
	dir       string
	Runs      []map[string]any
	Artifacts []map[string]any
}

func newGitHub(t *testing.T) *github {
	g := &github{t: t, dir: t.TempDir()}
	g.save()
	return g
}

// here is the id of the action's repository.
const here = 1

func (g *github) begin(j *workflowJob) (id int) {
	id = 100 + len(g.Runs)
	g.Runs = append(g.Runs, map[string]any{
		"id": id, "event": j.event, "conclusion": nil, "head_branch": path.Base(j.ref), "head_repository_id": here,
	})
	g.save()
	return id
}

func (g *github) end(id int, good bool) {
	g.run(id)["conclusion"] = map[bool]string{true: "success", false: "failure"}[good]
	g.save()
}

func (g *github) run(id int) map[string]any { return g.Runs[id-100] }

// upload keeps a file, or the files of a folder.
func (g *github) upload(run int, name, from string) {
	g.t.Helper()
	to := filepath.Join(g.dir, strconv.Itoa(run), name)
	if info, err := os.Stat(from); err != nil {
		g.t.Fatalf("artifact %s: %v", name, err)
	} else if !info.IsDir() {
		if err := errors.Join(os.MkdirAll(to, 0o777), os.WriteFile(filepath.Join(to, filepath.Base(from)), []byte(readText(g.t, from)), 0o600)); err != nil {
			g.t.Fatal(err)
		}
	} else if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		g.t.Fatal(err)
	}
	g.Artifacts = append(g.Artifacts, map[string]any{
		"id": 1000 + len(g.Artifacts), "name": name, "expired": false, "created_at": fmt.Sprintf("2026-01-01T00:%02d:00Z", len(g.Artifacts)),
		"workflow_run": map[string]any{
			"id": run, "repository_id": here, "head_repository_id": g.run(run)["head_repository_id"], "head_branch": g.run(run)["head_branch"],
		},
	})
	g.save()
}

func (g *github) save() {
	text, err := json.Marshal(g)
	if err == nil {
		err = os.WriteFile(filepath.Join(g.dir, "github.json"), text, 0o600)
	}
	if err != nil {
		g.t.Fatal(err)
	}
}

// standIn ends a process that is a stand-in for another program.
func standIn(run func(args []string) error) func() {
	return func() {
		if err := run(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// standInGH answers as the gh command does for what is in $FAKE_GITHUB. It reads --jq with
// the library that gh has.
func standInGH(args []string) error {
	dir := os.Getenv("FAKE_GITHUB")
	if os.Getenv("GH_TOKEN") == "" {
		return errors.New("gh: To use GitHub CLI in a GitHub Actions workflow, set the GH_TOKEN environment variable")
	}
	if args[0] == "run" { // download ID --repo R --name NAME --dir DIR
		return os.CopyFS(args[slices.Index(args, "--dir")+1], os.DirFS(filepath.Join(dir, args[2], args[slices.Index(args, "--name")+1])))
	}
	text, err := os.ReadFile(filepath.Join(dir, "github.json"))
	if err != nil {
		return err
	}
	var g struct{ Runs, Artifacts []map[string]any }
	if err := json.Unmarshal(text, &g); err != nil {
		return err
	}
	asked, ok := strings.CutPrefix(args[1], "repos/owner/repository")
	if !ok {
		return fmt.Errorf("gh: Not Found (HTTP 404): %s", args[1])
	}
	answer := any(map[string]any{"default_branch": "main"})
	if id, ok := strings.CutPrefix(asked, "/actions/runs/"); ok {
		answer = g.Runs[slices.IndexFunc(g.Runs, func(r map[string]any) bool { return fmt.Sprint(r["id"]) == id })]
	} else if name, ok := strings.CutPrefix(asked, "/actions/artifacts?name="); ok {
		name, _, _ = strings.Cut(name, "&")
		artifacts := []any{}
		for _, a := range g.Artifacts {
			if a["name"] == name {
				artifacts = append(artifacts, a)
			}
		}
		answer = map[string]any{"artifacts": artifacts}
	} else if asked != "" {
		return fmt.Errorf("gh: Not Found (HTTP 404): %s", asked)
	}
	return printJQ(args[3], answer)
}

// printJQ prints each result of a query on a line, texts without quotes.
func printJQ(text string, answer any) error {
	query, err := gojq.Parse(text)
	if err != nil {
		return err
	}
	code, err := gojq.Compile(query, gojq.WithEnvironLoader(os.Environ))
	if err != nil {
		return err
	}
	for results := code.Run(answer); ; {
		result, more := results.Next()
		if !more {
			return nil
		}
		if err, failed := result.(error); failed {
			return err
		}
		if text, ok := result.(string); ok {
			fmt.Println(text)
			continue
		}
		line, err := gojq.Marshal(result)
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", line)
	}
}

// standInDocker writes down how it was called, in the folder $FAKE_DOCKER. A container of
// $FAKE_IMAGE is a simulated server, which takes the arguments after the image as flags.
func standInDocker(args []string) error {
	dir := os.Getenv("FAKE_DOCKER")
	calls, err := os.OpenFile(filepath.Join(dir, "calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	fmt.Fprintf(calls, "docker %s\n", strings.Join(args, " "))
	calls.Close()
	switch args[0] {
	case "image": // inspect
		_, err := os.Stat(filepath.Join(dir, "pulled"))
		return err
	case "pull":
		fmt.Println(args[len(args)-1]) // as docker does with --quiet
		return os.WriteFile(filepath.Join(dir, "pulled"), nil, 0o600)
	case "stop":
		return stopProcess(filepath.Join(dir, args[1]))
	}
	pid := filepath.Join(dir, args[slices.Index(args, "--name")+1])
	if err := os.WriteFile(pid, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return err
	}
	port := strings.Split(args[slices.Index(args, "--publish")+1], ":")[1]
	image := slices.Index(args, os.Getenv("FAKE_IMAGE"))
	os.Exit(servebench(context.Background(), slices.Concat([]string{"sim", "--port", port}, args[image+1:])))
	return nil
}

// stopProcess interrupts the process whose id is in a file.
func stopProcess(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		return err
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return process.Signal(os.Interrupt)
}
