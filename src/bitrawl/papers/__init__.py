"""The strategies and walks of the five papers, one file for each, and the simulator that compares strategies.

It comes in as a stranger's package does, by the entry points in pyproject.toml, and nothing of bitrawl imports it.
docs/decisions/paper-strategies.md says how the papers were read.
"""

from bitrawl.packages import Verb

SIMULATED_DOWNLOADS = 1000  # of a walk; here, because help shows it
SIMULATE = Verb(
    "bitrawl.papers.simulate:simulate", "Replay archived sites under several strategies and compare them.", "Tools"
)
