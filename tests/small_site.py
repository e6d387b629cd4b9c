"""A bilingual site of our own, page by page, for the tests of pairing."""

import random

from bitrawl.model import Alternate, AlternateSource, Image, Language, Link, LinkKind, Page, Paragraph, ParagraphKind
from bitrawl.url import Url

EN, FR = Language("en"), Language("fr")
WORDS = {
    "harbour": "port", "boat": "bateau", "winter": "hiver", "summer": "été", "bread": "pain", "water": "eau",
    "bridge": "pont", "church": "église", "school": "école", "market": "marché", "garden": "jardin", "night": "nuit",
    "morning": "matin", "child": "enfant", "king": "roi", "queen": "reine", "letter": "lettre", "window": "fenêtre",
    "door": "porte", "street": "rue", "tower": "tour", "fish": "poisson", "salt": "sel", "storm": "tempête",
    "snow": "neige", "horse": "cheval", "wheel": "roue", "stone": "pierre", "glass": "verre", "song": "chanson",
    "red": "rouge", "green": "vert", "old": "vieux", "young": "jeune", "small": "petit", "large": "grand",
    "opens": "ouvre", "closes": "ferme", "sings": "chante", "carries": "porte-t-il", "finds": "trouve", "sees": "voit",
    "the": "le", "with": "avec", "and": "et", "under": "sous", "before": "avant", "after": "après",
}  # fmt: skip


def page(url: str, language: Language, texts: list[str], **more: object) -> Page:
    """A page with those paragraphs, in a plain layout."""
    paragraphs = tuple(
        Paragraph(
            text, kind=ParagraphKind.HEADING if number == 0 else ParagraphKind.TEXT, language=language, confidence=1
        )
        for number, text in enumerate(texts)
    )
    tags = ("html", "body", "h1", "#text", *(("p", "#text") * (len(texts) - 1)))
    known = {"paragraphs": paragraphs, "tags": tags, "digest": "|".join(texts)} | more
    return Page(Url.parse(url), language=language, confidence=1.0, **known)


def links(source: str, targets: list[str], first: int = 4) -> tuple[Link, ...]:
    """To those pages, one at every second tag."""
    return tuple(
        Link(Url.parse(target), LinkKind.PAGE, Url.parse(source), position=first + 2 * place)
        for place, target in enumerate(targets)
    )


def alternate(url: str, language: str) -> Alternate:
    return Alternate(Url.parse(url), language, AlternateSource.LINK)


def images(*names: str) -> tuple[Image, ...]:
    return tuple(Image(Url.parse(f"http://site.test/img/{name}")) for name in names)


def articles(count: int, english: str, french: str, *, seed: int = 1) -> tuple[list[Page], set[tuple[str, str]]]:
    """Pages at `english.format(n)` and `french.format(n)` that are translations, and which are: (english, french)."""
    made, pairs = [], set()
    for number in range(count):
        chance = random.Random(seed * 1000 + number)
        blocks = [_sentences(chance, chance.randint(2, 5)) for _ in range(chance.randint(4, 9))]
        a, b = english.format(number), french.format(number)
        made.append(page(a, EN, [" ".join(text) for text, _ in blocks]))
        made.append(page(b, FR, [" ".join(text) for _, text in blocks]))
        pairs.add((str(made[-2].url), str(made[-1].url)))
    return made, pairs


def _sentences(chance: random.Random, count: int) -> tuple[list[str], list[str]]:
    english, french = [], []
    for _ in range(count):
        words = chance.choices(list(WORDS), k=chance.randint(6, 12))
        year, name = chance.randint(1500, 2030), chance.choice(["Anna Weber", "Ostrava", "Mikael", "Lisbon", "Teodora"])
        english.append(f"{' '.join(words)} {name} {year}.".capitalize())
        french.append(f"{' '.join(WORDS[word] for word in words)} {name} {year}.".capitalize())
    return english, french
