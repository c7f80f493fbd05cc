"""What a run leaves on disk."""
import os


def content(folder):
    """{path below the folder: bytes} of every file."""
    found = {}
    for base, _, files in os.walk(folder):
        for name in files:
            with open(os.path.join(base, name), "rb") as file:
                found[os.path.relpath(os.path.join(base, name), folder)] = file.read()
    return found
