import gzip
import json
from pathlib import Path

import pytest

from lab.peers import __main__ as peers
from lab.peers import archives
from lab.peers.suites import SUITES, Case, declared_charsets, found_charsets, language_tags, public_suffixes, urls

RIGHT, WRONG = Case("right", "a", "a"), Case("wrong", "a", "b")


@pytest.mark.parametrize(
    ("cases", "excuses", "failed", "passed", "is_news"),
    [
        ([RIGHT], {}, [], (), False),
        ([RIGHT, WRONG], {}, ["wrong"], (), True),
        ([RIGHT, WRONG], {"wrong": "why"}, [], (), False),
        ([RIGHT], {"right": "why"}, [], ("right",), True),
        ([RIGHT], {"gone": "why"}, [], (), False),
        ([], {}, [], (), True),
    ],
)
def test_what_fails_or_passes_against_expectation_is_news(cases, excuses, failed, passed, is_news):
    outcome = peers.judged(cases, excuses)
    assert [case.name for case in outcome.failed] == failed
    assert outcome.passed == passed
    assert outcome.is_news is is_news


def test_each_expected_failure_has_a_reason_and_a_suite():
    names = {suite.name for suite in SUITES}
    assert peers.expected().keys() <= names
    assert all(len(reason) > 20 for excuses in peers.expected().values() for reason in excuses.values())


def test_a_suite_that_is_not_there_is_named_with_its_source(tmp_path: Path, capsys):
    assert peers.main(["--data", str(tmp_path), "urls"]) == 0
    printed = capsys.readouterr().out
    assert "urls was not found: https://github.com/web-platform-tests/wpt" in printed
    assert "public-suffixes" not in printed


def test_a_failing_case_is_shown_and_ends_with_1(tmp_path: Path, capsys):
    wrong = {"input": "http://a.org/x", "base": None, "href": "http://b.org/x"}
    (tmp_path / "urltestdata.json").write_text(json.dumps(["a comment", *[wrong] * 700]))
    assert peers.main(["--data", str(tmp_path), "urls"]) == 1
    assert "FAILS 'http://a.org/x'\n    wanted 'http://b.org/x'\n    found  'http://a.org/x'" in capsys.readouterr().out


def test_cases_are_read_as_their_suites_write_them(tmp_path: Path):
    data = tmp_path / "urltestdata.json"
    refused = {"input": "http://a b/", "base": None, "failure": True}
    relative = {"input": "../%7ex?#y", "base": "http://me@a.org/b/c", "href": "http://me@a.org/%7ex?#y"}
    data.write_text(json.dumps([refused, relative, {"input": "x", "base": "mailto:a", "failure": True}]))
    assert [case.wanted == case.found for case in urls(data)] == [True, True]

    data = tmp_path / "test_psl.txt"
    data.write_text(
        "// text\ncheckPublicSuffix('www.食狮.com.cn', '食狮.com.cn');\ncheckPublicSuffix('com.cn', null);\n"
    )
    assert [(case.wanted, case.found) for case in public_suffixes(data)] == [
        ("xn--85x722f.com.cn", "xn--85x722f.com.cn"),
        ("com.cn", "com.cn"),
    ]

    (tmp_path / "encoding").mkdir()
    data = tmp_path / "encoding" / "tests1.dat"
    data.write_bytes(
        b'#data\n<meta charset="iso8859-2">\n#encoding\niso-8859-2\n\n#data\n<p>\n#encoding\nwindows-1252\n'
    )
    assert [case.wanted == case.found for case in declared_charsets(data)] == [True, True]

    for folder, charset in (("koi8-r-russian", "koi8-r"), ("IBM855", "cp855")):
        (tmp_path / "charsets" / folder).mkdir(parents=True)
        text = "Старая гавань просыпается до восхода солнца. " * 20
        (tmp_path / "charsets" / folder / "a.txt").write_bytes(text.encode(charset))
    (case,) = found_charsets(tmp_path / "charsets" / "koi8-r-russian" / "a.txt")
    assert (case.name, case.wanted) == ("koi8-r-russian/a.txt", case.found)

    parts = {"language": "zh", "extendedLanguageSubtags": ["yue"], "script": "Hant", "region": "HK"}
    (tmp_path / "fixtures").mkdir()
    data = tmp_path / "fixtures" / "zh-yue-Hant-HK-x-private.json"
    data.write_text(json.dumps({**parts, "irregular": None, "regular": None}))
    (case,) = language_tags(data)
    assert case.wanted == case.found == "yue-Hant-HK"


def test_warcio_finds_what_is_written_sound(tmp_path: Path):
    files, bodies = archives.archived(tmp_path / "job", pause=lambda _seconds: None)
    assert [case.found for case in archives.checked(files)] == ["sound"] * len(files)
    assert len(bodies) > 30  # those of the first round alone
    (tmp_path / "other.warc").write_bytes(
        gzip.decompress(files[0].read_bytes()).replace(b"If-None-Match", b"If-None-Catch", 1)
    )
    (case,) = archives.checked([tmp_path / "other.warc"])
    assert "digest failed" in case.found
