"""The version of the package, and the command that adds an extra to this installation of it."""

import json
import shlex
import sys
from pathlib import Path

__version__ = "0.1.0"
PROJECT_PAGE = "https://pypi.org/project/bitrawl/"


def install_command(extra: str) -> str:
    """What to type, with the tool that installed bitrawl, and from where it came.

    pip keeps the package that is there, and takes only the dependencies of the extra from the index. pipx and uv make the
    environment anew, so they are told where the package is.
    """
    folder = Path(sys.prefix)
    if (folder / "pipx_metadata.json").exists():
        return f"pipx install --force {_source(extra)}"
    if (folder / "uv-receipt.toml").exists():
        return f"uv tool install {_source(extra)}"
    if folder.parent.name.startswith("archive-v"):  # where uvx keeps its environments
        return f"uvx --from {_source(extra)} bitrawl"
    return f"{_pip_install()} 'bitrawl[{extra}]'"


def _source(extra: str) -> str:
    url = _direct_url()
    return f"'bitrawl[{extra}] @ {url}'" if url else f"'bitrawl[{extra}]'"


def _direct_url() -> str:
    """The folder, file or repository that was installed; empty if it came from an index (PEP 610)."""
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 (20 ms, for a rare message)

    try:
        text = distribution("bitrawl").read_text("direct_url.json")
    except PackageNotFoundError:
        return ""
    about = json.loads(text or '{"url": ""}')
    vcs = about.get("vcs_info")
    return f"{vcs['vcs']}+{about['url']}@{vcs['commit_id']}" if vcs else str(about["url"])


def _pip_install() -> str:
    """With the pip of this Python: a bare `pip` may be another's."""
    from importlib.util import find_spec  # noqa: PLC0415 (as above)
    from shutil import which  # noqa: PLC0415

    pip, python = which("pip"), shlex.quote(sys.executable)
    if pip and Path(pip).parent == Path(sys.executable).parent:
        return "pip install"
    return f"{python} -m pip install" if find_spec("pip") else f"uv pip install --python {python}"
