"""Writes src/bitrawl/web/endonyms.tsv from CLDR: each language that CLDR has a locale for, by its own name."""

from pathlib import Path

from babel import Locale
from babel.localedata import locale_identifiers

TARGET = Path(__file__).parents[2] / "src" / "bitrawl" / "web" / "endonyms.tsv"


def main() -> None:
    lines = []
    for identifier in sorted(locale_identifiers()):
        parts = identifier.split("_")
        if identifier == "root" or any(len(part) != 4 for part in parts[1:]):  # scripts stay, regions go
            continue
        name = Locale.parse(identifier).get_display_name()
        if name:
            lines.append(f"{identifier.replace('_', '-')}\t{name[0].upper()}{name[1:]}\n")
    TARGET.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
