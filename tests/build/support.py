"""The support object of davinci-build, which a cache needs once: one test compiles it (15 CPU seconds), the others begin with a copy.

Its name holds the hash of the compilers, of torch and of the headers: a copy of others is not found, and the builder compiles its own.
"""

import os
import shutil


def add_arguments(parser):
    parser.add_argument("--make-support", metavar="DIR", help="keep the support object that this run has compiled")
    parser.add_argument("--support", metavar="DIR", help="begin with a support object that another run has kept, if it has")


def take(arguments, cache):
    if arguments.support and os.path.isdir(arguments.support):
        shutil.copytree(arguments.support, os.path.join(cache, "support"), dirs_exist_ok=True)


def give(arguments, cache):
    if arguments.make_support:
        made = f"{arguments.make_support}.{os.getpid()}"
        shutil.copytree(os.path.join(cache, "support"), made)
        shutil.rmtree(arguments.make_support, ignore_errors=True)
        os.rename(made, arguments.make_support)
