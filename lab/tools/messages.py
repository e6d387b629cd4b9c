"""Gathers the messages of the web app into src/bitrawl/web/catalogues: python -m lab.tools.messages [--check]

It writes messages.pot, which translators begin with, and brings each .po file up to date: new messages are empty there, and
those that are gone are dropped. With --check it writes nothing, and fails if something is missing.
"""

import argparse
import sys
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from bitrawl.config import RULES, SETTINGS
from bitrawl.corpus import SiteLack
from bitrawl.endings import EndSentence, FaultSentence
from bitrawl.message import Wording
from bitrawl.model import Method
from bitrawl.reasons import Reason
from bitrawl.remedies import Remedy
from bitrawl.review.search_query import QueryMistake
from bitrawl.show import Symptom
from bitrawl.show.wording import REFUSALS
from bitrawl.strategies import Strategy

SOURCE = Path(__file__).parents[2] / "src" / "bitrawl" / "web"
CATALOGUES = SOURCE / "catalogues"
METHODS = [("**.py", "python"), ("templates/**.html", "jinja2")]
KEYWORDS = {
    "_": None,
    "say": None,
    "message": None,
    "marked": None,
    "MistakeError": None,
    "counted": (1, 2),
    "count": (1, 2),
}
OPTIONS = {"templates/**.html": {"trimmed": "true", "silent": "false"}}


_DROPPED = tuple(
    f'"{name}'.encode()
    for name in (
        "POT-Creation",
        "PO-Revision",
        "Generated-By",
        "Last-Tr",
        "Project-Id",
        "Report-Msgid",
        "Language-Team",
    )
)


def gathered() -> Catalog:
    template = Catalog(project="bitrawl", charset="utf-8", header_comment="# Messages of bitrawl's web app.")
    for name, _line, message, comments, context in extract_from_dir(SOURCE, METHODS, OPTIONS, KEYWORDS):
        template.add(message, locations=[(name, None)], auto_comments=comments, context=context)
    for place, labels in _tables().items():
        for label in labels:
            template.add(label, locations=[(place, None)])
    return template


def _tables() -> dict[str, list[str | tuple[str, str]]]:
    """The labels and sentences of the closed sets, by the file that has the table."""
    return {
        "model.py": [method.key for method in Method],
        "reasons.py": [*(reason.label for reason in Reason), *(reason.text for reason in Reason if reason.text)],
        "remedies.py": [remedy.text for remedy in Remedy],
        "endings.py": [*map(_forms, EndSentence), *map(_forms, FaultSentence)],
        "corpus/figures.py": list(map(_forms, SiteLack)),
        "show/diagnosis.py": list(map(_forms, Symptom)),
        "show/wording.py": list(REFUSALS.values()),
        "review/search_query.py": [str(mistake) for mistake in QueryMistake],
        "strategies/table.py": [str(name) for name in Strategy],
        "config/resolving.py": [rule.said for rule in RULES if rule.said],
        "config/settings.py": [row.label for row in SETTINGS.values() if row.label],
    }


def _forms(row: Wording) -> str | tuple[str, str]:
    return (row.text, row.plural) if row.plural else row.text


def written(catalogue: Catalog) -> bytes:
    """Without dates, lines and empty headers, so that only messages change the file."""
    content = BytesIO()
    write_po(
        content, catalogue, width=110, sort_output=True, include_lineno=False, ignore_obsolete=True, omit_header=False
    )
    lines = content.getvalue().splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(_DROPPED))


def translated(path: Path, template: Catalog) -> Catalog:
    with path.open("rb") as file:
        catalogue = read_po(file, locale=path.stem)
    catalogue.update(template, no_fuzzy_matching=True)
    return catalogue


def missing(catalogue: Catalog) -> list[str]:
    return [
        str(one.id)
        for one in catalogue
        if one.id and not (all(one.string) if isinstance(one.string, tuple) else one.string)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description="Gather the messages of the web app.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if something is missing or out of date"
    )
    checking = parser.parse_args().check
    template = gathered()
    files = {CATALOGUES / "messages.pot": template}
    files |= {path: translated(path, template) for path in sorted(CATALOGUES.glob("*.po"))}
    faults = []
    for path, catalogue in files.items():
        if checking and path.read_bytes() != written(catalogue):
            faults.append(f"{path.name} is out of date: run python -m lab.tools.messages")
        if not checking:
            path.write_bytes(written(catalogue))
        if path.suffix == ".po":
            faults += [f"{path.name} has no translation of: {one}" for one in missing(catalogue)]
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    return 1 if faults and checking else 0


if __name__ == "__main__":
    sys.exit(main())
