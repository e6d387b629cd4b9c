"""`python -m bitrawl`."""

from bitrawl.cli import main

main()
