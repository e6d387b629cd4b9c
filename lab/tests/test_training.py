"""Each trainer makes, from a tiny made-up set, a model that the program loads."""

import gzip
import json
import random
from pathlib import Path

import numpy as np
import pytest
from made_up_pack import NOTICES, write_pack
from selectolax.lexbor import LexborHTMLParser

from bitrawl.errors import ConfigError
from bitrawl.mining.page_score import ScoreModel
from bitrawl.mining.pairing import Pairing
from bitrawl.model import Language
from bitrawl.page.boilerplate import BoilerplateClassifier
from bitrawl.page.outline import outline
from bitrawl.papers.trial import in_order
from bitrawl.strategies import column_weights
from bitrawl.strategies.adaptive.link_table import LinkColumn
from bitrawl.text.language import LanguageNgrams, NgramLanguageIdentifier
from bitrawl.url import Url
from bitrawl.urls import LinearUrlLanguageModel, TreeUrlPairModel, match_urls
from bitrawl.urls.language_model import UrlLanguageData
from bitrawl.urls.site_pairs import MatchingModels
from lab.train import adaptive, boilerplate, pairs, perceptron
from lab.train.site_packs import SitePack

EN, FR = map(Language, ("en", "fr"))
WORDS = [
    "harbour",
    "boats",
    "winter",
    "bread",
    "bridge",
    "market",
    "garden",
    "night",
    "morning",
    "letter",
    "window",
    "street",
    "tower",
    "storm",
    "snow",
    "song",
]


@pytest.fixture(scope="module")
def packs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sites, each with 32 true pairs."""
    folder = tmp_path_factory.mktemp("packs")
    for seed, name in enumerate(("museum", "library"), 1):
        write_pack(folder / name, articles=48, seed=seed)
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def test_the_pair_model_is_trained(packs: Path, cache: Path, tmp_path: Path):
    heard: list[str] = []
    pairs.train(packs, tmp_path / "pairs.npz", cache=cache, tell=heard.append)
    assert any("museum" in line and "98 pages, 32 true pairs" in line for line in heard)
    site = pairs.labelled_site(SitePack.open(packs / "museum"), cache)
    found = Pairing(model=ScoreModel.load(tmp_path / "pairs.npz")).pairs(site.pages, site.languages).pairs
    right = {in_order((pair.url_a, pair.url_b)) for pair in found} & site.true
    assert len(right) >= 30
    assert len(found) <= len(right) + 3


def test_what_stands_on_every_page_is_template_as_in_mining(packs: Path, cache: Path):
    site = pairs.labelled_site(SitePack.open(packs / "museum"), cache)
    notices = [one for page in site.pages for one in page.paragraphs if one.text in NOTICES.values()]
    assert len(notices) == 98
    assert all(one.boilerplate for one in notices)


def test_pages_are_analysed_once_where_there_is_a_cache(packs: Path, cache: Path, monkeypatch: pytest.MonkeyPatch):
    pack = SitePack.open(packs / "library")
    first = pairs.labelled_site(pack, cache)
    monkeypatch.setattr("bitrawl.page.sandbox.SandboxedAnalyser.analyse", None)
    assert pairs.labelled_site(pack, cache) == first
    assert len(first.pages) == 98


def test_the_weights_of_adaptive_are_learned_from_replays(packs: Path, cache: Path, tmp_path: Path):
    heard: list[str] = []
    adaptive.train(packs, tmp_path / "adaptive.json", cache=cache, tell=heard.append)
    assert any("library: 2 replays" in line for line in heard)
    weights = column_weights(json.loads((tmp_path / "adaptive.json").read_text()))
    assert np.isfinite(weights).all()
    assert weights[LinkColumn.PARTNER_FAILED] < weights[LinkColumn.PARTNER_VISITED]


def test_a_trace_has_each_visit_that_can_be_judged(packs: Path, cache: Path):
    pack = SitePack.open(packs / "museum")
    declared, undeclared = adaptive.traces(pack, cache=cache)
    for columns, paired in (declared, undeclared):
        assert columns.shape == (len(paired), len(LinkColumn))
        assert paired.sum() == 2 * 32
        assert len(paired) == 98 - 2 * len(pack.uncounted_pairs())


def test_sites_with_too_few_pairs_to_replay_are_refused(tmp_path: Path):
    write_pack(tmp_path / "museum", articles=3)
    with pytest.raises(ConfigError, match="30 true pairs of English"):
        adaptive.train(tmp_path, tmp_path / "adaptive.json")


def boilerplate_data(folder: Path, sites: int) -> Path:
    """Pages with a menu, three paragraphs of prose and a footer, each with its strings."""
    (folder / "html").mkdir(parents=True)
    gold = {}
    for number in range(sites):
        rng = random.Random(number)
        texts = [" ".join(rng.choices(WORDS, k=40)).capitalize() + "." for _ in range(3)]
        menu = [f"{word} {number}" for word in rng.sample(WORDS, 6)]
        items = "".join(f"<li><a href=/{item}>{item}</a></li>" for item in menu)
        body = "".join(f"<p>{text}</p>" for text in texts)
        html = f"<nav class=menu><ul>{items}</ul></nav><div class=article>{body}</div><footer>Contact {number}</footer>"
        (folder / "html" / f"{number}.html").write_text(html)
        key = f"http://site{number}.test/"
        gold[key] = {"file": f"{number}.html", "with": texts, "without": [*menu, f"Contact {number}"]}
    (folder / "gold.json").write_text(json.dumps(gold))
    return folder


def test_the_boilerplate_model_is_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(perceptron, "EPOCHS", 3)
    monkeypatch.setattr(boilerplate, "NAME_STEPS", 50)
    scores = boilerplate.train(boilerplate_data(tmp_path / "data", 40), tmp_path / "boilerplate.npz")
    assert scores.f1 > 0.95
    assert "cross-validated" in (tmp_path / "boilerplate.md").read_text()
    page = outline(LexborHTMLParser((tmp_path / "data" / "html" / "0.html").read_text()))
    chances = BoilerplateClassifier.load(tmp_path / "boilerplate.npz").probabilities(page)
    kept = [block.text for block, chance in zip(page.blocks, chances, strict=True) if chance >= 0.5]
    assert len(kept) == 3


def test_the_language_model_is_trained(tmp_path: Path):
    from lab.train import language  # noqa: PLC0415 (of the group lab)

    sentences = {
        "en": "The museum by the harbour is open every day of the winter.",
        "fr": "Le musée du port est ouvert tous les jours pendant l'hiver.",
        "de": "Das Museum am Hafen ist im Winter an jedem Tag geöffnet.",
    }
    rows = [f"{code}\t{text}" for _ in range(4) for code, text in sentences.items()]
    (tmp_path / "sentences.tsv").write_text("\n".join(["lang\ttext", *rows]))
    language.train(tmp_path / "sentences.tsv", tmp_path / "language.npz")
    identifier = NgramLanguageIdentifier(LanguageNgrams.load(tmp_path / "language.npz"))
    assert [found for found, _ in identifier.identify(list(sentences.values()))] == list(sentences)


def test_the_url_language_model_is_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from lab.train import url_language  # noqa: PLC0415 (of the group lab)

    tables = UrlLanguageData.load()
    bare = tables._replace(dense=np.zeros_like(tables.dense), marks=np.zeros_like(tables.marks))
    monkeypatch.setattr(url_language, "tables", lambda _folder: bare)
    rows = [f"http://site{number}.test/{code}/{number}\t{code}" for number in range(9) for code in ("en", "fr", "de")]
    for name in ("free-programming-books", "easylist-hosts", "mdn-url-language", "mdn-url-pairs"):
        (tmp_path / f"{name}.tsv.gz").write_bytes(_gzipped("header", *(rows if name.startswith("free") else ())))
    (tmp_path / "wmt16-train.pairs.tsv").write_text("url_en\turl_fr\n")
    url_language.train(tmp_path, tmp_path / "url-language.npz")
    model = LinearUrlLanguageModel(UrlLanguageData.load(tmp_path / "url-language.npz"))
    [chances] = model.distribution([Url.parse("http://other.test/fr/7")])
    assert model.languages[int(chances.argmax())] == FR


def _gzipped(*lines: str) -> bytes:
    return gzip.compress("\n".join(lines).encode())


def test_the_url_pair_model_is_trained(tmp_path: Path):
    from lab.train import url_pairs  # noqa: PLC0415 (of the group lab)

    rows = [f"http://s{n}.test/en/{word}\thttp://s{n}.test/fr/{word}" for n in range(6) for word in WORDS]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "wmt16-train.pairs.tsv").write_text("\n".join(["url_en\turl_fr", *rows]))
    url_pairs.train(tmp_path / "data", tmp_path / "url-pairs.npz")
    urls = [Url.parse(f"http://other.test/{code}/{word}") for code in ("en", "fr") for word in WORDS]
    found = match_urls(urls, EN, FR, models=MatchingModels.load(tmp_path / "url-pairs.npz"))
    assert {(pair.url_a, pair.url_b) for pair in found} == set(zip(urls[:16], urls[16:], strict=True))
    model = TreeUrlPairModel.load(tmp_path / "url-pairs.npz")
    right, wrong = model.parallel([(urls[0], urls[16]), (urls[0], urls[17])])
    assert right > wrong
