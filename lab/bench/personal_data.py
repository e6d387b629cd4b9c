"""How much personal data is found, how much else is taken for it, and what that costs: python -m lab.bench personal_data

First 1,000 values of each kind that a generator makes, between words of 40 languages: telephone numbers of the country that speaks
the language, national numbers by their patterns, all with a valid checksum; beside them prices, dates, versions, ISBNs and numbers
with a wrong checksum. The words are CLDR's names of countries. A value stands alone, is glued to a word as the script has it, has an
ending behind a hyphen, an apostrophe or a colon, marks of Markdown, brackets, or signs that nobody sees. Then the text of the sites
in ../shared/sites: what the rules were chosen on, and apart from it what they were not. All that was found there but e-mail
addresses, IP addresses and numbers with a country code was read (2026-11-18); what was wrong is known by its hash. Last, an export
with and without it.
"""

import argparse
import json
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from hashlib import blake2b
from importlib import import_module
from ipaddress import IPv4Address, IPv6Address
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import msgspec
import phonenumbers
from babel import Locale
from fastwarc.warc import ArchiveIterator, WarcRecordType
from stdnum import iban, isbn, luhn

import bitrawl
from bitrawl.corpus import Anonymise
from bitrawl.job.exporting import write_corpus
from bitrawl.model import Language
from bitrawl.page import read_html
from bitrawl.store.folder import JobFolder
from bitrawl.text.personal_data import NATIONAL_NUMBERS, PersonalKind, personal_data, regions_of
from bitrawl.text.sentences import sentences
from bitrawl.url import Url
from lab.bench.strategies import SITES

SEED = 20261118
EACH = 1000  # values of a kind
LOOKED_AT = ("apache-httpd", "apisix", "debian-handbook", "debian-manuals", "gimp-help", "installation-guide")
# Hymn metres, sizes of disk partitions, an identifier of a meeting.
WRONG = frozenset("13f0790a 498257d7 549f6147 8339cc32 a884db0a c56b55c7 e7c39d9d f9e71b07".split())
LANGUAGES = (
    "am ar bg bn cs da de el en es et fa fi fr ga he hi hr hu hy id it ja ka km ko lo lt lv mk mt my nb nl pl pt ru sv ta th tr uk ur"
    " vi zh"
).split()
# What a value is glued to: a word (w) or its end (e). The last are those of a script that puts words beside it without a space.
ALONE = ("{w} {} {w}.", "{w} ({}), {w}", "<{}>", "{w}: {}", "[{w}](mailto:{})", "_{}_ {w}", "{w} **{}**", "{w} __{}__.")
ALONE += ("\u200f{}\u200e {w}", "{w} \u202a{}\u202c", "{w}\u200b {}\u200b", "{w}\ufeff {}; {w}")
ENDINGS = ("{w} {}-{e} {w}", "{w} {}'{e} {w}", "{w} {}’{e} {w}", "{w} {}:{e} {w}", "{w} _{}_-{e} {w}")
GLUED = ("{w}{}{w}", "{w} {}{w}。", "{w}{} {w}", "{w}-{} {w}")


class Case(NamedTuple):
    """A value, what it is, and the country in which it is written; no kind is for what has to stay."""

    value: str
    kind: PersonalKind | None
    region: str = ""


def cases(rng: random.Random) -> Iterator[Case]:
    yield from chain(
        _emails(rng), _phones(rng), _ibans(rng), _cards(rng), _addresses(rng), _national(rng), _others(rng)
    )


@cache
def _words(language: str) -> list[str]:
    """Of CLDR: names of countries in one word."""
    names = Locale.parse(language).territories.values()
    return sorted(name for name in names if re.fullmatch(r"[^\W\d]{3,}", name)) or sorted(names)


def framed(value: str, language: str, rng: random.Random) -> str:
    word = rng.choice(_words(language))
    is_latin = any(letter.isascii() for letter in word)
    frames = (*ALONE, *ENDINGS, *(() if is_latin else 2 * GLUED))
    return rng.choice(frames).format(value, w=word, e=word[-3:].lower())


def _emails(rng: random.Random) -> Iterator[Case]:
    for _ in range(EACH):
        local = rng.choice(("info", "jane.doe", "j_smith", "büro", "m.o'hara", "sales+eu", "x1"))
        domain = rng.choice(
            ("example.org", "mail.uni-berlin.de", "post.co.uk", "firma.com.pl", "müller.de", "пример.рф")
        )
        at = rng.choice(("@", "@", "@", " [at] ", "(at)"))
        yield Case(f"{local}{at}{domain}", PersonalKind.EMAIL)


def _phones(rng: random.Random) -> Iterator[Case]:
    """The end of an example, made up anew until it is valid."""
    formats, types = phonenumbers.PhoneNumberFormat, phonenumbers.PhoneNumberType
    for number in range(EACH):
        region = regions_of("www.example.org", Language(LANGUAGES[number % len(LANGUAGES)]))[0]
        example = phonenumbers.example_number_for_type(region, rng.choice((types.FIXED_LINE, types.MOBILE)))
        while True:
            made = phonenumbers.PhoneNumber()
            made.merge_from(example)
            made.national_number = example.national_number // 10**5 * 10**5 + rng.randrange(10**5)
            if phonenumbers.is_valid_number(made):
                break
        way = rng.choice((formats.INTERNATIONAL, formats.E164, formats.NATIONAL))
        yield Case(phonenumbers.format_number(made, way), PersonalKind.PHONE, region)


def _ibans(rng: random.Random) -> Iterator[Case]:
    signs = {"n": "0123456789", "a": "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "c": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"}
    made = 0
    while made < EACH:
        country = rng.choice(
            ("AT", "BG", "CH", "CZ", "DE", "DK", "GB", "GR", "HR", "IE", "LT", "LV", "MT", "NL", "PL", "RO", "SE", "TR")
        )
        structure = re.findall(r"(\d+)!([nac])", iban._ibandb.info(f"{country}00")[0][1].get("bban", ""))  # noqa: SLF001
        account = "".join(rng.choice(signs[sign]) for size, sign in structure for _ in range(int(size)))
        number = f"{country}{iban.calc_check_digits(f'{country}00{account}')}{account}"
        if iban.is_valid(number):
            made += 1
            yield Case(rng.choice((number, iban.format(number))), PersonalKind.IBAN)


def _cards(rng: random.Random) -> Iterator[Case]:
    for _ in range(EACH):
        begin, size = rng.choice((("4", 16), ("51", 16), ("2221", 16), ("37", 15), ("6011", 16)))
        digits = begin + "".join(rng.choice("0123456789") for _ in range(size - len(begin) - 1))
        digits += luhn.calc_check_digit(digits)
        groups = [digits[:4], digits[4:10], digits[10:]] if size == 15 else [digits[i : i + 4] for i in range(0, 16, 4)]
        yield Case(rng.choice(("", " ", "-")).join(groups), PersonalKind.CARD)


def _addresses(rng: random.Random) -> Iterator[Case]:
    for _ in range(EACH // 2):
        v4 = IPv4Address(rng.getrandbits(32))
        if v4.is_global and not v4.is_multicast:
            yield Case(f"{v4}{rng.choice(('', ':8080'))}", PersonalKind.IP)
        yield Case(str(IPv6Address((0x2A00 << 112) | rng.getrandbits(96))), PersonalKind.IP)


def _national(rng: random.Random) -> Iterator[Case]:
    """Made up by the pattern until the checksum is right; where that takes too long, an example of the documentation."""
    for number in NATIONAL_NUMBERS:
        module = import_module(f"stdnum.{number.module}")
        examples = [
            way
            for example in re.findall(r"(?:validate|format)\('([^']+)'\)", f"{module.__doc__}")
            if number.is_valid(example)
            for way in sorted({example, module.compact(example), getattr(module, "format", str)(example)})
            if re.fullmatch(number.pattern, way)
        ]
        made = (written for _ in range(100_000) if number.is_valid(written := _by_pattern(number.pattern, rng)))
        values = [*islice(made, EACH // len(NATIONAL_NUMBERS) + 1), *examples]
        yield from (Case(value, PersonalKind.ID, number.region) for value in values)


def _by_pattern(pattern: str, rng: random.Random) -> str:
    """A text that a pattern of national numbers matches."""
    text = ""
    for sign, low, high in re.findall(r"(\(.*?\)|\[.*?\]|\\?.)(?:\{(\d+)(?:,(\d+))?\}|\?)?", pattern):
        for _ in range(rng.randint(int(low), int(high or low)) if low else 1):
            if sign.startswith("("):
                text += _by_pattern(rng.choice(sign[3:-1].split("|")), rng)
            elif sign.startswith("["):
                ranges = re.sub(r"(.)-(.)", lambda m: "".join(map(chr, range(ord(m[1]), ord(m[2]) + 1))), sign[1:-1])
                text += rng.choice(ranges.replace(r"\d", "0123456789"))
            else:
                text += rng.choice("0123456789") if sign == r"\d" else sign.removeprefix("\\")
    return text


def _others(rng: random.Random) -> Iterator[Case]:
    digits = rng.randint
    for _ in range(EACH):
        book = f"978{digits(10**8, 10**9 - 1)}"
        book += isbn.ean.calc_check_digit(book)
        for value in (
            f"{digits(1, 999)},{digits(100, 999)},{digits(100, 999)}.{digits(10, 99)} USD",
            f"{digits(1, 999)}.{digits(100, 999)}.{digits(100, 999)},{digits(10, 99)} EUR",
            f"€ {digits(1, 999)} {digits(100, 999)} {digits(100, 999)}",
            f"{digits(1, 28):02}.{digits(1, 12):02}.{digits(1900, 2030)}",
            f"{digits(1900, 2030)}-{digits(1, 12):02}-{digits(1, 28):02} {digits(0, 23):02}:{digits(0, 59):02}:{digits(0, 59):02}",
            f"{digits(1900, 1960)}-{digits(1961, 2030)}",
            f"ISBN {isbn.format(book)}",
            f"ISBN {book}",
            f"{digits(0, 29)}.{digits(0, 29)}.{digits(0, 29)}.{digits(0, 200)}",
            f"v{digits(1, 200)}.{digits(0, 99)}.{digits(0, 99)}.{digits(0, 99)}",
            f"192.168.{digits(0, 255)}.{digits(1, 254)}",
            f"{digits(-89, 89)}.{digits(10**5, 10**6)}, {digits(-179, 179)}.{digits(10**5, 10**6)}",
            f"DE{digits(10, 99)} {digits(1000, 9999)} {digits(1000, 9999)} {digits(1000, 9999)} {digits(1000, 9999)} 0{digits(0, 9)}",
            f"RFC {digits(1, 9999)}, {digits(1, 99)} (20{digits(10, 26)})",
            f"{digits(1, 99)} x {digits(1, 99)} x {digits(1, 99)} mm",
            f"0x{digits(0, 2**32):08x}",
        ):
            if not (value.startswith("DE") and iban.is_valid(value)):
                yield Case(value, None)


def print_generated() -> None:
    rng = random.Random(SEED)
    right, of, wrong = Counter[str](), Counter[str](), Counter[str]()
    by_language: dict[str, list[bool]] = {language: [] for language in LANGUAGES}
    others = 0
    for number, case in enumerate(cases(rng)):
        language = LANGUAGES[number % len(LANGUAGES)]
        regions = tuple(dict.fromkeys(filter(None, (case.region, *regions_of("www.example.org", Language(language))))))
        text = framed(case.value, language, rng)
        found = [(one.kind, text[one.start : one.end]) for one in personal_data(text, regions)]
        bare = case.value.partition(":8080")[0] if case.kind is PersonalKind.IP else case.value
        is_right = case.kind is not None and any(
            kind is case.kind and bare.strip("()") in written for kind, written in found
        )
        if case.kind is None:
            others += 1
        else:
            of[case.kind] += 1
            right[case.kind] += is_right
            by_language[language].append(is_right)
        wrong.update(kind for kind, written in found if not (is_right and kind is case.kind))
    print(
        f"generated: {sum(of.values()):,} values, {others:,} other numbers\n{'':10} {'values':>7} {'recall':>7} {'precision':>10}"
    )
    for kind in PersonalKind:
        print(
            f"{kind:10} {of[kind]:7} {right[kind] / of[kind]:7.3f} {right[kind] / ((right[kind] + wrong[kind]) or 1):10.3f}"
        )
    print(
        f"{'all':10} {of.total():7} {right.total() / of.total():7.3f} {right.total() / (right + wrong).total():10.3f}"
    )
    recalls = sorted((sum(hits) / len(hits), language) for language, hits in by_language.items())
    print("recall by language: " + ", ".join(f"{language} {recall:.3f}" for recall, language in recalls), flush=True)


class SiteCounts(NamedTuple):
    segments: int
    found: Counter[str]
    wrong: Counter[str]
    seconds: float
    shown: list[str]


def scan(site: str) -> SiteCounts:
    """All segments of a site, as each page has them."""
    found, wrong, shown = Counter[str](), Counter[str](), set[str]()
    segments, seconds = 0, 0.0
    with (SITES / site / "site.warc.gz").open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response):
            if record.http_headers.status_code != 200 or "html" not in (record.http_content_type or ""):
                continue
            url = Url.parse(record.headers["WARC-Target-URI"])
            page = read_html(record.reader.read(), url)
            texts = [text for p in page.paragraphs for text in sentences(p.text, page.language)]
            regions = regions_of(url.host, page.language)
            segments, start = segments + len(texts), time.process_time()
            findings = [(text, one) for text in texts for one in personal_data(text, regions)]
            seconds += time.process_time() - start
            for text, one in findings:
                value = text[one.start : one.end]
                found[one.kind] += 1
                wrong[one.kind] += digest(value) in WRONG
                around = f"{text[max(0, one.start - 30) : one.start]}«{value}»{text[one.end : one.end + 15]}"
                shown.add(f"{digest(value)} {one.kind:6} {around}")
    return SiteCounts(segments, found, wrong, seconds, sorted(shown))


def digest(value: str) -> str:
    return blake2b(value.encode(), digest_size=4).hexdigest()


def print_sites(*, show: bool) -> None:
    if not SITES.exists():
        print(f"personal_data: {SITES} is not here")
        return
    names = sorted(path.parent.name for path in SITES.glob("*/truth.tsv"))
    with ProcessPoolExecutor(2) as processes:
        counts = dict(zip(names, processes.map(scan, names), strict=True))
    for label, chosen in (
        ("sites that the rules were chosen on", LOOKED_AT),
        ("other sites", [name for name in names if name not in LOOKED_AT]),
    ):
        of = [counts[name] for name in chosen if name in counts]
        segments = sum(one.segments for one in of)
        found, wrong = sum((one.found for one in of), Counter()), sum((one.wrong for one in of), Counter())
        cost = 1e6 * sum(one.seconds for one in of) / segments
        print(
            f"\n{label}: {segments:,} segments, {cost:.1f} CPU µs each\n{'':10} {'found':>7} {'wrong':>7} {'wrong in a million':>19}"
        )
        for kind in PersonalKind:
            print(f"{kind:10} {found[kind]:7} {wrong[kind]:7} {1e6 * wrong[kind] / segments:19.1f}")
        print(f"{'all':10} {found.total():7} {wrong.total():7} {1e6 * wrong.total() / segments:19.1f}", flush=True)
    if show:
        print("\n".join(line for one in counts.values() for line in one.shown))


def print_export(site: str = "wet-styleguide") -> None:
    """The CPU of an export, as one and as the other; the least of three."""
    about = json.loads((SITES / site / "site.json").read_text()) if SITES.exists() else None
    if about is None:
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "job")
        bitrawl.mine(langs=",".join(about["languages"][:2]), warc=[SITES / site / "site.warc.gz"], out=folder)
        job = JobFolder(folder).job()
        seconds = {how: [_export(job, folder, Path(scratch), how) for _ in range(3)] for how in Anonymise}
        off = min(seconds[Anonymise.OFF])
        ratios = ", ".join(f"{how} {min(each) / off:.2f}" for how, each in seconds.items())
        print(f"\nexport of {site}, CPU as a ratio to the one without: {ratios}")


def _export(job: bitrawl.config.Job, folder: Path, scratch: Path, how: Anonymise) -> float:
    changed = msgspec.structs.replace(job, export=msgspec.structs.replace(job.export, anonymise=how))
    start = time.process_time()
    write_corpus(changed, folder, scratch / "to")
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="print all that was found in the sites, with its hash")
    arguments = parser.parse_args()
    print_generated()
    print_sites(show=arguments.show)
    print_export()


if __name__ == "__main__":
    main()
