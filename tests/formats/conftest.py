"""These tests need libraries that read corpora, hundreds of megabytes: `make test-formats` installs them and runs them."""

import os
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from written_corpora import CorpusFolder, written_corpora

collect_ignore_glob = [] if find_spec("datasets") else ["*"]
os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}  # read when they are imported


@pytest.fixture(scope="session")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, CorpusFolder]]:
    return written_corpora(tmp_path_factory.mktemp("corpora"))
