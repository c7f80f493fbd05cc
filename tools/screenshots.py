#!/usr/bin/env python3
"""Takes the pictures of docs/images: the terminal of a run and its HTML report. Needs chromium (Debian: chromium).

    tools/screenshots.py --davinci build/release/apps/davinci/davinci [--only report|terminal] [--keep FOLDER]

The run is the one of quickstart.sh: recorded replies, judged live on this machine, so the numbers in the pictures are this machine's. Take them
on a quiet one, and look at them before you commit.
"""
import argparse
import html
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
COLUMNS = 118
COLORS = {"31": "#d1242f", "32": "#1a7f37", "33": "#9a6700", "34": "#0969da", "36": "#1b7c83", "90": "#6e7781"}
PAGE = """<!doctype html><meta charset="utf-8"><style>
body { margin: 0; padding: 14px 18px; background: #ffffff; color: #1f2328; font: 13px/18px "DejaVu Sans Mono", monospace; }
pre { margin: 0; font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; } .prompt { color: #0969da; } b { font-weight: 700; } .dim { color: #6e7781; }</style><pre>%s</pre>"""


def in_terminal(command, environment):
    """What the command writes to a terminal of COLUMNS columns."""
    master, slave = pty.openpty()
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, cwd=ROOT, env=dict(environment, COLUMNS=str(COLUMNS), TERM="xterm"))
    os.close(slave)
    written = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the last writer is gone
            break
        if not part:
            break
        written += part
    os.close(master)
    status = process.wait()
    if status not in (0, 4):
        sys.exit(f"{' '.join(command)}: exit status {status}\n{written.decode()}")
    return written.decode()


def as_lines(text):
    """The screen after the text: a carriage return begins the line again, ESC[K empties the rest of it."""
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        lines.append(line.rsplit("\r", 1)[-1].replace("\x1b[K", ""))
    return lines


def as_html(line):
    """SGR sequences as spans."""
    out, open_spans = "", 0
    for text, codes in re.findall(r"([^\x1b]*)(?:\x1b\[([0-9;]*)m)?", line):
        out += html.escape(text)
        for code in codes.split(";") if codes else []:
            if code in ("", "0"):
                out += "</span>" * open_spans
                open_spans = 0
            elif code == "1" or code == "2" or code in COLORS:
                style = {"1": "font-weight:700", "2": "color:#6e7781"}.get(code) or f"color:{COLORS[code]}"
                out += f'<span style="{style}">'
                open_spans += 1
    return out + "</span>" * open_spans


def picture(page, file, width, height):
    """The top of a page; rendered at 1.5 device pixels per pixel."""
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1.5",
                        f"--user-data-dir={profile}", f"--window-size={width},{height}", f"--screenshot={file}", page.as_uri()],
                       check=True, capture_output=True, timeout=120)
    print(f"{file.relative_to(ROOT) if file.is_relative_to(ROOT) else file}: {file.stat().st_size / 1e3:.0f} kB")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci", required=True)
    parser.add_argument("--only", choices=["report", "terminal"])
    parser.add_argument("--keep", type=pathlib.Path, help="folder of the run; an earlier one there is shown again")
    known = parser.parse_args()
    if not shutil.which("chromium"):
        sys.exit("chromium is missing: apt install chromium")
    images = ROOT / "docs/images"
    images.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = known.keep or pathlib.Path(scratch)
        folder.mkdir(exist_ok=True)
        said = ["davinci", "optimize", "examples/gated_gelu.py", "-t", "cpu", "--recipe", "examples/recorded.toml", "--llm",
                "recorded:examples/replies_cpu.jsonl"]
        environment = dict(os.environ, DAVINCI_CACHE_DIR=str(folder / "cache"))
        text = in_terminal([str(pathlib.Path(known.davinci).resolve()), *said[1:], "--run", str(folder / "run")], environment)
        def without_paths(written):  # of this machine
            return written.replace(str(folder / "run"), "davinci-runs/optimize-gated_gelu").replace(str(ROOT) + "/", "")

        text = without_paths(text)
        lines = [line for line in as_lines(text) if line.strip()]
        shown = f'<span class="prompt">$</span> <b>{html.escape(" ".join(said))}</b>\n' + "\n".join(map(as_html, lines))
        page = folder / "terminal.html"
        page.write_text(PAGE % shown)
        rows = sum(1 + len(re.sub(r"\x1b\[[0-9;]*m", "", line)) // COLUMNS for line in lines) + 1
        if known.only != "report":
            picture(page, images / "terminal.png", 8 * COLUMNS + 40, 18 * rows + 32)
        if known.only != "terminal":
            report = folder / "report.html"
            report.write_text(without_paths((folder / "run/report.html").read_text()))
            picture(report, images / "report.png", 1080, 960)


if __name__ == "__main__":
    main()
