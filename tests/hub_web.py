"""A web of hubs: pages that are only links, or nearly, and lead to all the text that there is."""

import random
from collections.abc import Iterable, Sequence

from small_site import WORDS

HOST = "http://hubs.test"
NOTICES = {
    "en": "This list is kept up to date by the office; please report any errors to the address below.",
    "fr": "Cette liste est tenue à jour par le bureau ; veuillez signaler toute erreur à l’adresse ci-dessous.",
    "de": "Diese Liste wird vom Amt gepflegt; bitte melden Sie Fehler an die unten angegebene Adresse.",
}
GERMAN = """
der Hafen das Boot im Winter und im Sommer die Brücke über das Wasser eine Kirche mit einem Turm Brot Fisch und Salz
nach dem Sturm ein Kind singt am Morgen vor der Schule unter dem Fenster Schnee liegt auf der Straße am Markt
"""
TEXTS = {
    "en": list(WORDS),
    "fr": list(WORDS.values()),
    "de": GERMAN.split(),
}
NAMES = ("ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "spruce", "yew")


def hub_web() -> dict[str, str]:
    """Every page that can be reached from the root, each linked by at least one other: addresses with their HTML."""
    web = {"/": _html("", "", ["/en/", "/fr/"], picture=True)}  # for choosing the language
    for code in ("en", "fr"):
        web |= _edition(code)
    # only one page in English leads to the part in a third language
    web["/en/regions/"] = web["/en/regions/"].replace("</ul>", '</ul><a href="/de/lists/">Deutsch</a>')
    web |= _lists("de")
    return {HOST + path: text for path, text in web.items()}


def _edition(code: str) -> dict[str, str]:
    web: dict[str, str] = {}
    sections = [f"/{code}/lists/", f"/{code}/pictures/", f"/{code}/regions/", f"/{code}/tables/", f"/{code}/words/"]
    web[f"/{code}/"] = _html(code, _prose(code, code), sections)
    web |= _lists(code)
    # pages without any text, each with a picture and links
    pictures = [f"/{code}/pictures/{number}.html" for number in range(34)]
    web |= _listed(code, sections[1], pictures, [f"/{code}/seen/{number}.html" for number in range(34)], "")
    # three levels of lists with the same notice, one below the other
    web[sections[2]] = _html(code, _prose(code, "regions"), [f"/{code}/regions/{name}/" for name in NAMES[:6]])
    for region in NAMES[:6]:
        towns = [f"/{code}/regions/{region}/{name}/" for name in NAMES[6:10]]
        web[f"/{code}/regions/{region}/"] = _html(code, NOTICES[code], towns)
        for town in towns:
            web |= _listed(code, town, [f"{town}streets.html"], [f"{town}history.html"], NOTICES[code], here=True)
    # text only in tables, which differ only in their numbers
    tables = [f"/{code}/tables/{number}.html" for number in range(36)]
    web[sections[3]] = _html(code, _prose(code, "tables"), tables)
    web |= {path: _table(code, number) for number, path in enumerate(tables)}
    # hubs whose addresses have parameters, of the same kind as what they lead to
    hubs = [f"/{code}/words/show?id={number}" for number in range(34)]
    web |= _listed(code, sections[4], hubs, [f"/{code}/words/show?id={1000 + n}" for n in range(34)], NOTICES[code])
    return web


def _lists(code: str) -> dict[str, str]:
    """More lists of one kind than are looked at, with one notice, and a page behind each."""
    lists = [f"/{code}/lists/{number}.html" for number in range(36)]
    return _listed(
        code, f"/{code}/lists/", lists, [f"/{code}/notes/{number}.html" for number in range(36)], NOTICES[code]
    )


def _listed(
    code: str, home: str, hubs: Sequence[str], pages: Sequence[str], notice: str, *, here: bool = False
) -> dict[str, str]:
    """A home page that lists hubs, each of which leads to one page with a text of its own."""
    web = {home: _html(code, notice if here else _prose(code, home), hubs)}
    for hub, page in zip(hubs, pages, strict=True):
        web[hub] = _html(code, notice, [page], picture=not notice)
        web[page] = _html(code, _prose(code, page), [home])
    return web


def _html(code: str, text: str, targets: Iterable[str], *, picture: bool = False) -> str:
    shown = '<img src="/dot.png" alt="">' if picture else None
    links = "".join(f'<li><a href="{target}">{shown or target.strip("/")}</a></li>' for target in targets)
    return f'<html lang="{code}"><body>{f"<p>{text}</p>" if text else ""}<ul>{links}</ul></body></html>'


def _table(code: str, number: int) -> str:
    rows = "".join(f"<tr><td>{year}</td><td>{number * 37 + year}</td></tr>" for year in range(2001, 2009))
    return f'<html lang="{code}"><body><table>{rows}</table><a href="/{code}/">{code}</a></body></html>'


def _prose(code: str, seed: str) -> str:
    chance = random.Random(f"{code} {seed}")
    return " ".join(" ".join(chance.choices(TEXTS[code], k=10)).capitalize() + "." for _ in range(6))
