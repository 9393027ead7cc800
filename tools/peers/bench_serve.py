"""Runs vLLM's own `vllm bench serve` with the flags of this command line, without torch."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "vllm" / "testdata"))

import client  # noqa: E402

serve, parser = client.load()

from vllm.tokenizers import registry  # noqa: E402


def no_config(*args, **kwargs):
    """Stands in for get_config, which waits two seconds where a folder has only a tokenizer."""
    raise ValueError("there is no config.json")


registry.get_config = no_config
serve.main(parser.parse_args())
