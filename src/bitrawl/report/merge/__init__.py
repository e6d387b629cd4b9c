"""The HTML report of a merged corpus.

page = render(facts)          # what each site brought, what failed, and what merging removed
"""

from bitrawl.report.merge.render import render

__all__ = ["render"]
