"""The datasheet that is published with a corpus: from facts to Markdown."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice

from bitrawl.corpus.card_facts import CardFacts, CorpusFacts, Origin
from bitrawl.corpus.checksums import FileFacts
from bitrawl.corpus.dataset_header import dataset_header
from bitrawl.corpus.merge_facts import MergedCounts
from bitrawl.corpus.naming import without_files
from bitrawl.languages import language_name
from bitrawl.model import Method
from bitrawl.text.words import one_line

_MOST_ROWS = 50  # of a table (judgement); the rest is summed up
_LONGEST_CELL = 200  # characters (judgement): a page's licence statement may be a whole text

_ORIGINS = {
    Origin.CRAWL: "Crawled with respect for robots.txt",
    Origin.REPLAY: "Crawled in web archives (WARC), with respect for the robots.txt files in them",
    Origin.ARCHIVE: "Taken from web archives (WARC), with all of their pages",
}


def card(facts: CardFacts) -> str:
    """`card.md`. As the `README.md` of a Hugging Face dataset, it says what to load."""
    title = _title(facts)
    sections = (
        f"{dataset_header(facts, title)}\n\n# {title}\n\n{_summary(facts)}",
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
    languages = dict.fromkeys(side.language for corpus in facts.filled or facts.corpora for side in corpus.sides)
    *most, last = [f"{language_name(language)} ({language})" for language in languages] or ["no language"]
    names = f"{', '.join(most)} and {last}" if most else last
    return f"{'Parallel' if facts.bilingual else 'Monolingual'} web corpus, {names}"


def _summary(facts: CardFacts) -> str:
    made = f"bitrawl {facts.versions.get('bitrawl', '')}".strip()
    pages = sum(facts.sites.values())
    origin = f" from {_number(pages, 'page')} of {_number(len(facts.sites), 'site')}" if facts.sites else ""
    units, pairs = (sum(getattr(c, name) for c in facts.corpora) for name in ("units", "document_pairs"))
    size = (
        f"{_number(units, 'translation unit')} in {_number(pairs, 'page pair')}"
        if facts.bilingual
        else _number(sum(side.documents for corpus in facts.corpora for side in corpus.sides), "document")
    )
    return f"{size}{origin}, written by {made} on {_day(facts.at)}. {without_files(facts.empty)}".rstrip()


def _corpora(facts: CardFacts) -> Iterable[str]:
    """Several sections for a single corpus; one section each for several corpora."""
    several = len(facts.corpora) > 1
    for corpus in facts.filled:
        parts = (
            _section("Contents", _contents(corpus), within=several),
            _section("Files", _files(corpus.files), within=several),
            _section("Evidence for the pairs", _evidence(corpus), within=several),
            _section("Kept out", _kept_out(corpus), within=several),
            _section("Merged from", _merged_from(corpus.merged), within=several),
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
        text += f"\n\n{_number(corpus.units, 'translation unit')} in {_number(corpus.document_pairs, 'page pair')}."
    if corpus.occurrences > corpus.units:
        text += f" They were found {corpus.occurrences:,} times in total: equal ones are merged"
        if corpus.near_duplicates:
            text += f", and so are {corpus.near_duplicates:,} that differ only in case, punctuation or spaces"
        text += ". Each unit lists all of its sources."
    if corpus.flags:
        text += "\n\nUnits with a flag, which were kept:\n\n" + _counts(("flag", "units"), corpus.flags)
    return text


def _files(files: Sequence[FileFacts]) -> str:
    rows = [
        (
            f"{file.name}/ ({_number(file.members, 'file')})" if file.members else file.name,
            f"{file.bytes:,}",
            file.sha256,
        )
        for file in files
    ]
    if not rows:
        return ""
    note = "\n\nThe checksum of a folder is the checksum of what `sha256sum *` prints in it."
    return _table(("file", "bytes", "SHA-256"), rows) + (note if any(file.members for file in files) else "")


def _evidence(corpus: CorpusFacts) -> str:
    rows = [
        (f"{method}: {Method(method).statement}" if method in set(Method) else method, f"{count:,}")
        for method, count in sorted(corpus.methods.items(), key=lambda item: -item[1])
    ]
    return _table(("evidence", "page pairs"), rows) if rows else ""


def _kept_out(corpus: CorpusFacts) -> str:
    tables = {"Segment pairs": corpus.rejected, "Page pairs": corpus.rejected_pairs}
    return "\n\n".join(
        f"{what}, by threshold or verdict:\n\n{_counts(('by', 'pairs'), counts)}"
        for what, counts in tables.items()
        if counts
    )


def _merged_from(merged: MergedCounts | None) -> str:
    """The rows add up to the sums. If they do not all fit, the rest is summed up."""
    if merged is None:
        return ""
    parts = list(merged.parts.items())
    rows = [(name, part.page_pairs, part.segment_pairs, part.units) for name, part in parts[:_MOST_ROWS]]
    if rest := [part for _, part in parts[_MOST_ROWS:]]:
        sums = (sum(part.page_pairs for part in rest), sum(part.segment_pairs for part in rest))
        rows.append((f"({len(rest):,} more)", *sums, sum(part.units for part in rest)))
    rows.append(("sum", merged.page_pair_sum, merged.segment_pairs, merged.unit_sum))
    table = _table(
        ("job", "page pairs", "segment pairs", "units"), [(name, *(f"{n:,}" for n in row)) for name, *row in rows]
    )
    return (
        f"{table}\n\n{_number(merged.segment_pairs, 'segment pair')} became {_number(merged.units, 'unit')}:"
        f" {merged.duplicates:,} have the same texts as another one, {merged.near_duplicates:,} differ from another one only"
        f" in case, punctuation or spaces. {_number(merged.unit_sum - merged.units, 'unit')} and"
        f" {_number(merged.page_pair_sum - merged.page_pairs, 'page pair')} of a job were found by another job too."
    )


def _sources(facts: CardFacts) -> str:
    when = ""
    if facts.first_fetch:
        first, last = _day(facts.first_fetch), _day(facts.last_fetch or facts.first_fetch)
        verb = "Fetched" if facts.origin is Origin.CRAWL else "Archived"
        when = f"{verb} on {first}.\n\n" if first == last else f"{verb} from {first} to {last}.\n\n"
    return when + (_counts(("site", "pages"), facts.sites) if facts.sites else "")


def _rights(facts: CardFacts) -> str:
    silent = max(0, facts.source_pages - sum(facts.licences.values()))
    text = (
        "The texts belong to their authors. This card reports what the pages whose texts are in the corpus say about"
        " themselves. It grants no permission: if you pass the corpus on, make sure that you may.\n\n"
    )
    if facts.licences:
        text += _counts(("licence as stated by the page", "pages"), facts.licences) + "\n\n"
    text += f"- {_number(silent, 'page')} without a licence statement.\n"
    text += f"- {_number(facts.opt_outs, 'page')} left out because their site opts out of text and data mining.\n"
    if facts.origin is not Origin.ARCHIVE:
        text += f"- {_number(facts.robots, 'link')} not followed because robots.txt forbids them."
    return text


def _methods(facts: CardFacts) -> str:
    text = f"{_ORIGINS[facts.origin]}. Boilerplate was removed, and the language was identified from the text.\n"
    if facts.bilingual:
        text += "Pages were paired by all evidence together, then aligned sentence by sentence and filtered by thresholds.\n"
    text += f"\n- {_number(facts.duplicate_pages, 'page')} left out as duplicates of others."
    if facts.bilingual:
        text += f"\n- {_number(facts.machine_translated, 'pair')} left out because of marks of machine translation."
    return text


def _thresholds(facts: CardFacts) -> str:
    """The thresholds with their values from the job file."""
    rows = [(name, json.dumps(value, ensure_ascii=False)) for name, value in facts.thresholds.items()]
    return _table(("threshold", "value"), rows) if rows and facts.bilingual else ""


def _limits(facts: CardFacts) -> str:
    limits = [
        "A program found the pairs, and nobody has checked them. Some are not translations of each other.",
        "The texts are from the public web, unchanged. They contain its opinions, errors and personal data.",
        "Machine translation without a mark cannot be told from human translation.",
        "It is not known which text is the original and which is the translation.",
    ]
    kept = limits if facts.bilingual else limits[1:3]
    return "\n".join(f"- {limit}" for limit in kept)


def _reproduction(facts: CardFacts) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in facts.versions.items())
    text = f"Made with {versions}. To cite it, give the name of the corpus, the sites above and the date, {_day(facts.at)}."
    if facts.job:
        fence = "```" if "```" not in facts.job else "~~~~"
        text += f"\n\nThe job, for `bitrawl mine --job job.toml`:\n\n{fence}toml\n{facts.job.strip()}\n{fence}"
    return text


def _section(title: str, text: str, *, within: bool = False) -> str:
    return f"{'###' if within else '##'} {title}\n\n{text.strip()}" if text.strip() else ""


def _counts(names: tuple[str, str], counts: Mapping[str, int]) -> str:
    """The most frequent first. The rows that do not fit are summed up, so that the column adds up."""
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
    """What a page says about itself is untrusted text: no markup, one line, limited length."""
    text = one_line(value)
    text = text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("[", "\\[").replace("`", "\\`")


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()
