"""What the page of a topic job shows: how far it is, what it has found, and what to try if that is little."""

from collections.abc import Iterator
from typing import NamedTuple

from bitrawl.errors import BitrawlError
from bitrawl.facts import State
from bitrawl.job.bootstrap import TERMS, Progress, Step, Summary, read_found, read_progress
from bitrawl.job.folder import JobFolder
from bitrawl.model import Language
from bitrawl.topic.wiki_topic import Exclusion, TermRow, read_table
from bitrawl.web.state import without_place
from bitrawl.web.words import Words, marked, said

MOST_TERMS = 100  # that are listed; judgement

EXCLUSIONS = {
    Exclusion.DISAMBIGUATION: marked("page that only tells meanings apart"),
    Exclusion.REDIRECT: marked("other name of an article"),
    Exclusion.LIST: marked("list"),
    Exclusion.ABBREVIATION: marked("abbreviation"),
    Exclusion.NAME: marked("proper name"),
}
"""Why a title is no term."""


class ShownTopic(NamedTuple):
    """All of it, from the files of the job."""

    progress: Progress | None
    found: Summary | None
    terms: list[TermRow]  # that are kept, the heaviest first
    languages: list[Language]  # columns of the terms
    failed: str = ""  # why it could not go on

    def doing(self, words: Words, wiki: str) -> str:
        """What it is doing now, and how far it is. `wiki` is the operator's name for it; empty for its host."""
        now = self.progress
        if now is None:
            return ""
        numbers = {"done": words.number(now.done), "total": words.number(now.total)}
        match now.step:
            case Step.ASKING:
                return words.say("asking {wiki}", wiki=wiki or now.wiki)
            case Step.SEARCHING:
                return words.say("looking for the category in {wiki}", wiki=wiki or now.wiki)
            case Step.READING:
                return words.count("reading articles: {n} answer", "reading articles: {n} answers", now.done)
            case Step.CHECKING:
                return words.say("checking the cited sites for translations: {done} of {total}", **numbers)

    def tiles(self, words: Words) -> list[tuple[str, str]]:
        found = self.found
        if found is None:
            return []
        counts = {words.say("articles"): found.articles}
        for code, count in found.terms.items():
            counts[words.say("terms: {language}", language=words.language(code))] = count
        counts |= {words.say("sites cited"): found.cited, words.say("bilingual sites"): found.candidates}
        return [(words.number(count), label) for label, count in counts.items()]

    def excluded(self, words: Words) -> dict[str, int]:
        """Titles that are no terms, by reason."""
        counts = self.found.excluded if self.found else {}
        return {words.say(EXCLUSIONS[Exclusion(why)] if why in set(Exclusion) else why): n for why, n in counts.items()}

    def advice(self, words: Words, state: State) -> list[str]:
        """What to try: after a failure by the step that failed, otherwise by what is missing."""
        if state is State.FAILED:
            step = self.progress.step if self.progress else Step.ASKING
            return [words.tell(_AFTER_FAILURE[step])]
        return [words.say(text, **values) for text, values in self._missing(words)] if self.found else []

    def _missing(self, words: Words) -> Iterator[tuple[str, dict[str, str]]]:
        found = self.found
        assert found is not None
        for code in [code for code, count in found.terms.items() if not count]:
            text = marked(
                "No article has a title in {language}. Try more levels of subcategories, or a wider category."
            )
            yield text, {"language": words.language(code)}
        if not found.complete:
            yield marked("The category has more articles than were read. Try fewer levels of subcategories."), {}
        if not found.cited:
            yield marked("The articles cite no site. Give the form that comes next a site of your own."), {}
        elif found.checked and not found.candidates:
            yield (
                marked("No cited site announces a translation. The form that comes next has the cited pages instead."),
                {},
            )


_AFTER_FAILURE = {
    Step.ASKING: said("Try again later. If the wiki does not answer then either, tell the operator of this server."),
    Step.SEARCHING: said("Look the category up in the wiki, and copy its name into the form."),
    Step.READING: said("Try again: what the wiki has answered so far is kept."),
    Step.CHECKING: said("Try again: what the wiki has answered so far is kept."),
}


def shown_topic(folder: JobFolder) -> ShownTopic:
    progress, found = read_progress(folder.path), read_found(folder.path)
    rows = _terms(folder) if found is not None else []
    columns = {code for row in rows for code in row.terms}
    asked = [code for code in found.terms if code in columns] if found else []
    failed = without_place(folder, progress.failed) if progress else ""
    return ShownTopic(progress, found, rows[:MOST_TERMS], [*asked, *sorted(columns.difference(asked))], failed)


def _terms(folder: JobFolder) -> list[TermRow]:
    try:
        rows = read_table((folder.path / TERMS).read_bytes(), TERMS)
    except (OSError, BitrawlError):
        return []
    return [row for row in rows if row.keep]
