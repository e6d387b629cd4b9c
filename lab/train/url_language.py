"""Makes models/url-language.npz: n-grams of words from public packages, countries from CLDR, weights from labelled URLs.

`python -m lab.train url-language --data DATA --out url-language.npz`, with the group `lab` installed. The packages are downloaded
once, into the folder that --cache names, or into ~/.cache/bitrawl/words.
"""

import csv
import gzip
import hashlib
import logging
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitrawl.errors import UrlError
from bitrawl.files import replacing
from bitrawl.model import UNDETERMINED, Language
from bitrawl.url import Url
from bitrawl.urls.language_evidence import KINDS, Form, UrlPlace, UrlReader
from bitrawl.urls.language_model import ENGLISH, Dense, UrlLanguageData, host_evidence, poverty
from lab.train import Tell, silent
from lab.train.url_language_tables import tables
from lab.train.url_language_words import base_language

WORDS = Path.home() / ".cache" / "bitrawl" / "words"
# Judgement, all of these.
STOP_LANGUAGES = 4  # A word on sites of so many languages says nothing of any.
PER_HOST = 20  # URLs, so that no site outweighs the others, in whatever languages it has
MOST_OF_HOST = {"mdn-masked": 1200, "mdn": 300}  # one host, but its slugs are what is learned from
MOST_OF_SOURCE = {"hosts": 600}  # of a language; the books keep their proportions, which are the web's more or less
UNKNOWN_ROWS = 400  # made-up URLs that tell nothing
BARE_NAMES = 0.25  # the share of them that have a name of consonants for an address of numbers
SEED = 4
STEPS = 100  # of the minimisation, at most

_log = logging.getLogger(__name__)


class Labelled(NamedTuple):
    """A URL and the language of its page."""

    url: Url
    language: Language
    source: str


def train(data: Path, out: Path, *, cache: Path | None = None, tell: Tell = silent) -> None:
    """Write the model that those labelled URLs make; words of languages are downloaded into `cache`, once."""
    labelled = training_urls(read_urls(data))
    tell("counting n-grams of words, downloaded where they are not here yet")
    made = tables(cache or WORDS)
    tell(f"fitting the weights to {len(labelled)} URLs in {len({row.language for row in labelled})} languages")
    out.parent.mkdir(parents=True, exist_ok=True)
    write_model(fit(made, labelled), out)


def write_model(model: UrlLanguageData, path: Path) -> None:
    """Write what `UrlLanguageData.load` reads."""
    zero = -int(model.ngrams.weights.min())
    raised = (model.ngrams.weights + zero).astype(np.uint8)
    if raised.shape[1] % 2:
        raised = np.pad(raised, ((0, 0), (0, 1)))
    with replacing(path) as file:
        np.savez_compressed(
            file,
            languages=" ".join(model.languages),
            keys=model.ngrams.keys,
            weights=raised[:, 0::2] | (raised[:, 1::2] << 4),
            zero=zero,
            multiplier=model.ngrams.multiplier,
            prior=model.prior,
            wealth=model.wealth,
            countries=" ".join(model.countries),
            shares=model.shares.astype(np.float16),
            official=model.official.astype(np.float16),
            stopped=" ".join(sorted(model.stopped)),
            wordlike=" ".join(sorted(model.wordlike)),
            particles=" ".join(sorted(model.particles)),
            dense=model.dense,
            marks=model.marks,
        )


def read_urls(data: Path) -> list[Labelled]:
    """The labelled URLs of the folder, their languages without region and script."""
    rows = [
        *((url, code, "books") for url, code in _table(data / "free-programming-books.tsv.gz")),
        *((f"http://{host}/", code, "hosts") for host, code in _table(data / "easylist-hosts.tsv.gz")),
        *((url, code, "mdn") for url, code in _table(data / "mdn-url-language.tsv.gz")),
        *((url, code, "mdn-masked") for url, code in _masked(data / "mdn-url-pairs.tsv.gz")),
        *(
            (pair[n], code, "wmt16")
            for pair in _table(data / "wmt16-train.pairs.tsv")
            for n, code in enumerate(("en", "fr"))
        ),
    ]
    labelled = []
    for raw, code, source in dict.fromkeys(rows):
        try:
            labelled.append(Labelled(Url.parse(raw), Language(base_language(code)), source))
        except UrlError:
            continue
    return labelled


def _table(path: Path) -> Iterator[list[str]]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    yield from list(csv.reader(data.decode().splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))[1:]


def _masked(path: Path) -> Iterator[tuple[str, str]]:
    """Pages with a slug of their own, without the locale."""
    for _, url, locale, translated in _table(path):
        if translated == "1":
            yield url.replace(f"/{locale}/", "/", 1), locale


def training_urls(labelled: Sequence[Labelled]) -> list[Labelled]:
    """A few of each host and language, in an order that depends on nothing but the URLs."""
    taken: Counter[tuple[str, ...]] = Counter()
    kept = []
    for row in sorted(labelled, key=lambda row: hashlib.sha256(row.url.encode()).digest()):
        of_host, of_source = (row.url.site, row.source), (row.source, row.language, "")
        if taken[of_host] < MOST_OF_HOST.get(row.source, PER_HOST) and taken[of_source] < MOST_OF_SOURCE.get(
            row.source, len(labelled)
        ):
            taken.update((of_host, of_source))
            kept.append(row)
    return kept


class _Problem(NamedTuple):
    """Evidence of all training URLs: what is the same for all weights."""

    dense: NDArray[np.float32]  # evidence × URLs × languages
    rows: NDArray[np.int64]  # of each mark its URL, language and features
    columns: NDArray[np.int64]
    features: NDArray[np.int64]
    truth: NDArray[np.int64]
    barred: NDArray[np.bool_]  # URLs of a source that has no English: that is no evidence against it
    english: int
    importance: NDArray[np.float32]


# A mark's weight is that of its place, of its form, and of both together, the latter held small: rare ones borrow.
_MARK_FEATURES = len(UrlPlace) + len(Form) + KINDS
_PENALTY, _PENALTY_OF_BOTH, _PENALTY_OF_DENSE = 1e-3, 1e-3, 1e-4  # judgement
# What is believed of a mark before any URL was seen, and is kept where there are few: nats. Judgement.
_BELIEVED_PLACES = {
    UrlPlace.PARAMETER: 7.0,
    UrlPlace.VALUE: 3.0,
    UrlPlace.FIRST: 6.0,
    UrlPlace.DIRECTORY: 5.0,
    UrlPlace.FILE: 4.0,
    UrlPlace.TOKEN: 2.0,
    UrlPlace.LABEL: 6.0,
    UrlPlace.LABEL_TOKEN: 2.5,
}
_BELIEVED_FORMS = {
    Form.CODE: 0.0,
    Form.WORD: -1.5,
    Form.LONG: 0.0,
    Form.LOCALE: 2.0,
    Form.NAME: 0.5,
    Form.COUNTRY: -0.5,
}
# A language with n URLs of a source weighs n ** (1 - BALANCE) there. Not swept: 0.6 and 0.4 were tried
# on earlier forms of the model, 0.3 chosen because English wanted 0.4 nats more at 0.4 (2026-11).
BALANCE = 0.3
# The books have the most languages and English among them; MDN is one host, and half of the hosts' labels are doubtful.
# Judgement.
IMPORTANCE = {"books": 1.0, "hosts": 0.5, "mdn-masked": 0.2, "mdn": 0.15, "wmt16": 0.2, "numbers": 0.02}


def fit(data: UrlLanguageData, labelled: Sequence[Labelled]) -> UrlLanguageData:
    """With the weights of evidence that explain those labels best."""
    from scipy.optimize import minimize  # noqa: PLC0415 (the extra's)

    labelled = [row for row in labelled if row.language in data.languages]
    data = data._replace(stopped=_stopped(labelled, data))
    problem = _problem(data, [*labelled, *_telling_nothing(labelled)])
    found = minimize(_loss_of(problem), _start(), jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    dense, marks = found.x[: len(Dense)], found.x[len(Dense) :]
    place, form, both = np.split(marks, [len(UrlPlace), len(UrlPlace) + len(Form)])
    table = both.reshape(len(UrlPlace), len(Form)) + place[:, None] + form[None, :]
    _log.info("%d URLs, loss %.4f after %d steps", len(labelled), found.fun, found.nit)
    return data._replace(dense=dense.astype(np.float32), marks=table.ravel().astype(np.float32))


def _start() -> NDArray[np.float64]:
    start = np.zeros(len(Dense) + _MARK_FEATURES)
    start[Dense.UNKNOWN_MARKS], start[Dense.POVERTY_MARKED] = -4.0, 0.9  # believed, as above
    start[len(Dense) : len(Dense) + len(UrlPlace)] = [_BELIEVED_PLACES[place] for place in UrlPlace]
    start[len(Dense) + len(UrlPlace) :][: len(Form)] = [_BELIEVED_FORMS[form] for form in Form]
    return start


def _stopped(labelled: Sequence[Labelled], data: UrlLanguageData) -> frozenset[str]:
    """Words that sites of many languages use."""
    reader = UrlReader(data.languages, data.countries, frozenset(), data.codelike)
    seen: dict[str, set[str]] = defaultdict(set)
    for row in labelled:
        host, pieces = reader.pieces(row.url)
        for piece in (reader.host(host), *pieces):
            for word in piece.words.decode().split():
                seen[word].add(row.language)
    return frozenset(word for word, languages in seen.items() if len(languages) >= STOP_LANGUAGES)


def _telling_nothing(labelled: Sequence[Labelled]) -> list[Labelled]:
    """URLs as there are many, made of numbers: an address, an article's id, a hash."""
    chance = random.Random(SEED)  # noqa: S311 (no secret)
    made = []
    for row in chance.sample(list(labelled), min(UNKNOWN_ROWS, len(labelled))):
        path = re.sub(r"[^\W\d_]+", lambda _: str(chance.randrange(1000)), row.url.path)
        name = ".".join(str(chance.randrange(1, 255)) for _ in range(4))
        if chance.random() < BARE_NAMES:
            name = "".join(chance.choices("bcdfghjklmnpqrstvwxz", k=chance.randrange(2, 5))) + chance.choice(
                [".com", ".net", ".org"]
            )
        made.append(Labelled(Url.parse(f"http://{name}{path}"), UNDETERMINED, "numbers"))
    return made


def _problem(data: UrlLanguageData, labelled: Sequence[Labelled]) -> _Problem:
    reader = UrlReader(data.languages, data.countries, data.stopped, data.codelike)
    dense, marks = evidence(data, reader, [row.url for row in labelled])
    index = {language: number for number, language in enumerate((*data.languages, UNDETERMINED))}
    counts = Counter((row.source, row.language) for row in labelled)
    importance = np.array([counts[row.source, row.language] ** -BALANCE for row in labelled], np.float32)
    sources = np.array([row.source for row in labelled])
    for source, share in IMPORTANCE.items():
        importance[sources == source] *= share / max(importance[sources == source].sum(), 1e-9)
    table = np.array(marks, np.int64).reshape(-1, 3)
    features = np.stack(
        [table[:, 2] // len(Form), len(UrlPlace) + table[:, 2] % len(Form), len(UrlPlace) + len(Form) + table[:, 2]]
    )
    return _Problem(
        dense=dense,
        rows=table[:, 0],
        columns=table[:, 1],
        features=features,
        barred=np.array([row.source == "hosts" for row in labelled]),
        english=index[ENGLISH],
        truth=np.array([index[row.language] for row in labelled]),
        importance=importance / importance.sum(),
    )


def evidence(
    data: UrlLanguageData, reader: UrlReader, urls: Sequence[Url]
) -> tuple[NDArray[np.float32], list[tuple[int, int, int]]]:
    """`Dense` × URLs × languages, and of each mark the number of its URL, its language and its kind."""
    read = [reader.pieces(url) for url in urls]
    dense = host_evidence(data, reader, [host for host, _ in read])
    english = data.languages.index(ENGLISH)
    scores = np.array([data.ngrams.score([p.words for p in pieces] or [b""]).sum(axis=0) for _, pieces in read])
    known = scores[:, -1:]
    dense[Dense.PATH_ROOT, :, :-1] = scores[:, :-1] / np.sqrt(known + 1)
    dense[Dense.PATH_MEAN, :, :-1] = scores[:, :-1] / (known + 8)
    over = np.maximum(scores[:, :-1] - scores[:, english, None], 0)
    dense[Dense.PATH_OVER, :, :-1] = over / np.sqrt(known + 1)
    dense[Dense.PATH_ENGLISH, :, english] = dense[Dense.PATH_ROOT, :, english]
    dense[Dense.UNKNOWN_PATH, :, -1] = np.log1p(known[:, 0])
    marks = []
    poor = poverty(data.wealth)
    for number, (host, pieces) in enumerate(read):
        for group in ([reader.host(host)], pieces):
            dense[Dense.UNKNOWN_MARKS, number, -1] += any(piece.marks for piece in group)
            for piece in group:
                for kind, language in piece.marks:
                    marks.append((number, language, kind))
                    dense[Dense.POVERTY_MARKED, number, language] += poor[kind, language]
                for country in piece.countries:
                    dense[Dense.NAMED_SHARE, number, :-1] += data.shares[country]
    return dense, marks


def _loss_of(problem: _Problem) -> Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]]:
    start = _start()
    penalty = np.full(len(start), _PENALTY)
    penalty[len(Dense) + len(UrlPlace) + len(Form) :] = _PENALTY_OF_BOTH
    penalty[: len(Dense)] = _PENALTY_OF_DENSE
    # Held: the training URLs have too few marks of poor languages to learn from.
    penalty[Dense.POVERTY_MARKED] = 1.0
    number = np.arange(len(problem.truth))

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logits = np.einsum("fnl,f->nl", problem.dense, weights[: len(Dense)].astype(np.float32))
        marks = weights[len(Dense) :]
        np.add.at(logits, (problem.rows, problem.columns), marks[problem.features].sum(axis=0).astype(np.float32))
        logits[problem.barred, problem.english] = -np.inf
        logits -= logits.max(axis=1, keepdims=True)
        np.exp(logits, out=logits)
        logits /= logits.sum(axis=1, keepdims=True)
        value = (
            -float(problem.importance @ np.log(logits[number, problem.truth] + 1e-9))
            + float(penalty @ (weights - start) ** 2) / 2
        )
        logits[number, problem.truth] -= 1
        logits *= problem.importance[:, None]
        gradient = penalty * (weights - start)
        gradient[: len(Dense)] += np.einsum("fnl,nl->f", problem.dense, logits)
        at_marks = logits[problem.rows, problem.columns]
        for feature in problem.features:
            gradient[len(Dense) :] += np.bincount(feature, at_marks, minlength=_MARK_FEATURES)
        return value, gradient

    return loss
