"""What finding terms adds to the analysis of a page: CPU time for lists of different sizes, as a share of the analysis.

The pages are those of the benchmark `analysis`. Half of the terms are drawn from the pages themselves, one to three words
in a row of which the first has at least six letters: a list that matches nothing would be cheaper.
"""

import random
import statistics
import time
from collections.abc import Sequence

from bitrawl.model import Language, Page
from bitrawl.topic.term_list import Term, TermList
from bitrawl.topic.term_relevance import TermRelevance
from lab.bench.analysis import REAL, bench_pages, ours, real_pages

SIZES = (50, 500, 5000)


def drawn(pages: Sequence[Page], size: int, rng: random.Random) -> TermList:
    terms: set[Term] = set()
    while len(terms) < size:
        page = rng.choice(pages)
        words = rng.choice(page.paragraphs).text.split() if page.paragraphs else []
        if len(words) > 3 and len(words[at := rng.randrange(len(words) - 3)]) >= 6:
            text = " ".join(words[at : at + rng.randint(1, 3)])
            terms.add(Term(text if len(terms) % 2 else f"{text} {len(terms)}x", 50.0, language=page.language))
    return TermList(tuple(terms))


def show(title: str, bodies: Sequence[bytes]) -> None:
    read = ours()
    read(bodies[0])
    analysis, pages = [], []
    for body in bodies:
        began = time.process_time()
        page = read(body)
        analysis.append(time.process_time() - began)
        if isinstance(page, Page):
            pages.append(page)
    mean = 1000 * statistics.mean(analysis)
    print(f"{title}: {len(pages)} pages, analysis {mean:.2f} ms a page")
    languages = sorted({page.language for page in pages if page.language != Language("und")})
    for size in SIZES:
        model = TermRelevance(drawn(pages, size, random.Random(1)), languages)
        for page in pages[:20]:
            model.judge([page])  # the matcher of each language is made at its first page
        took = []
        for page in pages:
            began = time.process_time()
            model.judge([page])
            model.annotated(page)
            took.append(time.process_time() - began)
        ours_ms = 1000 * statistics.mean(took)
        print(f"{size:>7} terms {ours_ms:>7.2f} ms a page {ours_ms / mean:>7.1%} of the analysis")


def main() -> None:
    print("terms: one process, CPU time")
    show("bench web", bench_pages())
    if REAL.exists():
        show("trafilatura's evaluation set", real_pages())


if __name__ == "__main__":
    main()
