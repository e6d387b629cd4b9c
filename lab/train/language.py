"""Makes models/language.npz, the model that identifies languages.

It combines py3langid's n-grams in our format, priors from CLDR and confidence from labelled sentences.

`python -m lab.train language --data SENTENCES.tsv[.gz] --out language.npz`, with the group `lab` installed.
"""

import gzip
import re
import tempfile
import unicodedata
from pathlib import Path
from typing import Any

import langcodes
import numpy as np
from langcodes import data_dicts, registry_parser
from numpy.typing import NDArray

from bitrawl.errors import ConfigError
from bitrawl.files import replacing
from bitrawl.languages import parse_language
from bitrawl.text import language as runtime
from bitrawl.text.language import LanguageNgrams, NgramLanguageIdentifier, ngram_keys, slots_of
from lab.train import Tell, silent

STEP = 12 / 255  # A weight is a byte, and no n-gram is more than e^12 times likelier than an unseen one. Judgement.
# Weight of the logarithm of a language's number of writers, which only roughly matches the web. Swept 0–1.3 on the
# tuning half of lab/bench/language.py (2026-11): +1.4 points on 20 characters, flat from 0.4 to 0.8.
PRIOR_WEIGHT = 0.6
FEWEST_WRITERS = 1e4  # assumed if CLDR has fewer or none; judgement
# A variety is mostly spoken where its standard is written: Egyptian Arabic, Wu; Nigerian Pidgin beside English.
# Judgement.
VARIETY_SHARE = 1 / 300
VARIETIES_BY_NAME = ("pcm",)
# Nats per n-gram. Without them, the class of Serbian in Latin script loses even its own sentences to Bosnian; from 0.2
# on, it takes short Croatian ones. Swept on the tuning half, with transliterated Serbian sentences.
SERBIAN_BALANCE = 0.1
UNKNOWN_SHARE = 1 / 10  # of texts in no language of the model, for the confidence; judgement
NO_LANGUAGE = "zxx"
CALIBRATION_STEPS, CALIBRATION_PENALTY = 30, 1e-3  # of Newton's method; judgement
# The temperature is chosen from these, by log-loss; judgement. The package's model has 0.3 and 1.3: a wider grid of
# exponents might do better.
EXPONENTS = (0.3, 0.4, 0.5, 0.6, 0.7)
FACTORS = (0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.3, 1.7)
RENAMED = {"no": "nb"}  # The model has Nynorsk apart: what it calls Norwegian is Bokmål.


def train(data: Path, out: Path, *, tell: Tell = silent) -> None:
    """Write the model, with its confidence fitted to those labelled sentences."""
    sentences = read_sentences(data)
    tell("converting py3langid's n-grams")
    fields = convert()
    tell(f"fitting the confidence to {len(sentences)} sentences")
    # until then, nobody can mistake it for a finished model
    with tempfile.TemporaryDirectory(prefix="bitrawl-") as folder:
        write(fields, Path(folder) / "language.npz")
        fit(fields, sentences, Path(folder) / "language.npz")
    write(fields, out)


def convert() -> dict[str, Any]:
    """py3langid's automaton as a table of n-grams, with weights of one byte."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415 not needed to run bitrawl

    source = LanguageIdentifier.from_model_file(MODEL_FILE)
    ngrams, rows = _ngrams(np.asarray(source.tk_nextmove), np.asarray(source.tk_row, np.int64), source.tk_output)
    fields: dict[str, Any] = _perfect_hash(ngrams)
    logs = np.asarray(source.nb_ptc, np.float32)[rows]
    floor = logs.min(axis=0)
    fields["matrix"] = np.clip(np.round((logs - floor) / STEP), 0, 255).astype(np.uint8)
    fields["floor"] = floor / np.float32(STEP)
    fields["floor"][_serbian_in_latin(source.nb_classes)] += SERBIAN_BALANCE / STEP
    fields["labels"] = [RENAMED.get(label, label) for label in source.nb_classes]
    fields["prior"] = (np.asarray(source.nb_pc) + _log_prior(fields["labels"])).astype(np.float32) / np.float32(STEP)
    fields["labels"] = [NO_LANGUAGE if label == NO_LANGUAGE else parse_language(label) for label in fields["labels"]]
    fields["labels"] = ["und" if label == NO_LANGUAGE else str(label) for label in fields["labels"]]
    fields["scripts"], fields["script_table"] = _script_table()
    fields["temperature"] = np.array([1 / STEP, 0.5], np.float32)
    fields["calibration"] = np.array([0, 1, 0, 0, 0], np.float32)
    return fields


def _ngrams(moves: NDArray[Any], base: NDArray[np.int64], output: Any) -> tuple[list[bytes], list[int]]:
    """Walk the automaton breadth first: the path to each state with an output is an n-gram."""
    paths = {0: b""}
    level = [0]
    while level:
        ahead = []
        for state in level:
            start = int(base[state]) * 256
            for byte, target in enumerate(moves[start : start + 256].tolist()):
                if target not in paths:
                    paths[target] = paths[state] + bytes([byte])
                    ahead.append(target)
        level = ahead
    lengths = range(runtime.SHORTEST_NGRAM, runtime.LONGEST_NGRAM + 1)
    kept = {path: int(output[state]) for state, path in paths.items() if output[state] >= 0 and len(path) in lengths}
    return list(kept), list(kept.values())


def _serbian_in_latin(classes: list[str]) -> int:
    """py3langid labels two classes as Serbian: first Cyrillic, then Latin."""
    return [number for number, label in enumerate(classes) if label == "sr"][1]


def _perfect_hash(ngrams: list[bytes]) -> dict[str, Any]:
    """Hash and displace (Belazzougui, Botelho and Dietzfelbinger 2009): no two n-grams share a slot."""
    random = np.random.default_rng(1)
    while True:
        multipliers = random.integers(1 << 31, size=3, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
        keys = _keys(ngrams, int(multipliers[0]))
        places = slots_of(keys, multipliers, np.zeros(1 << runtime.BUCKET_BITS, np.uint32)).astype(np.int64)
        buckets = ((keys * multipliers[2]) >> np.uint32(32 - runtime.BUCKET_BITS)).astype(np.int64)
        if len(np.unique(keys)) == len(np.unique(buckets << runtime.SLOT_BITS | places)) == len(keys):
            break
    free = np.ones(1 << runtime.SLOT_BITS, bool)
    displacements = np.zeros(1 << runtime.BUCKET_BITS, np.uint32)
    slots = np.zeros(1 << runtime.SLOT_BITS, np.uint32)
    tried = np.arange(1 << 12)  # displacements: enough for py3langid's n-grams
    order = np.argsort(buckets, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(buckets[order])) + 1)
    for group in sorted(groups, key=len, reverse=True):
        fits = np.all([free[place ^ tried] for place in places[group]], axis=0)
        displacement = int(tried[fits][0])
        displacements[buckets[group[0]]] = displacement
        free[places[group] ^ displacement] = False
        slots[places[group] ^ displacement] = group
    return {
        "keys": keys,
        "slots": slots,
        "displacements": displacements,
        "multipliers": multipliers,
    }


def _keys(ngrams: list[bytes], multiplier: int) -> NDArray[np.uint32]:
    """The same keys that `ngram_keys` finds in a text: zeros before an n-gram change nothing."""
    longest = runtime.LONGEST_NGRAM
    data = b"".join(ngram.rjust(longest, b"\0") for ngram in ngrams)
    return ngram_keys(np.frombuffer(data, np.uint8), multiplier)[-1, longest - 1 :: longest]


def _log_prior(labels: list[str]) -> NDArray[np.float64]:
    """Based on the number of people who write the language, from CLDR."""
    writers = []
    for label in labels:
        count = langcodes.Language.get(label).writing_population() if label != NO_LANGUAGE else 0
        # Members with a two-letter code are standards of their own: Indonesian, Bokmål.
        member = len(label) > len("id") and data_dicts.MACROLANGUAGES.get(label) in labels
        if label in VARIETIES_BY_NAME or member:
            count = int(count * VARIETY_SHARE)
        writers.append(max(count, FEWEST_WRITERS))
    logs = np.log(writers)
    prior: NDArray[np.float64] = PRIOR_WEIGHT * (logs - logs.mean())
    return prior


def _script_table() -> tuple[list[str], NDArray[np.uint8]]:
    """The script of each letter of the basic plane: the first words of its Unicode name, after the IANA registry."""
    codes = {"cjk unified": "Hani", "cjk": "Hani", "hangul": "Hang", "canadian syllabics": "Cans"}
    named: list[tuple[str, str]] = []
    for entry in registry_parser.parse_registry():  # type: ignore[no-untyped-call]
        if entry.get("Type") == "script":
            named += [(name.lower().replace("’", ""), entry["Subtag"]) for name in entry["Description"]]
    codes |= dict(named)
    for name, code in named:  # "Georgian (Mkhedruli)" is Georgian; "Latin (Fraktur variant)" is not Latin.
        codes.setdefault(name.partition(" (")[0], code)
    scripts = [""]
    table = np.zeros(1 << 16, np.uint8)
    for place in range(1 << 16):
        if unicodedata.category(chr(place))[0] in "LM":
            first, *rest = re.findall(r"\w+", unicodedata.name(chr(place), "none").lower().replace("'", ""))
            script = codes.get(" ".join([first, *rest[:1]])) or codes.get(first) or ""
            if script not in scripts:
                scripts.append(script)
            table[place] = scripts.index(script)
    return scripts, table


def read_sentences(path: Path) -> list[tuple[str, str]]:
    """The even lines of a table of language and text. The odd lines are for testing."""
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        rows = [line.partition("\t") for line in data.decode("utf-8").split("\n")[1:] if line]
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    if not any(text for _, _, text in rows):
        raise ConfigError(f"{path} has no sentences; each line must be language<TAB>text, after a header line")
    return [(language, text) for language, _, text in rows[::2]]


def fit(fields: dict[str, Any], sentences: list[tuple[str, str]], path: Path) -> None:
    """Fit the temperature, then the calibration, on whole sentences, on their beginnings and on single words.

    The length of the beginnings and the choice of words are judgements.
    """
    texts = [(label, cut) for label, text in sentences for cut in (text, text[:50], text[:20], *text.split()[3:5])]
    samples = [runtime.sample(text) for _, text in texts]
    model = LanguageNgrams.load(path)
    truth = np.array([label for label, _ in texts])
    scores, evidence = model.score(samples)
    fields["temperature"] = _fit_temperature(model, scores, evidence, truth)
    model = model._replace(temperature=fields["temperature"])
    fields["calibration"] = _fit_calibration(model, scores, evidence, truth)


def _fit_temperature(
    model: LanguageNgrams, scores: NDArray[np.float32], evidence: NDArray[np.float32], truth: NDArray[np.str_]
) -> NDArray[np.float32]:
    """The least log-loss over a grid."""
    right = np.array(model.labels)[None, :] == truth[:, None]
    logits = scores + model.prior
    logits -= logits.max(axis=1, keepdims=True)
    best = (np.inf, 0.0, 0.0)
    for exponent in EXPONENTS:
        for factor in FACTORS:
            chances = np.exp(logits / (factor / STEP * np.maximum(evidence, 1.0) ** exponent)[:, None])
            mine = (chances * right).sum(axis=1) / chances.sum(axis=1)
            best = min(best, (-float(np.log(mine + 1e-9).mean()), factor, exponent))
    return np.array([best[1] / STEP, best[2]], np.float32)


def _fit_calibration(
    model: LanguageNgrams, scores: NDArray[np.float32], evidence: NDArray[np.float32], truth: NDArray[np.str_]
) -> NDArray[np.float32]:
    """Logistic regression by Newton's method. Each text also counts as if its language were not in the model."""
    identifier = NgramLanguageIdentifier(model)
    languages = np.array(identifier.languages)
    right = np.array(model.labels)[None, :] == truth[:, None]
    signs, outcomes, shares = [], [], []
    for share, seen in ((1.0, scores), (UNKNOWN_SHARE, np.where(right, np.float32(-1e6), scores))):
        chances = identifier.chances(seen, evidence)
        signs.append(model.signs(seen, evidence, chances.max(axis=1)))
        outcomes.append(languages[chances.argmax(axis=1)] == truth)
        shares.append(np.full(len(truth), share))
    x, y, w = np.concatenate(signs).astype(np.float64), np.concatenate(outcomes), np.concatenate(shares)
    beta = np.zeros(x.shape[1])
    for _ in range(CALIBRATION_STEPS):
        p = 1 / (1 + np.exp(-x @ beta))
        gradient = x.T @ (w * (y - p)) - CALIBRATION_PENALTY * beta
        hessian = (x * (w * p * (1 - p))[:, None]).T @ x + CALIBRATION_PENALTY * np.eye(len(beta))
        beta += np.linalg.solve(hessian, gradient)
    return beta.astype(np.float32)


def write(fields: dict[str, Any], out: Path) -> None:
    """Store the weights sparsely: four in five are those of an unseen n-gram."""
    arrays = {name: value for name, value in fields.items() if name != "matrix"}
    matrix = fields["matrix"]
    arrays |= {"present": np.packbits(matrix > 0, axis=1), "weights": matrix[matrix > 0]}
    arrays |= {"labels": " ".join(fields["labels"]), "scripts": " ".join(["Zyyy", *fields["scripts"][1:]])}
    with replacing(out) as file:
        np.savez_compressed(file, **arrays)
