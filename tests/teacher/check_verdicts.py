"""The judge accepts C++ candidates of the teacher: on magnitudes and special inputs that check_candidates.py does not draw.

    check_verdicts.py DAVINCI FOLDER

`--table` makes the same table of the folder and leaves the rest alone. Gates with `torch.lerp` are where a formula that is equal on paper was refused: it cancels where the weight is near 1.
"""
import json
import pathlib
import shutil
import subprocess
import sys

davinci, folder = sys.argv[1], pathlib.Path(sys.argv[2])
refused, judged = [], 0
for seed in ("22", "23"):
    out = folder / seed
    shutil.rmtree(out, ignore_errors=True)  # results of before would be kept
    subprocess.run([davinci, "synth", "demos", "--pattern", "gated", "--count", "8", "--seed", seed, "--language", "cpp", "--judge",
                    "-j", "1", "--show", "--out", out], check=True)
    for line in (out / "results.jsonl").read_text().splitlines():
        row = json.loads(line)
        verdict = row.get("evaluation", row)
        judged += 1
        if verdict["status"] != "ok":
            refused.append(f"{row['id']}: {verdict['status']}: {verdict.get('message')}")
page = (out / "gallery.html").read_text()
assert page.count("<h3>") == 8 and page.count("<b>ok: ") == 8 and "<script" not in page, "the gallery lacks kernels or verdicts"
# The table again, from what lies there; nothing else is written.
before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
(out / "table.md").unlink()
subprocess.run([davinci, "synth", "demos", "--table", "--out", out], check=True, stdout=subprocess.DEVNULL)
after = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
changed = [str(path) for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
assert not changed, changed
print("\n".join(refused) if refused else f"{judged} candidates are correct")
sys.exit(1 if refused or judged < 16 else 0)
