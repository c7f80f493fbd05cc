"""What a model is taught before it is trained: tasks of one function, answers to them, short prompts, its chat template;
and how a run's records are read."""
import json
import os
import sqlite3

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
TASK = """import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return %s


def get_inputs():
    return [torch.randn(1 << 18)]


def get_init_inputs():
    return []
"""
ANSWER = '''```python
import torch, davinci_runtime as dv
k = dv.cpp_module(r"""#include <cstdint>
extern "C" void f(const float* x, float* y, int64_t n) {
  %s
}
""").get("f", "ptr ptr i64")
class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        k(x, y, x.numel())
        return y
```'''
# The model's own chat template: short, with the calls of tools as Qwen writes them.
TEMPLATE = """{%- if tools %}{% for tool in tools %}{{ '<|im_start|>system\n' + tool.function.name + '<|im_end|>\n' }}{% endfor %}{% endif %}
{%- for message in messages %}{{ '<|im_start|>' + message.role + '\n' + message.content }}
{%- if message.tool_calls %}{% for call in message.tool_calls %}
{{- '<tool_call>\n{"name": "' + call.function.name + '", "arguments": ' }}{{ call.function.arguments | tojson }}{{ '}\n</tool_call>' }}
{%- endfor %}{% endif %}{{ '<|im_end|>\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{%- endif %}"""
# Without measured times, so that a prompt of training is one that was taught.
PROMPTS = {
    "policy_system": "Write a fast kernel.",
    "policy_task": "{{#skills}}{{skills}}\n{{/skills}}{{reference}}",
    "feedback": "{{#correct}}Make it faster.{{/correct}}{{^correct}}Correct it.{{/correct}}",
    "no_code": "Write code.",
    "selection_system": "Choose skills.",
    "selection_task": "{{reference}}\n{{candidates}}",
    "summary_system": "Propose a skill.",
    "summary_task": "{{reference}}\n{{first_code}}\n{{best_code}}",
}


def write_prompts(folder):
    os.makedirs(folder, exist_ok=True)
    for name, text in PROMPTS.items():
        with open(os.path.join(ROOT, "prompts", name + ".md")) as installed:
            header = installed.read().split("---")[1]  # says which placeholders there are
        with open(os.path.join(folder, name + ".md"), "w") as file:
            file.write(f"---{header}---\n{text}\n")


def units(out, step):
    path = os.path.join(out, f"steps/{step:08}.jsonl")
    if not os.path.exists(path):
        return []
    found = []
    with open(path) as file:
        for line in file:
            try:
                found.append(json.loads(line))
            except ValueError:  # being written
                pass
    return found


def written(out, step):
    """How many units of the step are written: their lines are counted, for a caller that asks a hundred times a second."""
    path = os.path.join(out, f"steps/{step:08}.jsonl")
    if not os.path.exists(path):
        return 0
    with open(path, "rb") as file:
        return file.read().count(b"\n")


def read_rows(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def requests(out):
    """Every request that was sent, as the run keeps it."""
    with sqlite3.connect(os.path.join(out, "blobs.sqlite")) as blobs:
        for unit in units(out, 1):
            if unit["kind"] in ("generation", "selection", "summary"):
                (request,) = blobs.execute("SELECT bytes FROM blobs WHERE name = ?", (unit["body"]["prompt"],)).fetchone()
                yield json.loads(request)
