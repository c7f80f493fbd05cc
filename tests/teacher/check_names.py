"""Invented names of operators (synth/corpus.toml, src/davinci/teacher/cards/names.cc) are no names of PyTorch: compared without case and "_".

    check_names.py SYNTH_FOLDER
"""
import itertools
import pathlib
import sys
import tomllib

import torch

# Words of the held-out families' operators: no invented name may hint at these.
HELD_OUT = ("distance", "dist", "similarity", "cosine", "unfold", "pixel")


def squashed(name):
    return name.replace("_", "").lower()


def main():
    lists = tomllib.loads((pathlib.Path(sys.argv[1]) / "corpus.toml").read_text())
    spaces = (torch, torch.nn, torch.nn.functional, torch.special, torch.linalg, torch.Tensor, torch.fft)
    taken = {squashed(name) for space in spaces for name in dir(space)}
    qualities, actions, endings = lists["quality"], lists["action"], ["", *lists["ending"]]
    names = [f"{q}_{a}{e}" for q, a, e in itertools.product(qualities, actions, endings)]
    names += [f"{p}_{q}_{a}" for p, q, a in itertools.product(qualities, qualities, actions)]
    names += [f"{a}_{b}" for a, b in itertools.product(lists["adjective"], lists["thing"])]
    names += [a + b for a, b in itertools.product(lists["moved"], lists["mover"])]
    wrong = sorted({name for name in names if squashed(name) in taken})
    wrong += [word for word in qualities + actions + endings + lists["moved"] + lists["mover"] if any(held in word for held in HELD_OUT)]
    print(f"{len(names)} names, {len(wrong)} of them PyTorch's or a held-out family's{': ' if wrong else ''}{', '.join(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
