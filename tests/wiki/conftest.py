"""These tests need PHP and Debian's MediaWiki: `make wiki-test` installs both and runs them."""

import os

collect_ignore_glob = [] if os.environ.get("MEDIAWIKI") else ["*"]
