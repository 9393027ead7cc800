"""Runs vLLM's own `vllm bench serve` as installed, and writes down when it sends what.

usage: vllmclient.py OUT FLAG…

The code that runs is vLLM's, transformers' and numpy's. The client needs neither
torch nor the engine, so those are hollow here: they import, and hold nothing.
OUT gets a JSON line for each request, in the order in which vLLM schedules them,
with its due time, read from the generator that computed it.
"""

import importlib.machinery
import json
import sys
import types
from unittest import mock

HOLLOW = ["torch", "vllm.distributed", "vllm.env_override", "vllm.inputs", "vllm.lora", "vllm.multimodal"]


class Hollow(types.ModuleType):
    """A module in which every capitalized name is a class and every other one a mock."""

    __path__ = []
    __version__ = "2.14.0"  # vLLM asks for torch's

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = type(name, (), {"__init__": lambda self, *args: None}) if name[0].isupper() else mock.MagicMock()
        setattr(self, name, value)
        return value


class Finder:
    """Finds the hollow modules, and what is inside them."""

    def find_spec(self, name, path=None, target=None):
        if any(name == hollow or name.startswith(hollow + ".") for hollow in HOLLOW):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Hollow(spec.name)

    def exec_module(self, module):
        pass


def recorded(get_request, path):
    """get_request, which writes what it yields, and when that is due, to path."""

    async def yielding(*args, **kwargs):
        requests = get_request(*args, **kwargs)
        with open(path, "w") as out:
            i = 0
            async for request, rate in requests:
                due = requests.ag_frame.f_locals["delay_ts"][i]
                line = {"id": request.request_id or "", "prompt": request.prompt, "prompt_len": request.prompt_len}
                out.write(json.dumps(line | {"output_len": request.expected_output_len, "due": float(due)}) + "\n")
                i += 1
                yield request, rate

    return yielding


def main():
    import transformers

    transformers.utils.is_torch_available()  # it would take the hollow one for torch
    sys.meta_path.insert(0, Finder())
    from vllm.benchmarks import serve
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    serve.get_request = recorded(serve.get_request, sys.argv[1])
    parser = FlexibleArgumentParser()
    serve.add_cli_args(parser)
    serve.main(parser.parse_args(sys.argv[2:]))


if __name__ == "__main__":
    main()
