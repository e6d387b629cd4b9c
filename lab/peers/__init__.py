"""The test suites of others, run on bitrawl: `python -m lab.peers --data FOLDER`.

Their data is not in this repository. Each suite says where it is to be had, and `expected.toml` which of its cases fail, by name, each with
the reason. Anything else is news: a case that fails and is not there, and one that is there and passes.
"""
