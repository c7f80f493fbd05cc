"""Fetches a published set of tasks with git, for `davinci tasks pull`.

    task_pull.py NAME [--url URL] [--commit COMMIT] [--into FOLDER]

What was fetched is kept beside the folder until all of it is there, so a second run goes on; a complete folder says in SOURCE.json which commit
it is, and is left alone. Prints the folder. Exit status: 0 done, 2 no such set, address or commit, 3 failed.
"""
import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

# The folder of a repository that holds the tasks, as NAME/level<n>/*.py.
SETS = {"kernelbench": {"url": "https://github.com/ScalingIntelligence/KernelBench", "commit": "423217d", "folder": "KernelBench"}}


def fail(message, status):
    print(f"davinci tasks pull: {message}", file=sys.stderr)
    sys.exit(status)


def git(folder, *arguments):
    environment = dict(os.environ, GIT_TERMINAL_PROMPT="0")
    try:
        return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, env=environment, check=False)
    except FileNotFoundError:
        fail("git is missing; install it (apt-get install git)", 2)


def fetched(part, url, commit):
    """The full name of the commit, once the repository beside the folder has it."""
    part.mkdir(parents=True, exist_ok=True)
    if not (part / ".git").exists() and git(part, "init", "-q").returncode != 0:
        fail(f"{part}: git could not make a repository", 3)

    def known():
        found = git(part, "rev-parse", "--verify", "-q", commit + "^{commit}")
        return found.stdout.strip() if found.returncode == 0 else None

    # Without file contents first: the checkout asks for those it needs.
    for name, value in (("remote.origin.url", url), ("remote.origin.promisor", "true"), ("remote.origin.partialclonefilter", "blob:none")):
        git(part, "config", name, value)
    if not known():
        done = git(part, "fetch", "-q", "--filter=blob:none", "origin", "+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
        if done.returncode != 0:
            fail(f"{url}: {(done.stderr.strip().splitlines() or ['git failed'])[-1]}; run it again to go on", 3)
    if not known():
        shutil.rmtree(part, ignore_errors=True)
        fail(f"{url}: no commit {commit}", 2)
    return known()


def main():
    parser = argparse.ArgumentParser(prog="davinci tasks pull")
    parser.add_argument("name")
    parser.add_argument("--url")
    parser.add_argument("--commit")
    parser.add_argument("--into")
    asked = parser.parse_args()
    known = SETS.get(asked.name)
    if known is None:
        fail(f"no set called {asked.name}; there is {', '.join(SETS)}", 2)
    url, commit, into = asked.url or known["url"], asked.commit or known["commit"], Path(asked.into or asked.name)
    source = into / "SOURCE.json"
    if source.exists():
        there = json.loads(source.read_text())
        if there["commit"].startswith(commit) and there["url"] == url:
            print(into)
            return
        fail(f"{into} holds {there['url']} at {there['commit'][:12]}; name another folder with --into", 2)
    if into.exists() and any(into.iterdir()):
        fail(f"{into} exists and is no set of tasks; name another folder with --into", 2)
    part = into.parent / f".{into.name}.part"
    full = fetched(part, url, commit)
    git(part, "sparse-checkout", "set", "--no-cone", f"/{known['folder']}/")
    done = git(part, "checkout", "-q", "-f", "--detach", full)
    if done.returncode != 0:
        fail(f"{url}: {(done.stderr.strip().splitlines() or ['git failed'])[-1]}; run it again to go on", 3)
    tasks = sorted((part / known["folder"]).glob("level*/*.py"))
    if not tasks:
        fail(f"{url} at {full[:12]} has no {known['folder']}/level*/*.py", 2)
    made = into.parent / f".{into.name}.made"
    shutil.rmtree(made, ignore_errors=True)
    for task in tasks:
        (made / task.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(task, made / task.parent.name / task.name)
    levels = collections.Counter(task.parent.name for task in tasks)
    (made / "SOURCE.json").write_text(json.dumps({"set": asked.name, "url": url, "commit": full, "tasks": levels}, indent=1) + "\n")
    if into.exists():
        into.rmdir()
    made.rename(into)
    shutil.rmtree(part, ignore_errors=True)
    print(f"{asked.name} at {full[:12]}: " + ", ".join(f"{count} of {level}" for level, count in sorted(levels.items())), file=sys.stderr)
    print(into)


if __name__ == "__main__":
    main()
