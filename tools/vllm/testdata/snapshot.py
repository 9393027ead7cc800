"""Writes what the installed `vllm bench serve` takes, as JSON: a line for each argument, in the parser's order.

usage: snapshot.py

A type is the name of the function that reads a word. A default that is drawn at random is left out.
"""

import importlib.metadata
import json
import math
import sys

sys.dont_write_bytecode = True
import client  # noqa: E402


def arguments():
    _, parser = client.load()
    return {action.dest: action for action in parser._actions if action.dest != "help"}


def plain(value):
    """A default as vLLM writes it to the file for PyTorch: infinity and keys that are tuples as text."""
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): plain(item) for key, item in value.items()}
    if isinstance(value, float) and math.isinf(value):
        return "inf"
    return value


def line(action, again):
    entry = {"name": action.dest, "flags": action.option_strings}
    if action.nargs == 0:
        entry["words"] = "0"
    elif action.nargs:
        entry["words"] = action.nargs
    if action.type:
        entry["type"] = action.type.__name__
    if action.choices:
        entry["choices"] = sorted(action.choices) if isinstance(action.choices, set) else list(action.choices)
    if action.default == again.default:
        entry["default"] = plain(action.default)
    return json.dumps(entry)


def main():
    first, second = arguments(), arguments()
    lines = ",\n".join(line(action, second[name]) for name, action in first.items())
    sys.stdout.write(f'{{"release": {json.dumps(importlib.metadata.version("vllm"))}, "arguments": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
