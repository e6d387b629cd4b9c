"""The files of a release: python -m lab.tools.release, which `make dist` runs.

In dist/, what PyPI takes: the wheel and the source, built twice. In release/, what goes beside them: a CycloneDX list of what the
wheel brings along, in the versions of `requirements-dev.txt`, and the checksums that are to be signed.
"""

import hashlib
import sys
import tempfile
from pathlib import Path

from lab.tools.try_wheel import ROOT, built_twice, run

EXTRAS = "browser,cluster,parquet,png,privacy,web"  # all but neural, which is not in the file
LOCK = ROOT / "requirements-dev.txt"


def bill_of_materials(wheel: Path, scratch: Path, to: Path) -> None:
    """What is there when nothing but the wheel is installed, with its extras."""
    environment, wanted = scratch / "environment", scratch / "wanted.txt"
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    wanted.write_text(f"bitrawl[{EXTRAS}] @ {wheel.resolve().as_uri()} --hash=sha256:{digest}\n")
    run(sys.executable, "-m", "venv", "--without-pip", str(environment))
    pip = [sys.executable, "-m", "pip", "--python", str(environment), "--disable-pip-version-check"]
    run(*pip, "install", "--quiet", "--only-binary", ":all:", "--requirement", str(wanted), "--constraint", str(LOCK))
    project = scratch / "pyproject.toml"
    version = f'version = "{wheel.name.split("-")[1]}"'
    project.write_text((ROOT / "pyproject.toml").read_text().replace('dynamic = ["version"]', version))
    listed = ["environment", "--pyproject", str(project), "--output-reproducible", "--output-file", str(to)]
    run(sys.executable, "-m", "cyclonedx_py", *listed, str(environment / "bin/python"))


def main() -> None:
    dist, release = ROOT / "dist", ROOT / "release"
    with tempfile.TemporaryDirectory() as place:
        files = built_twice(dist, Path(place))
        release.mkdir(exist_ok=True)
        (wheel,) = dist.glob("*.whl")
        bill = release / f"{'-'.join(wheel.name.split('-')[:2])}.cdx.json"
        bill_of_materials(wheel, Path(place), bill)
    files[bill.name] = bill.read_bytes()
    sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items())
    (release / "SHA256SUMS").write_text(sums)
    print(sums, end="")  # noqa: T201


if __name__ == "__main__":
    main()
