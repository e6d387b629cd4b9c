"""The miner of a site, with its pairing and its encoder."""

from functools import cache
from pathlib import Path

from bitrawl.config import Job
from bitrawl.errors import ConfigError
from bitrawl.mine.content import Lexicons
from bitrawl.mine.evidence import ALL
from bitrawl.mine.pairing import Pairing, PairingSettings
from bitrawl.mine.stages import Miner
from bitrawl.model import Method
from bitrawl.protocols import (
    Encoder,
)
from bitrawl.text.encoder import load_encoder
from bitrawl.text.language import NgramLanguageIdentifier
from bitrawl.text.lexicon import read_dictionary


def miner(job: Job) -> Miner:
    """The miner for the sites of a job. It loads the job's encoder once per process."""
    sentences = encoder(job)
    return Miner(
        job.languages(),
        pairing(job, sentences),
        NgramLanguageIdentifier(asked=job.languages()),
        encoder=sentences,
        most_characters=job.align.characters,
    )


def encoder(job: Job) -> Encoder | None:
    """Raises `ConfigError` if the encoder cannot be loaded."""
    return _encoder(job.encoder) if job.encoder else None


@cache
def _encoder(model: str) -> Encoder:
    """Loaded once per process, because every site needs it, and again as the site grows."""
    return load_encoder(model)


def pairing(job: Job, sentences: Encoder | None = None) -> Pairing:
    """The pairing that the job asks for. Raises `ConfigError`."""
    unknown = sorted(set(job.pair.methods) - set(Method))
    if unknown:
        raise ConfigError(
            f"pair.methods: there is no method {', '.join(unknown)}; the methods are {''.join(sorted(Method))}"
        )
    methods = frozenset(map(Method, job.pair.methods)) or ALL
    settings = PairingSettings(
        methods=methods,
        threshold=job.pair.threshold,
        url_pairs=tuple(_url_pair(raw) for raw in job.pair.url_pairs),
        keep_machine_translated=job.pair.machine_translated,
    )
    return Pairing(settings, lexicons=_lexicons(job), encoder=sentences)


def _url_pair(raw: str) -> tuple[str, str]:
    a, mark, b = raw.partition("=")
    if not (a and mark and b):
        raise ConfigError(f"{raw!r} is not a URL pair; write it like this: en=fr")
    return a, b


def _lexicons(job: Job) -> Lexicons | None:
    """A dictionary applies to the first two languages of the job."""
    languages = job.languages()
    if not job.pair.dictionary or len(languages) < 2:
        return None
    both = (languages[0], languages[1])
    return Lexicons({both: read_dictionary(Path(job.pair.dictionary), both)})
