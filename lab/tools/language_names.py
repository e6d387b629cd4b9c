"""Writes src/bitrawl/text/language_names.tsv.gz from CLDR: pip install babel, then python -m lab.tools.language_names.

One line a language: code, its endonyms, its names in other languages; names are separated by "|" and folded.
"""

import collections
import gzip

from babel import Locale
from babel.localedata import locale_identifiers

from bitrawl.text.language_names import TABLE, spaced


def main() -> None:
    locales = [Locale.parse(name) for name in sorted(locale_identifiers()) if name != "root"]
    # Only languages that CLDR has a locale for: the names of the rest (Sumerian, Elamite) head no version of a page.
    written = {locale.language for locale in locales}
    own: dict[str, set[str]] = collections.defaultdict(set)
    votes: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for locale in locales:
        for code, name in locale.languages.items():
            language = code.split("_")[0]
            key = spaced(name)
            if language not in written or len(key) < 2:
                continue
            votes[key][code] += 1
            if locale.language == language:
                own[code].add(key)
    # A name that several languages go by is taken from most locales; an endonym is never taken away.
    names = {name: counts.most_common(1)[0][0] for name, counts in votes.items()}
    names |= {name: code for code, endonyms in sorted(own.items(), reverse=True) for name in endonyms}
    lines = []
    for code in sorted(set(names.values())):
        endonyms = sorted(name for name in own[code] if names[name] == code)
        others = sorted(name for name, owner in names.items() if owner == code and name not in own[code])
        lines.append(f"{code.replace('_', '-').lower()}\t{'|'.join(endonyms)}\t{'|'.join(others)}\n")
    TABLE.write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))
    print(f"{TABLE}: {len(lines)} languages, {len(names)} names, {TABLE.stat().st_size} bytes")  # noqa: T201


if __name__ == "__main__":
    main()
