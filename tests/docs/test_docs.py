"""What the docs say is what the program does: pages, links, references, promises, limits, and their length."""

import json
import re
import runpy
import unicodedata
from pathlib import Path

import msgspec
import pytest

import bitrawl
from bitrawl import bodies, children, config, model, process, url
from bitrawl.archive import archived_web
from bitrawl.archive import writing as archive
from bitrawl.cli import verbs
from bitrawl.cli.status import KEYS
from bitrawl.config import SETTINGS
from bitrawl.crawling import (
    Budget,
    FetchSettings,
    browser,
    connections,
    frontier,
    resources,
    robots,
    scope,
    settings,
    traps,
)
from bitrawl.crawling.fetch import MAX_RULES
from bitrawl.facts import LogLine
from bitrawl.job import site_mining
from bitrawl.mining import site
from bitrawl.page import alternates, analyser, decode, links, office, outline, sandbox, sitemap, unseen
from bitrawl.reasons import Reason
from bitrawl.topic import learned, subject

ROOT = Path(__file__).parents[2]
GUIDES = ("RELEASING.md", "SECURITY.md")


def test_every_reason_for_a_skip_is_explained():
    explained = set(re.findall(r"^- `([\w-]+)`:", (ROOT / "docs/reference/skips.md").read_text(), re.MULTILINE))
    assert explained == {str(reason) for reason in Reason}


def _documents() -> list[Path]:
    front = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", *GUIDES)]
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


def _navigation() -> dict[str, list[str]]:
    """The pages of each part of the site, which is a tab of its own."""
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    parts = re.findall(r"^  - ([^:]+):(.*(?:\n    .*)*)", navigation, re.MULTILINE)
    return {title: re.findall(r"[\w/-]+\.md", pages) for title, pages in parts}


def test_pages_for_maintainers_are_apart_from_those_for_users():
    parts = _navigation()
    ours = parts.pop("For maintainers")
    assert "navigation.tabs" in (ROOT / "mkdocs.yml").read_text()
    assert {"explanation/architecture.md", "explanation/promises.md", "reference/benchmarks.md"} < set(ours)
    assert not [page for pages in parts.values() for page in pages if page.startswith("decisions/")]


def test_each_verb_has_a_page_in_the_order_of_the_program():
    pages = [page for page in _navigation()["Reference"] if page.startswith("reference/commands/")]
    assert pages == [f"reference/commands/{name}.md" for name in ("index", *verbs())]


def test_the_home_page_shows_what_one_gets_and_its_commands_fit_a_phone():
    home = (ROOT / "docs/index.md").read_text()
    images = re.findall(r"\]\((images/[\w-]+\.png)\)\]", home)
    assert images == ["images/web-pair.png", "images/report.png"]
    assert [name for name in images if (ROOT / "docs" / name).stat().st_size > 200_000] == []
    assert re.search(r"^\| English \| French \| Score \|$", home, re.MULTILINE)
    lines = [line for block in re.findall(r"```sh\n(.*?)```", home, re.DOTALL) for line in block.splitlines()]
    assert [line for line in lines if len(line) > 40] == []  # 40 characters are 330 of its 360 pixels


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


def test_the_site_has_at_most_35_000_words():
    words = sum(len(page.read_text().split()) for page in (ROOT / "docs").rglob("*.md"))
    assert words <= 35_000, "move what only maintainers need to lab/notes"


def test_every_decision_is_in_the_index_of_the_decisions():
    folder = ROOT / "docs/decisions"
    told = set(re.findall(r"\]\(([\w-]+\.md)\)", (folder / "index.md").read_text()))
    assert told == {path.name for path in folder.glob("*.md")} - {"index.md"}


def test_the_pages_of_the_command_line_are_what_the_program_says(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "40")
    rendered = runpy.run_path(str(ROOT / "lab/tools/command_reference.py"))["rendered"]()
    written = {path.name: path.read_text() for path in (ROOT / "docs/reference/commands").iterdir()}
    assert written == rendered, "run: make reference"
    items = [line for page in written.values() for line in page.splitlines() if line.startswith("- `")]
    assert len(items) == len(set(items)), "an option is explained on one page, and others name it"


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


def test_a_site_whose_search_needs_a_server_or_lacks_a_page_is_found(tmp_path: Path):
    unsearchable = runpy.run_path(str(ROOT / "lab/tools/check_site.py"))["unsearchable"]
    assert list(unsearchable(tmp_path)) == ["there is no search/search_index.js: the search works on a server only"]
    titles = ["Review a corpus", *(f"<code>bitrawl {verb}</code>" for verb in verbs() if verb != "clean")]
    index = {"docs": [{"title": title} for title in titles]}
    (tmp_path / "search").mkdir()
    (tmp_path / "search/search_index.js").write_text(f"var __index = {json.dumps(index)}")
    assert list(unsearchable(tmp_path)) == ["the search does not know bitrawl clean"]


def test_every_key_of_status_and_log_is_explained():
    text = (ROOT / "docs/reference/job-folder.md").read_text()
    explained = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^- (`.*?): ", text, re.MULTILINE))))
    keys = {*KEYS, *LogLine.__struct_fields__}
    assert keys <= explained


def test_the_page_of_the_python_api_shows_every_public_name():
    page = (ROOT / "docs/reference/python.md").read_text()
    functions = {name for name in bitrawl.__all__ if name.islower()}
    assert set(re.findall(r"^- `bitrawl\.(\w+)\(", page, re.MULTILINE)) == functions
    [members] = re.findall(r"^::: bitrawl\n +options:\n +members: \[(.*)\]$", page, re.MULTILINE)
    assert set(members.split(", ")) == functions
    assert [name for name in bitrawl.__all__ if name not in functions and f"`{name}`" not in page] == []


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


# docs/reference/limits.md has every limit, and the numbers that the code has.

LIMITS = (Path(__file__).parents[2] / "docs/reference/limits.md").read_text()
ROWS = {
    cells[0]: cells[1:]
    for line in LIMITS.splitlines()
    if line.startswith("| ") and (cells := [cell.strip() for cell in line.strip("|").split("|")])
}
"""The limits that can be changed: default, what changes it, what happens."""
FIXED = dict(re.findall(r"^- (.*?): (\d+)\. ", LIMITS, re.MULTILINE))

NO_LIMIT = {
    *(Reason.OFF_SITE, Reason.OFF_HOST, Reason.NOT_UNDER, Reason.EXCLUDED, Reason.NOT_INCLUDED, Reason.NOFOLLOW),
    *(Reason.STRATEGY, Reason.ROBOTS, Reason.ROBOTS_UNREACHABLE, Reason.NOINDEX, Reason.OPT_OUT, Reason.REDIRECT),
    *(Reason.NOT_ARCHIVED, Reason.PRIVATE_ADDRESS, Reason.DNS, Reason.CONNECTION, Reason.TLS, Reason.PROXY),
    *(Reason.HTTP_STATUS, Reason.SERVER_ERROR, Reason.RATE_LIMITED, Reason.CONTENT_TYPE, Reason.SITEMAP, Reason.PROBE),
    *(Reason.SOFT_404, Reason.EMPTY, Reason.ANALYSIS_ERROR, Reason.MINING_ERROR, Reason.INTERNAL),
    *(Reason.NO_TEXT_LAYER, Reason.UNREADABLE, Reason.SCRIPTED, Reason.UNCHANGED),
}
"""Reasons that stand for no limit. A new one goes here, or on the page."""

FETCH, MIB = FetchSettings(), 1 << 20

NUMBERS = {
    "Requests of a page that a browser draws": resources.MAX_REQUESTS,
    "Megabytes that such a page may fetch (MiB)": resources.MAX_BYTES / MIB,
    "Times that such a page is scrolled to its end": browser.SCROLLS,
    "Characters of a page or text that the learned model reads": learned.MOST_CHARACTERS,
    "Fewest words of example texts in one language": learned.LEAST_WORDS,
    "Judged pages whose verdict a translation may take over": learned.KEPT_SCORES,
    "Judged pages that the learned model keeps to learn from": subject.WINDOW,
    "Hosts of a site whose first pages have the same text": traps.ALIKE_HOSTS,
    "Longest wait after a slow answer, in seconds": settings.ADAPTIVE_CEILING,
    "Longest Crawl-delay that is honoured, in seconds": robots.MAX_DELAY,
    "Longest pause between attempts, in seconds": frontier.BACKOFF_CEILING,
    "Visits that only wait for an answer, for each of the other visits": connections.WAITING,
    "Seconds without an answer until a visit only waits": frontier.PATIENCE,
    "Seconds without an answer until a host counts as silent": frontier.SILENCE,
    "Failures in a row of a host that never answered": frontier.HostRules().first_failures,
    "Failures in a row of a host that has answered before": frontier.HostRules().failures,
    "Characters of a URL": url.MAX_LENGTH,
    "Redirects in a row": model.MAX_REDIRECTS,
    "Characters of a style element": unseen.MAX_SHEET,
    "Characters of all style elements of a page": unseen.MAX_SHEETS,
    "Path segments": scope.MAX_SEGMENTS,
    "Same path segment in one URL": scope.MAX_OCCURRENCES,
    "Parameters in one URL": scope.MAX_PARAMETERS,
    "Parameters that a page adds to its own URL": scope.MAX_FACETS,
    "Latest visits to one kind of URL that are looked at": traps.WINDOW,
    "New words of a page like another of its kind": traps.NEW_PASSAGES,
    "URLs of one host with the same text": traps.COPIES,
    "Links that come last and bring nothing new": traps.TRIES,
    "Links of one page": links.MAX_LINKS,
    "Declared translations of one page": alternates.MAX_ALTERNATES,
    "Images of one page": links.MAX_IMAGES,
    "Megabytes of one sitemap, as sent and unpacked (MiB)": FETCH.max_index / MIB,
    "Entries of one sitemap": sitemap.MAX_ENTRIES,
    "Links of one sitemap, translations included": sitemap.MAX_LINKS,
    "Translations of one entry": sitemap.MAX_ALTERNATES,
    "Sitemap files of one site": scope.MAX_SITEMAPS,
    "Sitemap files of one site that are read whatever they list": scope.FIRST_SITEMAPS,
    "Pages that each further sitemap file must bring": scope.A_FILE,
    "Sitemaps within sitemaps": scope.MAX_SITEMAP_DEPTH,
    "Links that are queued at once": model.PART,
    "Megabytes of one page unpacked": 2 * config.Job().fetch.megabytes,
    "Growth by unpacking, beyond 1 MiB": bodies.Expansion(0).ratio,
    "Compressions within each other": bodies.MAX_CODINGS,
    "Members of a gzip body, frames of a zstd body": bodies.MAX_MEMBERS,
    "Megabytes unpacked before other hosts have a turn (MiB)": bodies.SLICE / MIB,
    "Seconds for a connection": FETCH.connect_time,
    "Seconds between two arrivals of data": FETCH.read_time,
    "Kilobytes of one header line (KiB)": FETCH.max_header / 1024,
    "Header lines": FETCH.max_headers,
    "Kilobytes of robots.txt and tdmrep.json (KiB)": MAX_RULES / 1024,
    "Age of robots.txt, in hours": robots.MAX_AGE / 3600,
    "Redirects of robots.txt": robots.MAX_REDIRECTS,
    "Seconds for a process to start": children.START_SECONDS,
    "Times that a process may die at the same page or page pair, with no other process beside it": process.ATTEMPTS,
    "Inputs kept in `rejected/`": sandbox.KEPT_INPUTS,
    "Paragraphs of one page": analyser.MAX_PARAGRAPHS,
    "Elements of the tag sequence": outline.MAX_TAGS,
    "Elements within each other": decode.MAX_DEPTH,
    "Inline elements within each other": decode.MAX_INLINE_DEPTH,
    "Elements within each other in DOCX and ODT": office.MAX_DEPTH,
    "Gigabytes of one WARC file (GiB)": archive.MAX_BYTES / (1 << 30),
    "Megabytes of one record of an archive that you bring (MiB)": archived_web.MAX_BLOCK / MIB,
    "Home pages of one host in an archive without seeds": archived_web.MOST_HOMES,
    "Page pairs of a site that are aligned together": site_mining.USUAL.sample,
    "Page pairs in a batch": site_mining.USUAL.batch,
    "Characters of a page that pairing looks at": site.MAX_TEXT,
    "Links of a page that pairing looks at": site.MAX_LINKS,
    "Tags of a page that pairing looks at": site.MAX_TAGS,
}


def test_every_reason_that_stands_for_a_limit_is_on_the_page():
    assert set(Reason) - NO_LIMIT == {reason for reason in Reason if f"`{reason}`" in LIMITS}


@pytest.mark.parametrize("name", NUMBERS)
def test_the_number_on_the_page_is_that_of_the_code(name: str):
    written = ROWS[name][0] if name.endswith("page unpacked") else FIXED[name]
    assert written == f"{NUMBERS[name]:.16g}"


def test_what_has_a_key_has_the_default_of_the_job_file():
    keyed = {name: key for name, cells in ROWS.items() for key in re.findall(r"`(\w+\.\w+)`", cells[1])}
    for name, key in keyed.items():
        section, _, field = key.partition(".")
        default = getattr(getattr(config.Job(), section), field)
        if name not in NUMBERS and key not in ("analysis.workers", "mining.workers"):
            assert ROWS[name][0] == ("none" if default is None else f"{default:g}"), name
    budgets = {f"budget.{field.name}" for field in msgspec.structs.fields(Budget)}
    assert budgets <= set(keyed.values())
    assert f"at most {sandbox.MAX_WORKERS}" in ROWS["Processes that read pages"][0]


def test_every_flag_on_the_page_sets_the_key_beside_it():
    for name, cells in ROWS.items():
        flag = re.search(r"`--([\w-]+)`, `([\w.]+)`", cells[1])
        if flag:
            assert SETTINGS[flag[1].replace("-", "_")].key == flag[2], name


def test_every_row_is_a_number_of_the_code_or_has_a_key():
    assert {name for name, cells in ROWS.items() if name != "Limit" and "`" not in cells[1]} == set()
    assert FIXED.keys() <= NUMBERS.keys()
