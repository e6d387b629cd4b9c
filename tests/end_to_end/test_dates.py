"""A real job while somebody sets the date of its machine, again and again. `lab.bench.dates` compares whole corpora."""

import asyncio
from pathlib import Path

import msgspec

from bitrawl import demo
from lab.bench.dates import JUMPS, SITE, mined


def test_a_job_finds_its_pairs_whatever_the_date_is_set_to_meanwhile(tmp_path: Path):
    found = asyncio.run(asyncio.wait_for(mined(tmp_path / "job", JUMPS["there and back"]), 120))
    assert found.code == 0, found.said
    documents = [msgspec.json.decode(line) for line in found.files["en-fr.documents.jsonl"].splitlines()]
    pairs = {(document["url_a"], document["url_b"]) for document in documents}
    assert len(pairs) == 5
    assert all(url.startswith(SITE) and url in demo.pages() for pair in pairs for url in pair)
