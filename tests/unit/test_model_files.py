"""A folder of models in the place of those of the package: checked when it is named, used wherever a job computes."""

import asyncio
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from made_up_pack import write_pack

from bitrawl import config
from bitrawl.config import Job
from bitrawl.errors import ConfigError
from bitrawl.job import check
from bitrawl.job.running import mine
from bitrawl.model import Capture, Language, Page
from bitrawl.model_files import LOADERS, PACKAGE, model_file, model_names, models_from
from bitrawl.page import AnalysisSection
from bitrawl.page.analyser import page_reader
from bitrawl.page.sandbox import SandboxedAnalyser
from bitrawl.store.folder import JobFolder
from bitrawl.text.frequencies import known
from bitrawl.url import Url

DESCRIBED = {"langs": ["en", "fr"], "seeds": ["http://x.test/"]}
BY_NAME = pytest.mark.parametrize("name", model_names())


def changed(name: str, folder: Path, **arrays: object) -> None:
    """The package's model with other arrays, into that folder."""
    folder.mkdir(exist_ok=True)
    with np.load(PACKAGE / name) as own:
        np.savez_compressed(folder / name, **{**own, **arrays})  # type: ignore[arg-type]


def test_each_model_of_the_package_can_be_replaced_and_nothing_else():
    assert list(LOADERS) == model_names()


@BY_NAME
def test_each_model_of_the_package_has_its_card_beside_it(name: str):
    assert (PACKAGE / name).with_suffix(".md").is_file()


def test_a_folder_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"models: the folder .*nowhere cannot be read: No such file"):
        config.resolve({**DESCRIBED, "models": str(tmp_path / "nowhere")})


def test_a_file_with_another_name_is_named_with_all_names_that_are_allowed(tmp_path: Path):
    (tmp_path / "pears.npz").touch()
    with pytest.raises(ConfigError) as refused:
        config.resolve({**DESCRIBED, "models": str(tmp_path)})
    assert "has pears.npz, which is not a model" in str(refused.value)
    assert ", ".join(model_names()) in str(refused.value)


@BY_NAME
@pytest.mark.parametrize("content", [b"", b"{}", "another model"])
def test_a_model_that_cannot_be_loaded_is_named_before_anything_is_written(
    tmp_path: Path, name: str, content: bytes | str
):
    other = "link-predictor.npz" if name != "link-predictor.npz" else "segments.npz"
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else (PACKAGE / other).read_bytes())
    with pytest.raises(ConfigError, match=f"{name} is damaged, or is not a model of the kind {Path(name).stem}"):
        check(config.resolve({**DESCRIBED, "models": str(tmp_path)}))


def test_the_packages_own_models_pass_with_their_cards():
    check(config.resolve({**DESCRIBED, "models": str(PACKAGE)}))


def test_the_folder_holds_until_it_is_left_and_others_are_the_packages(tmp_path: Path):
    np.savez(tmp_path / "frequencies.npz", **{"en.gaps": np.ones(3, np.int32), "en.steps": np.ones(3, np.uint8)})
    assert known(Language("de"))
    with models_from(str(tmp_path)):
        assert known(Language("en"))
        assert not known(Language("de"))
        assert model_file("pairs.npz") == PACKAGE / "pairs.npz"
    assert known(Language("de"))


def test_the_job_keeps_the_whole_path_and_publishes_only_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    job = config.resolve({**DESCRIBED, "models": "mine"})
    assert job.models == str(tmp_path / "mine")
    assert 'models = "mine"' in config.public_text_of(job)


async def test_a_page_reader_in_its_process_has_the_models_of_the_job(tmp_path: Path):
    with np.load(PACKAGE / "language.npz") as own:
        swapped = " ".join({"en": "fr", "fr": "en"}.get(label, label) for label in str(own["labels"]).split())
    changed("language.npz", tmp_path / "models", labels=swapped)
    text = "<p>The doors are open every day of the year but one, and whoever is curious is welcome.</p>" * 5
    capture = Capture(Url.parse("http://x.test/"), 200, (), text.encode(), at=0.0, media_type="text/html")
    read = []
    for folder in ("", str(tmp_path / "models")):
        with models_from(folder):
            async with SandboxedAnalyser(partial(page_reader, ()), AnalysisSection(workers=1)) as analyser:
                page = await analyser.analyse(capture)
        assert isinstance(page, Page)
        read.append(page.language)
    assert read == ["en", "fr"]


def units(job: Job, folder: Path) -> int:
    asyncio.run(mine(job, JobFolder(folder)))
    return sum(each["units"] for each in json.loads((folder / "corpus" / "summary.json").read_text()).values())


@pytest.mark.usefixtures("no_children")
def test_a_job_is_mined_again_when_its_models_change_and_as_before_without_them(tmp_path: Path):
    pack = write_pack(tmp_path / "made", articles=6)
    described = {"langs": ["en", "fr"], "seeds": ["http://made.test/en/"], "replay": [str(pack.folder)]}
    before = units(config.resolve(described), tmp_path / "job")
    assert before > 0
    unlikely = np.array([1.0, -50.0], np.float32)  # no segment is a translation
    changed("segments.npz", tmp_path / "models", **{"calibration": unlikely, "known.calibration": unlikely})
    assert units(config.resolve({**described, "models": str(tmp_path / "models")}), tmp_path / "job") == 0
    assert units(config.resolve(described), tmp_path / "job") == before


def test_a_machine_without_the_folder_refuses_the_job_and_names_it(tmp_path: Path):
    (tmp_path / "models").mkdir()
    job = config.resolve({**DESCRIBED, "models": str(tmp_path / "models")})
    (tmp_path / "models").rmdir()
    with pytest.raises(ConfigError, match="models cannot be read"):
        asyncio.run(mine(job, JobFolder(tmp_path / "job")))
    assert not (tmp_path / "job" / "job.toml").exists()
