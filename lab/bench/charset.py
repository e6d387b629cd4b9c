"""Charset detection, side by side: share of texts that are decoded right, and time; no header, no meta.

Sentences of ../shared/data/language-id.tsv.gz, one, three or eight together, in the legacy charsets of their languages.
Peers are measured when they are installed: pip install charset-normalizer faust-cchardet.

Then claims: Chinese, Japanese and Korean texts with a right and with a wrong charset in their header. They are made of the
gettext catalogues of this machine (/usr/share/locale), which have Traditional Chinese as well.
"""

import collections
import contextlib
import gettext
import gzip
import importlib
import random
import time
from collections.abc import Callable
from pathlib import Path

from bitrawl.page.decode import decode

DATA = Path(__file__).parents[3] / "shared" / "data" / "language-id.tsv.gz"
CHARSETS = {
    "cp1250": "pl cs sk hu ro hr sl",
    "iso8859-2": "pl cs hu",
    "cp1251": "ru uk bg sr mk",
    "koi8-r": "ru",
    "koi8-u": "uk",
    "cp1252": "fr de es pt it nl sv da nb fi is",
    "cp1253": "el",
    "iso8859-7": "el",
    "cp1254": "tr",
    "cp1255": "he",
    "cp1256": "ar",
    "cp1257": "lt lv et",
    "gb18030": "zh",
    "cp932": "ja",
    "euc_jp": "ja",
    "cp949": "ko",
}
CATALOGUES = Path("/usr/share/locale")
WRITTEN = {  # the charsets in which pages of a catalogue's language are written, and claims that are wrong for all of them
    "zh_TW": (("big5hkscs", "gbk"), ()),
    "zh_CN": (("gb18030",), ("big5",)),
    "ja": (("cp932", "euc_jp"), ("gb2312", "big5")),
    "ko": (("cp949",), ("gb2312", "big5")),
}
SIZES = (60, 200, 1000, 5000)  # bytes
Decode = Callable[[bytes], str]


def cases() -> list[tuple[bytes, str]]:
    texts = collections.defaultdict(list)
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            language, text = line.rstrip("\n").split("\t")
            texts[language].append(text)
    rng = random.Random(1)
    found = []
    for charset, languages in CHARSETS.items():
        for language in languages.split():
            for together in (1, 3, 8) * 5:
                body = " ".join(rng.sample(texts[language], together)).encode(charset, "ignore")
                if not body.isascii():
                    found.append((body, body.decode(charset)))
    return found


def peers() -> dict[str, Decode]:
    found: dict[str, Decode] = {"bitrawl": lambda body: decode(body).text}
    try:
        normalizer = importlib.import_module("charset_normalizer")
        found["charset-normalizer"] = lambda body: str(normalizer.from_bytes(body).best())
    except ImportError:
        pass
    try:
        uchardet = importlib.import_module("cchardet")
        found["cchardet"] = lambda body: body.decode(uchardet.detect(body)["encoding"] or "ascii", "replace")
    except ImportError:
        pass
    return found


def catalogue(language: str) -> list[str]:
    """The messages that are written in its script."""
    found = set()
    for path in sorted((CATALOGUES / language / "LC_MESSAGES").glob("*.mo")):
        with path.open("rb") as file, contextlib.suppress(OSError, UnicodeDecodeError):
            # The texts of a catalogue are only to be had by their ids.
            texts = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]  # noqa: SLF001
            found |= {text for text in texts.values() if isinstance(text, str) and sum(map(str.isalpha, text)) > 5}
    return sorted(text for text in found if sum(c >= "\u3000" for c in text) * 2 > len(text))


def claims() -> None:
    rng = random.Random(1)
    for language, (charsets, others) in WRITTEN.items():
        texts = catalogue(language)
        if not texts:
            print(f"claims: {CATALOGUES} has no catalogues in {language}")
            continue
        for charset in charsets:
            wrong = others or (("gb2312",) if charset == "big5hkscs" else ("big5",))
            for claim in (charset, *wrong):
                right = {}
                for size in SIZES:
                    bodies = []
                    for _ in range(300):
                        text = ""
                        while len(text) * 2 < size:
                            text += rng.choice(texts) + "\n"
                        bodies.append(text.encode(charset, "ignore"))
                    read = [decode(body, f"text/html; charset={claim}").text for body in bodies]
                    right[size] = sum(text == body.decode(charset) for text, body in zip(read, bodies, strict=True))
                shown = "  ".join(f"{size}: {count / 300:6.1%}" for size, count in right.items())
                print(f"{language:6} in {charset:10} claims {claim:10} {shown}")


def main() -> None:
    if not DATA.exists():
        print(f"charset: {DATA} is not here; public source: the sentences of github.com/pemistahl/lingua-py")
        return
    chosen = cases()
    print(f"{len(chosen)} texts, {sum(len(body) for body, _ in chosen) // len(chosen)} bytes on average")
    for name, decoder in peers().items():
        right = 0
        start = time.process_time()
        for body, text in chosen:
            with contextlib.suppress(LookupError):
                right += decoder(body) == text
        spent = (time.process_time() - start) / len(chosen) * 1000
        print(f"{name:20} {right / len(chosen):6.1%} right  {spent:6.3f} ms a text")
    claims()


if __name__ == "__main__":
    main()
