"""Mining meets texts of every script and of no sense at all: nothing falls over, and every pair has its answer."""

import random

import pytest
from small_site import articles

from bitrawl import config
from bitrawl.job.workers import wired_miner as new_miner
from bitrawl.mining import stages
from bitrawl.mining.stages import Miner
from bitrawl.model import Language, Page, PagePair, Paragraph, ParagraphKind
from bitrawl.url import Url

# A language, and where the letters of its script begin and how many there are.
SCRIPTS = {
    "el": (0x3B1, 24), "ru": (0x430, 32), "ar": (0x627, 36), "he": (0x5D0, 27), "hi": (0x905, 50), "bn": (0x985, 46),
    "ta": (0xB85, 53), "th": (0xE01, 46), "lo": (0xE81, 46), "bo": (0xF40, 41), "my": (0x1000, 33), "ka": (0x10D0, 33),
    "am": (0x1200, 80), "km": (0x1780, 35), "ko": (0xAC00, 400), "ja": (0x3042, 80), "zh": (0x4E00, 900),
    "hy": (0x561, 38), "iu": (0x1401, 200), "chr": (0x13A0, 85), "en": (0x61, 26), "tr": (0x61, 26), "fi": (0x61, 26),
}  # fmt: skip
ODD = {
    "empty": [],
    "blank": ["", " ", "\u200b"],
    "one word": ["word"],
    "one letter": ["α"],
    "digits": ["1 2 3 4 5", "12345678901234567890", "٣٤٥", "第二"],
    "emoji": ["😀 😀 😀.", "👩‍👩‍👧‍👦", "🇫🇷🇬🇧"],
    "marks": ["... !!! ???", "———", "§§§"],
    "combining": ["e\u0301" * 50, "\u0301\u0301\u0301"],
    "one long word": ["x" * 20_000],
    "no spaces": ["the" * 3_000],
    "controls": ["a\u0000b\u202ec\ufeff"],
    "repeated": ["The same sentence again."] * 200,
    "many words": [" ".join(["word"] * 30_000)],
}


@pytest.fixture(scope="module")
def miner() -> Miner:
    return new_miner(config.resolve({"langs": ["en", "fr"], "seeds": ["http://s.test/"]}))


def page(url: str, language: str, texts: list[str]) -> Page:
    paragraphs = tuple(Paragraph(text, ParagraphKind.TEXT, language=Language(language)) for text in texts)
    return Page(Url.parse(url), Language(language), 1.0, paragraphs=paragraphs, tags=("p",) * len(texts))


def prose(language: str, seed: int, sentences: int = 6) -> list[str]:
    first, count = SCRIPTS[language]
    chance = random.Random(seed)
    letters = [chr(first + number) for number in range(count)]
    words = ["".join(chance.choices(letters, k=chance.randint(1, 8))) for _ in range(40)]
    return [" ".join(chance.choices(words, k=9)) + "." for _ in range(sentences)]


def mined(miner: Miner, languages: tuple[str, str], pages: list[tuple[Page, Page]]) -> list[int]:
    """How many segments each pair has; the pages are paired as they are given, and by what pairing finds."""
    both = (Language(languages[0]), Language(languages[1]))
    known = [PagePair(a.url, b.url, *both, 0.9) for a, b in pages]
    site = [one for pair in pages for one in pair]
    paired = miner.pair("s.test", lambda: site, ())
    assert {pair.url_a for pair in paired.findings.pairs} <= {one.url for one in site}
    assert len(miner.pair("s.test", lambda: site, (), known_pairs=known).findings.pairs) == len(pages)
    aligned = miner.align(both, pages)
    assert not any(one.faults for one in aligned)
    assert all(0 <= segment.score <= 1 for one in aligned for segment in one.segments)
    return [len(one.segments) for one in aligned]


@pytest.mark.parametrize("language", SCRIPTS)
def test_every_script_is_mined(miner: Miner, language: str):
    pages = [
        (
            page(f"http://s.test/en/{number}", "en", prose("en", number)),
            page(f"http://s.test/{language}x/{number}", language, prose(language, number)),
        )
        for number in range(3)
    ]
    assert len(mined(miner, ("en", language), pages)) == 3


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("side", ["first", "second", "both"])
def test_odd_texts_cost_nothing_but_themselves(miner: Miner, odd: str, side: str):
    texts, good = ODD[odd], prose("en", 1)
    a = texts if side != "second" else good
    b = texts if side != "first" else prose("fi", 1)
    made, _ = articles(2, "http://s.test/en/p{}", "http://s.test/fr/p{}")
    translated = [(made[0], made[1]), (made[2], made[3])]
    odd_pair = (page("http://s.test/en/1", "en", a), page("http://s.test/fr/1", "fr", b))
    assert min(mined(miner, ("en", "fr"), [odd_pair, *translated])[1:]) > 0


def test_a_lack_of_memory_is_no_fault_of_a_segment():
    class Starved:
        def judge(self, _pairs: object) -> list:
            raise MemoryError

    with pytest.raises(MemoryError):
        stages._judged(Starved(), [[], []])  # type: ignore[arg-type]
