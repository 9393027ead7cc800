"""Runs vLLM's own `vllm bench serve` as installed, once for each command line that it reads.

usage: client.py [--whole]

A line of stdin is a JSON object: argv, and out, a folder. There come stdout.txt;
plan.jsonl, a line for each request in the order in which vLLM schedules them,
with its due time, read from the generator that computed it; and outcomes.jsonl,
a line for each request with whether it succeeded, and why not. Then stdout gets a line
with a JSON string: what went wrong, or nothing.

The code that runs is vLLM's, transformers', numpy's and Pillow's. The client needs neither
torch nor the engine, so those are hollow here: they import, and hold nothing.
With --whole all is as installed.
"""

import contextlib
import importlib.machinery
import importlib.util
import json
import os
import sys
import traceback
import types
from unittest import mock

HOLLOW = ["torch", "vllm.distributed", "vllm.env_override", "vllm.inputs", "vllm.lora", "vllm.multimodal"]
REAL = ["vllm.multimodal.audio", "vllm.multimodal.image", "vllm.multimodal.media", "vllm.multimodal.utils"]  # what reads and writes media


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


def within(name, modules):
    return any(name == module or name.startswith(module + ".") for module in modules)


class Finder:
    """Finds the hollow modules, and what is inside them."""

    def __init__(self):
        self.folder, = importlib.util.find_spec("vllm").submodule_search_locations

    def find_spec(self, name, path=None, target=None):
        if within(name, HOLLOW) and not within(name, REAL):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        if path == [] and within(name, REAL):  # its package is hollow
            return importlib.machinery.PathFinder.find_spec(name, [os.path.join(self.folder, *name.split(".")[1:-1])])

    def create_module(self, spec):
        return Hollow(spec.name)

    def exec_module(self, module):
        pass


class Notes:
    """What is noted of a run, to be written once it is over: it must not slow it down."""

    def begin(self):
        self.plan, self.outcomes = [], []

    def write(self, folder):
        with open(os.path.join(folder, "plan.jsonl"), "w") as out:
            for request, due in self.plan:
                line = {"id": request.request_id or "", "prompt": request.prompt, "prompt_len": request.prompt_len}
                out.write(json.dumps(line | {"output_len": request.expected_output_len, "due": float(due)}) + "\n")
        with open(os.path.join(folder, "outcomes.jsonl"), "w") as out:
            for name, outcome in self.outcomes:
                out.write(json.dumps({"id": name, "success": outcome.success, "error": outcome.error}) + "\n")


def planned(get_request, notes):
    """get_request, which notes what it yields, and when that is due."""

    async def yielding(*args, **kwargs):
        requests = get_request(*args, **kwargs)
        i = 0
        async for request, rate in requests:
            notes.plan.append((request, requests.ag_frame.f_locals["delay_ts"][i]))
            i += 1
            yield request, rate

    return yielding


def judged(send, notes):
    """A request function that notes what it makes of answers."""

    async def sending(request_func_input, *args, **kwargs):
        outcome = await send(request_func_input, *args, **kwargs)
        if request_func_input.request_id:
            notes.outcomes.append((request_func_input.request_id, outcome))
        return outcome

    return sending


def run(serve, parser, notes, argv, out):
    """Runs one command line. The result is what went wrong."""
    notes.begin()
    try:
        with open(os.path.join(out, "stdout.txt"), "w") as stdout, contextlib.redirect_stdout(stdout):
            serve.main(parser.parse_args(argv))
        return ""
    except (Exception, SystemExit):
        return traceback.format_exc()
    finally:
        notes.write(out)


def load(whole=False):
    """Gives vLLM's module and the parser of its flags."""
    if not whole:
        import datasets  # noqa: F401; it would take the hollow one for torch
        import transformers

        transformers.utils.is_torch_available()  # it, too
        sys.meta_path.insert(0, Finder())
        import torch.nn  # the library datasets asks for its Module
        import torch.utils.data

        torch.utils.data.get_worker_info = lambda: None  # and for this, as there are no workers
    from vllm.benchmarks import serve
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    parser = FlexibleArgumentParser()
    serve.add_cli_args(parser)
    return serve, parser


def main():
    serve, parser = load("--whole" in sys.argv)
    notes = Notes()
    serve.get_request = planned(serve.get_request, notes)
    for name, send in serve.ASYNC_REQUEST_FUNCS.items():
        serve.ASYNC_REQUEST_FUNCS[name] = judged(send, notes)
    for line in sys.stdin:
        print(json.dumps(run(serve, parser, notes, **json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
