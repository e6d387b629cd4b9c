"""A site pack of our own: a small bilingual site frozen as WARC, and what is known of its pairs."""

import gzip
import json
import random
from collections.abc import Iterable
from pathlib import Path

from small_site import WORDS

from lab.train.site_packs import FILES, SitePack

NOTICES = {
    "en": "The doors are open every day of the year but one, and whoever is curious is welcome to come in.",
    "fr": "Les portes sont ouvertes tous les jours de l'année sauf un, et les curieux sont les bienvenus.",
}
"""What stands at the end of each page."""


def write_pack(folder: Path, *, articles: int, seed: int = 1) -> SitePack:
    """So many articles in English and French, all but every third of them translated, below two home pages."""
    host = f"http://{folder.name}.test"
    folder.mkdir(parents=True)
    pages, true, doubtful = {}, [], []
    names = [f"{number}.html" for number in range(articles)]
    for number, name in enumerate(names):
        chance = random.Random(seed * 1000 + number)
        blocks = [[chance.choices(list(WORDS), k=12) for _ in range(3)] for _ in range(4)]
        translated = number % 3 != 2
        french = [[[WORDS[word] for word in words] for words in block] for block in blocks] if translated else blocks
        near = names[number + 1 : number + 3]
        pages[f"{host}/en/{name}"] = _html("en", number, blocks, [f"/fr/{name}", *(f"/en/{one}" for one in near)])
        pages[f"{host}/fr/{name}"] = _html("fr", number, french, [f"/en/{name}", *(f"/fr/{one}" for one in near)])
        (true if translated else doubtful).append((f"{host}/en/{name}", f"{host}/fr/{name}", "en", "fr"))
    for code in ("en", "fr"):
        pages[f"{host}/{code}/"] = _html(code, 0, [], ["/en/", "/fr/", *(f"/{code}/{name}" for name in names)])
    (folder / FILES[0]).write_bytes(b"".join(gzip.compress(record(url, html), mtime=0) for url, html in pages.items()))
    counts = {"en-fr": len(true)}
    about = {"seeds": [f"{host}/en/", f"{host}/fr/"], "languages": ["en", "fr"], "pairs_by_languages": counts}
    (folder / "site.json").write_text(json.dumps(about))
    heads = ("url_a", "url_b", "lang_a", "lang_b")
    _write_table(folder / "truth.tsv", [heads, *true])
    reasons = ("same-text", "short")
    rows = [(*pair, reasons[place % 2]) for place, pair in enumerate(doubtful)]
    _write_table(folder / "doubtful.tsv", [(*heads, "reason"), *rows])
    return SitePack.open(folder)


def _html(code: str, number: int, blocks: list[list[list[str]]], links: list[str]) -> str:
    texts = (" ".join(f"{' '.join(words)}.".capitalize() for words in block) for block in blocks)
    menu = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    body = "".join(f"<p>{text} {number}</p>" for text in texts)
    end = f"<p>{NOTICES[code]}</p>"
    return f'<html lang="{code}"><title>{number}</title><body><ul>{menu}</ul><h1>{number}</h1>{body}{end}'


def record(url: str, html: str) -> bytes:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + html.encode()
    head = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:0>\r\nWARC-Target-URI: {url}\r\n"
        "WARC-Date: 2026-11-16T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def _write_table(path: Path, rows: Iterable[Iterable[str]]) -> None:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
