"""Writes golden.jsonl: small templates of every construct, with what jinja2 3.1.6
under CPython 3.11 makes of them. Run it in this folder."""
import json

import jinja

CHAT = [{"Role": "system", "Content": " Be brief.\n"}, {"Role": "user", "Content": "Grüße, 日本 🎉\tx\n"},
        {"Role": "assistant", "Content": "<think>a</think>\n b "}, {"Role": "user", "Content": "bye"}]
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
KWARGS = {"flag": False, "n": 7, "f": 1.5, "s": "a'b\"\\\n\u00e9\u200b\U0001f389\u00a0", "l": [3, "x", None, True, 2.0, [1], {}],
          "d": {"b": 1, "a": {"k": [1, {"z": None}]}, "items": "shadow", "C": 2, "3": "three"}, "big": 1e16, "small": 0.00001, "e": {}, "empty": "",
          "html": "<b>\"&'", "words": "  one two\t three\u2003four \n", "people": [
              {"name": "Zoe", "age": 3, "tag": {"x": 1}}, {"name": "adam", "age": 2}, {"name": "Bob", "age": 3, "tag": {"x": 0}}]}

EXPRESSIONS = """
bos_token ~ eos_token ~ n ~ f ~ none ~ true ~ undefinedname ~ l
1 + 2 * 3 - 4 // 3 + 7 % 4
-7 // 2
-7 % 3
7 / 2
2 ** 3 ** 2
-2 ** 2
- 2 | abs
+n
1_000 + 0
1.5e3
2.5 * 2
1e100
0.1 + 0.2
big
small
100000000000000000.0
1 / 3
'a' 'b' "c"
'\\n\\t\\x41\\u00e9\\101\\q\\\\\\'' ~ "\\""
'a' * 3 ~ 2 * 'b' ~ 'c' * -1
[1] + [2, 'x'] + []
(1,) + (2, 3)
()
(1)
1, 2
[1, 2,]
{'a': 1, 'b': [true, none], 3: 'x', 1.5: (1,)}
{'a': {'b': {}}}['a']
s
[s]
[html, words]
["'", '"', "'\\""]
['\\x00\\x1f\\x7f\\x80\\xad\\u0378\\ue000\\U000e0001']
1 < 2 < 3
1 < 3 < 2
1 == 1.0
1 == true
'1' == 1
'a' < 'b'
[1, 2] < [1, 3]
[1, 2] == [1, 2]
(1, 2) == [1, 2]
none == none
none != false
nothing == nothing2
nothing == none
1 in [1, 2]
true in [1]
'b' in 'abc'
'' in 'abc'
'b' in d
'z' not in d
n not in [7]
not n == 7
not flag and n
flag or 'x'
n and 0 or empty
'yes' if n > 3 else 'no'
'yes' if n > 30
('a' if flag else 'b') ~ 'c'
d.b
d.a.k[1].z
d['a']['k'][0]
d.items
d['items']
d.nothing
d.nothing is defined
d['3']
d[3] is defined
l[0]
l[-1]
l.0
l[99] is undefined
l[1:3]
l[::-1]
l[-2:]
l[:-5]
l[5:1:-2]
l[::2]
s[1]
s[-2:]
'日本語'[1]
'日本語'[::-1]
'日本語'|length
(1, 2, 3)[1:]
range(5)|list
range(2, 10, 3)|list
range(5, 0, -2)|list
range(3)
range(4)|length
range(4)[2]
words.strip() ~ '|' ~ words.lstrip() ~ '|' ~ words.rstrip()
'xxaxx'.strip('x') ~ 'xyaxy'.lstrip('yx') ~ 'xxa'.rstrip('ab')
words.split()
words.split(none, 1)
'a,b,,c'.split(',')
'a,b,,c'.split(',', 1)
'a,b,c'.split(',', maxsplit=1)
'a,b,c'.rsplit(',', 1)
'a\\nb\\r\\nc\\x0bd\\u2028e'.splitlines()
''.split()
''.split(',')
'abc'.startswith('a')
'abc'.startswith(('x', 'a'))
'abc'.endswith('bc')
'HeLLo wörld'.lower() ~ 'HeLLo wörld'.upper()
"they're BILL's über-friends 1st".title()
'hELLO'.capitalize()
'aXbXc'.replace('X', '--')
'aXbXc'.replace('X', '', 1)
'ab'.replace('', '.')
'abcabc'.find('c') ~ 'äbc'.find('c') ~ 'abc'.find('z') ~ 'abcabc'.rfind('b')
'abcabc'.index('b')
'aaa'.count('a')
'ab'.count('')
'a-b-c'.partition('-')
'a-b-c'.rpartition('-')
'abc'.partition('-')
'prefix-x'.removeprefix('prefix-').removesuffix('x')
', '.join(['a', 'b'])
'abc'.isalpha() ~ '12'.isdigit() ~ ' '.isspace() ~ ''.isspace() ~ 'AB'.isupper() ~ 'ab1'.islower() ~ '1'.isupper()
'{} and {}'.format('a', 1)
'{1}{0}{{}}'.format('a', 'b')
'{name}'.format(name='x')
'%s-%d-%r%%' % ('a', 3, 'q')
'%s' % 'x'
'%s' % [1]
'100%'
d.keys()|list
d.values()|list
d.items
e.items()|list
{'a': 1}.items()
{'a': 1}.keys()
{'a': 1}.values()
d.get('b') ~ d.get('q') ~ d.get('q', 'z')
dict(a=1, b=2)
dict([('a', 1)])
dict({'a': 1}, c=3)
l|tojson
d|tojson
d|tojson(indent=2)
d|tojson(indent=4, sort_keys=true)
[]|tojson(indent=2)
{'a': [], 'b': {}}|tojson(indent=1)
s|tojson
s|tojson(ensure_ascii=true)
d|tojson(separators=(',', ':'))
[1.0, 1e16, 1e-7, 1e22, 123456789.123]|tojson
{1: 2, none: 3, true: 4, 2.5: 5}|tojson
html|tojson
'\\x00\\x08\\x0c\\x1f\\x7f\\u2028'|tojson
words|trim
'xax'|trim('x')
undefinedname|trim ~ '|'
n|string ~ 1
[1, 2]|string
'ab'|upper ~ 'AB'|lower ~ 'aB c'|capitalize
undefinedname|default('x') ~ none|default('x') ~ ''|default('x', true) ~ ''|default('x') ~ undefinedname|d
none|default('x', boolean=true)
flag|default(true)
'a.b.c'|replace('.', '-')
'a.b.c'|replace('.', '-', 1)
5|replace('5', '6')
'a\\nb\\n\\nc'|indent
'a\\nb\\n\\nc'|indent(2, first=true)
'a\\nb\\n\\nc\\n'|indent(2, true, true)
'a\\nb'|indent('> ')
'42'|int + 1
'42.9'|int
'x'|int
'x'|int(5)
3.99|int
-3.99|int
true|int
none|int
' 12 '|int
'1.5'|float
'q'|float
3|float
[1, 2, 3]|join
[1, 'a', none]|join(', ')
people|join(', ', attribute='name')
'abc'|join('-')
'abc'|list
d|list
(1, 2)|list
people|map(attribute='name')|join(',')
people|map(attribute='tag.x', default='-')|join(',')
people|map(attribute='nothing')|join(',')
['a', 'b']|map('upper')|list
['a', 'b']|map('replace', 'a', 'z')|list
people|selectattr('age', 'equalto', 3)|map(attribute='name')|list
people|selectattr('tag')|list|length
people|selectattr('tag', 'defined')|list|length
people|rejectattr('age', '==', 3)|list
people|rejectattr('age', 'gt', 2)|map(attribute='age')|list
[1, 2, 3, 4]|select('odd')|list
[0, 1, none, 'a']|select|list
[1, 2, 3, 4]|reject('in', [2, 3])|list
none|selectattr('x')|list
undefinedname|map('upper')|list
d|dictsort
{'b': 1, 'A': 2, 'c': 0}|dictsort
{'b': 1, 'A': 2, 'c': 0}|dictsort(true)
{'b': 1, 'A': 2, 'c': 0}|dictsort(by='value')
{'b': 1, 'A': 2, 'c': 0}|dictsort(reverse=true)
{'b': 1}|items|list
undefinedname|items|list
[3, 1, 2]|sort
[3, 1, 2]|sort(reverse=true)
['b', 'A', 'c']|sort
['b', 'A', 'c']|sort(case_sensitive=true)
people|sort(attribute='age')|map(attribute='name')|list
people|sort(attribute='age', reverse=true)|map(attribute='name')|list
['a', 'A', 'b', 'a']|unique|list
['a', 'A', 'b', 'a']|unique(true)|list
people|unique(attribute='age')|list|length
[3, 1, 2]|min ~ [3, 1, 2]|max ~ ['b', 'A']|min
(people|min(attribute='age')).name
[]|max
[1, 2.5]|sum
people|sum(attribute='age')
people|sum('age', 10)
l|first ~ 'xyz'|first ~ []|first
l[:2]|last ~ 'xyz'|last
'abc'|reverse
[1, 2]|reverse|list
-5|abs
l|length ~ d|count ~ ''|length ~ undefinedname|length
html|safe
html|e
html|e ~ html
(html|safe) + '<'
'<' + (html|safe)
html|safe|length
html|safe|trim|upper
n is defined
zz is defined
zz is not defined
none is none
zz is none
'' is string
n is string
n is number
true is number
1.0 is number
'1' is number
true is integer
1 is integer
1.0 is float
true is boolean
1 is boolean
true is true
1 is true
false is false
d is mapping
l is mapping
l is iterable
'x' is iterable
n is iterable
d is iterable
zz is iterable
none is iterable
l is sequence
d is sequence
'x' is sequence
n is sequence
d.items() is sequence
range is callable
n is callable
3 is odd
4 is even
6 is divisibleby 3
6 is divisibleby(4)
n is eq 7
n is gt(3) and n is lt 10
2 is in [1, 2]
none is sameas none
'a' is lower
'A1' is upper
n is not none and n is defined
n is defined == true
not n is defined
messages|length
messages[0].role ~ messages[-1]['content']
messages[1:]|length
messages[0]
messages|tojson
messages|selectattr('role', 'equalto', 'user')|list|length
tools is none ~ documents is none ~ add_generation_prompt
tools
strftime_now('%Y-%m-%d %H:%M:%S %d %b %Y %B %A %a %j %y %I %p %e %-d %-m %-H %%')
namespace(a=1).a
namespace().x is defined
loop is defined
[1, 2, 3][true]
'a' ~ 1.0 ~ 2e0
10 // 3.0 if false else 'z'
{} or 'e'
[[]] and 'f'
'x' if [] else 'y' if 0 else 'z'
(n, f)[0]
(people|first).name
people[0].name[0]
(1, 2)|length
l is defined and l|length > 3 and l[0] == 3
'abc' is string and 'abc'|length == 3
"}}" ~ '%}' ~ {'a': '}}'}['a']
range(200000)
l.append(1)
d.update({'x': 1})
d.nothing.more
undefinedname + 'x'
undefinedname.x
none.x
none + 1
'a' + 1
1 + 'a'
'a' < 1
n|nosuchfilter
n is nosuchtest
nosuchfunction()
n()
raise_exception('no')
none|length
none|join
n|list
1 // 0
1 % 0
'x'|tojson(bad=1)
zz|tojson
none[1:]
e[:1]
zz|int
zz|float
'x' % [1]
'x' % 1
(html|safe)[0]
true.name is defined
1.5.name is defined
people|map(attribute='tag.x', default=7)|list
'%s %s' % ('a',)
'%s' % ('a', 'b')
'%05d' % 3
(range(9))[1:3]
5.0 // 2
'straße'|upper
'ΣΑΣ'|lower
'Straße 日本 Ünder'|lower
'été Ünder'|title
range
d['a'].__class__
''.__class__
'x'.nosuch
[].nosuch is defined
namespace(a=1).b
""".strip().split("\n")

TEMPLATES = [
    "", "\n", "a\n", "a\n\n", "a\r\nb\rc\n", "{", "{ {", "}} %} #}", "{{ 1 }}\n", "{{ 1 }}\n\nx",
    "  {% if true %}\n  x\n  {% endif %}\n  y\n",
    "  {%+ if true %}\n  x\n  {%- endif +%}\n  y\n",
    "a  {%- if true -%}  \n\n b  {{- 1 -}}  \n c {%- endif -%} \n d",
    "a {# c #}\nb\n  {# d #}\n  {#- e -#}  \n f {# g +#}\nh {#+ i #}\n",
    "{# a\n  b #}  {# c #}{% if true %}\n{% endif %}  \n\t{% set x = 1 %}\t\n{{ x }}",
    "a\n \t\u00a0{% if true %}b{% endif %}\u2003\n{%- if true -%}\u00a0\x1c\n c{% endif %}",
    "  {{ 1 }}\n  {{- 2 }}\n  {{ 3 -}}\n  {{+ 4 }}  {{-5}} {{+5}}",
    "{% raw %}{{ x }}{% if %}{# #}{% endraw %}\n{%- raw -%}  y  {%- endraw -%}  z",
    "  {% raw %}\n  a\n  {% endraw %}\n  b", "{% raw %}{%endraw%}{% raw %} {{ '{% endraw %}' }}",
    "{%if n%}a{%elif f%}b{%else%}c{%endif%}{% if flag %}a{% elif n == 7 %}b{% else %}c{% endif %}{% if flag %}a{% elif flag %}b{% endif %}",
    "{% if flag: %}a{% else: %}b{% endif %}",
    "{% for m in messages %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ m.role }}\n{% endfor %}",
    "{% for m in messages %}{{ loop.previtem.role if loop.previtem is defined }}>{{ loop.nextitem.role if loop.nextitem is defined else '-' }}{{ loop.cycle('a', 'b') }}{{ loop.changed(m.role) }};{% endfor %}",
    "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}", "{% for k, v in d['items'] %}{{ k }}{% endfor %}",
    "{% for k, v in e.items() %}{{ k }}={{ v }};{% else %}none{% endfor %}", "{% for (a, b), c in [((1, 2), 3)] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "{% for x in [] %}x{% else %}empty{% endfor %}{% for x in zz %}x{% else %}empty{% endfor %}", "{% for x in none %}x{% endfor %}",
    "{% for x in 'aé日' %}{{ x }},{% endfor %}{% for k in e %}{{ k }}{% endfor %}{% for k in dict(q=1) %}{{ k }}{% endfor %}",
    "{% for x in range(9) if x is odd %}{{ x }}{{ loop.last }}{% else %}z{% endfor %}{% for x in range(3) if x > 5 %}{{ x }}{% else %}z{% endfor %}",
    "{% for x in range(9) %}{% if x == 2 %}{% continue %}{% endif %}{% if x == 5 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in range(3) %}{% for y in range(3) %}{% if y == x %}{% break %}{% endif %}{{ x }}{{ y }}{{ loop.index }} {% endfor %}{{ loop.index }}{% endfor %}",
    "{% for x in range(3) %}{% set x = x + 1 %}{% set q = x %}{{ x }}{{ q }}{% endfor %}{{ q is defined }}{{ x is defined }}",
    "{% set q = 1 %}{% for x in range(3) %}{{ q }}{% set q = q + x %}{{ q }},{% endfor %}{{ q }}",
    "{% set ns = namespace(q=1, found=false) %}{% for x in range(3) %}{% set ns.q = ns.q + x %}{% endfor %}{{ ns.q }}{{ ns.found }}{% set ns.new = 2 %}{{ ns.new }}",
    "{% set ns = namespace({'a': 1}, b=2) %}{{ ns.a }}{{ ns.b }}{{ ns['a'] }}", "{% set d.x = 1 %}", "{% set zz.x = 1 %}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set a = 1, %}{{ a }}{% set (a, b) = [3, 4] %}{{ a }}{{ b }}", "{% set a, b = [1] %}",
    "{% set x %}a{{ n }}\n{% endset %}[{{ x }}]{% set x | trim | upper %}  b {% endset %}[{{ x }}]{{ x is string }}",
    "{% set x %}{% set inner = 1 %}{% endset %}{{ inner is defined }}",
    "{% if true %}{% set x = 1 %}{% endif %}{{ x }}{% if flag %}{% set n = 99 %}{% endif %}{{ n }}", "{% set n = n + 1 %}{{ n }}",
    "{% filter upper %}a{{ html }}{% endfilter %}{% filter replace('a', 'b') | trim %} aaa {% endfilter %}",
    "{% with a = 1, b = n %}{{ a }}{{ b }}{% set c = 3 %}{{ c }}{% endwith %}{{ a is defined }}{{ c is defined }}{% with %}x{% endwith %}", "{% with a = 1, b = a %}{{ b }}{% endwith %}",
    "{% macro m(a, b='B', c=a) %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}{{ m(1) }}{{ m(1, 2) }}{{ m(b=3, a=4) }}{{ m() }}{{ m(1, 2, 3)|length }}{{ m is callable }}{{ m.name }}",
    "{% macro m(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, 3, x=4) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(x=2) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, a=2) }}",
    "{% macro f(n) %}{% if n > 0 %}{{ n }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(4) }}{% set y = f(2) %}{{ y ~ '.' }}",
    "{% macro a() %}{{ later }}{{ b() }}{% endmacro %}{% macro b() %}B{% endmacro %}{% set later = 5 %}{{ a() }}",
    "{% macro m() %}{% set n = 1 %}{{ n }}{% endmacro %}{{ m() }}{{ n }}", "{% macro wrap(x) %}<{{ caller() }}{{ x }}>{% endmacro %}{% call wrap(1) %}body{{ n }}{% endcall %}",
    "{% macro each(l) %}{% for x in l %}{{ caller(x, loop.index) }}{% endfor %}{% endmacro %}{% call(x, i) each([1, 2]) %}({{ x }}{{ i }}){% endcall %}", "{% macro m() %}x{% endmacro %}{% call m() %}y{% endcall %}",
    "{% macro m(a, b) %}{{ a }}{{ b }}{% endmacro %}{{ m(*[1, 2]) }}{{ m(**{'a': 3, 'b': 4}) }}{{ m(1, *[5]) }}",
    "{% macro m() %}  x\n{%- endmacro %}\n{{ m() }}|", "{% macro m(x) %}{{ x|safe }}{% endmacro %}{{ m(html) + '<' }}",
    "{% generation %}a{% set g = 1 %}{{ n }}{% endgeneration %}{{ g is defined }}\n{%- generation -%} b {%- endgeneration %}\n c",
    "{% for m in messages %}{% generation %}{{ m.content }}{{ loop.index }}{% endgeneration %}{% endfor %}",
    "{% set g = people|map(attribute='name') %}{{ g|join }}{{ g|join }}|{{ g|list }}", "{% set g = people|selectattr('age') %}{{ g|first is mapping }}{{ g|list|length }}",
    "{% print n %}{% print n, f %}{{ n, f }}{{ (n,) }}", "{{ n if n else }}", "{{ {'a': {'b': 1}} }}{{ {} }}{{ [{}] }}", "{{ 'a' 'b'\n'c' }}", "{{ '\r\n' }}",
    "{{ n\n\n | \n string }}{{ # }}", "{% if n %}", "{% endif %}", "{{ n", "{% for x in l %}{{ x }}", "{% nosuch %}", "{# open", "{% raw %}x", "{{ (n] }}", "{{ 'open }}", "{{ n n }}", "{% set 1 = 2 %}", "{% set x = %}",
    "{% set true = 1 %}", "{% for x in %}{% endfor %}", "{{ n. }}", "{{ l[] }}", "{{ $ }}", "{{ a..b }}", "{{ n|}}", "{{ n is }}", "{{ 1 2 }}", "{% break %}", "{{ not }}", "{{ n not 3 }}", "{% macro m(a=1, b) %}{% endmacro %}",
    "{% for m in messages %}{% if m['role'] == 'system' %}{{ '<<SYS>>\\n' + m['content'].strip() + '\\n<</SYS>>' }}{% elif m.role == 'user' %}{{ bos_token + '[INST] ' + m.content | trim + ' [/INST]' }}{% else %}{{ m.content.split('</think>')[-1].lstrip('\\n') + eos_token }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}",
    "{%- for message in messages[::-1] %}\n    {%- set index = (messages|length - 1) - loop.index0 %}\n    {%- if message.role == \"user\" and message.content is string and not (message.content.startswith('<t>') and message.content.endswith('</t>')) %}\n        {{- index }}\n    {%- endif %}\n{%- endfor %}\n",
    "{{ loop }}", "{% for x in l %}{{ loop is defined }}{% endfor %}", "{% set loop = 3 %}{{ loop }}", "{% set tools = tools or [] %}{{ tools }}", "{% set range = 3 %}{{ range }}", "{% set n %}{{ n }}x{% endset %}{{ n }}",
    "{% for x in l %}{% if x is string %}{% set hit = x %}{% endif %}{{ hit }}{% endfor %}", "{% for x in [1, 2] %}{% for y in [x] %}{% set x = 9 %}{{ x }}{% endfor %}{{ x }}{% endfor %}",
    "{% set a = [1] %}{% set b = a %}{% set a = a + [2] %}{{ b }}{{ a }}", "{% set ns = namespace(l=[]) %}{% for x in 'ab' %}{% set ns.l = ns.l + [x] %}{% endfor %}{{ ns.l|join('-') }}{{ ns }}",
    "{{ messages }}", "{{ n }}{% extends 'x' %}", "{% include 'x' %}", "{% block b %}x{% endblock %}", "{% autoescape true %}{{ html }}{% endautoescape %}", "{% do l.append(1) %}", "{{ _('x') }}", "{% set x = joiner(',') %}{{ x() }}{{ x() }}",
    "{% for x in l[:1] %}{{ n }}{% endfor %}{% set n = 1 %}", "{% for x in l[:1] %}{% for y in l[:1] %}{{ n }}{% endfor %}{% set n = 1 %}{% endfor %}",
    "{% for x in l[:1] %}{{ n }}{% endfor %}{% set n = n %}", "{% for x in l[:1] %}{{ n }}{% endfor %}{% if flag %}{% set n = 1 %}{% endif %}{% set n = 2 %}{{ n }}",
    "{% macro m() %}{{ q }}{{ n }}{% endmacro %}{% set q = 1 %}{% set n = 2 %}{{ m() }}", "{% for x in l %}{% set n = x %}{% for y in [1] %}{{ n }}{% endfor %}{% endfor %}{{ n }}",
    "{% set x = 'a' %}{% set x %}{{ x }}b{% endset %}{{ x }}", "{{ n }}{% set n %}{{ n }}b{% endset %}{{ n }}",
]

given = {"Tokens": TOKENS, "Messages": CHAT, "Kwargs": KWARGS, "Clock": jinja.CLOCK.isoformat() + "Z"}
with open("golden.jsonl", "w") as golden:
    golden.write(json.dumps(given, ensure_ascii=False) + "\n")
    for template in ["{{ " + e + " }}" for e in EXPRESSIONS] + TEMPLATES:
        want = jinja.render(template, TOKENS, CHAT, KWARGS)
        if want is None or " at 0x" not in want:
            golden.write(json.dumps({"Template": template, "Want": want}, ensure_ascii=False) + "\n")
