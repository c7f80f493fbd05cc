"""Fetches a model through huggingface_hub, for `davinci model pull`.

    model_pull.py ORG/NAME [--revision R] [--into FOLDER]

Prints the folder. A lost connection is continued where it ended; so is a file that another process left half fetched, where the hub names its SHA-256, and a second run
fetches only what is missing. Every file is then compared with the size and, where the hub names one, the SHA-256 it has there. HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE mean what they mean to the package. Exit
status: 0 done, 2 no such model or not available offline, 3 failed.
"""
import argparse
import fcntl
import hashlib
import os
import sys
from pathlib import Path
from urllib.parse import urlparse

PATTERNS = ["config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
            "chat_template.jinja", "*.safetensors", "*.safetensors.index.json"]


def fail(message, status):
    print(f"davinci model pull: {message}", file=sys.stderr)
    sys.exit(status)


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def verify(folder, files):
    """Names what differs from the hub's list; a bad file is removed, so that the next pull fetches it anew."""
    wrong = []
    for name, size, digest in files:
        path = Path(folder) / name
        if not path.is_file() or (size is not None and path.stat().st_size != size):
            wrong.append(f"{name}: wrong size")
        elif digest is not None and sha256(path) != digest:
            wrong.append(f"{name}: wrong SHA-256")
        else:
            continue
        path.resolve().unlink(missing_ok=True)
        path.unlink(missing_ok=True)
    return wrong


def fetch_large(name, commit, files, into):
    """Fetches the files whose SHA-256 is known to where snapshot_download() looks for them. The package itself begins such a
    file anew in each process (its half files have random names)."""
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url
    from huggingface_hub.file_download import http_get, repo_folder_name
    from huggingface_hub.utils import build_hf_headers
    storage = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=name, repo_type="model")
    for path, size, digest in files:
        if digest is None:
            continue
        target = Path(into) / path if into else storage / "blobs" / digest
        if target.exists():
            continue
        part = (Path(into) / ".cache" / "huggingface" if into else storage) / "davinci-parts" / digest
        part.parent.mkdir(parents=True, exist_ok=True)
        with open(part, "ab", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # another pull of the same file
            if target.exists():
                continue
            have = os.fstat(file.fileno()).st_size
            if size is not None and have > size:
                file.truncate(0)
                have = 0
            if have != size:
                url, headers = hf_hub_url(name, path, revision=commit), build_hf_headers()
                found = get_hf_file_metadata(url, headers=headers)
                if urlparse(found.location).netloc != urlparse(url).netloc:
                    headers.pop("authorization", None)  # not for the storage behind the hub
                http_get(found.location, file, resume_size=have, headers=headers, expected_size=size)
            if sha256(part) != digest:
                file.truncate(0)
                fail(f"{name}: {path}: wrong SHA-256; removed, run it again", 3)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(part, target)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--revision")
    parser.add_argument("--into")
    arguments = parser.parse_args()
    try:
        import huggingface_hub
        from huggingface_hub import HfApi, constants, snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, RepositoryNotFoundError, RevisionNotFoundError
    except ImportError as error:
        fail(f"{error}; install it into this Python: {sys.executable} -m pip install huggingface_hub", 2)
    wanted = dict(revision=arguments.revision, allow_patterns=PATTERNS, local_dir=arguments.into)
    if constants.HF_HUB_OFFLINE:
        if arguments.into and not any(Path(arguments.into).glob("*.safetensors")):
            fail(f"HF_HUB_OFFLINE is set and {arguments.into} holds no model", 2)
        try:
            print(snapshot_download(arguments.name, local_files_only=True, **wanted))
        except (LocalEntryNotFoundError, HFValidationError) as error:
            fail(f"HF_HUB_OFFLINE is set and {arguments.name} is not on this machine: {str(error).splitlines()[0]}", 2)
        return
    try:
        info = HfApi().model_info(arguments.name, revision=arguments.revision, files_metadata=True, timeout=10)
    except (RepositoryNotFoundError, RevisionNotFoundError, HFValidationError) as error:
        fail(f"{arguments.name}: {str(error).splitlines()[0]}", 2)
    except HfHubHTTPError as error:
        fail(f"{arguments.name}: {str(error).splitlines()[0]}", 3)
    except Exception as error:  # the package's HTTP library has its own connection errors
        fail(f"{constants.ENDPOINT} cannot be reached ({type(error).__name__}); for a mirror set HF_ENDPOINT", 3)
    matching = list(huggingface_hub.utils.filter_repo_objects(
        info.siblings, allow_patterns=PATTERNS, key=lambda sibling: sibling.rfilename))
    files = [(s.rfilename, s.size, s.lfs.sha256 if s.lfs else None) for s in matching]
    if not any(name.endswith(".safetensors") for name, _, _ in files):
        fail(f"{arguments.name} has no safetensors weights", 2)
    try:
        try:
            fetch_large(arguments.name, info.sha, files, arguments.into)
        except (ImportError, TypeError):
            pass  # a version of the package without these functions: it fetches everything itself
        folder = snapshot_download(arguments.name, etag_timeout=10, **wanted)
    except Exception as error:
        fail(f"{arguments.name}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}; run it again to go on", 3)
    if wrong := verify(folder, files):
        fail(f"{arguments.name}: {'; '.join(wrong)}; removed, run it again", 3)
    print(folder)


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    main()
