"""Chat templates as transformers renders them: jinja2, configured alike."""
import datetime
import json

import jinja2
import jinja2.ext
import jinja2.sandbox

CLOCK = datetime.datetime(2026, 3, 4, 15, 6, 7)


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("passed"), [], [], body).set_lineno(line)

    def passed(self, caller):
        return caller()


def tojson(v, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(v, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def refuse(message):
    raise jinja2.TemplateError(message)


environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
    trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
)
environment.filters["tojson"] = tojson
environment.globals["raise_exception"] = refuse
environment.globals["strftime_now"] = CLOCK.strftime


def render(template, tokens, messages, kwargs):
    """The text, or None where jinja2 refuses."""
    messages = [{"role": m["Role"], "content": m["Content"]} for m in messages]
    variables = {"tools": None, "documents": None, **tokens, **kwargs}
    try:
        return environment.from_string(template).render(messages=messages, add_generation_prompt=True, **variables)
    except Exception:
        return None
