"""The docs are true where a machine can tell."""

import re
import runpy
import unicodedata
from pathlib import Path

import pytest

from bitrawl import model
from bitrawl.cli.status import KEYS
from bitrawl.job.ledger_facts import LogLine
from bitrawl.reasons import Reason

ROOT = Path(__file__).parents[2]


def test_every_reason_for_a_skip_is_explained():
    explained = set(re.findall(r"^- `([\w-]+)`:", (ROOT / "docs/reference/skips.md").read_text(), re.MULTILINE))
    assert explained == {str(reason) for reason in Reason}


def _documents() -> list[Path]:
    front = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return [*front, *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "lab/notes").glob("*.md"))]


def _prose(path: Path) -> str:
    """Without code: a bracket in it is no link."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^ *```.*?^ *```$", "", path.read_text(), flags=re.DOTALL | re.MULTILINE))


def _anchors(path: Path) -> set[str]:
    """Of the headings, as Python-Markdown and GitHub both make them."""
    text = re.sub(r"^ *```.*?^ *```$", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = [re.sub(r"[`*]|\[|\]\(.*?\)", "", one) for one in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
    plain = [unicodedata.normalize("NFKD", one).encode("ascii", "ignore").decode().lower() for one in headings]
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", one).strip()) for one in plain}


def _broken(path: Path) -> list[str]:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", _prose(path)):
        if re.match(r"\w+:", target):
            continue
        name, _, anchor = target.partition("#")
        there = path.parent / name if name else path
        if not there.is_file() or (anchor and anchor not in _anchors(there)):
            broken.append(target)
    return broken


@pytest.mark.parametrize("path", _documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_and_anchor_leads_somewhere(path: Path):
    assert _broken(path) == []


def test_a_link_to_a_missing_page_or_heading_is_found(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("# A heading with `code`\n[x](#a-heading-with-code) [y](#other) [z](none.md) `[w](v.md)` <br>")
    assert _broken(page) == ["#other", "none.md"]


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda path: path.name
)
def test_readers_are_not_told_of_our_tracker(path: Path):
    assert re.findall(r"\b(?:aims?|issues?)\b", path.read_text(), re.IGNORECASE) == []


def test_every_page_is_in_the_navigation_of_the_site():
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    listed = re.findall(r"[\w/-]+\.md", navigation)
    assert sorted(listed) == sorted(str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md"))


def test_every_promise_names_tests_that_exist():
    rows = re.findall(
        r"^\| (?!Promise|---).* \| (.*) \|$", (ROOT / "docs/explanation/promises.md").read_text(), re.MULTILINE
    )
    assert len(rows) > 20
    for row in rows:
        tests = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row)
        assert tests, row
        assert [name for path, name in tests if f"def {name}(" not in (ROOT / path).read_text()] == []


@pytest.mark.parametrize("path", sorted((ROOT / "docs/decisions").glob("*.md")), ids=lambda path: path.name)
def test_a_decision_has_at_most_400_words(path: Path):
    assert len(path.read_text().split()) <= 400, "move what was tried to lab/notes"


def test_the_pages_that_people_write_have_at_most_30_400_words():
    """So the site has at most 35,000, with the page of the command line, which the program writes."""
    pages = set((ROOT / "docs").rglob("*.md")) - {ROOT / "docs/reference/commands.md"}
    assert sum(len(page.read_text().split()) for page in pages) <= 30_400, (
        "move what only maintainers need to lab/notes"
    )


def test_every_decision_is_in_the_index_of_the_decisions():
    folder = ROOT / "docs/decisions"
    told = set(re.findall(r"\]\(([\w-]+\.md)\)", (folder / "index.md").read_text()))
    assert told == {path.name for path in folder.glob("*.md")} - {"index.md"}


def test_the_page_of_the_command_line_is_what_the_program_says(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "40")
    rendered = runpy.run_path(str(ROOT / "lab/tools/command_reference.py"))["rendered"]
    assert (ROOT / "docs/reference/commands.md").read_text() == rendered(), "run: make reference"


def test_the_tables_of_the_job_file_are_what_the_program_has():
    page = (ROOT / "docs/reference/job-file.md").read_text()
    rendered = runpy.run_path(str(ROOT / "lab/tools/job_file_reference.py"))["rendered"](page)
    assert page == rendered, "run: make reference"
    unexplained = re.findall(r"^- `([\w.]+)` \(.*\):\s*$", page, re.MULTILINE)
    assert not unexplained, "say what these do, after the colon"


def test_a_page_that_loads_something_from_elsewhere_is_found(tmp_path: Path):
    foreign = runpy.run_path(str(ROOT / "lab/tools/check_site.py"))["foreign"]
    (tmp_path / "good.html").write_text(
        '<link rel="canonical" href="https://x.test/"><link rel="stylesheet" href="a.css"><a href="https://x.test/">x</a>'
    )
    (tmp_path / "bad.html").write_text('<script src="https://x.test/a.js"></script><img src="//x.test/b.png">')
    (tmp_path / "bad.css").write_text('@import "https://x.test/c.css"; p { background: url(https://x.test/d.png) }')
    assert [what for _, what in foreign(tmp_path)] == [
        "https://x.test/a.js",
        "//x.test/b.png",
        "https://x.test/c.css",
        "https://x.test/d.png",
    ]


def test_every_key_of_status_and_log_is_explained():
    text = (ROOT / "docs/reference/job-folder.md").read_text()
    explained = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^- (`.*?): ", text, re.MULTILINE))))
    keys = {*KEYS, *LogLine.__struct_fields__}
    assert keys <= explained


def test_the_glossary_names_types_that_exist():
    named = re.findall(r"\(`(\w+)`(?:, `(\w+)`)?\)", (ROOT / "docs/reference/glossary.md").read_text())
    types = {name for both in named for name in both if name}
    assert len(types) > 10
    assert [name for name in sorted(types) if not hasattr(model, name)] == []


@pytest.mark.parametrize(
    "path",
    [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_the_source_files_that_a_page_names_exist(path: Path):
    named = set(re.findall(r"`((?:[\w-]+/)*[\w-]+\.py)`", path.read_text()))
    sources = [f"/{file.relative_to(ROOT)}" for file in ROOT.glob("[lst]*/**/*.py")]
    assert [name for name in sorted(named) if not any(source.endswith(f"/{name}") for source in sources)] == []
