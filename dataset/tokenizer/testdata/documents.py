"""Writes random tokenizers, and what Hugging Face's own library makes of texts with them.

usage: documents.py FOLDER COUNT

Real files use a few combinations of parts. Here each document has parts, models and added tokens
at random, with small and odd vocabularies. Each line of FOLDER/documents.jsonl is a document, its
texts with their ids, and ids with their text; or a document that the library refuses. A document
that makes the library fail later is left out.
"""

import json
import pathlib
import random
import sys

from tokenizers import Tokenizer
from train import CHARSMAP

CHARS = [
    *"abAB ", "  ", "\t", "\r\n", "é", "e\u0301", "\u0301", "ß", "ı", "İ", "Σ", "中", "国", "あ", "ア", "ー", "한", "я", "ا", "1", "२", "½", *".!'-_▁#<[$^",
    "\u00a0", "\u200b", "\u3000", "\x00", "\x7f", "\x85", "\u00ad", "\ufeff", "\ufffd", "😀", "👨‍👩‍👧", "ﬁ", "Å", "①", "·", "𠀀", "\ue000", "##a", "</w>",
]
SPECIALS = ["[UNK]", "[CLS]", "[SEP]", "<s>", "</s>", "<unk>"]
REGEXES = [r"\s+", r"\d", r"[a-b]+", r" {2,}", r"a|ab", r"\p{L}+|\p{N}", r"\s+(?!\S)|\s+", r"(?i:'s|'t)|a+", r"\S", r"b?a", r"[^a]", r"a{2}"]
BEHAVIORS = ["Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"]


class Maker:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.pick = self.rng.choice

    def chance(self, share):
        return self.rng.random() < share

    def text(self, most):
        return "".join(self.pick(CHARS) for _ in range(self.rng.randint(1, most)))

    def pattern(self):
        return {"Regex": self.pick(REGEXES)} if self.chance(0.5) else {"String": self.pick([" ", "a", "ab", "▁", "é", ".", "中", "\n"])}

    def several(self, field, make, depth):
        return {"type": "Sequence", field: [make(depth + 1) for _ in range(self.rng.randint(0, 3))]}

    def metaspace(self):
        return {"type": "Metaspace", "replacement": self.pick("▁▁_ aé"), "prepend_scheme": self.pick(["always", "first", "never"]), "split": self.pick([True, False, None])}

    def replace(self):
        return {"type": "Replace", "pattern": self.pattern(), "content": self.pick(["", " ", "▁", "b", "ab"])}

    def level(self):
        return {"type": "ByteLevel", "add_prefix_space": self.chance(0.5), "trim_offsets": True, "use_regex": self.chance(0.5)}

    def normalizer(self, depth=0):
        yes = lambda: self.chance(0.5)
        return self.pick([
            lambda: {"type": "BertNormalizer", "clean_text": yes(), "handle_chinese_chars": yes(), "strip_accents": self.pick([None, True, False]), "lowercase": yes()},
            lambda: {"type": self.pick(["Lowercase", "NFC", "NFD", "NFKC", "NFKD", "Nmt", "StripAccents"])},
            lambda: CHARSMAP,
            lambda: {"type": "Prepend", "prepend": self.pick(["▁", " ", "ab", "\u0301"])},
            self.replace,
            lambda: {"type": "Strip", "strip_left": yes(), "strip_right": yes()},
            lambda: self.several("normalizers", self.normalizer, depth) if depth < 2 else {"type": "NFC"},
        ])()

    def pre_tokenizer(self, depth=0):
        return self.pick([
            lambda: {"type": self.pick(["BertPreTokenizer", "Whitespace", "WhitespaceSplit", "UnicodeScripts"])},
            lambda: {"type": "CharDelimiterSplit", "delimiter": self.pick(" a▁é.")},
            lambda: {"type": "Digits", "individual_digits": self.chance(0.5)},
            self.metaspace,
            lambda: {"type": "Punctuation", "behavior": self.pick(BEHAVIORS)},
            lambda: {"type": "Split", "pattern": self.pattern(), "behavior": self.pick(BEHAVIORS), "invert": self.chance(0.3)},
            self.level,
            lambda: self.several("pretokenizers", self.pre_tokenizer, depth) if depth < 2 else {"type": "WhitespaceSplit"},
        ])()

    def decoder(self, depth=0):
        return self.pick([
            lambda: {"type": "BPEDecoder", "suffix": self.pick(["</w>", "a"])},
            lambda: {"type": self.pick(["ByteFallback", "Fuse"])},
            self.level,
            self.metaspace,
            self.replace,
            lambda: {"type": "Strip", "content": self.pick(" a▁é"), "start": self.rng.randint(0, 2), "stop": 0},
            lambda: {"type": "WordPiece", "prefix": self.pick(["##", "", "a"]), "cleanup": self.chance(0.5)},
            lambda: self.several("decoders", self.decoder, depth) if depth < 2 else {"type": "Fuse"},
        ])()

    def post_processor(self):
        token = lambda: [self.pick(SPECIALS), self.rng.randint(0, 20)]
        around = [{"SpecialToken": {"id": name, "type_id": 0}} for name in self.rng.sample(SPECIALS, self.rng.randint(0, 2))]
        around.insert(self.rng.randint(0, len(around)), {"Sequence": {"id": "A", "type_id": 0}})
        template = {
            "type": "TemplateProcessing", "single": around, "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {name: {"id": name, "ids": [self.rng.randint(0, 20)], "tokens": [name]} for name in SPECIALS},
        }
        return self.pick([
            None, self.level(), template,
            {"type": "BertProcessing", "sep": token(), "cls": token()},
            {"type": "RobertaProcessing", "sep": token(), "cls": token(), "trim_offsets": True, "add_prefix_space": False},
            {"type": "Sequence", "processors": [self.level(), template]},
        ])

    def pieces(self):
        found = [self.text(4) for _ in range(self.rng.randint(1, 40))] + [c for c in ["▁", " ", *"abABé中.1", "##a", "##b", *SPECIALS] if self.chance(0.5)]
        if self.chance(0.3):
            found += [f"<0x{b:02X}>" for b in range(256)]
        self.rng.shuffle(found)
        return list(dict.fromkeys(found))

    def model(self):
        return self.pick([self.unigram, self.word_piece, self.word_level, self.bpe])()

    def unigram(self):
        score = self.pick([lambda: -self.rng.random() * 10, lambda: -float(self.rng.randint(0, 3)), lambda: self.rng.uniform(-5, 5)])
        vocab = [[piece, score()] for piece in self.pieces()]
        if self.chance(0.3):
            vocab += [[self.pick(vocab)[0], score()] for _ in range(3)]
        return {"type": "Unigram", "unk_id": self.rng.randrange(len(vocab)), "vocab": vocab, "byte_fallback": self.chance(0.3)}

    def word_level(self):
        pieces = self.pieces()
        gap = self.pick([1, 1, 1, 3])
        return {"type": "WordLevel", "vocab": {piece: i * gap for i, piece in enumerate(pieces)}, "unk_token": self.pick(pieces)}

    def word_piece(self):
        prefix = self.pick(["##", "##", "", "a"])
        pieces = self.pieces()
        pieces = list(dict.fromkeys(pieces + [prefix + piece for piece in pieces if self.chance(0.5)]))
        return {
            "type": "WordPiece", "vocab": {piece: i for i, piece in enumerate(pieces)}, "unk_token": self.pick(pieces),
            "continuing_subword_prefix": prefix, "max_input_chars_per_word": self.pick([100, 100, 3]),
        }

    def bpe(self):
        suffix = self.pick([None, None, "</w>"])
        vocab = list(dict.fromkeys(c for piece in self.pieces() for c in piece))
        vocab += [c + suffix for c in vocab if suffix and self.chance(0.7)]
        merges = [[self.pick(vocab), self.pick(vocab)] for _ in range(self.rng.randint(0, 25))]
        vocab = list(dict.fromkeys(vocab + [a + b for a, b in merges]))
        return {
            "type": "BPE", "dropout": None, "unk_token": self.pick([None, self.pick(vocab)]), "continuing_subword_prefix": None, "end_of_word_suffix": suffix,
            "fuse_unk": self.chance(0.5), "byte_fallback": False, "ignore_merges": self.chance(0.3), "vocab": {piece: i for i, piece in enumerate(vocab)}, "merges": merges,
        }

    def added(self, pieces):
        contents = dict.fromkeys(self.pick([*SPECIALS, self.text(3), self.pick(pieces)]) for _ in range(self.pick([0, 0, 1, 2, 4])))
        flag = lambda: self.chance(0.3)
        return [
            {"id": i, "content": c, "single_word": flag(), "lstrip": flag(), "rstrip": flag(), "normalized": c in SPECIALS and flag(), "special": flag()}
            for i, c in enumerate(contents)
        ]

    def document(self):
        model = self.model()
        pieces = [piece for piece, _ in model["vocab"]] if isinstance(model["vocab"], list) else list(model["vocab"])
        maybe = lambda make: make() if self.chance(0.75) else None
        document = {
            "version": "1.0", "truncation": None, "padding": None, "added_tokens": self.added(pieces), "normalizer": maybe(self.normalizer),
            "pre_tokenizer": maybe(self.pre_tokenizer), "post_processor": self.post_processor(), "decoder": maybe(self.decoder), "model": model,
        }
        parts = CHARS + pieces + [t["content"] for t in document["added_tokens"]]
        texts = [""] + ["".join(self.pick([self.pick(parts), self.pick("ab ")]) for _ in range(self.pick([1, 2, 3, 8, 30]))) for _ in range(10)]
        ids = [[self.rng.randrange(len(pieces) + 8) for _ in range(self.rng.randint(1, 6))] for _ in range(4)]
        return document, texts, ids


def ambiguous(tok, document):
    """Says whether two added tokens are equal once they are normalized: then the library's choice is random."""
    normal = [t["content"] for t in document["added_tokens"] if t["normalized"]]
    if tok.normalizer:
        normal = [tok.normalizer.normalize_str(content) for content in normal]
    return len(set(normal)) < len(normal)


def line(document, texts, ids):
    try:
        tok = Tokenizer.from_str(json.dumps(document))
    except Exception:
        return {"document": document, "refused": True}
    if ambiguous(tok, document):
        return None
    try:
        return {
            "document": document,
            "texts": [{"text": text, "ids": tok.encode(text, add_special_tokens=False).ids, "full": tok.encode(text).ids} for text in texts],
            "decoded": [{"ids": some, "text": tok.decode(some, skip_special_tokens=False)} for some in ids],
        }
    except BaseException as failure:  # a panic of Rust is no Exception
        if isinstance(failure, (KeyboardInterrupt, SystemExit)):
            raise
        return None


def main(folder, count):
    with open(pathlib.Path(folder) / "documents.jsonl", "w") as out:
        for seed in range(int(count)):
            if made := line(*Maker(seed).document()):
                out.write(json.dumps(made) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
