"""The names of a corpus, its files and its paragraphs."""

from collections.abc import Sequence
from itertools import combinations

import msgspec

from bitrawl.model import Language


class CorpusHeader(msgspec.Struct, frozen=True):
    """Which corpus is written. It is known before the content is."""

    languages: tuple[Language, ...]  # two; one for a monolingual corpus
    at: float  # when it is written, in seconds since the epoch

    @property
    def name(self) -> str:
        """The beginning of its file names: "en-fr"."""
        return "-".join(self.languages)

    def file_name(self, ending: str, *, compress: bool) -> str:
        """`en-fr.tmx`, or `en-fr.tmx.gz`."""
        return compressed(f"{self.name}.{ending}", compress=compress)


def corpus_headers(languages: Sequence[Language], at: float) -> list[CorpusHeader]:
    """The corpora of a job: one for each pair of its languages, or one for its only language."""
    sides = combinations(languages, 2) if len(languages) > 1 else [(languages[0],)]
    return [CorpusHeader(side, at) for side in sides]


def without_files(names: Sequence[str]) -> str:
    """One sentence about the corpora for which nothing was found; empty if there are none."""
    if not names:
        return ""
    *most, last = names
    listed = f"{', '.join(most)} and {last}" if most else last
    return f"Nothing was found for {listed}, so there are no files for {'them' if most else 'it'}."


def compressed(name: str, *, compress: bool) -> str:
    """A file's name in the folder."""
    return f"{name}.gz" if compress else name


def paragraph_id(number: int) -> str:
    """The id in the cesDoc file of the page: "p1" is the first paragraph. Empty if it is not known."""
    return f"p{number + 1}" if number >= 0 else ""
