"""The YAML header that makes a card the card of a Hugging Face dataset: `load_dataset` finds the pairs by it."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from bitrawl.corpus.card_facts import CardFacts, CorpusFacts

# The licences that the Hub has a name for, of those that a page can state by a Creative Commons address.
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
    """Between two lines of dashes; every value is JSON, which YAML reads, so nothing needs another escape."""
    languages = list(dict.fromkeys(side.language for corpus in facts.corpora for side in corpus.sides))
    regional = [code for code in languages if "-" in code]
    units = sum(_size(corpus) for corpus in facts.corpora)
    fields: dict[str, object] = {
        "pretty_name": title,
        "language": list(dict.fromkeys(code.partition("-")[0] for code in languages)),
        **({"language_bcp47": regional} if regional else {}),
        "multilinguality": ["translation" if facts.bilingual else "monolingual"],
        "task_categories": ["translation" if facts.bilingual else "text-generation"],
        "license": licence(facts.licences, sum(facts.sites.values())),
        "size_categories": [size_category(units)],
        "configs": [
            {"config_name": corpus.name, "data_files": name} for corpus in facts.corpora if (name := _data(corpus))
        ],
    }
    return "\n".join(("---", *_lines(fields), "---"))


def licence(stated: Mapping[str, int], pages: int) -> str:
    """The Hub's name of the licence that all pages state; "unknown" where none states one, else "other"."""
    if not stated:
        return "unknown"
    names = {_hub_licence(text) for text in stated}
    return names.pop() if len(names) == 1 and sum(stated.values()) >= pages else "other"


def size_category(count: int) -> str:
    """As the Hub writes them: `n<1K`, `1K<n<10K`."""
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


def _data(corpus: CorpusFacts) -> str:
    """Parquet where there is, for it says the types of its columns; "" where there is nothing that can be loaded."""
    kinds = (".parquet", ".sentences.jsonl") if len(corpus.sides) > 1 else (".documents.jsonl", ".txt")
    names = [file.name for file in corpus.files]
    return next((name for kind in kinds for name in names if name.removesuffix(".gz").endswith(kind)), "")


def _lines(fields: Mapping[str, object]) -> Iterable[str]:
    """Lists as items, tables within them indented."""
    for name, value in fields.items():
        if not isinstance(value, list):
            yield f"{name}: {_json(value)}"
        elif value:
            yield f"{name}:"
            for item in value:
                yield from _item(item)


def _item(item: object) -> Sequence[str]:
    if not isinstance(item, dict):
        return [f"- {_json(item)}"]
    return [f"{'- ' if not n else '  '}{name}: {_json(value)}" for n, (name, value) in enumerate(item.items())]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
