#!/usr/bin/env python3
"""Runs decode_kernels_check with the libraries of the Python's torch: decode_kernels_gpu.py CHECK [--time | --time-attention]"""
import subprocess
import sys

from selftest.library import library_directories


def main():
    try:
        import torch
    except ImportError:
        print("skipped: no torch")
        return 77
    return subprocess.run([sys.argv[1], "--libraries", library_directories(torch), *sys.argv[2:]]).returncode


if __name__ == "__main__":
    sys.exit(main())
