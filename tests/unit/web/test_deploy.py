"""What is in deploy/ fits the program, as far as can be told without a container, systemd or nginx."""

import configparser
import re
import shlex
import tomllib
from pathlib import Path

import msgspec
import pytest
import typer
import uvicorn

from bitrawl.cli import app
from bitrawl.web import operator_settings
from bitrawl.web.app import UPLOAD_MEGABYTES
from bitrawl.web.corpus_files import SECONDS
from bitrawl.web.operator_settings import LimitsSection

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
GUIDE = ROOT / "docs/how-to/serve.md"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PORT = "8000"
NOT_OURS = {"--now"}
"""Flags of systemctl."""


def flags() -> set[str]:
    """Of `bitrawl serve`."""
    return {flag for option in typer.main.get_command(app).get_command(None, "serve").params for flag in option.opts}


def unit() -> configparser.ConfigParser:
    parsed = configparser.ConfigParser(strict=True, interpolation=None, delimiters=("=",))
    parsed.optionxform = str  # type: ignore[assignment, method-assign]
    parsed.read_string((DEPLOY / "bitrawl.service").read_text())
    return parsed


def container() -> dict[str, list[str]]:
    """The instructions, with lines that go on joined."""
    lines = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ").splitlines()
    found: dict[str, list[str]] = {}
    for line in lines:
        if line and not line.startswith("#"):
            name, _, rest = line.partition(" ")
            found.setdefault(name, []).append(rest.strip())
    return found


def test_the_settings_are_read_and_show_every_limit_with_its_default():
    read = operator_settings.read(DEPLOY / "serve.toml")
    assert read.limits == LimitsSection()
    written = tomllib.loads((DEPLOY / "serve.toml").read_text())["limits"]
    assert set(written) == set(LimitsSection.__struct_fields__)
    assert [name for name, user in read.users.items() if user.admin] == ["anna"]


def test_the_settings_in_the_guide_are_read(tmp_path: Path):
    blocks = "".join(re.findall(r"```toml\n(.*?)```", GUIDE.read_text(), re.DOTALL))
    (tmp_path / "serve.toml").write_text(blocks.replace("5b1e…", "5b1e" + "0" * 60))
    read = operator_settings.read(tmp_path / "serve.toml")
    assert read.users
    assert read.wiki


def test_the_wiki_in_the_settings_is_read_when_it_is_not_a_comment_any_more(tmp_path: Path):
    text = (DEPLOY / "serve.toml").read_text()
    section = re.search(r"^# \[wiki\]\n(?:# .*\n)+", text, re.MULTILINE)
    assert section is not None
    (tmp_path / "serve.toml").write_text(section[0].replace("# ", "", 1).replace("\n# ", "\n"))
    wiki = operator_settings.read(tmp_path / "serve.toml").wiki
    assert wiki is not None
    assert set(msgspec.structs.asdict(wiki)) == set(tomllib.loads((tmp_path / "serve.toml").read_text())["wiki"])


@pytest.mark.parametrize("path", [*sorted(DEPLOY.iterdir()), GUIDE], ids=lambda path: path.name)
def test_every_flag_that_is_named_exists(path: Path):
    text = path.read_text()
    said = [line for line in text.splitlines() if "bitrawl serve" in line or '"serve"' in line or "`--" in line]
    named = {flag for line in said for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]+", line)} - NOT_OURS
    assert named <= flags()


def test_every_file_that_the_guide_names_is_there():
    named = set(re.findall(r"`deploy/([\w.]+)`", GUIDE.read_text()))
    assert named == {path.name for path in DEPLOY.iterdir()}


def test_jobs_survive_a_restart_of_the_service():
    service = unit()["Service"]
    assert service["KillMode"] == "process"
    assert set(unit().sections()) == {"Unit", "Service", "Install"}


def test_the_service_writes_where_it_may_and_listens_on_loopback():
    service = unit()["Service"]
    _, verb, *arguments = shlex.split(service["ExecStart"])
    given = dict(zip(arguments[::2], arguments[1::2], strict=True))
    assert verb == "serve"
    assert set(given) <= flags()
    assert given["--jobs"].startswith(f"/var/lib/{service['StateDirectory']}/"), "ProtectSystem=strict"
    assert "--host" not in given


def test_the_container_installs_extras_that_exist():
    (run,) = container()["RUN"]
    extras = set(re.search(r"/src\[([\w,]+)\]", run).group(1).split(","))
    assert "web" in extras
    assert extras <= set(PROJECT["optional-dependencies"])


def test_the_container_copies_the_package_and_nothing_else():
    copied = [source for one in container()["COPY"] for source in one.split()[:-1]]
    assert sorted(copied) == sorted(["pyproject.toml", "src", PROJECT["readme"], *PROJECT["license-files"]])


def test_the_user_of_the_container_is_the_one_in_the_guide():
    (run,) = container()["RUN"]
    uid = re.search(r"useradd --uid (\d+)", run).group(1)
    assert f"the user with the id {uid}" in GUIDE.read_text()


def test_the_proxy_of_a_container_is_believed_as_the_guide_says(monkeypatch: pytest.MonkeyPatch):
    name, value = re.search(r"-e (FORWARDED_\w+)='(.)'", GUIDE.read_text()).groups()
    monkeypatch.setenv(name, value)
    assert uvicorn.Config("app").forwarded_allow_ips == "*"


def test_the_container_has_a_python_that_the_project_takes():
    (image,) = container()["FROM"]
    version = re.search(r"python:3\.(\d+)", image).group(1)
    assert f"Programming Language :: Python :: 3.{version}" in PROJECT["classifiers"]


def test_the_container_serves_its_volume_as_a_user_without_rights():
    made = container()
    started = [word.strip(' "') for word in made["ENTRYPOINT"][0].strip("[]").split(",")]
    assert started[:2] == ["bitrawl", "serve"]
    assert {word for word in started if word.startswith("--")} <= flags()
    assert started[started.index("--jobs") + 1] == made["VOLUME"][0]
    assert made["USER"] == ["bitrawl"]
    assert made["EXPOSE"] == [PORT]


def test_the_proxy_passes_on_what_the_app_needs():
    text = (DEPLOY / "nginx.conf").read_text()
    text = re.sub(r"#.*", "", text)
    assert text.count("{") == text.count("}")
    assert f"proxy_pass http://127.0.0.1:{PORT};" in text
    assert f"client_max_body_size {UPLOAD_MEGABYTES}m;" in text
    assert int(re.search(r"proxy_read_timeout\s+(\d+)s;", text).group(1)) >= SECONDS
    for header in ("Host $host", "X-Forwarded-For $remote_addr", "X-Forwarded-Proto $scheme"):
        assert f"proxy_set_header {header};" in text


def test_the_proxy_uses_no_directive_that_nginx_of_debian_12_does_not_know():
    text = re.sub(r"#.*", "", (DEPLOY / "nginx.conf").read_text())
    assert "listen 443 ssl http2;" in text
    assert "http2 on" not in text  # since nginx 1.25.1


def test_the_port_is_the_default_one():
    (option,) = (one for one in typer.main.get_command(app).get_command(None, "serve").params if "--port" in one.opts)
    assert str(option.default) == PORT
