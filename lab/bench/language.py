"""Language identification, side by side: accuracy by length and among close languages, calibration, time per text.

Sentences of ../shared/data/language-id.tsv.gz that no number of the model was fitted on: every second one.
"""

import gzip
import importlib.util
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from bitrawl.text.language import LanguageNgrams, NgramLanguageIdentifier

DATA = Path(__file__).parents[3] / "shared" / "data" / "language-id.tsv.gz"
BATCH = 50  # paragraphs of a page
Identify = Callable[[Sequence[str]], list[tuple[str, float]]]

CUTS: dict[str, Callable[[str], str]] = {
    "sentence": lambda text: text,
    "50 chars": lambda text: text[:50],
    "20 chars": lambda text: text[:20],
    "5 words": lambda text: " ".join(text.split()[:5]),
    "3 words": lambda text: " ".join(text.split()[:3]),
    "1 word": lambda text: (text.split()[3:4] or [text])[0],
}
CLOSE = (
    "bs hr sr",
    "cs sk",
    "da nb nn sv",
    "ca es pt",
    "bg mk ru sr uk",
    "ja ko zh",
    "et fi",
    "lt lv",
    "de nl",
    "fr it ro",
)
CYRILLIC = str.maketrans(
    dict(zip("абвгдђежзијклмнопрстћуфхцчш", "abvgdđežzijklmnoprstćufhcčš", strict=True))
    | dict(zip("АБВГДЂЕЖЗИЈКЛМНОПРСТЋУФХЦЧШ", "ABVGDĐEŽZIJKLMNOPRSTĆUFHCČŠ", strict=True))
    | {"љ": "lj", "њ": "nj", "џ": "dž", "Љ": "Lj", "Њ": "Nj", "Џ": "Dž"}
)


def main() -> None:
    if not DATA.exists():
        print(f"language: {DATA} is not here; public source: the sentences of github.com/pemistahl/lingua-py")
        return
    rows = sentences()
    systems = dict(contenders())
    print(f"language identification: {len(rows)} sentences, {len({label for label, _ in rows})} languages\n")
    answers = {
        (name, cut): identify([shorten(text) for _, text in rows])
        for name, identify in systems.items()
        for cut, shorten in CUTS.items()
    }
    truth = [label for label, _ in rows]
    print_accuracy(systems, truth, answers)
    print_close(systems, truth, answers)
    print_serbo_croatian(systems, rows)
    print_reliability(truth, answers)
    print_time(systems, [text for _, text in rows])


def sentences() -> list[tuple[str, str]]:
    """The odd lines: `lab.train.language` reads the even ones."""
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        next(lines)
        rows = [line.rstrip("\n").partition("\t") for line in lines]
    return [(label, text) for label, _, text in rows[1::2]]


def contenders() -> Iterator[tuple[str, Identify]]:
    identifier = NgramLanguageIdentifier(brief=True)  # as pages are read

    def ours(texts: Sequence[str]) -> list[tuple[str, float]]:
        batches = (texts[start : start + BATCH] for start in range(0, len(texts), BATCH))
        return [(str(language), sure) for batch in batches for language, sure in identifier.identify(batch)]

    yield "bitrawl", ours
    if importlib.util.find_spec("py3langid"):
        from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415

        peer = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        yield "py3langid", lambda texts: [peer.classify(text) for text in texts]
    if importlib.util.find_spec("pycld2"):
        import pycld2  # noqa: PLC0415

        def cld2(text: str) -> tuple[str, float]:
            _, _, (best, *_) = pycld2.detect("".join(character for character in text if character.isprintable()))
            return best[1], best[2] / 100

        yield "pycld2", lambda texts: [cld2(text) for text in texts]


def is_right(found: str, label: str) -> bool:
    """By the bare language; what peers call Norwegian is Bokmål."""
    bare = found.partition("-")[0]
    return {"no": "nb", "iw": "he"}.get(bare, bare) == label


Answers = dict[tuple[str, str], list[tuple[str, float]]]


def print_accuracy(systems: dict[str, Identify], truth: list[str], answers: Answers) -> None:
    print(f"{'accuracy':<12}" + "".join(f"{cut:>10}" for cut in CUTS))
    for name in systems:
        shares = (
            np.mean([is_right(f, y) for (f, _), y in zip(answers[name, cut], truth, strict=True)]) for cut in CUTS
        )
        print(f"{name:<12}" + "".join(f"{share:>10.3f}" for share in shares))


def print_close(systems: dict[str, Identify], truth: list[str], answers: Answers) -> None:
    print(
        f"\n{'close':<18}" + "".join(f"{f'{name}, {cut}':>21}" for name in systems for cut in ("sentence", "3 words"))
    )
    for group in CLOSE:
        shares = []
        for name in systems:
            for cut in ("sentence", "3 words"):
                pairs = zip(answers[name, cut], truth, strict=True)
                shares.append(np.mean([is_right(found, y) for (found, _), y in pairs if y in group.split()]))
        print(f"{group:<18}" + "".join(f"{share:>21.3f}" for share in shares))


def print_serbo_croatian(systems: dict[str, Identify], rows: list[tuple[str, str]]) -> None:
    """In Latin script all: there is no Serbian so written in the data, but transliteration is exact."""
    texts = {code: [text for label, text in rows if label == code] for code in ("bs", "hr", "sr")}
    texts["sr"] = [text.translate(CYRILLIC) for text in texts["sr"]]
    pages = {code: [" ".join(some[at : at + 8]) for at in range(0, len(some), 4)] for code, some in texts.items()}
    print(
        f"\n{'in Latin script':<18}"
        + "".join(f"{f'{code}, {what}':>15}" for what in ("sentence", "8 of them") for code in texts)
    )
    for name, identify in systems.items():
        shares = [
            np.mean([is_right(found, code) for found, _ in identify(some)])
            for group in (texts, pages)
            for code, some in group.items()
        ]
        print(f"{name:<18}" + "".join(f"{share:>15.3f}" for share in shares))


def print_reliability(truth: list[str], answers: Answers) -> None:
    """Of the answers with a confidence in each range, how many are right; all lengths together."""
    answered = [
        (sure, is_right(f, y)) for cut in CUTS for (f, sure), y in zip(answers["bitrawl", cut], truth, strict=True)
    ]
    print("\nconfidence      answers   right")
    for low, high in ((0, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 0.95), (0.95, 1.01)):
        inside = [right for sure, right in answered if low <= sure < high]
        print(f"{low:.2f}–{min(high, 1):.2f} {len(inside):>12} {np.mean(inside) if inside else float('nan'):>8.3f}")
    print(
        f"as if each language were unknown: {unknown_confidence():.2f} mean confidence (else {np.mean([s for s, _ in answered]):.2f})"
    )


def unknown_confidence() -> float:
    """Mean confidence on sentences whose language the model is made to forget."""
    model = LanguageNgrams.load()
    sure = []
    rows = sentences()
    for label in sorted({label for label, _ in rows}):
        forgetful = model._replace(prior=np.where(np.array(model.labels) == label, np.float32(-1e6), model.prior))
        texts = [text for language, text in rows if language == label]
        sure += [confidence for _, confidence in NgramLanguageIdentifier(forgetful).identify(texts)]
    return float(np.mean(sure))


def print_time(systems: dict[str, Identify], texts: list[str]) -> None:
    length = np.mean([len(text) for text in texts])
    print(f"\nµs of CPU per text of {length:.0f} characters on average, in batches of {BATCH}; best of three")
    best = dict.fromkeys(systems, float("inf"))
    for _ in range(3):
        for name, identify in systems.items():
            begin = time.process_time()
            identify(texts)
            best[name] = min(best[name], (time.process_time() - begin) / len(texts) * 1e6)
    for name, spent in best.items():
        print(f"  {name:<12}{spent:>8.1f}{spent / best['bitrawl']:>8.2f} × ours")
    begin = time.perf_counter()
    NgramLanguageIdentifier()
    print(f"  loading takes {(time.perf_counter() - begin) * 1000:.0f} ms")


if __name__ == "__main__":
    main()
