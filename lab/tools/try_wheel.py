"""The wheel as a user gets it: built twice, installed where nothing else is, weighed, and tried: python -m lab.tools.try_wheel.

On the oldest and on the newest supported Python that this machine has, or on those that are named.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST = 200  # MB of site-packages, without pip
SHOWN = 8
INSTALLER = re.compile(r"(pip|setuptools|pkg_resources|_distutils_hack|distutils-precedence)\b")
FOUND = re.compile(r"(\d+) of \1 pairs found, 0 wrong")


def supported() -> list[str]:
    """The versions of Python, the oldest first."""
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    return [
        match[1] for each in classifiers if (match := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", each))
    ]


def pythons() -> list[str]:
    """The oldest and the newest of this machine: on the PATH, or as pyenv keeps them."""
    here = [python for version in supported() if (python := next(_of(version), None))]
    return list(dict.fromkeys([here[0], here[-1]])) if here else []


def _of(version: str) -> Iterator[str]:
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    places = [f"python{version}", *map(str, sorted(pyenv.glob(f"{version}.*/bin/python")))]
    for place in filter(shutil.which, places):
        if subprocess.run([place, "-c", "import ensurepip"], capture_output=True, check=False).returncode == 0:  # noqa: S603
            yield place  # pyenv's stand-ins for versions that are not chosen end with an error


def built(source: Path, folder: Path) -> dict[str, bytes]:
    """The wheel and the source package by name, as they come to be in the folder."""
    run(sys.executable, "-m", "hatchling", "build", "--directory", str(folder), cwd=source)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def built_twice(folder: Path, scratch: Path) -> dict[str, bytes]:
    """Of this tree, and of the source package alone, elsewhere. Raises `SystemExit` if a byte differs."""
    first = built(ROOT, folder)
    (source,) = folder.glob("*.tar.gz")
    with tarfile.open(source) as package:
        package.extractall(scratch, filter="data")
    second = built(scratch / source.name.removesuffix(".tar.gz"), scratch / "again")
    if differ := sorted(name for name in {*first, *second} if first.get(name) != second.get(name)):
        raise SystemExit(f"not the same bytes when they are built again: {', '.join(differ)}")
    return first


def sizes(packages: Path) -> dict[str, int]:
    """Bytes of each folder and file of site-packages but pip's, the largest first."""
    found = {
        each.name: sum(path.stat().st_size for path in (each.rglob("*") if each.is_dir() else [each]) if path.is_file())
        for each in packages.iterdir()
        if not INSTALLER.match(each.name)
    }
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def tried(python: str, wheel: Path, folder: Path) -> str:
    """What was seen. Raises `CalledProcessError` or `SystemExit` if it does not work."""
    environment = folder / re.sub(r"\W", "_", python)
    run(python, "-m", "venv", str(environment))
    own = str(environment / "bin/python")
    run(own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", str(wheel))
    demo = run(str(environment / "bin/bitrawl"), "demo", "--out", str(environment / "demo"))
    if not FOUND.search(demo):
        raise SystemExit(f"{python}: the demo did not find its pairs:\n{demo}")
    (packages,) = environment.glob("lib/python*/site-packages")
    weights = sizes(packages)
    total = sum(weights.values()) / 1e6
    if total > MOST:
        raise SystemExit(f"{python}: {total:.0f} MB are installed, more than {MOST}")
    largest = ", ".join(f"{name} {size / 1e6:.0f}" for name, size in list(weights.items())[:SHOWN])
    return f"{run(own, '--version').strip()}: the demo finds all pairs; {total:.0f} MB: {largest}"


def run(*command: str, cwd: Path = ROOT) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)  # noqa: S603
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def main(named: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(2) as threads:
        folder = Path(scratch)
        built_twice(folder / "dist", folder)
        (wheel,) = folder.glob("dist/*.whl")
        chosen = list(named) or pythons()
        if not chosen:
            raise SystemExit(f"none of Python {', '.join(supported())} was found; name one")
        for seen in threads.map(lambda python: tried(python, wheel, folder), chosen):
            print(seen)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
