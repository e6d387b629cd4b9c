"""What a release says of itself is the same everywhere: versions, Pythons, extras; and `make` says which Pythons will do."""

import os
import re
import shutil
import subprocess
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bitrawl.version import __version__

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
PYTHONS = [each.rpartition(" ")[2] for each in PROJECT["classifiers"] if re.search(r":: Python :: 3\.\d+$", each)]
WORKFLOWS = [".github/workflows/test.yml", ".forgejo/workflows/test.yml", ".gitlab-ci.yml"]


def test_the_supported_pythons_follow_each_other_and_are_those_that_pip_accepts():
    minors = [int(version.removeprefix("3.")) for version in PYTHONS]
    assert all(after == before + 1 for before, after in pairwise(minors))
    assert PROJECT["requires-python"] == f">={PYTHONS[0]},<3.{minors[-1] + 1}"
    assert PYPROJECT["tool"]["ruff"]["target-version"] == f"py{PYTHONS[0].replace('.', '')}"


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_tests_all_supported_pythons(name: str):
    lists = re.findall(r'\[("3\.\d+"(?:, "3\.\d+")*)\]', (ROOT / name).read_text())
    assert lists
    assert all(re.findall(r'"(.*?)"', each) == PYTHONS for each in lists)
    assert "make test" in (ROOT / name).read_text()


def test_releases_are_built_with_the_newest_python():
    assert re.findall(r'python-version: "(.*)"', (ROOT / ".github/workflows/release.yml").read_text()) == [PYTHONS[-1]]


@pytest.mark.parametrize("name", ["README.md", "docs/tutorial.md"])
def test_a_page_names_all_supported_pythons(name: str):
    sentence = f"You need Python {', '.join(PYTHONS[:-1])} or {PYTHONS[-1]}"
    assert sentence in " ".join((ROOT / name).read_text().split())


def test_the_citation_is_of_this_version():
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [__version__]
    assert f"\n## {__version__} (" in (ROOT / "CHANGELOG.md").read_text()


def test_the_tests_have_what_the_extras_need():
    own = set(PYPROJECT["dependency-groups"]["dev"])
    extras = {name: set(needs) for name, needs in PROJECT["optional-dependencies"].items()}
    assert extras.pop("neural"), "make test-neural installs it"
    assert {name: needs - own for name, needs in extras.items() if needs - own} == {}


def locked() -> list[tuple[Requirement, list[str]]]:
    """What `make .venv` installs, with the hashes of its files."""
    text = re.sub(r"^#.*\n", "", (ROOT / "requirements-dev.txt").read_text(), flags=re.MULTILINE).replace("\\\n", "")
    lines = [line.split("--hash=") for line in text.splitlines()]
    return [(Requirement(line[0]), [each.strip() for each in line[1:]]) for line in lines]


@pytest.mark.parametrize("python", PYTHONS)
def test_all_that_the_tests_need_is_locked_once_for_each_python(python: str):
    here = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": "linux"}
    fitting = [each for each, _ in locked() if each.marker is None or each.marker.evaluate(here)]
    versions = {canonicalize_name(each.name): str(each.specifier).removeprefix("==") for each in fitting}
    assert len(versions) == len(fitting)
    needed = [Requirement(each) for each in [*PROJECT["dependencies"], *PYPROJECT["dependency-groups"]["dev"]]]
    needed = [each for each in needed if each.marker is None or each.marker.evaluate(here)]
    found = {str(each): versions.get(canonicalize_name(each.name)) for each in needed}
    bad = {name for name, version in found.items() if not version or version not in Requirement(name).specifier}
    assert bad == set(), "make lock"


def test_what_is_locked_is_an_exact_version_with_hashes_from_no_named_index():
    assert all(str(each.specifier).startswith("==") and hashes for each, hashes in locked())
    assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each) for _, hashes in locked() for each in hashes)
    assert "://" not in (ROOT / "requirements-dev.txt").read_text()


def test_a_hint_names_an_extra_that_exists():
    sources = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    hints = set(re.findall(r"(?:install_command\('|with extra\(\")(\w+)['\"]", sources))
    assert {"web", "cluster", "neural", "png"} <= hints <= PROJECT["optional-dependencies"].keys()
    assert not re.findall(r"pip install ['\"]?bitrawl", sources), "use bitrawl.version.install_command"


# `make` with stand-ins for Python: one that is too old, one that is good, and nothing else on the PATH but what make needs.


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    for name in ("Makefile", "pyproject.toml", "requirements-dev.txt"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "bin").mkdir()
    for tool in ("sed", "id", "make"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool) or tool)
    return tmp_path


def stand_in(clone: Path, name: str, *, good: bool) -> None:
    """It answers to `--version` and to a question, and ends with 7 when it is to do something."""
    path = clone / "bin" / name
    answers = (
        f'case "$1" in -c) exit {0 if good else 1};; --version) echo Python 3.9.1;; *) echo "$0 $*"; exit 7;; esac'
    )
    path.write_text(f"#!/bin/sh\n{answers}\n")
    path.chmod(0o755)


def made(clone: Path, *arguments: str) -> str:
    """What a call of make that fails prints."""
    environment = {"PATH": str(clone / "bin"), "HOME": str(clone)}
    command = [str(clone / "bin/make"), "--directory", str(clone), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    return done.stdout + done.stderr


def test_make_says_which_pythons_will_do(clone: Path):
    stand_in(clone, "python3", good=False)
    assert (
        f"bitrawl needs Python {PYTHONS[0]} to {PYTHONS[-1]}, and python3 is Python 3.9.1."
        " Install a supported one, or name it: make demo PYTHON=PATH\n"
    ) in made(clone, "demo")
    assert "and old/python is not there." in made(clone, "test", "PYTHON=old/python")
    assert not (clone / ".venv").exists()


def test_make_says_that_a_virtual_environment_is_too_old(clone: Path):
    stand_in(clone, "python3", good=True)
    (clone / ".venv/bin").mkdir(parents=True)
    stand_in(clone, "../.venv/bin/python", good=False)
    os.utime(clone / ".venv", (0, 0))
    assert ".venv/bin/python is Python 3.9.1. Delete .venv, and run the same command again.\n" in made(clone)


def test_make_takes_another_python_if_python3_is_not_supported(clone: Path):
    stand_in(clone, "python3", good=False)
    stand_in(clone, f"python{PYTHONS[1]}", good=True)
    assert f"bin/python{PYTHONS[1]} -m venv .venv\n" in made(clone)
    stand_in(clone, "python3", good=True)
    assert "bin/python3 -m venv .venv\n" in made(clone)
