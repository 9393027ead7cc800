package cache

import (
	"os/user"
	"path/filepath"
	"runtime"
	"testing"
)

type env map[string]string

func (e env) lookup(name string) (string, bool) {
	value, set := e[name]
	return value, set
}

// The rows are what testdata/folders.py prints. HOME is /h where a row does not have it.
func TestFolders(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are for other systems")
	}
	for _, c := range []struct {
		env  env
		want Folders
	}{
		{env{}, Folders{"/h/.cache/huggingface/hub", "/h/.cache/huggingface/datasets"}},
		{env{"HOME": ""}, Folders{"/.cache/huggingface/hub", "/.cache/huggingface/datasets"}},
		{env{"HOME": "/h/"}, Folders{"/h/.cache/huggingface/hub", "/h/.cache/huggingface/datasets"}},
		{env{"HOME": "/"}, Folders{"/.cache/huggingface/hub", "/.cache/huggingface/datasets"}},
		{env{"XDG_CACHE_HOME": "/x"}, Folders{"/x/huggingface/hub", "/x/huggingface/datasets"}},
		{env{"XDG_CACHE_HOME": ""}, Folders{"huggingface/hub", "huggingface/datasets"}},
		{env{"XDG_CACHE_HOME": "~/x"}, Folders{"/h/x/huggingface/hub", "/h/x/huggingface/datasets"}},
		{env{"XDG_CACHE_HOME": "$HOME/x"}, Folders{"/h/x/huggingface/hub", "$HOME/x/huggingface/datasets"}},
		{env{"HF_HOME": "/f"}, Folders{"/f/hub", "/f/datasets"}},
		{env{"HF_HOME": "/f/"}, Folders{"/f/hub", "/f/datasets"}},
		{env{"HF_HOME": ""}, Folders{"hub", "datasets"}},
		{env{"HF_HOME": "f"}, Folders{"f/hub", "f/datasets"}},
		{env{"HF_HOME": "~"}, Folders{"/h/hub", "/h/datasets"}},
		{env{"HF_HOME": "~/f"}, Folders{"/h/f/hub", "/h/f/datasets"}},
		{env{"HF_HOME": "~no-such-user/f"}, Folders{"~no-such-user/f/hub", "~no-such-user/f/datasets"}},
		{env{"HF_HOME": "/f/~"}, Folders{"/f/~/hub", "/f/~/datasets"}},
		{env{"HF_HOME": "$HOME/f"}, Folders{"/h/f/hub", "$HOME/f/datasets"}},
		{env{"HF_HOME": "${HOME}/f"}, Folders{"/h/f/hub", "${HOME}/f/datasets"}},
		{env{"HF_HOME": "$HOMEf"}, Folders{"$HOMEf/hub", "$HOMEf/datasets"}},
		{env{"HF_HOME": "$UNSET/f"}, Folders{"$UNSET/f/hub", "$UNSET/f/datasets"}},
		{env{"HF_HOME": "${UNSET}/f"}, Folders{"${UNSET}/f/hub", "${UNSET}/f/datasets"}},
		{env{"HF_HOME": "${HOME/f"}, Folders{"${HOME/f/hub", "${HOME/f/datasets"}},
		{env{"HF_HOME": "/$/f$"}, Folders{"/$/f$/hub", "/$/f$/datasets"}},
		{env{"HF_HOME": "/${}/f"}, Folders{"/${}/f/hub", "/${}/f/datasets"}},
		{env{"HF_HOME": "/$$HOME"}, Folders{"/$/h/hub", "/$$HOME/datasets"}},
		{env{"HF_HOME": "/a$EMPTY/f", "EMPTY": ""}, Folders{"/a/f/hub", "/a$EMPTY/f/datasets"}},
		{env{"HF_HOME": "$A/f", "A": "~"}, Folders{"/h/f/hub", "$A/f/datasets"}},
		{env{"HF_HOME": "$A/f", "A": "$B", "B": "/b"}, Folders{"/b/f/hub", "$A/f/datasets"}},
		{env{"HF_HOME": "/a$A-f", "A": "b"}, Folders{"/ab-f/hub", "/a$A-f/datasets"}},
		{env{"HF_HOME": "$É/f", "É": "/e"}, Folders{"$É/f/hub", "$É/f/datasets"}},
		{env{"HF_HOME": "${É}/f", "É": "/e"}, Folders{"/e/f/hub", "${É}/f/datasets"}},
		{env{"HF_HOME": "/f", "XDG_CACHE_HOME": "/x"}, Folders{"/f/hub", "/f/datasets"}},
		{env{"HF_HOME": "", "XDG_CACHE_HOME": "/x"}, Folders{"hub", "datasets"}},
		{env{"HF_HUB_CACHE": "/c"}, Folders{"/c", "/h/.cache/huggingface/datasets"}},
		{env{"HF_HUB_CACHE": ""}, Folders{"", "/h/.cache/huggingface/datasets"}},
		{env{"HF_HUB_CACHE": "~/c"}, Folders{"/h/c", "/h/.cache/huggingface/datasets"}},
		{env{"HF_HUB_CACHE": "${HOME}/c"}, Folders{"/h/c", "/h/.cache/huggingface/datasets"}},
		{env{"HF_HUB_CACHE": "/c", "HF_HOME": "/f"}, Folders{"/c", "/f/datasets"}},
		{env{"HF_HUB_CACHE": "$A", "A": "$B", "B": "/b"}, Folders{"$B", "/h/.cache/huggingface/datasets"}},
		{env{"HUGGINGFACE_HUB_CACHE": "/o"}, Folders{"/o", "/h/.cache/huggingface/datasets"}},
		{env{"HUGGINGFACE_HUB_CACHE": ""}, Folders{"", "/h/.cache/huggingface/datasets"}},
		{env{"HUGGINGFACE_HUB_CACHE": "~/o"}, Folders{"/h/o", "/h/.cache/huggingface/datasets"}},
		{env{"HUGGINGFACE_HUB_CACHE": "$HOME/o"}, Folders{"/h/o", "/h/.cache/huggingface/datasets"}},
		{env{"HF_HUB_CACHE": "/c", "HUGGINGFACE_HUB_CACHE": "/o"}, Folders{"/c", "/h/.cache/huggingface/datasets"}},
		{env{"HF_HUB_CACHE": "", "HUGGINGFACE_HUB_CACHE": "/o"}, Folders{"", "/h/.cache/huggingface/datasets"}},
		{env{"HUGGINGFACE_HUB_CACHE": "/o", "HF_HOME": "/f"}, Folders{"/o", "/f/datasets"}},
		{env{"HF_DATASETS_CACHE": "/d"}, Folders{"/h/.cache/huggingface/hub", "/d"}},
		{env{"HF_DATASETS_CACHE": ""}, Folders{"/h/.cache/huggingface/hub", "."}},
		{env{"HF_DATASETS_CACHE": "~/d"}, Folders{"/h/.cache/huggingface/hub", "/h/d"}},
		{env{"HF_DATASETS_CACHE": "$HOME/d"}, Folders{"/h/.cache/huggingface/hub", "$HOME/d"}},
		{env{"HF_DATASETS_CACHE": "/d", "HF_HOME": "/f"}, Folders{"/f/hub", "/d"}},
	} {
		if _, set := c.env["HOME"]; !set {
			c.env["HOME"] = "/h"
		}
		got := Of(c.env.lookup)
		for _, f := range []struct{ name, got, want string }{
			{"repositories", got.Hub, c.want.Hub}, {"Arrow files", got.Datasets, c.want.Datasets},
		} {
			if filepath.Clean(f.got) != filepath.Clean(f.want) {
				t.Errorf("%v: %s in %s, want %s", c.env, f.name, f.got, f.want)
			}
		}
	}
}

// As Python does, from the users of the system.
func TestFoldersOfUsers(t *testing.T) {
	me, err := user.Current()
	if err != nil || runtime.GOOS == "windows" {
		t.Skip(err)
	}
	want := filepath.Join(me.HomeDir, "f", "hub")
	for _, home := range []string{"~/f", "~" + me.Username + "/f"} {
		if got := Of(env{"HF_HOME": home}.lookup).Hub; got != want {
			t.Errorf("%s: %s, want %s", home, got, want)
		}
	}
}
