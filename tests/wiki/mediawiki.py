"""Real MediaWikis on loopback: Debian's package, SQLite and PHP's own web server; nothing is installed beside them."""

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from wiki.articles import EDITIONS, OTHER, export

SETTINGS = """
$wgArticlePath = '/wiki/$1';
$wgInterwikiMagic = true;
$wgHideInterlanguageLinks = false;
$wgRateLimits = [];
$wgJobRunRate = 0;
wfLoadExtension( 'TextExtracts', '{extensions}/TextExtracts/extension.json' );
"""

# PHP's web server has no rewriting: files are served by their scripts, and /wiki/ by index.php.
ROUTER = """<?php
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$root = '{root}';
if (preg_match('#^/w/(api|index|load)\\.php$#', $path, $found)) {{
    chdir($root); $_SERVER['SCRIPT_NAME'] = $path; $_SERVER['SCRIPT_FILENAME'] = "$root/{{$found[1]}}.php";
    require "$root/{{$found[1]}}.php";
}} elseif (str_starts_with($path, '/wiki/')) {{
    chdir($root); $_SERVER['SCRIPT_NAME'] = '/w/index.php'; require "$root/index.php";
}} else {{ http_response_code(404); echo 'not here'; }}
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def wikis(root: Path, folder: Path, sites: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Both editions, filled and served; the address of each one's API by its language."""
    ports = {language: free_port() for language in EDITIONS}
    with ExitStack() as stack:
        for language in EDITIONS:
            _install(root, folder, language, ports)
            _fill(root, folder, language, dict(sites))
            stack.enter_context(_served(root, folder, language, ports[language]))
        yield {language: f"http://127.0.0.1:{port}/w/api.php" for language, port in ports.items()}


def _install(root: Path, folder: Path, language: str, ports: Mapping[str, int]) -> None:
    data = folder / language
    data.mkdir(parents=True)
    _php(
        root, "maintenance/install.php", "--dbtype=sqlite", f"--dbpath={data}", f"--dbname=wiki{language}",
        "--scriptpath=/w", f"--server=http://127.0.0.1:{ports[language]}", f"--lang={language}",
        "--pass=a-long-pass-phrase", f"--confpath={data}", f"Testpedia {language}", "Admin",
    )  # fmt: skip
    settings = data / "LocalSettings.php"
    settings.write_text(settings.read_text() + SETTINGS.format(extensions=root / "extensions-core"))
    (data / "router.php").write_text(ROUTER.format(root=root))
    other = OTHER[language]
    statement = folder / f"interwiki-{language}.sql"
    statement.write_text(
        "INSERT INTO interwiki (iw_prefix, iw_url, iw_api, iw_wikiid, iw_local, iw_trans) VALUES "
        f"('{other}', 'http://127.0.0.1:{ports[other]}/wiki/$1', '', '', 1, 0);"
    )
    _php(root, "maintenance/sql.php", f"--conf={settings}", str(statement))


def _fill(root: Path, folder: Path, language: str, sites: dict[str, str]) -> None:
    settings = f"--conf={folder / language / 'LocalSettings.php'}"
    pages = folder / f"{language}.xml"
    pages.write_text(export(language, sites), "utf-8")
    for script, *arguments in (
        ("importDump.php", str(pages)),
        ("rebuildrecentchanges.php",),
        ("refreshLinks.php",),
        ("runJobs.php",),
        ("initSiteStats.php", "--update"),
        ("rebuildtextindex.php",),
    ):
        _php(root, f"maintenance/{script}", settings, *arguments)


def _php(root: Path, *arguments: str) -> None:
    done = subprocess.run(
        ["php", "-d", "error_reporting=0", *arguments], cwd=root, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{arguments[0]} failed: {done.stdout[-2000:]} {done.stderr[-2000:]}")


@contextmanager
def _served(root: Path, folder: Path, language: str, port: int) -> Iterator[None]:
    data = folder / language
    environment = os.environ | {
        "MW_CONFIG_FILE": str(data / "LocalSettings.php"),
        "PHP_CLI_SERVER_WORKERS": "2",
    }
    with (folder / f"{language}.log").open("wb") as log:
        server = subprocess.Popen(
            ["php", "-S", f"127.0.0.1:{port}", "-t", str(root), str(data / "router.php")],
            env=environment, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        try:
            _wait_for(f"http://127.0.0.1:{port}/w/api.php?action=query&format=json&meta=siteinfo")
            yield
        finally:
            os.killpg(server.pid, 15)
            server.wait()


def _wait_for(address: str) -> None:
    for _ in range(100):
        try:
            urllib.request.urlopen(address, timeout=20).read()
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"{address} does not answer")
