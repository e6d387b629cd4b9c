"""The YAML header that makes a card the card of a Hugging Face dataset. `load_dataset` finds the pairs by it."""

import json
import re
from collections.abc import Iterable, Mapping

from bitrawl.corpus.card_facts import CardFacts, CorpusFacts
from bitrawl.corpus.columns import DOCUMENTS, SENTENCES, Column

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


def dataset_header(facts: CardFacts, title: str) -> str:
    """Between two lines of dashes. Every value is JSON, which YAML can read, so nothing needs other escapes."""
    corpora = facts.filled or facts.corpora
    languages = list(dict.fromkeys(side.language for corpus in corpora for side in corpus.sides))
    regional = [code for code in languages if "-" in code]
    units = sum(_size(corpus) for corpus in facts.corpora)
    fields: dict[str, object] = {
        "pretty_name": title,
        "language": list(dict.fromkeys(code.partition("-")[0] for code in languages)),
        **({"language_bcp47": regional} if regional else {}),
        "multilinguality": ["translation" if facts.bilingual else "monolingual"],
        "task_categories": ["translation" if facts.bilingual else "text-generation"],
        "license": licence(facts.licences, facts.source_pages),
        "size_categories": [size_category(units)],
        "configs": [{"config_name": name, "data_files": data} for name, data in _data_files(facts)],
        # Without types, datasets 5.2 loads no JSON file whose first units lack a key that later units have (20,000
        # units tried, 2026-11). With types, it loads JSON, gzipped JSON and Parquet.
        "dataset_info": [{"config_name": name, "features": _features(data)} for name, data in _data_files(facts)],
    }
    return "\n".join(("---", *_lines(fields), "---"))


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
    found = _CREATIVE_COMMONS.search(text.lower())
    if not found:
        return "other"
    kind, _, version = found.groups()
    name = f"cc-{kind}-{version}" if kind else f"cc0-{version}"
    return name if name in _HUB_LICENCES else "other"


def _size(corpus: CorpusFacts) -> int:
    return corpus.units if len(corpus.sides) > 1 else sum(side.documents for side in corpus.sides)


def _data_files(facts: CardFacts) -> list[tuple[str, str]]:
    return [(corpus.name, data) for corpus in facts.corpora if (data := _data(corpus))]


def _data(corpus: CorpusFacts) -> str:
    """Parquet if available, because it contains the types of its columns; "" if there is nothing to load."""
    kinds = (".parquet", ".sentences.jsonl") if len(corpus.sides) > 1 else (".documents.jsonl", ".txt")
    names = [file.name for file in corpus.files]
    return next((name for kind in kinds for name in names if name.removesuffix(".gz").endswith(kind)), "")


def _features(data: str) -> list[dict[str, object]]:
    if ".txt" in data:
        return [{"name": "text", "dtype": "string"}]
    return [_feature(column) for column in (DOCUMENTS if ".documents." in data else SENTENCES)]


def _feature(column: Column) -> dict[str, object]:
    """A column in the format of the library `datasets`, in a form that all of its versions read."""
    if column.fields:
        return {"name": column.name, "list" if column.is_list else "struct": [_feature(f) for f in column.fields]}
    return {"name": column.name, "sequence" if column.is_list else "dtype": column.kind}


def _lines(fields: Mapping[str, object], indent: str = "") -> Iterable[str]:
    """A list has one line per item; a table of such items has one line per key."""
    for name, value in fields.items():
        if not isinstance(value, list):
            yield f"{indent}{name}: {_json(value)}"
        elif value:
            yield f"{indent}{name}:"
            for item in value:
                yield from _item(item, indent)


def _item(item: object, indent: str) -> Iterable[str]:
    if not isinstance(item, dict) or "config_name" not in item:
        return [f"{indent}- {_json(item)}"]
    first, *rest = _lines(item, indent + "  ")
    return [f"{indent}- {first.lstrip()}", *rest]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
