"""What can be learned from URLs alone: the language of a page, whether two are translations, the pairs of a whole site."""

# Here, because help shows it. Swept 0.07–0.60 on halves of the hosts and on kinds of difference left out (2026-11,
# lab/notes/url-pairs.md): against 0.07, 0.12 gains one to two points of F1 where pages have no partner, and loses at most 1.2
# where all have one.
URL_PAIR_SCORE = 0.12
