"""The experiments of the five papers, or of those that are named: `python -m lab.bench.papers barbosa`."""

import sys

from lab.bench.__main__ import main

main(["papers", *sys.argv[1:]])
