"""These tests need the extra `neural`, hundreds of megabytes: `make test-neural` installs it and runs them."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("sentence_transformers") else ["*"]
