"""Rows of a parquet file as JSON lines, and back.

    python -m davinci_worker.parquet_rows rows.parquet [rows.jsonl]        (default: standard output)
    python -m davinci_worker.parquet_rows --write rows.jsonl rows.parquet

Needs pyarrow in the Python that runs it. Stops at the first value that JSON cannot hold.
"""
import json
import os
import sys

BATCH = 256


def read(pyarrow, source, out):
    with pyarrow.parquet.ParquetFile(source) as file:
        for batch in file.iter_batches(batch_size=BATCH):
            for row in batch.to_pylist():
                print(json.dumps(row, ensure_ascii=False), file=out)


def write(pyarrow, source, target):
    """Nested objects become structs; the columns' types are those of all rows together."""
    with open(source, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = pyarrow.table({name: [row.get(name) for row in rows] for name in names})
    partial = target + ".partial"
    pyarrow.parquet.write_table(table, partial)
    os.replace(partial, target)


def main(arguments):
    writing = arguments[:1] == ["--write"]
    paths = arguments[1:] if writing else arguments
    if len(paths) not in ((2,) if writing else (1, 2)):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        print("parquet_rows: this Python has no pyarrow; install it or use one that has", file=sys.stderr)
        return 3
    if writing:
        write(pyarrow, *paths)
    elif len(paths) == 2:
        with open(paths[1], "w", encoding="utf-8") as out:
            read(pyarrow, paths[0], out)
    else:
        read(pyarrow, paths[0], sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
