import tomllib
from pathlib import Path

import msgspec
import pytest

from bitrawl import config
from bitrawl.errors import ConfigError
from bitrawl.jobs.settings import listed

GOOD = {"langs": ["en", "fr"], "seeds": ["https://example.org"]}


def test_a_job_is_written_and_read_back_the_same(tmp_path: Path):
    asked = GOOD | {
        "budget": {"pages": 5},
        "scope": {"one_site": [["a.org", "b.org"]]},
        "fetch": {"connect_to": {"*.test": "127.0.0.1:80"}},
    }
    job = config.resolve(asked)
    config.write(job, tmp_path / "job.toml")
    assert config.resolve(config.read(tmp_path / "job.toml")) == job


def test_codes_and_seeds_are_brought_into_standard_form():
    job = config.resolve({"langs": ["ENG", "fr_FR", "fra"], "seeds": ["HTTPS://Example.org", "https://example.org/"]})
    assert (job.langs[0], job.seeds) == ("en", ["https://example.org/"])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"sedes": []}, "did you mean 'seeds'"),
        ({"politeness": {"dealy": 2}}, r"unknown key 'dealy' in \[politeness\]; did you mean 'delay'"),
        ({"politeness": {"delay": -1}}, "politeness.delay"),
        ({"budget": {"pages": "many"}}, "budget.pages"),
        ({"langs": ["klingonish"]}, "klingonish"),
        ({"langs": []}, "--langs en,fr"),
        ({"langs": ["en-fr"]}, "write --langs en,fr,"),
        ({"langs": ["EN_FR"]}, "write --langs en,fr,"),
        ({"langs": ["en", "en"]}, "one language, English"),
        ({"langs": ["en", "eng", "en-GB"]}, "one language, English"),
        ({"scope": {"include": ["*.html"]}}, "no regular expression"),
        ({"seeds": ["www.example.org"]}, "https://www.example.org"),
        ({"seeds": ["https//www.example.org"]}, r"did you mean https://www\.example\.org \?"),
        ({"seeds": ["ftp://example.org/"]}, "only http and https"),
        ({"seeds": ["https://me:secret@example.org/x"]}, "the seed https://example.org/x was given with a user name"),
        ({"seeds": []}, "nowhere to start"),
        ({"strategy": "depth-first"}, "there is no strategy 'depth-first'; the strategies are breadth-first"),
        ({"export": {"formats": ["foo"]}}, "there is no format 'foo'; the formats are tmx, jsonl"),
        ({"warc": ["/no/such.warc.gz"], "seeds": []}, "no file or folder /no/such.warc.gz"),
        ({"warc": ["x"]}, "--replay"),
        ({"export": {"formats": ["tmx", "text"]}}, "text is not for pairs of languages; there are tmx, jsonl"),
        ({"langs": ["fr"], "export": {"formats": ["tmx"]}}, "tmx is not for one language; there are text, jsonl, xces"),
    ],
)
def test_a_mistake_is_refused_with_its_fix(change, says):
    with pytest.raises(ConfigError, match=says):
        config.resolve(GOOD | change)


@pytest.mark.parametrize(("langs", "formats"), [(["fr"], ["text", "jsonl"]), (["en", "fr"], ["jsonl", "tmx", "tsv"])])
def test_what_is_written_when_nobody_says_depends_on_the_number_of_languages(langs, formats):
    assert config.resolve(GOOD | {"langs": langs}).export.formats == formats


@pytest.mark.parametrize("code", ["en-FR", "pt-br", "pt-BR", "zh-tw", "de-ch", "en-gb", "sr-latn", "es-419", "en"])
def test_a_language_with_its_region_is_one_language(code):
    assert len(config.resolve(GOOD | {"langs": [code]}).langs) == 1


@pytest.mark.parametrize("text", ["en,fr", "en;fr", " en ; fr ", "en,fr,"])
def test_a_flag_lists_with_commas_or_semicolons(text):
    assert listed(text) == ["en", "fr"]


def test_flags_win_over_the_file_key_by_key():
    merged = config.merged(
        {"langs": ["en"], "budget": {"pages": 5, "minutes": 1.0}},
        {"langs": None, "budget": {"pages": 9, "minutes": None}},
    )
    assert merged == {"langs": ["en"], "budget": {"pages": 9, "minutes": 1.0}}


def test_another_job_does_not_continue_in_the_same_folder():
    job = config.resolve(GOOD)
    config.continues(config.resolve(GOOD | {"budget": {"pages": 9}, "seeds": ["https://example.net/"]}), job)
    with pytest.raises(ConfigError, match="--fresh"):
        config.continues(config.resolve(GOOD | {"langs": ["en", "de"]}), job)


@pytest.mark.parametrize("text", ["langs = [", "\x00"])
def test_a_job_file_that_is_no_toml_is_refused(tmp_path: Path, text: str):
    (tmp_path / "job.toml").write_text(text)
    with pytest.raises(ConfigError, match="no TOML"):
        config.read(tmp_path / "job.toml")


def test_a_seed_list_has_comments_and_blank_lines():
    assert config.seeds_from(b"\xef\xbb\xbf# sites\n\n https://a.org \r\nhttps://b.org", "seeds.txt") == [
        "https://a.org",
        "https://b.org",
    ]


SECRETS = {
    "langs": ["en", "fr"],
    "seeds": ["https://www.example.org/en/"],
    "replay": ["/home/me/secret/site.warc.gz"],
    "warc": ["/home/me/secret/all.warc.gz"],
    "encoder": "/home/me/secret/labse",
    "url_language_model": "~/secret/urls",
    "url_pair_model": "./secret/pairs",
    "fetch": {
        "contact": "me@secret.test",
        "proxy": "http://me:secret@proxy.test:3128",
        "connect_to": {"*.secret.test": "10.0.0.1:80"},
    },
    "pair": {"dictionary": "/home/me/secret/words.tsv"},
}


def test_a_job_that_is_published_has_no_credentials_no_contact_and_no_paths():
    text = config.public_text_of(msgspec.convert(SECRETS, config.Job))
    assert not any(told in text for told in ("secret", "me@", "home", "proxy.test", "10.0.0.1"))
    public = tomllib.loads(text)
    assert public["seeds"] == ["https://www.example.org/en/"]
    assert (public["replay"], public["warc"]) == (["site.warc.gz"], ["all.warc.gz"])
    assert public["pair"]["dictionary"] == "words.tsv"
    assert [public[name] for name in ("encoder", "url_language_model", "url_pair_model")] == ["labse", "urls", "pairs"]
    assert not any(public["fetch"][name] for name in ("contact", "proxy", "connect_to"))


def test_a_job_that_is_published_keeps_all_that_made_the_corpus():
    asked = {"langs": ["en", "fr"], "seeds": ["https://a.org/@me/"], "encoder": "sentence-transformers/LaBSE"}
    job = config.resolve(asked | {"judge": {"score": 0.4}})
    assert config.public_text_of(job) == config.text_of(job)


def test_a_job_file_keeps_no_password(tmp_path):
    asked = GOOD | {"fetch": {"proxy": "http://me:hush@proxy.test:3128"}}
    config.write(config.resolve(asked), tmp_path / "job.toml")
    written = (tmp_path / "job.toml").read_text()
    assert "hush" not in written
    assert "HTTP_PROXY" in written
    assert config.read(tmp_path / "job.toml")["fetch"]["proxy"] == "http://proxy.test:3128"


@pytest.mark.parametrize("raw", ["https//www.example.org/a", "//www.example.org/a"])
def test_a_mistyped_seed_is_answered_with_what_was_meant(raw):
    with pytest.raises(ConfigError, match=r"did you mean https://www\.example\.org/a \?"):
        config.resolve(GOOD | {"seeds": [raw]})


@pytest.mark.parametrize("content", [b"\xff\xfe\x00\x01", b"https://a.org\n\x80\x81"])
def test_a_seed_list_that_is_no_text_is_refused(content):
    with pytest.raises(ConfigError, match=r"seeds\.bin is not a text file in UTF-8"):
        config.seeds_from(content, "seeds.bin")


@pytest.mark.parametrize(
    "seed", ["https://me:secret@a.org/", "https://me:secret@a b/", "me:secret@www.a.org", "//me:secret@a.org"]
)
def test_a_password_in_a_seed_is_refused_and_not_repeated(seed):
    with pytest.raises(ConfigError) as caught:
        config.resolve(GOOD | {"seeds": [seed]})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "proxy", ["http://me:se@cret@proxy.org:3128", "me:secret@proxy.org:3128", "http://proxy.org:3128"]
)
def test_a_job_file_has_no_password(proxy):
    text = config.text_of(config.resolve(GOOD | {"fetch": {"proxy": proxy}}))
    assert "cret" not in text
    assert 'proxy.org:3128"' in text
