"""The docs are true where a machine can tell."""

import asyncio
import re
from pathlib import Path

import msgspec
import pytest

from bitrawl.config import Job
from bitrawl.model import Reason
from bitrawl.store.ledger import Ledger

ROOT = Path(__file__).parents[2]


def test_the_example_in_the_readme_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    names: dict[str, object] = {}
    exec(example, names)
    asyncio.run(names["main"](tmp_path))
    ledger = Ledger(tmp_path / "job.sqlite", read_only=True)
    pages = sum(1 for _ in ledger.pages())
    ledger.close()
    assert pages > 100
    assert "200 http://" in capsys.readouterr().out


def test_every_reason_for_a_skip_is_explained():
    explained = set(re.findall(r"^\| `([\w-]+)`", (ROOT / "docs/reference/skips.md").read_text(), re.MULTILINE))
    assert explained == {str(reason) for reason in Reason}


def test_every_key_of_the_job_file_is_explained_with_its_default():
    text = (ROOT / "docs/reference/job-file.md").read_text()
    explained = dict(re.findall(r"^\| `([\w.]+)` \| `?(.*?)`? \|", text, re.MULTILINE))
    for field in msgspec.structs.fields(Job):
        inner = msgspec.structs.fields(field.type) if hasattr(field.type, "__struct_fields__") else None
        for key, default in [(f"{field.name}.{f.name}", f.default) for f in inner] if inner else [(field.name, None)]:
            assert key in explained, f"{key} is not in docs/reference/job-file.md"
            if isinstance(default, bool | int | float):
                assert explained[key] == str(default).lower(), f"the default of {key} is {default}"


def test_links_between_documents_lead_somewhere():
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#:\s]+)\)", re.sub(r"`[^`]*`", "", path.read_text())):
            assert (path.parent / target).exists(), f"{path.relative_to(ROOT)} names {target}"
