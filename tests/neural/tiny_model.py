"""A real model of sentence-transformers, small enough to be made in a test: BERT with words that we place ourselves.

It is built as LaBSE is (a WordPiece tokenizer, BERT, pooling) and saved as such a model is, so that it is loaded and run
by the same code; only what it knows is little: the words of a bilingual list, where a word and its translation are one
direction and all others are as good as orthogonal.
"""

from collections.abc import Mapping
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer
from transformers import BertConfig, BertModel, BertTokenizerFast

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SIZE = 64


def save_model(folder: Path, translations: Mapping[str, str]) -> str:
    """Where a model that knows those words lies."""
    words = [*SPECIAL, *dict.fromkeys(word for pair in translations.items() for word in pair)]
    inner = folder / "bert"
    inner.mkdir(parents=True)
    (inner / "vocab.txt").write_text("\n".join(words), "utf-8")
    BertTokenizerFast(str(inner / "vocab.txt"), do_lower_case=True, strip_accents=False).save_pretrained(inner)
    _bert(words, translations).save_pretrained(inner)
    SentenceTransformer(str(inner), device="cpu").save(str(folder / "model"))  # which adds the pooling: the mean
    return str(folder / "model")


def _bert(words: list[str], translations: Mapping[str, str]) -> BertModel:
    torch.manual_seed(1)
    model = BertModel(
        BertConfig(
            vocab_size=len(words),
            hidden_size=SIZE,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=SIZE,
            max_position_embeddings=128,
        )
    )
    place = {word: number for number, word in enumerate(words)}
    with torch.no_grad():
        known = model.embeddings.word_embeddings.weight
        known.normal_()
        known[: len(SPECIAL)] = 0.0
        for one, other in translations.items():
            known[place[other]] = known[place[one]] + 0.1 * torch.randn(SIZE)
        # The layer passes on what it is given: what a text means is in its words alone.
        for name, weights in model.named_parameters():
            if "position" in name or "token_type" in name or "output.dense" in name:
                weights.zero_()
    return model.eval()
