"""The datasheet that is published beside a corpus: from facts to Markdown."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice

import msgspec

from bitrawl.corpus.characters import one_line
from bitrawl.languages import language_name
from bitrawl.model import Method

_MOST_ROWS = 50

METHODS: dict[str, str] = {
    Method.DECLARED: "declared translations: hreflang, sitemaps, language switchers",
    Method.URL: "URLs that differ in a language mark or by a pattern of the site",
    Method.IMAGES_AND_DIGITS: "shared images and digits",
    Method.DIGITS: "shared digits",
    Method.IMAGES: "shared images",
    Method.HIGH: "like structure, high similarity",
    Method.MEDIUM: "like structure, medium similarity",
    Method.LOW: "like structure, low similarity",
    Method.CONTENT: "content: a lexicon learned from the job's own certain pairs, cognates and numbers",
    Method.PARENTS: "the same place on pages that are translations of each other",
    Method.MUTUAL: "links to each other",
    Method.BRIDGE: "both translations of the same page in a third language",
}


class Origin(StrEnum):
    """Where the pages come from."""

    CRAWL = "crawl"
    REPLAY = "replay"  # archives that stood for the web
    ARCHIVE = "archive"  # archives that were taken whole


_ORIGINS = {
    Origin.CRAWL: "Crawled with respect for robots.txt",
    Origin.REPLAY: "Crawled in web archives (WARC), with respect for the robots.txt files that they hold",
    Origin.ARCHIVE: "Taken from web archives (WARC), all pages that they hold",
}


class Side(msgspec.Struct, frozen=True):
    """One language of a corpus."""

    language: str
    documents: int = 0
    segments: int = 0  # paragraphs, in a corpus of one language
    words: int = 0
    characters: int = 0


class CorpusFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of one corpus, of two languages or of one."""

    name: str  # "en-fr"
    sides: tuple[Side, ...]
    document_pairs: int = 0
    units: int = 0
    occurrences: int = 0  # of the units, before duplicates were merged
    near_duplicates: int = 0  # texts that were merged with another for being nearly equal
    methods: Mapping[str, int] = {}  # document pairs by the method that spoke for them
    flags: Mapping[str, int] = {}  # units by flag
    refused: Mapping[str, int] = {}  # segment pairs by the threshold that kept them out
    files: tuple[str, ...] = ()


class CardFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the card says; whatever is empty is said to be unknown or left out."""

    at: float  # when the corpus was written, seconds since the epoch
    versions: Mapping[str, str]  # by program: {"bitrawl": "0.1.0", "python": "3.11.9"}
    corpora: tuple[CorpusFacts, ...]  # one for each pair of languages
    origin: Origin = Origin.CRAWL
    first_fetch: float = 0.0  # seconds since the epoch; 0 when not known
    last_fetch: float = 0.0
    sites: Mapping[str, int] = {}  # pages of the corpora by site, each counted once
    thresholds: Mapping[str, object] = {}
    licences: Mapping[str, int] = {}  # pages by what they say of their licence; those that say nothing are not in it
    opt_outs: int = 0  # pages left out since their site reserves text and data mining
    robots: int = 0  # links that robots.txt forbade
    machine_translated: int = 0  # pairs left out, since one side bears marks of machine translation
    duplicate_pages: int = 0
    job: str = ""  # job.toml

    @property
    def bilingual(self) -> bool:
        """Whether there are pairs of languages."""
        return any(len(corpus.sides) > 1 for corpus in self.corpora)


def card(facts: CardFacts) -> str:
    """`card.md`."""
    sections = (
        f"# {_title(facts)}\n\n{_summary(facts)}",
        *_corpora(facts),
        _section("Sources", _sources(facts)),
        _section("Licences and reservations", _rights(facts)),
        _section("How it was made", _methods(facts)),
        _section("Thresholds", _thresholds(facts)),
        _section("Known limits", _limits(facts)),
        _section("Reproduce and cite", _reproduction(facts)),
    )
    return "\n\n".join(filter(None, sections)) + "\n"


def _title(facts: CardFacts) -> str:
    languages = dict.fromkeys(side.language for corpus in facts.corpora for side in corpus.sides)
    *most, last = [f"{language_name(language)} ({language})" for language in languages] or ["no language"]
    names = f"{', '.join(most)} and {last}" if most else last
    return f"{'Parallel' if facts.bilingual else 'Monolingual'} web corpus, {names}"


def _summary(facts: CardFacts) -> str:
    made = f"bitrawl {facts.versions.get('bitrawl', '')}".strip()
    pages = sum(facts.sites.values())
    origin = f" from {_number(pages, 'page')} of {_number(len(facts.sites), 'site')}" if facts.sites else ""
    units, pairs = (sum(getattr(c, name) for c in facts.corpora) for name in ("units", "document_pairs"))
    size = (
        f"{_number(units, 'translation unit')} in {_number(pairs, 'pair')} of documents"
        if facts.bilingual
        else _number(sum(side.documents for corpus in facts.corpora for side in corpus.sides), "document")
    )
    return f"{size}{origin}, written by {made} on {_day(facts.at)}."


def _corpora(facts: CardFacts) -> Iterable[str]:
    """Sections of its own for one corpus; for several, one each."""
    several = len(facts.corpora) > 1
    for corpus in facts.corpora:
        parts = (
            _section("Contents", _contents(corpus), within=several),
            _section("Files", "\n".join(f"- `{name}`" for name in corpus.files), within=several),
            _section("Evidence for the pairs", _evidence(corpus), within=several),
            _section("Kept out", _kept_out(corpus), within=several),
        )
        names = " and ".join(language_name(side.language) for side in corpus.sides)
        yield "\n\n".join(filter(None, (f"## {names} ({corpus.name})" if several else "", *parts)))


def _contents(corpus: CorpusFacts) -> str:
    bilingual = len(corpus.sides) > 1
    names = ("language", "documents", "segments" if bilingual else "paragraphs", "words", "characters")
    rows = [
        (side.language, *(f"{n:,}" for n in (side.documents, side.segments, side.words, side.characters)))
        for side in corpus.sides
    ]
    text = _table(names, rows)
    if bilingual:
        text += (
            f"\n\n{_number(corpus.units, 'translation unit')} in {_number(corpus.document_pairs, 'pair')} of documents."
        )
    if corpus.occurrences > corpus.units:
        text += f" The units were found {corpus.occurrences:,} times: equal ones are merged"
        if corpus.near_duplicates:
            text += f", {corpus.near_duplicates:,} that differ only in case, punctuation or spaces with them"
        text += ", and each keeps all of its sources."
    if corpus.flags:
        text += "\n\nUnits that were kept and marked:\n\n" + _counts(("flag", "units"), corpus.flags)
    return text


def _evidence(corpus: CorpusFacts) -> str:
    rows = [
        (f"{method}: {METHODS[method]}" if method in METHODS else method, f"{count:,}")
        for method, count in sorted(corpus.methods.items(), key=lambda item: -item[1])
    ]
    return _table(("evidence", "pairs of documents"), rows) if rows else ""


def _kept_out(corpus: CorpusFacts) -> str:
    return "Segment pairs, by threshold:\n\n" + _counts(("by", "pairs"), corpus.refused) if corpus.refused else ""


def _sources(facts: CardFacts) -> str:
    when = ""
    if facts.first_fetch:
        first, last = _day(facts.first_fetch), _day(facts.last_fetch or facts.first_fetch)
        verb = "Fetched" if facts.origin is Origin.CRAWL else "Archived"
        when = f"{verb} on {first}.\n\n" if first == last else f"{verb} from {first} to {last}.\n\n"
    return when + (_counts(("site", "pages"), facts.sites) if facts.sites else "")


def _rights(facts: CardFacts) -> str:
    pages = sum(facts.sites.values())
    silent = max(0, pages - sum(facts.licences.values()))
    text = (
        "The texts belong to their authors. This card reports what the pages say of themselves; it grants nothing, and"
        " whoever passes the corpus on must see to their own permission.\n\n"
    )
    if facts.licences:
        text += _counts(("licence as stated by the page", "pages"), facts.licences) + "\n\n"
    text += f"- {_number(silent, 'page')} without a statement.\n"
    text += f"- {_number(facts.opt_outs, 'page')} left out because text and data mining is reserved.\n"
    if facts.origin is not Origin.ARCHIVE:
        text += f"- {_number(facts.robots, 'link')} not followed because robots.txt forbids it."
    return text


def _methods(facts: CardFacts) -> str:
    text = f"{_ORIGINS[facts.origin]}; main text told from boilerplate, language identified by the text.\n"
    if facts.bilingual:
        text += "Pages paired by all evidence together, then aligned sentence by sentence and judged.\n"
    text += f"\n- {_number(facts.duplicate_pages, 'page')} left out as repetitions of others."
    if facts.bilingual:
        text += f"\n- {_number(facts.machine_translated, 'pair')} left out for marks of machine translation."
    return text


def _thresholds(facts: CardFacts) -> str:
    """Their values as the job file has them."""
    rows = [(name, json.dumps(value, ensure_ascii=False)) for name, value in facts.thresholds.items()]
    return _table(("threshold", "value"), rows) if rows and facts.bilingual else ""


def _limits(facts: CardFacts) -> str:
    limits = [
        "Found by a program and not checked by people: some pages and sentences are not translations of each other.",
        "Taken from the public web as it was: opinions, errors and personal data of its pages are in it.",
        "Machine translation that bears no mark cannot be told from a person's.",
        "Which text is the original, and which the translation, is not known.",
    ]
    kept = limits if facts.bilingual else limits[1:3]
    return "\n".join(f"- {limit}" for limit in kept)


def _reproduction(facts: CardFacts) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in facts.versions.items())
    text = f"Made with {versions}. Cite it by the name of the corpus, the sites above and the date, {_day(facts.at)}."
    if facts.job:
        fence = "```" if "```" not in facts.job else "~~~~"
        text += f"\n\nThe job, for `bitrawl mine --job job.toml`:\n\n{fence}toml\n{facts.job.strip()}\n{fence}"
    return text


def _section(title: str, text: str, *, within: bool = False) -> str:
    return f"{'###' if within else '##'} {title}\n\n{text.strip()}" if text.strip() else ""


def _counts(names: tuple[str, str], counts: Mapping[str, int]) -> str:
    """The most frequent first; what does not fit is summed up, so that the column adds up."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rows = [(name, f"{count:,}") for name, count in islice(ordered, _MOST_ROWS)]
    rest = ordered[_MOST_ROWS:]
    if rest:
        rows.append((f"({len(rest):,} more)", f"{sum(count for _, count in rest):,}"))
    return _table(names, rows)


def _table(names: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names = list(names)
    lines = [names, ["---", *("---:" for _ in names[1:])], *([_cell(value) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: str) -> str:
    """What a page says of itself is foreign text: no markup of its own, one line, not endless."""
    text = one_line(value)
    text = text if len(text) <= 200 else text[:199] + "…"
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("[", "\\[").replace("`", "\\`")


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()
