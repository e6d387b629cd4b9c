"""A made-up web of many hosts about two common subjects and two rare ones, in any language: the words are names that CLDR has."""

import gzip
import random
from collections.abc import Mapping
from functools import cache
from itertools import product
from pathlib import Path

from babel import Locale
from made_up_pack import record

HOSTS, PAGES = 12, 30
START = "https://directory.example/"
COMMON = ("languages", "scripts")  # most hosts take turns with these
RARE = {"currencies": (7, 3, 10), "territories": (2, 5, 8)}  # the host that is about it, and two that have a little
NAMES, WRITTEN = 60, 90  # of a subject; on a page


@cache
def vocabulary(code: str) -> dict[str, list[str]]:
    """Names by subject, and those that all subjects have: of months and days."""
    locale = Locale.parse(code)
    subjects = {
        subject: [name for _, name in sorted(getattr(locale, subject).items()) if name.isprintable()]
        for subject in (*COMMON, *RARE)
    }
    common = [*locale.months["format"]["wide"].values(), *locale.days["format"]["wide"].values()]
    return {name: random.Random(name).sample(names, NAMES) for name, names in subjects.items()} | {"": common}


def text(code: str, subject: str, number: object) -> str:
    words, chance = vocabulary(code), random.Random(f"{subject} {number}")
    drawn = [chance.choice(words[subject] if chance.random() < 0.8 else words[""]) for _ in range(WRITTEN)]
    return "\n".join(f"{', '.join(drawn[at : at + 10])}." for at in range(0, WRITTEN, 10))


def many_hosts(code: str) -> dict[str, str]:
    """Addresses with their HTML: a directory that only names the hosts, and each with a home page of ten sections."""
    homes = [f"https://site{number}.example/" for number in range(HOSTS)]
    web = {START: html(code, "Sites", "", {home: home for home in homes})}
    for host, home in enumerate(homes):
        subjects = [subject_of(host, number) for number in range(PAGES)]
        texts = [text(code, subject, f"{host} {number}") for number, subject in enumerate(subjects)]
        names = {f"{home}{number}.html": written.split(",")[0] for number, written in enumerate(texts)}
        paths = list(names)
        for number, written in enumerate(texts):
            near = paths[3 * number + 3 : 3 * number + 6]
            elsewhere = [f"{homes[(host + number) % HOSTS]}{number}.html"]
            links = {path: names.get(path, "→") for path in (*near, *elsewhere)} | {home: "⌂"}
            web[paths[number]] = html(code, names[paths[number]], written, links)
        web[home] = html(code, f"{host}", text(code, subjects[0], host), {path: names[path] for path in paths[:3]})
    return web


def subject_of(host: int, number: int) -> str:
    """Of a page."""
    for subject, (right, *others) in RARE.items():
        if host == right or (host in others and number % 4 == 3):
            return subject
    return COMMON[host % 2]


def about(subject: str) -> set[str]:
    """The articles about a subject."""
    places = product(range(HOSTS), range(PAGES))
    return {
        f"https://site{host}.example/{number}.html" for host, number in places if subject_of(host, number) == subject
    }


def html(code: str, title: str, written: str, links: Mapping[str, str]) -> str:
    paragraphs = "".join(f"<p>{line}</p>" for line in written.splitlines())
    items = "".join(f'<li><a href="{url}">{name}</a></li>' for url, name in links.items())
    direction = Locale.parse(code).text_direction
    return (
        f'<!doctype html><html lang="{code}" dir="{direction}"><head><meta charset="utf-8"><title>{title}</title></head>'
        f"<body><h1>{title}</h1>{paragraphs}<ul>{items}</ul></body></html>"
    )


def write_warc(path: Path, web: Mapping[str, str]) -> Path:
    path.write_bytes(b"".join(gzip.compress(record(url, page), mtime=0) for url, page in web.items()))
    return path
