"""What a command shows in its help and something far below it uses. Here, so that help need not load that."""

from enum import StrEnum


class TermFormat(StrEnum):
    """How pairs of terms are written."""

    TSV = "tsv"
    CSV = "csv"
    TBX = "tbx"
    JSONL = "jsonl"


TERM_PAIRS = 500  # as many as a person will look through
# Judgement, from reading lilypond en-fr and gimp-help en-de (2026-11): of 39 pairs from 0.5 to 0.6 about 31 are right, of 55
# from 0.3 to 0.5 about 35.
TERM_PAIR_SCORE = 0.5
# As many as a person will read. On the Ebola pages (2026-11), 60 and 300 tell them apart about as well.
TOPIC_TERMS = 150
# Swept 0.07–0.60 on halves of the hosts and on kinds of difference left out (2026-11, lab/notes/url-pairs.md): against
# 0.07, 0.12 gains one to two points of F1 where pages have no partner, and loses at most 1.2 where all have one.
URL_PAIR_SCORE = 0.12
SIMULATED_DOWNLOADS = 1000  # of a walk
MOST_GROUPS = 100_000  # so many files in one folder are still listed in a second
# How much of a link graph is kept of what is popular: a hub that cites more is a directory of the whole web, and ten
# thousand hubs of one host say what they have to say together.
HUB_LINKS = 1000  # the given hosts among them are always kept
REFERRERS = 10_000  # of a given host, about
