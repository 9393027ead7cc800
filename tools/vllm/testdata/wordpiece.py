"""Writes a tokenizer as BERT models have it: WordPiece of lower-case words.

usage: wordpiece.py FOLDER WORDS LETTERS

It knows the words of one file and their ends, and the letters of both files but no emoji. The
same files make the same tokenizer. tokenizer.json and tokenizer_config.json come into the
folder, and to stdout the number of tokens.
"""

import json
import os
import pathlib
import sys

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
UNUSED = [f"[unused{i}]" for i in range(99)]  # BERT's vocabulary has them, and they are not special


def split(file):
    """The words of a file, as the tokenizer sees them."""
    text = normalizers.BertNormalizer().normalize_str(pathlib.Path(file).read_text(encoding="utf-8"))
    return [word for word, _ in pre_tokenizers.BertPreTokenizer().pre_tokenize_str(text)]


def vocabulary(words, others):
    letters = sorted(letter for letter in set("".join(words + others)) if letter < "\U00010000")
    ends = [word[-n:] for word in words for n in (2, 3, 4) if len(word) > n]
    pieces = SPECIALS[:1] + UNUSED + SPECIALS[1:] + letters + ["##" + piece for piece in letters + ends] + words
    return {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}


def build(vocab):
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    tokenizer.add_special_tokens(SPECIALS)
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", special_tokens=[(name, vocab[name]) for name in ("[CLS]", "[SEP]")]
    )
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def main(folder, words, letters):
    tokenizer = build(vocabulary(split(words), split(letters)))
    tokenizer.save(os.path.join(folder, "tokenizer.json"))
    config = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "clean_up_tokenization_spaces": True}
    config |= {name[1:-1].lower() + "_token": name for name in SPECIALS}
    with open(os.path.join(folder, "tokenizer_config.json"), "w") as file:
        json.dump(config, file)
    print(tokenizer.get_vocab_size())


if __name__ == "__main__":
    main(*sys.argv[1:])
