"""The datasheet that is published beside a corpus: from facts to Markdown."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from itertools import islice

import msgspec

from bitrawl.corpus.characters import one_line
from bitrawl.text.codes import language_name

_MOST_ROWS = 50

METHODS = {
    "a": "declared translations: hreflang, sitemaps, language switchers",
    "u": "URLs that differ in a language mark or by a pattern of the site",
    "p": "shared images and digits",
    "d": "shared digits",
    "i": "shared images",
    "h": "like structure, high similarity",
    "m": "like structure, medium similarity",
    "l": "like structure, low similarity",
    "c": "content: a lexicon learned from the job's own certain pairs, cognates and numbers",
    "t": "the same place on pages that are translations of each other",
}


class Side(msgspec.Struct, frozen=True):
    """One language of a corpus."""

    language: str
    documents: int = 0
    segments: int = 0
    words: int = 0
    characters: int = 0


class CardFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the card says; whatever is empty is said to be unknown or left out."""

    name: str  # "en-fr"
    at: float  # when the corpus was written, seconds since the epoch
    versions: Mapping[str, str]  # by program: {"bitrawl": "0.1.0", "python": "3.11.9"}
    sides: tuple[Side, ...]
    document_pairs: int = 0
    units: int = 0
    occurrences: int = 0  # of the units, before duplicates were merged
    first_fetch: float = 0.0  # seconds since the epoch; 0 when not known
    last_fetch: float = 0.0
    sites: Mapping[str, int] = {}  # pages of the corpus by site
    methods: Mapping[str, int] = {}  # document pairs by the method that spoke for them
    flags: Mapping[str, int] = {}  # units by flag
    refused: Mapping[str, int] = {}  # segment pairs by the threshold that kept them out
    thresholds: Mapping[str, object] = {}
    licences: Mapping[str, int] = {}  # pages by what they say of their licence; those that say nothing are not in it
    opt_outs: int = 0  # pages left out since their site reserves text and data mining
    robots: int = 0  # links that robots.txt forbade
    machine_translated: int = 0  # pages left out for bearing marks of machine translation
    duplicate_pages: int = 0
    job: str = ""  # job.toml
    files: tuple[str, ...] = ()


def card(facts: CardFacts) -> str:
    """`card.md`."""
    sections = (
        f"# {_title(facts)}\n\n{_summary(facts)}",
        _section("Contents", _contents(facts)),
        _section("Files", "\n".join(f"- `{name}`" for name in facts.files)),
        _section("Sources", _sources(facts)),
        _section("Licences and reservations", _rights(facts)),
        _section("How it was made", _methods(facts)),
        _section("Thresholds", _thresholds(facts)),
        _section("Known limits", _limits(facts)),
        _section("Reproduce and cite", _reproduction(facts)),
    )
    return "\n\n".join(filter(None, sections)) + "\n"


def _title(facts: CardFacts) -> str:
    names = " and ".join(f"{language_name(s.language)} ({s.language})" for s in facts.sides)
    return f"{'Parallel' if len(facts.sides) > 1 else 'Monolingual'} web corpus, {names}"


def _summary(facts: CardFacts) -> str:
    made = f"bitrawl {facts.versions.get('bitrawl', '')}".strip()
    pages = sum(facts.sites.values())
    origin = f" from {_number(pages, 'page')} of {_number(len(facts.sites), 'site')}" if facts.sites else ""
    size = (
        f"{_number(facts.units, 'translation unit')} in {_number(facts.document_pairs, 'pair')} of documents"
        if len(facts.sides) > 1
        else _number(sum(side.documents for side in facts.sides), "document")
    )
    return f"{size}{origin}, written by {made} on {_day(facts.at)}."


def _contents(facts: CardFacts) -> str:
    bilingual = len(facts.sides) > 1
    names = ("language", "documents", "segments", "words", "characters")
    rows = [
        (side.language, *(f"{n:,}" for n in (side.documents, side.segments, side.words, side.characters)))
        for side in facts.sides
    ]
    text = _table(names, rows)
    if bilingual and facts.occurrences > facts.units:
        text += (
            f"\n\nThe {_number(facts.units, 'unit')} were found {facts.occurrences:,} times; equal ones are merged, and"
            " each keeps all of its sources."
        )
    if facts.flags:
        text += "\n\nUnits that were kept and marked:\n\n" + _counts(("flag", "units"), facts.flags)
    return text


def _sources(facts: CardFacts) -> str:
    when = ""
    if facts.first_fetch:
        first, last = _day(facts.first_fetch), _day(facts.last_fetch or facts.first_fetch)
        when = f"Fetched on {first}.\n\n" if first == last else f"Fetched from {first} to {last}.\n\n"
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
    text += f"- {_number(facts.robots, 'link')} not followed because robots.txt forbids it."
    return text


def _methods(facts: CardFacts) -> str:
    text = "Crawled with respect for robots.txt; main text told from boilerplate, language identified by the text.\n"
    if len(facts.sides) > 1:
        text += "Pages paired by the evidence below, then aligned sentence by sentence and judged.\n"
    text += f"\n- {_number(facts.duplicate_pages, 'page')} left out as repetitions of others.\n"
    text += f"- {_number(facts.machine_translated, 'page')} left out for marks of machine translation."
    if facts.methods:
        rows = [
            (f"{method}: {METHODS[method]}" if method in METHODS else method, f"{count:,}")
            for method, count in facts.methods.items()
        ]
        text += "\n\n" + _table(("evidence", "pairs of documents"), rows)
    return text


def _thresholds(facts: CardFacts) -> str:
    parts = []
    if facts.thresholds:
        parts.append(_table(("threshold", "value"), [(name, str(value)) for name, value in facts.thresholds.items()]))
    if facts.refused:
        parts.append("Segment pairs that were kept out:\n\n" + _counts(("by", "pairs"), facts.refused))
    return "\n\n".join(parts)


def _limits(facts: CardFacts) -> str:
    limits = [
        "Found by a program and not checked by people: some pages and sentences are not translations of each other.",
        "Taken from the public web as it was: opinions, errors and personal data of its pages are in it.",
        "Machine translation that bears no mark cannot be told from a person's.",
        "Which text is the original, and which the translation, is not known.",
    ]
    kept = limits if len(facts.sides) > 1 else limits[1:3]
    return "\n".join(f"- {limit}" for limit in kept)


def _reproduction(facts: CardFacts) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in facts.versions.items())
    text = f"Made with {versions}. Cite it by the name of the corpus, the sites above and the date, {_day(facts.at)}."
    if facts.job:
        fence = "```" if "```" not in facts.job else "~~~~"
        text += f"\n\nThe job, for `bitrawl mine --job job.toml`:\n\n{fence}toml\n{facts.job.strip()}\n{fence}"
    return text


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n{text.strip()}" if text.strip() else ""


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
