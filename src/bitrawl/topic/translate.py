"""Terms of the other language, proposed from a corpus of translations."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

import msgspec

from bitrawl.errors import ConfigError
from bitrawl.model import Language
from bitrawl.text.lexicon import Lexicon
from bitrawl.text.words import is_unspaced, stems_of, word_places, words
from bitrawl.topic.term_list import Term, TermList, line
from bitrawl.topic.term_relevance import TermMatcher

MOST_EXAMPLES = 200  # segments that one term is looked for in
MOST_PAIRS = 20_000  # segments that the lexicon learns from: 300 MB and some seconds
LONGEST = 400  # characters of a segment, about 60 words; a term in a longer one has too many neighbours
CANDIDATES = 3
MIN_PROBABILITY = 0.1
# A word of the other language costs this much, and is worth the probability that it translates a word of the term: words
# that nothing translates stay out, but may stand between two that are translated ("politique de la pêche"). Judgement.
COST = 0.1
COMMON_SHARE = 0.1  # Of the segments: a word that is in more of them is no word to know a term by; judgement.

TextPair = tuple[str, str]


class TermCandidate(msgspec.Struct, frozen=True):
    """A possible translation of a term."""

    text: str
    probability: float  # share of the segments with the term whose other side has this
    count: int  # how many those are
    example: TextPair


class Proposal(msgspec.Struct, frozen=True):
    """A term and its possible translations, the most probable first. None where the corpus has no evidence."""

    term: Term
    occurrences: int  # segments that have the term
    candidates: tuple[TermCandidate, ...]


def propose(pairs: Iterable[TextPair], terms: TermList, languages: tuple[Language, Language]) -> list[Proposal]:
    """Translate the terms of the first language by segments that are translations of each other.

    A lexicon is learned from the segments that have a term, and from others to tell apart what all have. The
    translation of an occurrence is the run of words that it links best. Raises `ConfigError` if no term occurs.
    """
    source, target = languages
    matcher = TermMatcher(terms.of(source), source)
    examples, others = _gathered(pairs, matcher)
    if not examples:
        raise ConfigError(
            f"no term of the list in {source} occurs in the corpus ({len(matcher.terms)} looked for);"
            " check the order of --langs (the list's language first), or give a corpus on the subject"
        )
    learned_from = list(dict.fromkeys(chain(*examples.values(), others)))[:MOST_PAIRS]
    tokens = [(words(a, source), words(b, target)) for a, b in learned_from]
    spans = _Spans(Lexicon.learn(tokens), target, _common(a for a, _ in tokens))
    return [
        _proposal(term, words(term.text, source), examples.get(number, []), spans)
        for number, term in enumerate(matcher.terms)
    ]


def proposed_list(proposals: Sequence[Proposal], language: Language) -> str:
    """A list in ILSP-FC's format for a person to edit: the best candidate of each term, the others in comments."""
    lines = []
    for proposal in proposals:
        term, candidates = proposal.term, proposal.candidates
        if not candidates:
            lines.append(f"# {term.text}: {'no clear translation' if proposal.occurrences else 'not in the corpus'}")
            continue
        others = ", ".join(f"{candidate.text} {candidate.probability:.0%}" for candidate in candidates[1:])
        best = candidates[0]
        lines.append(
            f"# {term.text}: {best.probability:.0%} of {proposal.occurrences}{f'; or {others}' if others else ''}"
        )
        lines.append(f"#   {_one_line(best.example[0])} | {_one_line(best.example[1])}")
        lines.append(line(msgspec.structs.replace(term, text=best.text, language=language)))
    return "".join(f"{written}\n" for written in lines)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _gathered(pairs: Iterable[TextPair], matcher: TermMatcher) -> tuple[dict[int, list[TextPair]], list[TextPair]]:
    """The segments of each term, and some that have none."""
    examples: dict[int, list[TextPair]] = {}
    others: list[TextPair] = []
    for a, b in pairs:
        if not a or not b or max(len(a), len(b)) > LONGEST:
            continue
        numbers = set(matcher.find(a).numbers)
        for number in numbers:
            if len(segments := examples.setdefault(number, [])) < MOST_EXAMPLES:
                segments.append((a, b))
        if not numbers and len(others) < MOST_PAIRS:
            others.append((a, b))
    return examples, others


def _common(texts: Iterable[Sequence[str]]) -> frozenset[str]:
    counts: Counter[str] = Counter()
    total = 0
    for tokens in texts:
        counts.update(set(tokens))
        total += 1
    return frozenset(stem for stem, count in counts.items() if count > COMMON_SHARE * total)


class _Spans:
    """The runs of words that translate a term."""

    def __init__(self, lexicon: Lexicon, target: Language, common: frozenset[str]) -> None:
        self._lexicon, self._target, self._common = lexicon, target, common

    def links(self, stems: Sequence[str]) -> dict[str, float]:
        """How probably each word of the other language translates one of these, both ways."""
        telling = [stem for stem in stems if stem not in self._common] or list(stems)
        links: dict[str, float] = {}
        for stem in telling:
            for word, probability in self._lexicon.mutual(stem).items():
                links[word] = max(links.get(word, 0.0), probability)
        return links

    def best(self, text: str, links: dict[str, float]) -> tuple[tuple[str, ...], str]:
        """The run of words with the most evidence (Kadane's algorithm), its stems and its text; empty if none has."""
        text = unicodedata.normalize("NFKC", text)
        units = self._units(text)
        best, here, begin, place = 0.0, 0.0, 0, (0, 0)
        for at, (_, _, stem) in enumerate(units):
            if here <= 0:
                here, begin = 0.0, at
            here += links.get(stem, 0.0) - COST
            if here > best:
                best, place = here, (begin, at + 1)
        span = units[place[0] : place[1]]
        return tuple(stem for _, _, stem in span), text[span[0][0] : span[-1][1]] if span else ""

    def _units(self, text: str) -> list[tuple[int, int, str]]:
        stems = stems_of(self._target)
        units: list[tuple[int, int, str]] = []
        for begin, end in word_places(text):
            if is_unspaced(text[begin]) and end - begin > 1:
                units += ((at, at + 2, text[at : at + 2].casefold()) for at in range(begin, end - 1))
            else:
                units.append((begin, end, " ".join(stems[text[begin:end].casefold()])))
        return units


def _proposal(term: Term, stems: Sequence[str], examples: Sequence[TextPair], spans: _Spans) -> Proposal:
    links = spans.links(stems)
    runs: dict[tuple[str, ...], list[tuple[str, TextPair]]] = {}
    for pair in examples:
        key, text = spans.best(pair[1], links)
        if key:
            runs.setdefault(key, []).append((text, pair))
    candidates = [
        TermCandidate(
            Counter(text for text, _ in occurrences).most_common(1)[0][0],
            len(occurrences) / len(examples),
            len(occurrences),
            min((pair for _, pair in occurrences), key=lambda pair: len(pair[0]) + len(pair[1])),
        )
        for occurrences in runs.values()
        if len(occurrences) >= MIN_PROBABILITY * len(examples)
    ]
    candidates.sort(key=lambda candidate: -candidate.count)
    return Proposal(term, len(examples), tuple(candidates[:CANDIDATES]))
