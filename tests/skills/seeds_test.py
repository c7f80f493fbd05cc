"""The seed skills of skills/: how many there are, their format, their evidence, and that their examples compile.

    python tests/skills/seeds_test.py --davinci build/dev/apps/davinci/davinci [--all] [--python PYTHON]

Candidates are compiled by sample, chosen by the content of the folder: another content, another sample. --all takes every one.
"""
import argparse
import ast
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKILLS = ROOT / "skills"
PENDING = pathlib.Path(__file__).resolve().parent / "pending_evidence.txt"
LEAST_EXAMPLES = {"triton": 30, "cuda": 15, "cpp": 20}  # cuda-inline counts as cuda
LEAST_PER_SCOPE = 5  # for each target that the scope has a skill for
SCOPES = {"general", "task_specific/matmul", "task_specific/conv", "task_specific/pointwise", "task_specific/reduce"}
NUMERICS = 8  # at least as many skills name a pitfall of floating-point or integer arithmetic in their tags
MAX_DESCRIPTION = 120  # characters
MAX_EXAMPLE_TOKENS = 512  # of the part for one language
MAX_CONTENT_TOKENS = 1024  # of all that a prompt in one language shows
BYTES_PER_TOKEN = 3.5  # of English and code, on the low side
CPP_SAMPLE, CUDA_SAMPLE, TRITON_SAMPLE = 8, 2, 2
FAILURES = []


def expect(condition, message):
    if not condition:
        FAILURES.append(message)


class Example:
    def __init__(self, skill, toml):
        settings = tomllib.loads(toml.read_text())
        self.skill, self.folder = skill, toml.parent
        self.target, self.language = settings["target"], settings["language"]
        self.task = (toml.parent / settings.get("task", "task.py")).resolve()
        self.family = "cuda" if self.language == "cuda-inline" else self.language
        self.candidates = [toml.parent / "before.py", toml.parent / "after.py"]
        self.name = str(toml.parent.relative_to(SKILLS))


def read(folder):
    text = (folder / "SKILL.md").read_text()
    head, content = text.split("---\n", 2)[1:]

    def field(key):
        match = re.search(rf"^\s*{key}: (.*)$", head, re.M)
        return match[1].strip().strip('"') if match else ""

    return {
        "name": folder.name,
        "description": field("description"),
        "scope": field("scope"),
        "tags": [tag.strip() for tag in field("tags").split(",")],
        "content": content,
        "examples": [Example(folder.name, toml) for toml in
                     [*sorted(folder.glob("example.toml")), *sorted(folder.glob("examples/*/example.toml"))]],
    }


def tokens(text):
    return len(text.encode()) / BYTES_PER_TOKEN


def parts(content):
    """What is for all languages, and the examples by heading ("" where there is only one)."""
    shared, example = content.split("## Example\n", 1)
    pieces = re.split(r"^### (.*)$", example, flags=re.M)
    if len(pieces) == 1:
        return shared, {"": example}
    return shared + pieces[0], dict(zip(pieces[1::2], pieces[2::2]))


def check_text(skill):
    name = skill["name"]
    expect(len(skill["description"]) <= MAX_DESCRIPTION, f"{name}: description of {len(skill['description'])} characters")
    expect(skill["scope"] in SCOPES, f"{name}: scope {skill['scope']} is not one of {sorted(SCOPES)}")
    shared, examples = parts(skill["content"])
    for heading, text in examples.items():
        expect(tokens(text) <= MAX_EXAMPLE_TOKENS, f"{name}: example {heading} of {tokens(text):.0f} tokens")
        expect(tokens(shared + text) <= MAX_CONTENT_TOKENS, f"{name}: {tokens(shared + text):.0f} tokens with example {heading}")
        expect("```" in text, f"{name}: example {heading} shows no code")
    for example in skill["examples"]:
        expect(example.family in skill["tags"], f"{name}: tag {example.family} is missing")
        expect(example.target in skill["tags"], f"{name}: tag {example.target} is missing")


def check_counts(skills, pending):
    languages, scopes = {}, {}
    for skill in skills:
        for example in skill["examples"]:
            languages[example.family] = languages.get(example.family, 0) + 1
            scopes.setdefault((skill["scope"], example.target), set()).add(skill["name"])
    for language, least in LEAST_EXAMPLES.items():
        expect(languages.get(language, 0) >= least, f"{languages.get(language, 0)} examples in {language}, at least {least} are wanted")
    for (scope, target), names in sorted(scopes.items()):
        expect(len(names) >= LEAST_PER_SCOPE, f"{scope} has {len(names)} skills for {target}, at least {LEAST_PER_SCOPE} are wanted")
    numerics = [skill["name"] for skill in skills if "numerics" in skill["tags"]]
    expect(len(numerics) >= NUMERICS, f"{len(numerics)} skills about numerics, at least {NUMERICS} are wanted")
    total = ", ".join(f"{count} {language}" for language, count in sorted(languages.items()))
    print(f"{len(skills)} skills with examples in: {total}; {len(numerics)} about numerics; {len(pending)} without evidence yet")


def check_evidence(skills, davinci, pending):
    """Every example carries evidence of its present files, with a lower end that reaches the threshold."""
    listed = subprocess.run([davinci, "skills", "verify", "--all", "--missing", "--list", "--json", "--skills", SKILLS],
                            capture_output=True, text=True, check=True)
    missing = {str(pathlib.Path(item["remark"]).relative_to(SKILLS)) for item in json.loads(listed.stdout)["skills"]}
    expect(missing <= pending, f"no evidence of the present files: {sorted(missing - pending)}; davinci skills verify --update")
    expect(pending <= missing, f"{PENDING.name} names what has evidence: {sorted(pending - missing)}")
    for skill in skills:
        for example in skill["examples"]:
            if example.name in missing:
                continue
            evidence = json.loads((example.folder / "evidence" / f"{example.target}.json").read_text())
            low = evidence["result"]["uplift"]["low"]
            expect(low >= evidence["threshold"], f"{example.name}: evidence of {low:.3g} below {evidence['threshold']}")
            expect(low > 1.0, f"{example.name}: evidence that may be no gain ({low:.3g})")
            for side in ("before", "after"):
                expect(evidence[side]["correct"] is True, f"{example.name}: {side} was not correct")


def check_recordings(skills):
    """The recorded demos choose skills that are for their target."""
    targets = {skill["name"]: {example.target for example in skill["examples"]} for skill in skills}
    for target in ("cpu", "cuda"):
        chosen = set()
        for line in (ROOT / "examples" / f"replies_{target}.jsonl").read_text().splitlines():
            for call in json.loads(line).get("reply", {}).get("tool_calls", []):
                if call["name"] == "select_skills":
                    chosen |= {item["name"] for item in json.loads(call["arguments"])["selected_skills"]}
        expect(chosen, f"the recorded demo for {target} chooses no skill")
        for name in chosen:
            expect(target in targets.get(name, ()), f"the recorded demo for {target} chooses {name}, which has no example for it")


def sample(items, count, salt):
    return items if count is None else sorted(items, key=lambda path: hashlib.sha256(salt + str(path).encode()).digest())[:count]


def native_source(path):
    """The argument of the module's *_module(SOURCE) call, evaluated as a constant string."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "SOURCE":
            return ast.literal_eval(node.value)
    raise AssertionError(f"{path}: no SOURCE")


def check_cpp(path):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "kernel.cc"
        source.write_text(native_source(path))
        done = subprocess.run(["g++", "-std=c++20", "-fopenmp", "-fsyntax-only", "-Wall", "-Werror=return-type", source],
                              capture_output=True, text=True)
        expect(done.returncode == 0, f"{path.relative_to(SKILLS)} does not compile:\n{done.stderr[:2000]}")


def check_gpu(rows, davinci, environment):
    """Compiles for the GPU without one; Triton kernels are interpreted and their outputs compared as well."""
    with tempfile.TemporaryDirectory() as folder:
        jobs, out = pathlib.Path(folder) / "jobs.jsonl", pathlib.Path(folder) / "out.jsonl"
        jobs.write_text("".join(json.dumps({"id": str(candidate.relative_to(SKILLS)), "reference": str(task),
                                            "candidate": str(candidate), "target": "cuda"}) + "\n" for task, candidate in rows))
        done = subprocess.run([davinci, "judge", "--batch", jobs, "-j", "2", "-o", out], capture_output=True, text=True, env=environment)
        if not out.exists():
            expect(False, f"davinci judge --batch: {done.stderr[-2000:]}")
            return
        results = [json.loads(line) for line in out.read_text().splitlines()]
    expect(len(results) == len(rows), f"{len(results)} of {len(rows)} candidates were judged")
    for result in results:
        verdict = result.get("evaluation", result)
        blocked = verdict["evidence"].get("compile_only", {}).get("blocked") or {}
        if blocked.get("reason") == "toolchain":
            print(f"{result['id']}: not compiled, {blocked['detail']}")
            continue
        fine = verdict["status"] in ("compile_only", "ok") and verdict["correct"] is not False
        expect(fine, f"{result['id']}: {verdict['status']}: {verdict['message'][:1000]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci", required=True)
    parser.add_argument("--python", help="an interpreter with torch and Triton; without it nothing is compiled for the GPU")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    skills = [read(folder) for folder in sorted(SKILLS.iterdir()) if (folder / "SKILL.md").exists()]
    pending = set(PENDING.read_text().split()) if PENDING.exists() else set()
    for skill in skills:
        check_text(skill)
    check_counts(skills, pending)
    check_evidence(skills, options.davinci, pending)
    check_recordings(skills)

    examples = [example for skill in skills for example in skill["examples"]]
    candidates = {language: [(e.task, path) for e in examples if e.language == language for path in e.candidates]
                  for language in ("cpp", "cuda", "cuda-inline", "triton")}
    salt = hashlib.sha256(b"".join(path.read_bytes() for rows in candidates.values() for _, path in rows)).digest()
    counts = {"cpp": CPP_SAMPLE, "cuda": CUDA_SAMPLE, "cuda-inline": 0, "triton": TRITON_SAMPLE}
    for _, path in sample(candidates["cpp"], None if options.all else counts["cpp"], salt):
        check_cpp(path)
    if options.python:
        rows = [row for language in ("cuda", "cuda-inline", "triton")
                for row in sample(candidates[language], None if options.all else counts[language], salt)]
        check_gpu(rows, options.davinci, {**os.environ, "DAVINCI_PYTHON": options.python})
    for failure in FAILURES:
        print(f"FAILED: {failure}")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
