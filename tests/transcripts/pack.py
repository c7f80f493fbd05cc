"""Packs recorded trials: those of FOLDER/SECTION/trials.tar.xz into OUT/SECTION.tar.xz, to the same bytes for the same trials.

    python tests/transcripts/pack.py FOLDER OUT [--most 100] [--bytes 1000000]

One trial of each candidate and protocol is kept, the shortest, and none above --bytes; of each section --most at most, evenly over the names.
"""
import argparse
import io
import pathlib
import re
import tarfile


def chosen(folder, most, largest):
    best = {}
    with tarfile.open(folder / "trials.tar.xz") as recorded:
        texts = {pathlib.Path(member.name).name: recorded.extractfile(member).read().decode() for member in recorded if member.isfile()}
    for name, text in sorted(texts.items()):
        key = (re.search(r'"candidate_path":"([^"]*)"', text).group(1), re.search(r'"protocol":"([^"]*)"', text.partition("\n")[0]).group(1))
        if len(text) <= largest and (key not in best or len(text) < len(best[key][1])):
            best[key] = (name, text)
    found = sorted(best.items())
    step = max(1.0, len(found) / most)
    return [found[int(i * step)][1] for i in range(int(len(found) / step))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--most", type=int, default=100)
    parser.add_argument("--bytes", type=int, default=1_000_000, help="of a trial's text")
    options = parser.parse_args()
    for section in sorted(path.parent for path in options.folder.glob("*/trials.tar.xz")):
        trials = chosen(section, options.most, options.bytes)
        if not trials:
            continue
        archive = options.out / f"{section.name}.tar.xz"
        with tarfile.open(archive, "w:xz", preset=9) as packed:
            for name, text in trials:
                member = tarfile.TarInfo(f"{section.name}/{name}")
                member.size = len(text.encode())
                packed.addfile(member, io.BytesIO(text.encode()))
        print(f"{archive}: {len(trials)} trials, {sum(len(text) for _, text in trials)} bytes, packed {archive.stat().st_size}")


if __name__ == "__main__":
    main()
