"""Prints the rows of a parquet file as JSON lines, for `davinci bench --tasks FILE.jsonl`.

    python -m davinci_worker.parquet_rows rows.parquet > rows.jsonl

Needs pyarrow in the Python that runs it. Stops at the first value that JSON cannot hold.
"""
import json
import sys


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        import pyarrow.parquet
    except ImportError:
        print("parquet_rows: this Python has no pyarrow; install it or use one that has", file=sys.stderr)
        return 3
    with pyarrow.parquet.ParquetFile(arguments[0]) as file:
        for batch in file.iter_batches(batch_size=256):
            for row in batch.to_pylist():
                print(json.dumps(row, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
