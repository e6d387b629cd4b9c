"""The datasheet that is published with a corpus, as Markdown.

It is the README.md of the folder, and its YAML header makes the folder a Hugging Face dataset: `load_dataset` reads there
which files belong to "en-fr", and what their columns are.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from bitrawl.corpus.export import MADE_BY, without_files
from bitrawl.corpus.figures import CardFacts, CorpusFacts, FileFacts, MergedCounts, Origin, day, number, paired_pages
from bitrawl.corpus.formats import Anonymise
from bitrawl.corpus.jsonl import DOCUMENTS, PLAIN, SENTENCES, TEXTS
from bitrawl.corpus.units import Column
from bitrawl.languages import base_language, language_name
from bitrawl.message import enumerated
from bitrawl.model import Method
from bitrawl.text.personal_data import PersonalKind, placeholder
from bitrawl.text.words import one_line

# The licences that the Hub has a name for, of those that a page can state by a Creative Commons URL.
_HUB_LICENCES = frozenset(
    {
        *("cc0-1.0", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0"),
        *("cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0", "cc-by-nd-4.0", "cc-by-nc-nd-3.0", "cc-by-nc-nd-4.0"),
        *("cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0"),
    }
)
_CREATIVE_COMMONS = re.compile(r"creativecommons\.org/(?:licenses/([a-z-]+)|publicdomain/(zero))/(\d\.\d)")
_STEPS = ["1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T"]  # of the Hub's size categories


_MOST_ROWS = 50  # of a table; the rest is summed up
_LONGEST_CELL = 200  # characters; a page's licence statement may be a whole text

_ORIGINS = {
    Origin.CRAWL: "Crawled with respect for robots.txt",
    Origin.REPLAY: "Crawled in web archives (WARC), with respect for the robots.txt files in them",
    Origin.ARCHIVE: "Taken from web archives (WARC), with all of their pages",
}


def card(facts: CardFacts) -> str:
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
    names = enumerated([f"{language_name(language)} ({language})" for language in languages] or ["no language"])
    return f"{'Parallel' if facts.bilingual else 'Monolingual'} web corpus, {names}"


def _summary(facts: CardFacts) -> str:
    version = facts.versions.get("bitrawl", "")
    origin = f" from {number(facts.pages, 'page')} of {number(len(facts.sites), 'site')}" if facts.sites else ""
    units, pairs, partial = (
        sum(getattr(c, name) for c in facts.corpora) for name in ("units", "document_pairs", "partial")
    )
    size = (
        f"{number(units, 'translation unit')} in {paired_pages(pairs, partial)}"
        if facts.bilingual
        else number(sum(side.documents for corpus in facts.corpora for side in corpus.sides), "document")
    )
    return f"{size}{origin}, {MADE_BY} {version} on {day(facts.at)}. {without_files(facts.empty)}".rstrip()


def _corpora(facts: CardFacts) -> Iterable[str]:
    """Several sections for a single corpus; one section each for several corpora."""
    several = len(facts.corpora) > 1
    for corpus in facts.filled:
        parts = (
            _section("Contents", _contents(corpus), within=several),
            _section("Quality", _quality(facts, corpus), within=several),
            _section("Files", _files(corpus.files), within=several),
            _section("Evidence for the pairs", _evidence(corpus), within=several),
            _section("Kept out", _kept_out(corpus), within=several),
            _section("Personal data", _personal_data(facts, corpus), within=several),
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
        pairs = paired_pages(corpus.document_pairs, corpus.partial)
        text += f"\n\n{number(corpus.units, 'translation unit')} in {pairs}."
    if corpus.partial:
        text += " Only the translated segments of a partly translated pair are in the corpus."
    if corpus.occurrences > corpus.units:
        text += f" They were found {corpus.occurrences:,} times in total: equal ones are merged"
        if corpus.near_duplicates:
            text += f", and so are {corpus.near_duplicates:,} that differ only in case, punctuation or spaces"
        text += ". Each unit lists all of its sources."
    if corpus.flags:
        text += "\n\nUnits with a flag, which were kept:\n\n" + _counts(("flag", "units"), corpus.flags)
    return text


def _quality(facts: CardFacts, corpus: CorpusFacts) -> str:
    review = facts.reviewed.get(corpus.name)
    return review.sentence if review else ""


def _files(files: Sequence[FileFacts]) -> str:
    rows = [
        (
            f"{file.name}/ ({number(file.members, 'file')})" if file.members else file.name,
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


def _personal_data(facts: CardFacts, corpus: CorpusFacts) -> str:
    """What was found of it, if it was looked for."""
    how = facts.thresholds.get("anonymise")
    if not how:
        return ""
    what = "segment" if len(corpus.sides) > 1 else "paragraph"
    done: dict[str, str] = {
        Anonymise.REPLACE: f"replaced by placeholders such as {placeholder(PersonalKind.EMAIL)}"
        + (
            ", or left out with a segment that does not have as many values on both sides"
            if len(corpus.sides) > 1
            else ""
        ),
        Anonymise.DROP: f"left out with the {what} that has it",
    }
    told = done.get(str(how), "replaced, or left out with the segment that has it, by job")
    counts = {PersonalKind(kind).several: count for kind, count in corpus.personal_data.items()}
    table = _counts(("kind", f"in {what}s before equal ones are merged"), counts) if counts else "None was found."
    return f"It was {told}. Names and postal addresses were not looked for.\n\n{table}"


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
        f"{table}\n\n{number(merged.segment_pairs, 'segment pair')} became {number(merged.units, 'unit')}:"
        f" {merged.duplicates:,} have the same texts as another one, {merged.near_duplicates:,} differ from another one only"
        f" in case, punctuation or spaces. {number(merged.unit_sum - merged.units, 'unit')} and"
        f" {number(merged.page_pair_sum - merged.page_pairs, 'page pair')} of a job were found by another job too."
    )


def _sources(facts: CardFacts) -> str:
    when = ""
    if facts.first_fetch:
        first, last = day(facts.first_fetch), day(facts.last_fetch or facts.first_fetch)
        verb = "Fetched" if facts.origin is Origin.CRAWL else "Archived"
        when = f"{verb} on {first}.\n\n" if first == last else f"{verb} from {first} to {last}.\n\n"
    return when + (_counts(("site", "pages"), facts.sites) if facts.sites else "")


def _rights(facts: CardFacts) -> str:
    silent = facts.pages - sum(facts.licences.values())
    text = (
        "The texts belong to their authors. This card reports what the pages say about themselves. It grants no permission:"
        " if you pass the corpus on, make sure that you may.\n\n"
    )
    if facts.licences:
        text += _counts(("licence as stated by the page", "pages"), facts.licences) + "\n\n"
    text += f"- Without a licence statement: {number(silent, 'page')}.\n"
    text += f"- Left out because the site opts out of text and data mining: {number(facts.opt_outs, 'page')}.\n"
    if facts.origin is not Origin.ARCHIVE:
        text += f"- Not followed because robots.txt forbids it: {number(facts.robots, 'link')}."
    return text


def _methods(facts: CardFacts) -> str:
    text = f"{_ORIGINS[facts.origin]}. Boilerplate was removed, and the language was identified from the text.\n"
    if facts.bilingual:
        text += "Pages were paired by all evidence together, then aligned sentence by sentence and filtered by thresholds.\n"
    text += f"\n- Left out as duplicates: {number(facts.duplicate_pages, 'page')}."
    if facts.bilingual:
        text += f"\n- Left out because of marks of machine translation: {number(facts.machine_translated, 'pair')}."
    return text


def _thresholds(facts: CardFacts) -> str:
    """The thresholds with their values from the job file."""
    rows = [(name, json.dumps(value, ensure_ascii=False)) for name, value in facts.thresholds.items()]
    return _table(("threshold", "value"), rows) if rows and facts.bilingual else ""


def _limits(facts: CardFacts) -> str:
    limits = [
        "A program found the pairs, and nobody has checked them. Some are not translations of each other.",
        "The texts are from the public web, unchanged. They contain its opinions, errors and personal data."
        if not facts.thresholds.get("anonymise")
        else "The texts are from the public web. They contain its opinions, errors, and names of people.",
        "Machine translation without a mark cannot be told from human translation.",
        "It is not known which text is the original and which is the translation.",
    ]
    stated = limits if facts.bilingual else limits[1:3]
    return "\n".join(f"- {limit}" for limit in stated)


def _reproduction(facts: CardFacts) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in facts.versions.items())
    text = (
        f"Made with {versions}. To cite it, give the name of the corpus, the sites above and the date, {day(facts.at)}."
    )
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


# The header for Hugging Face


def dataset_header(facts: CardFacts, title: str) -> str:
    """Between two lines of dashes. Every value is JSON, which YAML can read, so nothing needs other escapes.

    Our mark comes first: a card that is cut off still has it.
    """
    corpora = facts.filled or facts.corpora
    languages = list(dict.fromkeys(side.language for corpus in corpora for side in corpus.sides))
    regional = [code for code in languages if "-" in code]
    units = sum(_size(corpus) for corpus in facts.corpora)
    fields: dict[str, object] = {
        "pretty_name": title,
        "language": list(dict.fromkeys(base_language(code) for code in languages)),
        **({"language_bcp47": regional} if regional else {}),
        "multilinguality": ["translation" if facts.bilingual else "monolingual"],
        "task_categories": ["translation" if facts.bilingual else "text-generation"],
        "license": licence(facts.licences, facts.pages),
        "size_categories": [size_category(units)],
        "configs": [_configuration(name, file) for name, file in _data_files(facts)],
        # Without types, datasets 5.2 loads no JSON file whose first units lack a key that later units have (20,000
        # units tried, 2026-11). With types, it loads JSON, gzipped JSON and Parquet.
        "dataset_info": [{"config_name": name, "features": _features(file.name)} for name, file in _data_files(facts)],
    }
    return "\n".join(
        ("---", f"# {MADE_BY}", *(f"{name}: {_json(value)}" for name, value in fields.items() if value), "---")
    )


def _configuration(name: str, file: FileFacts) -> dict[str, object]:
    """With the checksum: `datasets` keeps what it loaded under a hash of this header and the folder's name.

    Without it, datasets 5.2 gave the units of the first corpus for a second one, and old units after an export (2026-11).
    """
    table = _TSV if ".tsv" in file.name else {}
    return {"config_name": name, "data_files": file.name, "description": f"sha256 {file.sha256}", **table}


# How pandas, which `datasets` reads tables with, finds our texts in them: no quoting, and "NA" is a text.
_TSV = {"sep": "\t", "quoting": 3, "keep_default_na": False}
_NUMBERS = ("score", "length_ratio", "words_a", "words_b")
_TSV_TYPES = {**dict.fromkeys(_NUMBERS, "float64"), "occurrences": "int32"}


def licence(stated: Mapping[str, int], pages: int) -> str:
    """The Hub's name of the licence that all pages state; "unknown" if no page states one, otherwise "other"."""
    if not stated:
        return "unknown"
    names = {_hub_licence(text) for text in stated}
    return names.pop() if len(names) == 1 and sum(stated.values()) >= pages else "other"


def size_category(count: int) -> str:
    """The Hub's names: `n<1K`, `1K<n<10K`."""
    if count < 1000:
        return "n<1K"
    power = min(len(str(count)) - 4, len(_STEPS) - 2)
    return f"{_STEPS[power]}<n<{_STEPS[power + 1]}"


def _hub_licence(text: str) -> str:
    match = _CREATIVE_COMMONS.search(text.lower())
    if not match:
        return "other"
    kind, _, version = match.groups()
    name = f"cc-{kind}-{version}" if kind else f"cc0-{version}"
    return name if name in _HUB_LICENCES else "other"


def _size(corpus: CorpusFacts) -> int:
    return corpus.units if len(corpus.sides) > 1 else sum(side.documents for side in corpus.sides)


def _data_files(facts: CardFacts) -> list[tuple[str, FileFacts]]:
    return [named for corpus in facts.corpora for named in _data(corpus)]


def _data(corpus: CorpusFacts) -> list[tuple[str, FileFacts]]:
    """What can be loaded, by name: `datasets` reads a folder with one reader. Parquet has the types of its columns."""
    files = {file.name.removeprefix(corpus.name).removesuffix(".gz"): file for file in corpus.files}
    several = len(corpus.sides) > 1
    json_lines = (".sentences.jsonl", ".texts.jsonl") if several else (".documents.jsonl",)
    readers = ((".parquet", ".texts.parquet"), json_lines, (".tsv" if several else ".txt",))
    names = corpus.name, f"{corpus.name}-documents"
    found = [
        [(name, files[kind]) for name, kind in zip(names, kinds, strict=False) if kind in files] for kinds in readers
    ]
    return max(found, key=len)


def _features(data: str) -> list[dict[str, object]]:
    if ".txt" in data:
        return [{"name": "text", "dtype": "string"}]
    if ".tsv" in data:
        return [{"name": name, "dtype": _TSV_TYPES.get(name, "string")} for name in PLAIN]
    columns = {"texts": TEXTS, "documents": DOCUMENTS}.get(data.removesuffix(".gz").split(".")[-2], SENTENCES)
    return [_feature(column) for column in columns]


def _feature(column: Column) -> dict[str, object]:
    """A column in the format of the library `datasets`, in a form that all of its versions read."""
    if column.fields:
        return {"name": column.name, "list" if column.is_list else "struct": [_feature(f) for f in column.fields]}
    return {"name": column.name, "sequence" if column.is_list else "dtype": column.kind}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
