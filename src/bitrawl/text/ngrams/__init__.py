"""Word n-gram language models: counted, estimated by Kneser–Ney, read and written as ARPA files, and asked."""
