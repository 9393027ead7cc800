"""Runs vLLM's benchmarks/multi_turn script, without torch.

The first argument is the script's folder, the second a file for what it prints.
"""

import importlib.util
import pathlib
import runpy
import sys
import types

import pandas

# Of vllm the script imports one function. vllm's own __init__ would import torch.
folder = importlib.util.find_spec("vllm").submodule_search_locations[0]
for name in ("vllm", "vllm.benchmarks", "vllm.benchmarks.lib"):
    module = types.ModuleType(name)
    module.__path__ = [str(pathlib.Path(folder).parent.joinpath(*name.split(".")))]
    sys.modules[name] = module

# Tables are printed whole.
pandas.set_option("display.width", 300, "display.max_columns", None)

script = pathlib.Path(sys.argv.pop(1)) / "benchmark_serving_multi_turn.py"
sys.stdout = open(sys.argv.pop(1), "w")
sys.path.insert(0, str(script.parent))
sys.argv[0] = str(script)
runpy.run_path(str(script), run_name="__main__")
