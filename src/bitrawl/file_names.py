"""What the files and folders are called that bitrawl writes into the folder of a job, a run over many sites, a merge or a search."""

DESCRIPTION, LEDGER, LOCK = "job.toml", "job.sqlite", "job.lock"
VERDICTS, INDEX = "verdicts.sqlite", "index.sqlite"  # what people said, and what readers list and search
ARCHIVE, CORPUS, SHARD, REPORT = "warc", "corpus", "shard", "report.html"
SUMMARY = "summary.json"  # in the folder of a corpus
CARD = "README.md"
"""The datasheet in the folder of a corpus. Under this name, `datasets.load_dataset` finds the files of the folder by it."""
BUNDLES, PARTS, MERGED = "bundles.jsonl", "parts", "merged"  # of a run over many sites
MERGE = "merge.json"
"""What was merged. A folder that has it is the target of a merge, and may be written again."""
BOOTSTRAP = "bootstrap.toml"
SEARCHED, MINED_SITES = "discovery.json", "mined"  # of a search for sites
FOUND_SITES, SITES_TABLE, SITES_JSON = "sites.txt", "sites.tsv", "sites.jsonl"
