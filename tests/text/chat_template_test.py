#!/usr/bin/env python3
"""Chat templates render as transformers' apply_chat_template renders them: the formats of templates/ over conversations
with and without system message, tools, calls, thinking; and the language itself, construct by construct. Replies given
as token ids stand in the prompt as they are.

    chat_template_test.py <text_probe>

Exit status 77 where transformers or tokenizers are missing.
"""
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import tokenizers
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast
except ImportError as error:
    print(f"skipped: {error}; tools/setup.sh installs it")
    sys.exit(77)
from tokenizer_parity_test import Probe

TEMPLATES = Path(__file__).parent / "templates"
SPECIAL = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|begin_of_text|>", "<|eot_id|>", "<|start_header_id|>",
           "<|end_header_id|>"]
TOOLS = [{"type": "function", "function": {
    "name": "select_skills", "description": "Choose <skills> & \"why\" – naïve 中文", "parameters": {
        "type": "object", "properties": {"names": {"type": "array", "items": {"type": "string"}},
                                         "limit": {"type": "number", "minimum": 0.5, "maximum": 1e20}},
        "required": ["names"], "additionalProperties": False}}},
         {"type": "function", "function": {"name": "b", "description": "", "parameters": {"type": "object", "properties": {}}}}]
CALL = {"type": "function", "function": {"name": "select_skills", "arguments": {"names": ["a\n", "é"], "limit": 1.0, "x": None}}}
SYSTEM = {"role": "system", "content": "  You are terse.\n"}
CONVERSATIONS = {
    "one question": [{"role": "user", "content": "Hi \n"}],
    "system": [SYSTEM, {"role": "user", "content": "Hi"}],
    "several turns": [SYSTEM, {"role": "user", "content": "1"}, {"role": "assistant", "content": "<think>\nhm\n</think>\n\nA  "},
                      {"role": "user", "content": "2"}],
    "ends with a reply": [{"role": "user", "content": "1"}, {"role": "assistant", "content": "<think>\nhm\n</think>\n\nA"}],
    "reasoning": [{"role": "user", "content": "1"}, {"role": "assistant", "content": "A", "reasoning_content": "\nbecause\n"},
                  {"role": "user", "content": "2"}, {"role": "assistant", "content": "B", "reasoning_content": "so"}],
    "calls": [SYSTEM, {"role": "user", "content": "1"}, {"role": "assistant", "content": "", "tool_calls": [CALL]},
              {"role": "tool", "content": "{\"ok\": true}"}, {"role": "tool", "content": "second"},
              {"role": "assistant", "content": "done"}, {"role": "user", "content": "<tool_response>x</tool_response>"}],
    "two calls": [{"role": "user", "content": "1"}, {"role": "assistant", "content": "see", "tool_calls": [CALL, CALL]},
                  {"role": "tool", "content": "r"}],
}
# Constructs alone; v, d, l, s are variables.
SNIPPETS = [
    "{{ 1 + 2 * 3 ** 2 // 4 % 5 }} {{ 7 / 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 2 ** 3 ** 2 }} {{ 1.5 + 1 }} {{ 10 ** 20 * 1.0 }}",
    "{{ 'a' ~ 1 ~ none ~ true ~ 1.0 ~ [1, 'x', {'k': none}] }} {{ 'ab' * 3 }} {{ [1] + [2] }}",
    "{{ d.a }} {{ d['b'] }} {{ d.missing }} {{ d.missing is defined }} {{ d.c.e }} {{ l[0] }} {{ l[-1] }} {{ l[9] is defined }}",
    "{{ l[1:] }} {{ l[::-1] }} {{ l[:-1] }} {{ l[::2] }} {{ s[1:3] }} {{ s[::-1] }} {{ s[0] }} {{ s[-2:] }} {{ l[5:2] }}",
    "{% for k, v in d.items() %}{{ loop.index }}:{{ k }}={{ v }};{% endfor %} {% for k in d %}{{ k }}{% endfor %}",
    "{% for x in l if x > 1 %}{{ loop.first }}{{ loop.last }}{{ loop.revindex }}{{ x }} {% else %}none{% endfor %}",
    "{% for x in [] %}a{% else %}empty{% endfor %}{% for x in range(3) %}{{ loop.previtem }}{{ x }}{{ loop.nextitem }},{% endfor %}",
    "{% for x in l %}{% if x == 2 %}{% continue %}{% endif %}{% if x == 3 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% set x = 1 %}{% for i in l %}{% set x = i %}{{ x }}{% endfor %}{{ x }}{% set n = namespace(x=0) %}{% for i in l %}{% set n.x = n.x + i %}{% endfor %}{{ n.x }}",
    "{% set b %}block {{ s }}{% endset %}[{{ b }}]{% set p, q = 1, 2 %}{{ p }}{{ q }}{% set t = 1, 'a' %}{{ t | length }}",
    "{% macro m(a, b='B', c=none) %}<{{ a }}{{ b }}{{ c }}>{% endmacro %}{{ m(1) }}{{ m(1, c=3) }}{{ m(a=2, b=3) }}",
    "{{ 'yes' if d.a else 'no' }} {{ 'x' if false }}| {{ 1 if 0 else 2 if 0 else 3 }} {{ not d.a }} {{ d.zero or 'or' }} {{ d.a and 'and' }}",
    "{{ 1 < 2 < 3 }} {{ 1 < 2 > 5 }} {{ 'a' in s }} {{ 'z' not in s }} {{ 'a' in d }} {{ 2 in l }} {{ 1 == 1.0 }} {{ [1] == [1] }} {{ '1' == 1 }}",
    "{{ s is string }} {{ d is mapping }} {{ l is sequence }} {{ l is iterable }} {{ none is none }} {{ u is undefined }} {{ 3 is odd }} {{ 4 is divisibleby 2 }} {{ 1 is number }} {{ true is boolean }} {{ 1.0 is float }} {{ 1 is integer }} {{ s is not none }} {{ false is false }} {{ 2 is in l }} {{ 'a' is eq 'a' }}",
    "{{ s | upper }} {{ s | capitalize }} {{ s | title }} {{ '  a ' | trim }} {{ 'xxaxx' | trim('x') }} {{ s | replace('a', 'b') }} {{ s | length }} {{ s | first }} {{ s | last }} {{ s | reverse }}",
    "{{ l | join(', ') }} {{ l | first }} {{ l | last }} {{ l | reverse | list }} {{ l | sort(reverse=true) }} {{ ['b', 'A'] | sort }} {{ [1, 1, 2] | unique | list }} {{ l | map('string') | join('-') }}",
    "{{ o | map(attribute='n') | join }} {{ o | selectattr('n', 'eq', 'a') | list | length }} {{ o | rejectattr('n', 'equalto', 'a') | map(attribute='n') | list }} {{ l | select('gt', 1) | list }} {{ l | reject('odd') | list }} {{ o | selectattr('flag') | list | length }}",
    "{{ d | tojson }} {{ d | tojson(indent=2) }} {{ s | tojson }} {{ '<>&\\'\"\\n\\t\\\\é😀' | tojson }} {{ [] | tojson(indent=4) }} {{ {} | tojson }} {{ 1e3 if false else 0.1 | tojson }}",
    "{{ u | default('D') }} {{ '' | default('D') }} {{ '' | default('D', true) }} {{ d.missing | d('x') }} {{ '12' | int + 1 }} {{ 'x' | int(5) }} {{ '1.5' | float }} {{ 3.7 | int }} {{ -3 | abs }}",
    "{{ s.split('a') }} {{ 'a  b c'.split() }} {{ 'a,b,c'.split(',', 1) }} {{ 'a,b,c'.rsplit(',', 1) }} {{ s.startswith('na') }} {{ s.endswith('e') }} {{ s.upper() }} {{ ' a'.strip() }} {{ 'aab'.lstrip('a') }} {{ 'baa'.rstrip('a') }} {{ 'aXa'.replace('a', 'b', 1) }} {{ s.find('v') }} {{ 'a\nb'.splitlines() }} {{ 'aba'.count('a') }} {{ '-'.join(['a', 'b']) }}",
    "{{ d.get('a') }} {{ d.get('x') }} {{ d.get('x', 1) }} {{ d.keys() | list }} {{ d.values() | list | length }} {{ d | items | list | length }} {% for k, v in {'b': 1, 'a': 2} | dictsort %}{{ k }}{{ v }}{% endfor %} {{ dict(a=1).a }}",
    "a\n  {% if true %}\n  b\n  {% endif %}\n{# c #}\nd  {%- if true -%}  e  {%- endif -%}  f\n{{- 1 }}\n  {{ 2 -}}\n\n  x",
    "  {%+ if true %}a{% endif %}\n{% if true +%}\nb{% endif %}\n\n{#- x -#}\n  c\n",
    "{{ \"dq \\\"x\\\" \\n\" }}{{ 'a' 'b' }}{{ (1, 2) | length }}|{{ {'a': [1, {'b': 2}]} }}|{{ [true, none, 'it\\'s', \"q\"] }}",
    "{{ 'x\ny' | indent(2) }} {{ 'x\ny\n\nz' | indent(width=3, first=true) }} {{ 'x' | string }} {{ 5 | string | length }} {{ 'héllo wörld'[1:4] }}",
    "{{ -2 | abs }} {{ 2 - -1 }} {{ (1 + 2) * 3 }} {{ not 1 == 2 }} {{ l | length > 2 and s }} {{ [l | length, 1] }} {{ 'a' ~ 'b' | upper }}",
]
VARIABLES = {"d": {"a": 1, "b": [1, 2], "c": {"e": "é"}, "zero": 0}, "l": [1, 2, 3], "s": "naïve", "v": "x",
             "o": [{"n": "a", "flag": True}, {"n": "b", "flag": False}]}
# transformers refuses these when it renders; we name the line.
REFUSED = ["{{ u.x }}", "{{ raise_exception('no') }}", "{{ 1 / 0 }}", "{{ 'a' + 1 }}", "{{ u | tojson }}", "{{ s() }}", "{% for x in 5 %}{% endfor %}"]
UNSUPPORTED = ["{% include 'x' %}", "{{ x | nosuch }}", "{{ x is nosuch }}", "{% if %}", "{% for x in %}", "{{ 'a }}", "{% endif %}", "{{ a b }}", "{{", "{% if x %}",
               "{% call x() %}{% endcall %}", "{{ " + "(" * 500 + "1" + ")" * 500 + " }}", "{% if 1 %}" * 500]


def make():
    tokenizer = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(SPECIAL)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<|begin_of_text|>", eos_token="<|im_end|>")


class ChatTemplates(unittest.TestCase):
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        cls.probe = Probe(PROGRAM)
        cls.tokenizer = make()
        cls.folder = tempfile.TemporaryDirectory()
        cls.tokenizer.save_pretrained(cls.folder.name)
        cls.probe.ask(do="load", path=cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.probe.close()
        cls.folder.cleanup()

    def expected(self, template, messages, tools, generate, thinking, variables):
        extra = dict(variables)
        if thinking is not None:
            extra["enable_thinking"] = thinking
        return self.tokenizer.apply_chat_template(messages, tools=tools, chat_template=template, tokenize=False,
                                                  add_generation_prompt=generate, **extra)

    def test_formats(self):
        compared = 0
        for file in sorted(TEMPLATES.glob("*.jinja")):
            template = file.read_text()
            for name, messages in CONVERSATIONS.items():
                for tools in (None, TOOLS):
                    for generate in (True, False):
                        for thinking in (None, True, False):
                            variables = {"date_string": "23 Nov 2026"}
                            request = dict(do="render", template=template, messages=messages, generate=generate,
                                           variables=variables, bos="<|begin_of_text|>", eos="<|im_end|>")
                            if tools:
                                request["tools"] = tools
                            if thinking is not None:
                                request["thinking"] = thinking
                            where = f"{file.name}, {name}, tools {tools is not None}, {generate}, {thinking}"
                            try:
                                expected = self.expected(template, messages, tools, generate, thinking, variables)
                            except Exception as error:
                                with self.assertRaises(AssertionError, msg=where) as ours:
                                    self.probe.ask(**request)
                                self.assertIn(str(error), str(ours.exception))
                                continue
                            self.assertEqual(self.probe.ask(**request)["text"], expected, where)
                            compared += 1
        print(f"{compared} renderings equal")
        self.assertGreater(compared, 200)

    def test_language(self):
        for snippet in SNIPPETS:
            with self.subTest(snippet):
                expected = self.expected(snippet, CONVERSATIONS["system"], None, False, None, VARIABLES)
                ours = self.probe.ask(do="render", template=snippet, messages=CONVERSATIONS["system"], generate=False, variables=VARIABLES)
                self.assertEqual(ours["text"], expected)

    def test_errors_name_the_line(self):
        for template in REFUSED:
            with self.assertRaises(Exception, msg=template):  # noqa: B017
                self.expected(template, CONVERSATIONS["system"], None, False, None, VARIABLES)
        for template in REFUSED + UNSUPPORTED:
            with self.assertRaisesRegex(AssertionError, "chat template: line 2: ", msg=template):
                self.probe.ask(do="render", template="x\n" + template, messages=CONVERSATIONS["system"], variables=VARIABLES)

    def test_a_hostile_template_ends(self):
        for template in ("{% for a in range(1000000000) %}{% endfor %}",
                         "{% for a in range(10000) %}{% for b in range(10000) %}x{% endfor %}{% endfor %}",
                         "{% set n = namespace(x='aaaaaaaaaaaaaaaa') %}{% for i in range(100) %}{% set n.x = n.x + n.x %}{% endfor %}",
                         "{% set n = namespace(x=[]) %}{% for i in range(100000) %}{% set n.x = [n.x] %}{% endfor %}",
                         "{% set n = namespace() %}{% set n.n = n %}{{ n }}", "{% set n = namespace() %}{% set n.n = [n] %}{{ n }}",
                         "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "{{ " + "-" * 5000 + "1 }}", "{{ 1" + "+1" * 5000 + " }}",
                         "{{ x" + ".a" * 5000 + " }}", "{{ 'a' * 1000000000000 }}", "{{ l" + "|reverse" * 5000 + " }}"):
            with self.assertRaisesRegex(AssertionError, "chat template: ", msg=template[:80]):
                self.probe.ask(do="render", template=template, messages=[], variables=VARIABLES)

    def test_replies_as_ids(self):
        """Token in, token out: the longer conversation begins with the prompt and the ids of the shorter one."""
        encode = lambda text: self.tokenizer.encode(text, add_special_tokens=False)
        for file in sorted(TEMPLATES.glob("*.jinja")):
            end = "<|eot_id|>" if file.stem == "llama3" else "<|im_end|>"
            for thinking in (None, False):
                common = dict(do="segments", template=file.read_text(), variables={"date_string": "x"})
                if thinking is not None:
                    common["thinking"] = thinking
                messages = [{"role": "user", "content": "q1"}]
                first = self.probe.ask(messages=messages, **common)["ids"]
                # No tokenizer would split the reply like this, and its thinking must stay.
                reply = encode("<think>") + encode("h") + encode("m") + encode("</think>") + encode("\n\n") + encode("A") + encode(end)
                messages += [{"role": "assistant", "content": "A", "ids": reply}, {"role": "user", "content": "q2"}]
                second = self.probe.ask(messages=messages, **common)
                self.assertEqual(second["ids"][:len(first) + len(reply)], first + reply, file.name)
                self.assertEqual(second["segments"][1], reply)
                text = self.tokenizer.decode(second["ids"])
                self.assertEqual(text.count(end + end), 0, text)
                self.assertIn("q2", text)
                third_reply = encode("cut off")  # ended by a limit: the template ends the turn
                messages += [{"role": "assistant", "content": "?", "ids": third_reply}, {"role": "user", "content": "q3"}]
                third = self.probe.ask(messages=messages, **common)["ids"]
                self.assertEqual(third[:len(second["ids"]) + len(third_reply)], second["ids"] + third_reply)
                self.assertIn("cut off" + end, self.tokenizer.decode(third))
        with self.assertRaisesRegex(AssertionError, "only replies of the assistant"):
            self.probe.ask(messages=[{"role": "user", "content": "x", "ids": [1]}], **common)
        with self.assertRaisesRegex(AssertionError, "exactly once"):
            self.probe.ask(do="segments", template="nothing", messages=[{"role": "assistant", "content": "x", "ids": [1]}])


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    print(f"transformers {transformers.__version__}, tokenizers {tokenizers.__version__}")
    unittest.main(verbosity=2)
