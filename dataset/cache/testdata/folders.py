"""Prints the rows of TestFolders: environments, and the folders that huggingface_hub 2.4.0 and
datasets 5.2.0 take. It needs both, with httpx2, packaging and fsspec."""

import json, subprocess, sys

PROBE = """
import sys, types, json, os, importlib.metadata
import huggingface_hub.constants as c
import huggingface_hub as h
root = os.path.join(os.path.dirname(os.path.dirname(h.__file__)), "datasets")
pkg = types.ModuleType("datasets"); pkg.__path__ = [root]; sys.modules["datasets"] = pkg
importlib.metadata.version = lambda name: "1.0" # pandas and others need not be there
import datasets.config as d
print(json.dumps([c.HF_HUB_CACHE, os.path.expanduser(str(d.HF_DATASETS_CACHE))]))
"""
rows = [
    {},
    {"HOME": ""},
    {"HOME": "/h/"},
    {"HOME": "/"},
    {"XDG_CACHE_HOME": "/x"},
    {"XDG_CACHE_HOME": ""},
    {"XDG_CACHE_HOME": "~/x"},
    {"XDG_CACHE_HOME": "$HOME/x"},
    {"HF_HOME": "/f"},
    {"HF_HOME": "/f/"},
    {"HF_HOME": ""},
    {"HF_HOME": "f"},
    {"HF_HOME": "~"},
    {"HF_HOME": "~/f"},
    {"HF_HOME": "~no-such-user/f"},
    {"HF_HOME": "/f/~"},
    {"HF_HOME": "$HOME/f"},
    {"HF_HOME": "${HOME}/f"},
    {"HF_HOME": "$HOMEf"},
    {"HF_HOME": "$UNSET/f"},
    {"HF_HOME": "${UNSET}/f"},
    {"HF_HOME": "${HOME/f"},
    {"HF_HOME": "/$/f$"},
    {"HF_HOME": "/${}/f"},
    {"HF_HOME": "/$$HOME"},
    {"HF_HOME": "/a$EMPTY/f", "EMPTY": ""},
    {"HF_HOME": "$A/f", "A": "~"},
    {"HF_HOME": "$A/f", "A": "$B", "B": "/b"},
    {"HF_HOME": "/a$A-f", "A": "b"},
    {"HF_HOME": "$É/f", "É": "/e"},
    {"HF_HOME": "${É}/f", "É": "/e"},
    {"HF_HOME": "/f", "XDG_CACHE_HOME": "/x"},
    {"HF_HOME": "", "XDG_CACHE_HOME": "/x"},
    {"HF_HUB_CACHE": "/c"},
    {"HF_HUB_CACHE": ""},
    {"HF_HUB_CACHE": "~/c"},
    {"HF_HUB_CACHE": "${HOME}/c"},
    {"HF_HUB_CACHE": "/c", "HF_HOME": "/f"},
    {"HF_HUB_CACHE": "$A", "A": "$B", "B": "/b"},
    {"HUGGINGFACE_HUB_CACHE": "/o"},
    {"HUGGINGFACE_HUB_CACHE": ""},
    {"HUGGINGFACE_HUB_CACHE": "~/o"},
    {"HUGGINGFACE_HUB_CACHE": "$HOME/o"},
    {"HF_HUB_CACHE": "/c", "HUGGINGFACE_HUB_CACHE": "/o"},
    {"HF_HUB_CACHE": "", "HUGGINGFACE_HUB_CACHE": "/o"},
    {"HUGGINGFACE_HUB_CACHE": "/o", "HF_HOME": "/f"},
    {"HF_DATASETS_CACHE": "/d"},
    {"HF_DATASETS_CACHE": ""},
    {"HF_DATASETS_CACHE": "~/d"},
    {"HF_DATASETS_CACHE": "$HOME/d"},
    {"HF_DATASETS_CACHE": "/d", "HF_HOME": "/f"},
]
for row in rows:
    env = {"HOME": "/h", "PYTHONUTF8": "1"} | row
    out = subprocess.run([sys.executable, "-c", PROBE], env=env, stdout=subprocess.PIPE, check=True, cwd="/").stdout
    text = lambda x: json.dumps(x, ensure_ascii=False)
    print("\t\t{env{" + ", ".join(f"{text(k)}: {text(v)}" for k, v in row.items()) + "}, Folders{" + ", ".join(map(text, json.loads(out))) + "}},")
