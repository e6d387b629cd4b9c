"""CONTRIBUTING.md shows how to add a row to each table. Each diff there is applied to a copy of the package, and suffices."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DIFFS = re.findall(r"```diff\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.DOTALL)
LOOKS = """
from contextlib import suppress
from pathlib import Path
import sys

import bitrawl
from bitrawl import config
from bitrawl.job.crawl_wiring import strategy
from bitrawl.protocols import StrategyInputs
from bitrawl.strategies import strategy
from bitrawl.config import settings
from bitrawl.config import settings
from bitrawl.corpus.export import export
from bitrawl.corpus.export import CorpusHeader
from bitrawl.model import Method
from bitrawl.mining.evidence import METHODS_OF
from bitrawl.show.wording import method_name
from bitrawl.web import allowed, messages
from bitrawl.web.api import shapes

assert config.described({"skip_queries": True}) == {"scope": {"queries": True}}
assert config.typed({"scope": {"queries": True}}).scope.queries
assert [field.name for field in allowed.form_fields()["Scope"]] == ["same_host", "skip_queries"]
assert allowed.mining({"seeds": "a.test", "languages": "en fr", "skip_queries": "on"}, allowed.Settings()).described["scope"]
assert set(shapes.NewJob.__struct_fields__) == set(allowed.MINING)

header = CorpusHeader(("en", "fr"), 0.0)
export(Path("corpus"), header, ["lines"], [])
assert [path.name for path in Path("corpus").iterdir()] == ["en-fr.lines"]
assert "tsv, lines, moses" in config.SETTINGS["formats"].shown_help()

assert strategy("shortest", StrategyInputs(["en", "fr"])).score([], None, None) == []
assert "url-models, shortest" in config.SETTINGS["strategy"].shown_help()

assert config.resolve({"langs": ["en"], "warc": ["."], "pair": {"methods": "e"}})
assert METHODS_OF["paragraphs"] == {Method("e")}
assert (method_name("e"), messages.METHODS["e"]) == ("lengths", "lengths")
assert "r mutual links, e lengths, b bridge" in config.SETTINGS["methods"].shown_help()

from bitrawl.cli import main
sys.argv = ["bitrawl", "mine", "--help-all"]
with suppress(SystemExit):
    main()
"""


def apply(diff: str, root: Path) -> None:
    """Lines with a plus go behind the line before them, or into a new file."""
    for name, body in re.findall(r"^--- (\S+)\n(.*?)(?=^--- |\Z)", diff, re.DOTALL | re.MULTILINE):
        path, (first, *_) = root / name, body.splitlines()
        added = "".join(line[1:] + "\n" for line in body.splitlines() if line.startswith("+"))
        if first.startswith("+"):
            assert not path.exists(), name
            path.write_text(added, "utf-8")
            continue
        before, after = f"{first[1:]}\n", path.read_text("utf-8")
        assert after.count(before) == 1, f"{name} has no such line: {before}"
        path.write_text(after.replace(before, before + added), "utf-8")


def test_each_addition_that_is_shown_is_all_that_it_takes(tmp_path: Path):
    shutil.copytree(ROOT / "src", tmp_path / "src")  # with what Python has compiled
    for diff in DIFFS:
        apply(diff, tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src"), "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-c", LOOKS], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "--skip-queries" in done.stdout
