//go:build release

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// made are the flags of a release for this machine.
var made = []string{"-version", "v1.2.3-rc.1", "-commit", "0123456789abcdef0123456789abcdef01234567", "-time", "1790000000", "-only", "linux/" + runtime.GOARCH}

// number is its version.
const number = "1.2.3-rc.1"

// TestRelease makes what a release has for this platform, and tries each of its files as
// its user would, where nothing else of servebench is.
func TestRelease(t *testing.T) {
	t.Chdir("../..")
	dist := t.TempDir()
	if err := run(append(made, "-out", dist)); err != nil {
		t.Fatal(err)
	}
	for name, try := range map[string]func(*testing.T, string){
		"archive": tryArchive, "image": tryImage, "Dockerfile": tryDockerfile, "wheel": tryWheel, "Debian package": tryDeb,
		"checksums": tryChecksums, "bill of materials": tryBill, "the same bytes again": tryAgain,
	} {
		t.Run(name, func(t *testing.T) { try(t, dist) })
	}
}

func tryArchive(t *testing.T, dist string) {
	root := t.TempDir()
	tool(t, "tar", "xzf", only(t, dist, "*.tar.gz"), "-C", root, "--strip-components=1")
	place{root: root, program: "/servebench", folder: "/"}.works(t, number)
}

func tryImage(t *testing.T, dist string) {
	files, config := imageOf(t, only(t, dist, "*.image.tar"))
	root := unpack(t, files)
	place{root: root, program: "/usr/bin/servebench", folder: config.Config.WorkingDir, user: 65532, env: config.Config.Env}.works(t, number)
}

// tryWheel installs the wheel with pip, as one for each platform that its name has, and
// with uv.
func tryWheel(t *testing.T, dist string) {
	venv := t.TempDir()
	tool(t, "python3", "-m", "venv", venv)
	tool(t, venv+"/bin/pip", "install", "--no-index", "--find-links", dist, "servebench")
	place{program: venv + "/bin/servebench", folder: t.TempDir()}.works(t, number)
	chosen, err := choose("linux/" + runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	for platform := range strings.SplitSeq(chosen[0].wheel, ".") {
		tool(t, venv+"/bin/pip", "download", "--no-index", "--find-links", dist, "--dest", t.TempDir(), "--only-binary", ":all:", "--platform", platform, "servebench")
	}
	tools := packagingTools(t)
	tool(t, tools+"/twine", "check", "--strict", only(t, dist, "*.whl"))
	tool(t, tools+"/check-wheel-contents", "--ignore", "W007", only(t, dist, "*.whl")) // W007: there is no Python in it
	t.Setenv("UV_CACHE_DIR", t.TempDir())
	said := tool(t, tools+"/uvx", "--quiet", "--offline", "--no-index", "--find-links", dist, "--prerelease", "allow", "servebench", "--version")
	if !strings.HasPrefix(said, "servebench version "+number+"\n") {
		t.Errorf("uvx servebench --version printed %q", said)
	}
}

func tryDeb(t *testing.T, dist string) {
	root := t.TempDir()
	for _, folder := range []string{"info", "updates", "triggers"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tool(t, "dpkg", "--root="+root, "--force-not-root", "--install", only(t, dist, "*.deb"))
	if out := tool(t, "dpkg", "--root="+root, "--verify", "servebench"); out != "" {
		t.Errorf("dpkg --verify: %s", out)
	}
	place{root: root, program: "/usr/bin/servebench", folder: "/"}.works(t, number)
	if _, err := exec.LookPath("lintian"); err != nil {
		t.Skip("lintian is not installed: nothing else judges the package")
	}
	tool(t, "lintian", "--allow-root", "--fail-on", "error,warning", only(t, dist, "*.deb"))
}

func tryChecksums(t *testing.T, dist string) {
	c := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "SHA256SUMS")
	c.Dir = dist
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// tryBill holds the bill of materials against CycloneDX's schema.
func tryBill(t *testing.T, dist string) {
	const validate = `import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
sys.exit(JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read()))`
	tool(t, packagingTools(t)+"/python", "-c", validate, only(t, dist, "*.cdx.json"))
}

// tryAgain makes the release with other settings of the user and of the clock's zone.
func tryAgain(t *testing.T, dist string) {
	again := t.TempDir()
	t.Setenv("GOFLAGS", "-buildvcs=true")
	t.Setenv("TZ", "Asia/Tokyo")
	if err := run(append(made, "-out", again)); err != nil {
		t.Fatal(err)
	}
	tool(t, "cmp", filepath.Join(dist, "SHA256SUMS"), filepath.Join(again, "SHA256SUMS"))
}

// tryDockerfile makes sure that the Dockerfile makes an image of the same files that
// starts in the same way. It runs its commands without docker.
func tryDockerfile(t *testing.T, dist string) {
	files, config := imageOf(t, only(t, dist, "*.image.tar"))
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	building, last, _ := strings.Cut(strings.ReplaceAll(string(text), "\\\n", ""), "\nFROM scratch\n")
	want := []string{"COPY --from=build /image/ /", "ENV " + config.Config.Env[0], "USER " + config.Config.User,
		"WORKDIR " + config.Config.WorkingDir, `ENTRYPOINT ["` + config.Config.Entrypoint[0] + `"]`}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(last), "\n")); diff != "" {
		t.Errorf("after FROM scratch (-want +got):\n%s", diff)
	}
	root := t.TempDir()
	for line := range strings.Lines(building) {
		if command, ok := strings.CutPrefix(line, "RUN "); ok {
			tool(t, "sh", "-c", strings.ReplaceAll(command, "/image", root))
		}
	}
	for _, f := range files {
		made, err := os.Stat(filepath.Join(root, f.name))
		if err != nil || made.Mode()&^fs.ModeDir != f.mode {
			t.Errorf("%s: the Dockerfile makes %v %v, want %v", f.name, made, err, f.mode)
		}
	}
}

// only is the one file of a folder with such a name.
func only(t *testing.T, folder, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %q %v, want one", pattern, names, err)
	}
	return names[0]
}
