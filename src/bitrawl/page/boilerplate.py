"""Tells main text from boilerplate: two small networks over the paragraphs of a page. The second sees the verdicts of the first.

Their input are numbers for each paragraph that do not depend on the language. The measures follow Kohlschütter et al. 2010
(length, link density, neighbours) and Vogels et al. 2018 (ancestors).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bitrawl.model import ParagraphKind
from bitrawl.model_files import model_file
from bitrawl.page.outline import Block, Containers, Outline

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NameScores = Callable[[Containers], list[float]]
"""How much each element's tag, class, id and role indicate main text, in logits."""

THRESHOLD = 0.5
"""The probability from which a paragraph is main text. Training shifts the logits so that 0.5 maximises F1."""

Weights = NDArray[np.float32]

# Judgements, except where a line names its evidence.
MAX_REMEMBERED = 20_000  # scores of names; a site has a few hundred
MAX_NAME = 40  # longer names are hashes
# Of 8,001 paragraphs that the second stage keeps, the first stage gives 6 a lower probability than this.
MIN_POSSIBLE = 0.005
CLIP = 5.0  # standard deviations
# Rows that are multiplied at a time. OpenBLAS uses one thread for a product of at most 262,144 multiplications: 24 rows
# of 190 features and 48 neurons. Of trafilatura's pages, 200 took 30 to 34 ms of CPU each with two threads
# that wait for each other, and 20 with one.
BATCH = 24
MIN_PROSE = 100  # A paragraph of at least this many characters is running text ...
MAX_LINKED_IN_PROSE = 0.2  # ... if at most this share of them is linked.
MIN_CONTENT_SHARE = 0.5  # If this share of an element's paragraphs is main text, the running text between them is too.
WEAK_LOGIT = 0.1  # logits: main text, but with little certainty
# If nothing on a page passes, it keeps its best paragraphs, but never one with more linked text than this: a menu.
MAX_LINKED = 0.5

_WHOLE = frozenset(("html", "body"))  # Their names tell pages apart, not the parts of one page.


@dataclass(frozen=True, slots=True)
class Network:
    """Perceptrons of one shape whose logits are averaged. The first axis of the arrays is the member."""

    mean: Weights
    scale: Weights
    layers: tuple[tuple[Weights, Weights], ...]  # weights (member, in, out) and biases (member, 1, out)

    def logits(self, rows: Floats) -> Floats:
        count, width = rows.shape
        padded = np.zeros((-(-count // BATCH) * BATCH, width), np.float32)
        signal = padded[:count]
        np.subtract(rows, self.mean, out=signal, casting="same_kind")
        signal /= self.scale
        np.minimum(np.maximum(signal, -CLIP, out=signal), CLIP, out=signal)
        signal = padded.reshape(1, -1, BATCH, width)
        for weights, biases in self.layers[:-1]:
            signal = signal @ weights[:, None]
            signal += biases[:, None]
            np.maximum(signal, 0, out=signal)
        weights, biases = self.layers[-1]
        members = (signal @ weights[:, None] + biases[:, None]).reshape(len(weights), -1)
        result: Floats = (np.add.reduce(members)[:count] / len(weights)).astype(np.float64)
        return result


class BoilerplateClassifier:
    """Not thread-safe, because it remembers the scores of names, which recur on a site."""

    def __init__(self, words: dict[str, float], first: Network, second: Network) -> None:
        self.words = words
        self._first = first
        self._second = second
        self._tags = {name[1:]: score for name, score in words.items() if name.startswith("<")}
        self._scores: dict[str, float] = {}

    @classmethod
    def load(cls, path: Path | None = None) -> Self:
        """The package's model, or one that `python -m lab.train boilerplate` made."""
        with np.load(path or model_file("boilerplate.npz"), allow_pickle=False) as arrays:
            words = dict(zip(arrays["words"].tolist(), arrays["scores"].tolist(), strict=True))
            return cls(words, _network(arrays, "first"), _network(arrays, "second"))

    def probabilities(self, outline: Outline) -> list[float]:
        """The probability of each block to be main text.

        At least one reaches the threshold if the page has more than links.
        """
        if not outline.blocks:
            return []
        if not outline.containers.tags:  # plain text
            return [1.0] * len(outline.blocks)
        logits = judge(outline, features(outline, self.scores), self._first, self._second)
        result: list[float] = _keep_best(outline, probability(logits)).tolist()
        return result

    def scores(self, containers: Containers) -> list[float]:
        """How much the names on each element indicate main text, in logits."""
        scores, of_tag = self._scores, self._tags
        if len(scores) > MAX_REMEMBERED:
            scores.clear()
        new = {words for words in containers.words if words not in scores}
        scores.update({words: sum(map(self._score, words.split())) for words in new})
        return [
            scores[words] + of_tag.get(tag, 0.0) if tag not in _WHOLE else 0.0
            for tag, words in zip(containers.tags, containers.words, strict=True)
        ]

    def _score(self, written: str) -> float:
        score = self._scores.get(written)
        if score is None:
            score = self._scores[written] = sum([self.words.get(name, 0.0) for name in names(written)])
        return score


def names(written: str) -> tuple[str, ...]:
    """A name in a class, id or role attribute without its final number, and the words that it is made of.

    Their order is that of the page, because the sum of their scores depends on it in its last digits.
    """
    name = written[:MAX_NAME].lower().rstrip("0123456789")
    if name.isalpha():
        return (name,)
    return tuple(dict.fromkeys((name, *[word for word in name.replace("_", "-").split("-") if len(word) > 2])))


def judge(outline: Outline, page: "Features", first: Network, second: Network) -> Floats:
    """The logits of each block. The second stage only examines what the first considers possible."""
    logits = first.logits(page.matrix)
    content = probability(logits)
    possible = (content >= MIN_POSSIBLE).nonzero()[0]
    logits[possible] = second.logits(second_rows(page, content, possible))
    return lead(outline, bridge(outline, logits))


def second_rows(page: "Features", content: Floats, rows: NDArray[np.int64]) -> Floats:
    """The input of the second network for those blocks."""
    return np.hstack((page.matrix[rows], context(page, content)[rows]))


def lead(outline: Outline, content: Floats) -> Floats:
    """A heading scores at least as high as the text under it.

    The gold data rarely marks headings as main text: without this, the networks dropped half of those in ten manuals.
    On the gold data it changes almost nothing (F1 .9431 without, .9427 with, same networks).
    """
    content = content.copy()
    for i in range(len(content) - 2, -1, -1):
        block = outline.blocks[i]
        if block.kind in _HEADS and block.link_chars < MAX_LINKED * len(block.text):
            content[i] = max(content[i], content[i + 1])
    return content


def bridge(outline: Outline, logits: Floats) -> Floats:
    """Running text is main text if the running text around it, in the same kind of element, mostly is.

    The gold pages are articles. In manuals, where prose alternates with listings and notes, the networks dropped one
    paragraph in five from the middle of a chapter.
    """
    places: dict[tuple[str, str, str], list[int]] = {}
    for number, block in enumerate(outline.blocks):
        if len(block.text) >= MIN_PROSE and block.link_chars < MAX_LINKED_IN_PROSE * len(block.text):
            places.setdefault(_container_place(outline.containers, block.container), []).append(number)
    for numbers in places.values():
        main = [number for number in numbers if logits[number] >= 0]
        if 2 <= len(main) < len(numbers) and len(main) >= MIN_CONTENT_SHARE * len(numbers):
            between = [number for number in numbers if main[0] < number < main[-1]]
            logits[between] = np.maximum(logits[between], WEAK_LOGIT)
    return logits


def _container_place(containers: Containers, number: int) -> tuple[str, str, str]:
    """A paragraph's element, and the tag and names of the element around it."""
    parent = containers.parents[number] if number >= 0 else -1
    inside = (containers.tags[parent], containers.words[parent]) if parent >= 0 else ("", "")
    return (containers.tags[number] if number >= 0 else "", *inside)


def probability(logits: Floats) -> Floats:
    result: Floats = 1 / (1 + np.exp(-_between(-30, logits, 30)))
    return result


def _keep_best(outline: Outline, content: Floats) -> Floats:
    if content.max() >= THRESHOLD:
        return content
    is_text = np.array([block.link_chars < MAX_LINKED * len(block.text) for block in outline.blocks])
    if not is_text.any():
        return content
    best = content[is_text].max()
    return np.where(is_text & (content >= best / 2), np.maximum(content, THRESHOLD), content)


def _network(arrays: "np.lib.npyio.NpzFile", name: str) -> Network:
    layers: list[tuple[Weights, Weights]] = []
    while (layer := f"{name}.{len(layers)}") + ".weights" in arrays:
        layers.append((arrays[f"{layer}.weights"], arrays[f"{layer}.biases"]))
    return Network(arrays[f"{name}.mean"], arrays[f"{name}.scale"], tuple(layers))


# Judgements. docs/decisions/boilerplate.md shows what the features reach together.
WIDE = 1.5  # A Chinese character carries as much text as two and a half Latin letters.
# A paragraph with few links begins to count as prose at this many letters, and counts fully at twice as many.
PROSE = 40
PROSE_LINKS = 0.35  # Prose has at most this share of linked letters.
LEVELS = 3  # ancestors that are examined
WINDOWS = (3, 8)  # paragraphs on each side
CONTEXT_WINDOWS = (2, 8)  # the same for the probabilities of the first stage
# Shares of a page's prose, and of its likely main text.
PROSE_SHARES, CONTEXT_SHARES = np.array([[0.5], [0.8]]), np.array([[0.6], [0.9]])
# Kinds of characters, one bit each.
_STOP, _FULL_STOP, _AFTER, _COMMA, _COLON, _DIGIT, _WIDE, _SPACE, _LOWER, _ODD = (1 << i for i in range(10))
_COUNTS = np.array([[_FULL_STOP], [_COMMA], [_DIGIT], [_ODD], [_SPACE], [_WIDE]], np.int16)
_COUNTED = _STOP | int(_COUNTS.sum())
_CHARACTERS = {
    _STOP: ".!?…",  # at the end of a word
    _FULL_STOP: "。！？؟।॥۔։።။។៕",  # anywhere
    _AFTER: " \n\"'»”’)]",
    _COMMA: ",，、،",
    _COLON: ":：",
    _SPACE: " ",
    _ODD: "|»›•·©@/",  # menus, notices, e-mail addresses
}
_WIDE_RANGES = ((0x1100, 0x11FF), (0x2E80, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0xFF00, 0xFF9F))
_AROUND = {
    tag: 1 << i
    for i, tag in enumerate(
        "article main nav footer header aside form table ul ol dl figure section blockquote details".split()
    )
}
_AROUND_BITS = np.array([list(_AROUND.values())]).T
_OWN = {
    tag: i
    for i, tag in enumerate(
        "p div li td h1 h2 h3 h4 h5 h6 dt dd th pre blockquote figcaption button section article".split()
    )
}

_KIND_ROWS = {kind: i for i, kind in enumerate(ParagraphKind)}
_HEADS = frozenset((ParagraphKind.HEADING, ParagraphKind.TITLE))
_KINDS = np.array(  # heading, list item, title
    [(kind in _HEADS, kind is ParagraphKind.LISTITEM, kind is ParagraphKind.TITLE) for kind in ParagraphKind], float
).T


@dataclass(slots=True)
class Nesting:
    """The containers of a page as arrays, and sums over the paragraphs in each."""

    of_block: Ints  # the innermost container of each block
    first: Ints
    end: Ints
    depth: Floats
    own_depth: Floats  # of the innermost container of each block
    wider: Ints  # the nearest outer container with more blocks; itself if there is none

    def sums(self, *measures: NDArray[np.generic]) -> tuple[Floats, Floats]:
        """The sums of each measure up to each block (one more than there are blocks), and within each container."""
        rows = np.array(measures, dtype=np.float64)
        running = np.zeros((len(rows), rows.shape[1] + 1))
        rows.cumsum(axis=1, out=running[:, 1:])
        return running, running.take(self.end, axis=1) - running.take(self.first, axis=1)

    def levels(self) -> Ints:
        """The container of each block, the next wider one, and so on, as rows."""
        levels = [self.of_block]
        while len(levels) < LEVELS:
            levels.append(self.wider.take(levels[-1]))
        return np.array(levels)

    def relation(self, mains: Ints) -> list[NDArray[np.generic]]:
        """Whether each block is inside each of those containers, and how much deeper its own container is."""
        index = np.arange(len(self.of_block))
        is_inside = (index >= self.first[mains]) & (index < self.end[mains])
        return [is_inside, _between(-10, self.own_depth - self.depth[mains], 15)]

    def deepest(self, mass: Floats, shares: Floats) -> Ints:
        """The innermost containers with at least those shares of the page's mass, as a column; the root if there is none."""
        if mass[0] <= 1:
            return np.zeros((len(shares), 1), np.int64)
        deepest: Ints = np.where(mass >= shares * mass[0] - 1e-6, self.depth, -1).argmax(axis=1)
        return deepest[:, None]


@dataclass(slots=True)
class Features:
    """The features of a page for the first stage, and what the second stage needs of them."""

    matrix: Floats  # one row per block
    size: Floats
    nesting: Nesting


def features(page: Outline, scores: NameScores) -> Features:
    """The page must have at least one block."""
    texts = _text(page.blocks)
    size, stops, link_density = texts[0], texts[1], texts[5]
    nesting, path, around = _nest(page, scores)
    mine, title = nesting.of_block, page.title
    prose = np.where((link_density < PROSE_LINKS) & (stops > 0), size * (1 - link_density), 0)
    prose *= _between(0, (size - PROSE) / PROSE, 1)
    kinds = _KINDS.take([_KIND_ROWS[block.kind] for block in page.blocks], axis=1)
    running, inside = nesting.sums(size, size * link_density, prose, np.ones(len(size)), stops, kinds[0], kinds[1])
    total = running[:, -1]
    covered = total[0] + 1e-9
    page_wide = np.array([np.log1p(total[3]), np.log1p(total[0]), total[1] / covered, total[2] / covered])
    own_path = path.take(mine, axis=1)
    rows = [
        _own(texts),
        kinds,
        np.array([[3 < len(block.text) <= len(title) and block.text in title for block in page.blocks]], dtype=float),
        _tags(page, mine, around),
        np.minimum(nesting.own_depth, 40)[None],
        own_path,
        _place(page, running, kinds),
        _neighbours(np.log1p(size), link_density, stops / (size / 50 + 1), own_path[1], kinds[0], prose > 0),
        _windows(running),
        _ancestors(nesting, inside, total, path[2]),
        _main(nesting, inside),
        page_wide[:, None] + np.zeros(len(size)),
    ]
    return Features(np.concatenate(rows).T, size, nesting)


def context(page: Features, content: Floats) -> Floats:
    """What the first stage's verdicts on the neighbouring paragraphs tell about each paragraph."""
    n = len(content)
    nesting = page.nesting
    running, inside = nesting.sums(page.size, content * page.size, content, np.ones(n))
    total = running[:, -1] + 1e-9
    low, high = _spans(n, CONTEXT_WINDOWS)
    span = running[:3].take(high, axis=1) - running[:3].take(low, axis=1)
    shares = np.array((inside[1] / (inside[0] + 1), inside[1] / total[1], inside[2], np.maximum(inside[3] - 1, 0.5)))
    share, part, likely, others = shares.take(nesting.levels(), axis=1)
    mains = nesting.deepest(inside[1], CONTEXT_SHARES)
    rows = (
        content[None],
        _neighbours(content),
        _in_turns(span[1] / (span[0] + 1), (span[2] - content) / np.maximum(high - low - 1, 1)),
        (running[1, :-1] / total[1], 1 - running[1, 1:] / total[1]),
        (_best_before(content), _best_before(content[::-1])[::-1]),
        _in_turns(share, part, (likely - content) / others),
        _in_turns(*nesting.relation(mains), shares[0, mains] + np.zeros(n)),
        np.array([[total[1] / total[0]], [np.log1p(total[1])]]) + np.zeros(n),
    )
    return np.concatenate(rows).T


@lru_cache(maxsize=1)
def _kinds_of_characters() -> NDArray[np.int16]:
    """For each character of the Basic Multilingual Plane. Built once, in about 20 ms."""
    table = np.zeros(0x10000, dtype=np.int16)
    for bit, test in ((_DIGIT, str.isdigit), (_LOWER, str.islower)):
        table[[code for code in range(0x10000) if test(chr(code))]] |= bit
    for bit, characters in _CHARACTERS.items():
        table[[ord(character) for character in characters]] |= bit
    for low, high in _WIDE_RANGES:
        table[low : high + 1] |= _WIDE
    return table


def _text(blocks: list[Block]) -> Floats:
    """All texts at once, as one array of characters. This replaces several regular expressions per text."""
    texts = [block.text for block in blocks]
    codes = np.frombuffer(("\n".join(texts) + "\n").encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    kinds = _kinds_of_characters().take(codes, mode="clip")
    length, links, linked, marked = np.array(
        (
            [len(text) for text in texts],
            [block.links for block in blocks],
            [block.link_chars for block in blocks],
            [block.marked_chars for block in blocks],
        )
    )
    ends = (length + 1).cumsum() - 1  # the position of the line feed after each text
    starts = ends - length
    special = ((kinds & _COUNTED) != 0).nonzero()[0]  # much faster than for integers
    special_kinds = kinds.take(special)
    is_full_stop = ((special_kinds & _STOP) != 0) & ((kinds.take(special + 1) & _AFTER) != 0)
    special_kinds |= is_full_stop * np.int16(_FULL_STOP)
    counts = np.zeros((len(_COUNTS), len(special) + 1), np.int32)
    ((special_kinds & _COUNTS) != 0).cumsum(axis=1, out=counts[:, 1:], dtype=np.int32)
    counts = counts.take(special.searchsorted(ends), axis=1)
    counts[:, 1:] -= counts[:, :-1].copy()
    stops, commas, digits, odd, spaces, wide = counts
    size = length + WIDE * wide
    first, last = kinds.take(starts), kinds.take(ends - 1)
    tests = (last & (_STOP | _FULL_STOP), last & _COLON, first & _LOWER, first & _DIGIT, odd)
    letters_per_word = size / (spaces + 1 + wide / 2)
    shares = (digits / length, links, linked / length, marked / length)
    return np.array((size, stops, commas, *shares, *(test != 0 for test in tests), letters_per_word), dtype=np.float64)


def _nest(page: Outline, scores: NameScores) -> tuple[Nesting, Floats, Ints]:
    """The nesting; the scores of each container's path (sum, nearest first, own); the tags around."""
    containers = page.containers
    first, end = np.array(containers.first), np.array(containers.end)
    blocks = (end - first).tolist()
    own = scores(containers)
    depths, wider, around, total, near = [0], [0], [_AROUND.get(containers.tags[0], 0)], [own[0]], [own[0]]
    for i in range(1, len(own)):
        parent, mine = containers.parents[i], own[i]
        depths.append(depths[parent] + 1)
        outer = parent if blocks[parent] > blocks[i] else wider[parent]
        wider.append(outer if blocks[outer] > blocks[i] else i)
        around.append(around[parent] | _AROUND.get(containers.tags[i], 0))
        total.append(total[parent] + mine)
        near.append(near[parent] * 0.5 + mine)
    of_block, depth = np.array([block.container for block in page.blocks]), np.array(depths, dtype=np.float64)
    nesting = Nesting(of_block, first, end, depth, depth.take(of_block), np.array(wider))
    return nesting, np.array((total, near, own)), np.array(around)


def _own(texts: Floats) -> Floats:
    size, stops, commas, digits, links, *others, letters_per_word = texts
    per = size / 50 + 1
    counts = (np.log1p(size), np.minimum(stops, 20), stops / per, commas / per, digits, np.log1p(links))
    return np.array((*counts, *others, np.minimum(letters_per_word, 30)))


def _tags(page: Outline, mine: Ints, around: Ints) -> Floats:
    own = np.zeros((len(_OWN) + 1, len(mine)))
    tags = page.containers.tags
    own[[_OWN.get(tags[container], len(_OWN)) for container in mine.tolist()], np.arange(len(mine))] = 1
    return np.concatenate((own, (around.take(mine) & _AROUND_BITS) != 0))


def _place(page: Outline, running: Floats, kinds: Floats) -> Floats:
    n = kinds.shape[1]
    index = np.arange(n)
    total = running[:, -1] + 1e-9
    titles = kinds[2].nonzero()[0]
    if not len(titles):
        tags = page.containers.tags
        titles = np.array([i for i, block in enumerate(page.blocks) if tags[block.container] == "h1"][:1])
    behind = _between(-20, index - titles[0], 60) if len(titles) else np.full(n, -30)
    middle = (running[0, :-1] + running[0, 1:]) / 2
    return np.array((middle / total[0], (index + 0.5) / n, running[2, :-1] / total[2], behind))


def _neighbours(*measures: NDArray[np.generic]) -> Floats:
    n = len(measures[0])
    padded = np.zeros((len(measures), n + 4))
    padded[:, 2 : n + 2] = measures
    return np.concatenate([padded[:, 2 + d : 2 + d + n] for d in (-2, -1, 1, 2)])


def _spans(n: int, widths: tuple[int, ...]) -> tuple[Ints, Ints]:
    index, reach = np.arange(n), np.array(widths)[:, None]
    return np.maximum(index - reach, 0), np.minimum(index + (reach + 1), n)


def _windows(running: Floats) -> Floats:
    low, high = _spans(running.shape[1] - 1, WINDOWS)
    span = running.take(high, axis=1) - running.take(low, axis=1)
    size, count = span[0] + 1, high - low
    return _in_turns(np.log1p(span[0] / count), span[1] / size, span[2] / size, span[5] / count)


def _ancestors(nesting: Nesting, inside: Floats, total: Floats, own: Floats) -> Floats:
    size, count = inside[0] + 1, np.maximum(inside[3], 1)
    measures = (
        np.log1p(inside[3]),
        np.log1p(inside[0]),
        inside[1] / size,
        inside[0] / (total[0] + 1e-9),
        inside[2] / (total[2] + 1e-9),
        inside[2] / size,
        inside[4] / (size / 50 + 1),
        inside[5] / count,
        own,
    )
    return _in_turns(*np.array(measures).take(nesting.levels(), axis=1))


def _main(nesting: Nesting, inside: Floats) -> Floats:
    """How each block relates to the innermost elements that contain half and four fifths of the prose."""
    mains = nesting.deepest(inside[2], PROSE_SHARES)
    first, end = nesting.first[mains], nesting.end[mains]
    place = (np.arange(len(nesting.of_block)) - first) / np.maximum(end - first, 1)
    return _in_turns(*nesting.relation(mains), _between(-1, place, 2))


def _best_before(content: Floats) -> Floats:
    return np.concatenate(([0.0], np.maximum.accumulate(content[:-1])))


def _in_turns(*measures: NDArray[np.generic]) -> Floats:
    """Each measure has a row for each window, ancestor or main element. The rows of the first one, then of the next."""
    rows = np.array(measures, dtype=np.float64)
    return rows.swapaxes(0, 1).reshape(-1, rows.shape[2])


def _between(least: float, values: NDArray[np.generic], most: float) -> Floats:
    """What `np.clip` does, which takes twice as long for a hundred numbers."""
    result: Floats = np.minimum(np.maximum(values, least), most)
    return result
