"""Identity of a built judge: what must be unchanged for a verdict of the last test run to stand."""
import hashlib
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def fingerprint(davinci, *more):
    """SHA-256 over the binary, the worker library beside it, the Python worker and the files in ``more``."""
    binary = pathlib.Path(davinci).resolve()
    files = [binary, *sorted(binary.parents[2].glob("lib/libdavinci_worker.so")), *sorted(ROOT.glob("python/**/*.py"))]
    digest = hashlib.sha256()
    for path in [*files, *map(pathlib.Path, more)]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() if path.exists() else b"?")
    return digest.hexdigest()
