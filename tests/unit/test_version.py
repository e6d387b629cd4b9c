"""The command that adds an extra is the one of the tool that installed bitrawl."""

import json
import sys
from importlib import metadata, util
from pathlib import Path

import pytest

from bitrawl.version import install_command

WHEEL = {"url": "file:///tmp/bitrawl-0.1.0-py3-none-any.whl", "archive_info": {}}
CLONE = {"url": "file:///home/me/bitrawl", "dir_info": {"editable": True}}
REPOSITORY = {"url": "https://forge.example/bitrawl.git", "vcs_info": {"vcs": "git", "commit_id": "abc123"}}


class Installed:
    """What pip wrote of where a package came from; None for an index."""

    def __init__(self, about: object) -> None:
        self.about = about

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.about is None else json.dumps(self.about)


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "archive-v0" / "x1"
    (folder / "bin").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(folder))
    monkeypatch.setattr(sys, "executable", str(folder / "bin/python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    return folder


@pytest.mark.parametrize(
    ("about", "source"),
    [
        (None, "'bitrawl[web]'"),
        (WHEEL, "'bitrawl[web] @ file:///tmp/bitrawl-0.1.0-py3-none-any.whl'"),
        (CLONE, "'bitrawl[web] @ file:///home/me/bitrawl'"),
        (REPOSITORY, "'bitrawl[web] @ git+https://forge.example/bitrawl.git@abc123'"),
    ],
)
def test_a_tool_that_starts_anew_is_told_where_the_package_is(
    environment: Path, monkeypatch: pytest.MonkeyPatch, about: object, source: str
):
    monkeypatch.setattr(metadata, "distribution", lambda _: Installed(about))
    assert install_command("web") == f"uvx --from {source} bitrawl"
    (environment / "uv-receipt.toml").touch()
    assert install_command("web") == f"uv tool install {source}"
    (environment / "pipx_metadata.json").touch()
    assert install_command("web") == f"pipx install --force {source}"


def test_pip_is_the_one_of_this_python(environment: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(util, "find_spec", lambda _: object())
    python = sys.executable
    assert install_command("parquet") == f"{python} -m pip install 'bitrawl[parquet]'"
    monkeypatch.setattr(util, "find_spec", lambda _: None)
    assert install_command("parquet") == f"uv pip install --python {python} 'bitrawl[parquet]'"
    pip = environment / "bin/pip"
    pip.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(pip.parent))
    assert install_command("parquet") == "pip install 'bitrawl[parquet]'"
