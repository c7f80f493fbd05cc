"""The operator cards that ship: each is what grammar and teacher give now, with a proof of its present kernel; a sample is proved again.

    python tests/skills/cards_test.py --davinci build/dev/apps/davinci/davinci [--python PYTHON]
"""
import argparse
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CARDS = ROOT / "cards" / "triton.jsonl"
REMEDY = "docs/skills.md, \"Operator cards\", says how cards/triton.jsonl is made anew"
PROVEN = ("interpreted", "ok")
SAMPLE = 3


def cards(path):
    return {card["name"]: card for card in map(json.loads, path.read_text().splitlines())}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci", required=True)
    parser.add_argument("--python", help="an interpreter with torch and Triton; without it no kernel is run")
    options = parser.parse_args()
    shipped = cards(CARDS)
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder)
        subprocess.run([options.davinci, "synth", "cards", "--out", made, "--known", CARDS], check=True, capture_output=True)
        fresh = cards(made / "cards.jsonl")
        changed = [line["id"] for line in map(json.loads, (made / "jobs.jsonl").read_text().splitlines())]
        # A card that was refused is no card; one that is proven is what is made now.
        stale = sorted(name for name, card in shipped.items()
                       if {**fresh.get(name, {}), "proof": 0} != {**card, "proof": 0} or name in changed)
        assert not stale, f"{len(stale)} cards are not what is made now, {stale[:5]}; {REMEDY}"
        for name, card in shipped.items():
            assert card["proof"]["status"] in PROVEN, f"{name}: {card['proof']}"
        if options.python:
            salt = hashlib.sha256(CARDS.read_bytes()).digest()
            sample = sorted(shipped, key=lambda name: hashlib.sha256(salt + name.encode()).digest())[:SAMPLE]
            rows = [line for line in (made / "demos.jsonl").read_text().splitlines() if json.loads(line)["id"] in sample]
            (made / "sample.jsonl").write_text("\n".join(rows) + "\n")
            check = [options.python, ROOT / "tests/teacher/check_candidates.py", made / "sample.jsonl", "--least", "1.0"]
            done = subprocess.run(check, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
    print(f"{len(shipped)} cards")


if __name__ == "__main__":
    sys.exit(main())
