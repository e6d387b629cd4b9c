"""The HTML report of a job, and its short form for the terminal.

facts = gather(folder)        # figures and samples, from the ledger and the corpus' summary
lines = brief(facts)          # for the terminal
why = explained(facts)        # only why little was found
write(folder)                 # folder/report.html, one file that opens offline
"""

from bitrawl.report.job.brief import brief, explained
from bitrawl.report.job.facts import Facts, gather
from bitrawl.report.job.render import render, write

__all__ = ["Facts", "brief", "explained", "gather", "render", "write"]
