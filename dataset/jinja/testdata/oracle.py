"""Writes the cases of TestOracle: oracle.py FOLDER… > cases. A folder is searched for
tokenizer_config.json and *.jinja files, and each template rendered with jinja2."""
import json
import pathlib
import sys

import jinja

SYSTEM = {"Role": "system", "Content": " You are ünhelpful.\n"}
CHATS = [
    [{"Role": "user", "Content": "Hello"}],
    [{"Role": "user", "Content": "Hello <b>\"wörld\" 'x' & 日本語 🎉\n\n  end  "}],
    [{"Role": "user", "Content": "\t \u00a0\u2003odd\x1c\x85 space\r\n\u3000"}],
    [{"Role": "user", "Content": ""}],
    [{"Role": "user", "Content": "{{ 1 }} {% if x %} {# c #} \\n </s> <|im_end|> [INST] <think>a</think> /no_think"}],
    [SYSTEM, {"Role": "user", "Content": "Hi"}],
    [SYSTEM],
    [{"Role": "assistant", "Content": "first"}],
    [SYSTEM, {"Role": "user", "Content": "Hi"}, {"Role": "assistant", "Content": "<think>\nhmm\n</think>\n\nYes "},
     {"Role": "user", "Content": "\tbye\n"}],
    [{"Role": "user", "Content": "a"}, {"Role": "assistant", "Content": "b</think>c"}, {"Role": "user", "Content": "d"},
     {"Role": "assistant", "Content": "e"}],
    [{"Role": "user", "Content": "a"}, {"Role": "user", "Content": "b"}],
    [{"Role": "developer", "Content": "terse"}, {"Role": "user", "Content": "q"}],
    [{"Role": "user", "Content": "q"}, {"Role": "tool", "Content": '{"a": 1}'}, {"Role": "user", "Content": "x"}],
]
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "Gives the \"weather\" <now>", "parameters": {
    "type": "object", "required": ["city"], "properties": {
        "city": {"type": "string", "description": "Größe 城"}, "days": {"type": "integer", "default": 3, "enum": [1, 2, 3]},
        "opts": {"type": "object", "properties": {"x": {"type": "array", "items": {"type": "number"}}}}}}}}]
KWARGS = [
    {},
    {"enable_thinking": False},
    {"enable_thinking": True, "thinking": True, "reasoning_effort": "high", "date_string": "1 Jan 2025"},
    {"tools": TOOLS},
    {"documents": [{"title": "T", "text": "Body é"}]},
]


def templates(folder):
    for path in sorted(pathlib.Path(folder).rglob("tokenizer_config.json")):
        config = json.loads(path.read_text())
        tokens = {}
        for name in ("bos_token", "eos_token", "unk_token", "pad_token"):
            if config.get(name):
                tokens[name] = config[name] if isinstance(config[name], str) else config[name]["content"]
        found = config.get("chat_template") or []
        if isinstance(found, str):
            found = [{"name": "", "template": found}]
        for t in found:
            name = path.relative_to(folder).parts[0]
            yield (name + " " + t["name"]).strip(), t["template"], tokens
    for path in sorted(pathlib.Path(folder).rglob("*.jinja")):
        yield path.stem, path.read_text(), {"bos_token": "<s>", "eos_token": "</s>"}


for folder in sys.argv[1:]:
    for family, template, tokens in templates(folder):
        for messages in CHATS:
            for kwargs in KWARGS:
                want = jinja.render(template, tokens, messages, kwargs)
                json.dump({"Family": family, "Template": template, "Tokens": tokens, "Messages": messages, "Kwargs": kwargs,
                           "Clock": jinja.CLOCK.isoformat() + "Z", "Want": want}, sys.stdout)
                print()
