"""`python -m lab.train`: every model of the package can be made, and what lacks is named before any work is done."""

import inspect
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bitrawl.errors import ConfigError
from bitrawl.model_files import PACKAGE, model_names
from lab.train import recipes
from lab.train.__main__ import app
from lab.train.recipes import RECIPES, make

ROOT = Path(__file__).parents[2]
SHIPPED = [PACKAGE / name for name in model_names()]
BY_NAME = pytest.mark.parametrize("name", RECIPES)


def shown(*arguments: str) -> str:
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "240", "TERM": "dumb"})
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_model_that_ships_has_a_recipe_and_a_card(path: Path):
    assert RECIPES[path.stem].card == f"src/bitrawl/models/{path.stem}.md"


@BY_NAME
def test_every_recipe_names_a_card_that_is_there(name: str):
    assert (ROOT / RECIPES[name].card).is_file()


@BY_NAME
def test_every_recipe_names_a_function_that_takes_its_options(name: str):
    recipe = RECIPES[name]
    module, _, function = recipe.function.rpartition(".")
    taken = inspect.signature(getattr(import_module(f"lab.train.{module}"), function)).parameters
    assert {"data", "out", "tell"} | recipe.options <= set(taken)


@BY_NAME
def test_the_help_lists_each_model_with_its_data_and_its_card(name: str):
    text = shown("--help")
    recipe = RECIPES[name]
    assert f"{name} {recipe.makes} Data: {recipe.learned_from}. Card: {recipe.card}" in text


@BY_NAME
def test_the_help_of_a_model_names_what_it_needs_and_where_the_data_is_from(name: str):
    text, recipe = shown(name, "--help"), RECIPES[name]
    assert recipe.source in text
    assert recipe.data in text
    assert ("--cache" in text, "--base" in text) == ("cache" in recipe.options, "base" in recipe.options)
    if recipe.packages:
        assert f"pip install {recipe.group}" in text


@pytest.mark.parametrize("name", [name for name in RECIPES if RECIPES[name].files])
def test_a_folder_that_lacks_the_data_is_refused_and_the_files_are_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(recipes, "_check_packages", lambda *_: None)
    with pytest.raises(ConfigError) as refused:
        make(name, tmp_path, tmp_path / "out")
    for pattern in RECIPES[name].files:
        assert pattern in str(refused.value)
    assert RECIPES[name].source in str(refused.value)


@BY_NAME
def test_data_that_is_not_there_is_named_with_its_source(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recipes, "_check_packages", lambda *_: None)
    with pytest.raises(ConfigError, match="nowhere does not exist"):
        make(name, tmp_path / "nowhere", tmp_path / "out")


def test_a_folder_in_the_place_of_a_table_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recipes, "_check_packages", lambda *_: None)
    with pytest.raises(ConfigError, match="is a folder"):
        make("language", tmp_path, tmp_path / "out")


@pytest.mark.parametrize("name", [name for name in RECIPES if RECIPES[name].packages])
def test_what_is_not_installed_is_named_before_any_data_is_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(recipes, "find_spec", lambda _package: None)
    with pytest.raises(ConfigError) as refused:
        make(name, tmp_path / "nowhere", tmp_path / "out")
    assert f"pip install {RECIPES[name].group}" in str(refused.value)
    assert RECIPES[name].packages[0] in str(refused.value)


def test_the_command_hands_on_what_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    asked = []

    def fake(model: str, data: Path, out: Path, *, tell, **options: object) -> None:
        asked.append((model, data.name, out.name, options))
        tell("half done")

    monkeypatch.setattr(import_module("lab.train.__main__"), "make", fake)
    given = ["--data", str(tmp_path / "sites"), "--out", str(tmp_path / "made.json")]
    assert shown("adaptive", *given, "--cache", str(tmp_path)) == f"half done written to {tmp_path / 'made.json'}"
    shown("boilerplate", *given)
    shown("url-pairs-transformer", *given, "--base", "tiny")
    assert asked == [
        ("adaptive", "sites", "made.json", {"cache": tmp_path}),
        ("boilerplate", "sites", "made.json", {}),
        ("url-pairs-transformer", "sites", "made.json", {"base": "tiny"}),
    ]
