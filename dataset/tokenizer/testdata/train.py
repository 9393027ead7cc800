"""Makes bytes.json, pieces.json, words.json, scores.json and variants.json, with
Hugging Face's library.

The first four are small tokenizers, trained on the sentences of oracle.py: two
of byte pairs, a WordPiece and a Unigram. The last holds changes to them, which
cover every part that the Go package knows, each with what the library makes of
some texts. Where "full" is missing, special tokens add nothing to "ids"; where
"decoded" is missing, it is the text.
"""

import base64
import json
import pathlib
import random
import struct

import oracle
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
TAIL = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TEKKEN = rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*|\p{{N}}" + TAIL
CLITICS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CLITICS}|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CLITICS}|\p{{N}}{{1,3}}" + TAIL
DEEPSEEK = r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def level(**options):
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False, **options}


def split(regex, behavior="Isolated", invert=False):
    return {"type": "Split", "pattern": {"Regex": regex}, "behavior": behavior, "invert": invert}


def at(string, behavior, invert=False):
    return {"type": "Split", "pattern": {"String": string}, "behavior": behavior, "invert": invert}


def cut(*parts):
    return {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [*parts, level()]}}


def space(scheme, cut=True, **more):
    meta = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": cut, **more}
    return {"normalizer": None, "pre_tokenizer": meta, "decoder": meta}


def norm(*parts):
    return {"normalizer": {"type": "Sequence", "normalizers": list(parts)}}


def around(before, after):
    ids = {"<s>": 0, "</s>": 1}
    return {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": before, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": after, "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in (before, after)}}


def sequence(*parts):
    return {"pre_tokenizer": {"type": "Sequence", "pretokenizers": list(parts)}}


def bert(**options):
    return {"normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True, **options}}


def replace(regex, content):
    return {"type": "Replace", "pattern": {"Regex": regex}, "content": content}


def charsmap(changes):
    """The normalizer of a SentencePiece model, as a double array of a trie of bytes and the texts that replace others."""
    texts, trie = b"", {}
    for old, new in changes.items():
        node = trie
        for byte in old.encode():
            node = node.setdefault(byte, {})
        node[0] = len(texts)
        texts += new.encode() + b"\0"
    units, used = {0: 0}, {0}

    def place(node, at):
        base = next(b for b in range(1, 1 << 20) if all(b ^ byte not in used for byte in node))
        used.update(base ^ byte for byte in node)
        units[at] = units.get(at, 0) | (at ^ base) << 10 | (0 in node) << 8
        for byte, below in node.items():
            if byte:
                units[base ^ byte] = byte
                place(below, base ^ byte)
            else:
                units[base] = 1 << 31 | below

    place(trie, 0)
    array = b"".join(struct.pack("<I", units.get(i, 0)) for i in range(max(units) // 256 * 256 + 512))
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(struct.pack("<I", len(array)) + array + texts).decode()}


CHARSMAP = charsmap({"\t": " ", "\n": " ", "\r": " ", "\u00a0": " ", "\u3000": " ", "\x7f": "", "ﬁ": "fi", "①": "1", "Å": "Å", "A\u030a": "Å", "e\u0301": "é", "が": "が", "か\u3099": "が", "１": "1", "…": "..."})
BYTES = {
    "gpt2": {},
    "ends of words": {"model": {"end_of_word_suffix": "</w>"}, "decoder": {"type": "BPEDecoder", "suffix": "</w>"}},
    "roberta": {"post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 1], "cls": ["<s>", 0], "trim_offsets": True, "add_prefix_space": False}},
    "gpt2 with a space": {"pre_tokenizer": level(add_prefix_space=True, use_regex=True)},
    "llama3": {**cut(split(LLAMA3)), "model": {"ignore_merges": True}},
    "qwen2": {**cut(split(LLAMA3.replace("{1,3}", ""))), "normalizer": {"type": "NFC"}},
    "tekken": cut(split(TEKKEN)),
    "o200k": cut(split(O200K)),
    "deepseek": cut(split(r"\p{N}{1,3}"), split("[一-龥\u3040-ゟ゠-ヿ]+"), split(DEEPSEEK)),
    "digits": cut({"type": "Digits", "individual_digits": True}),
    "numbers": {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": False}, level(use_regex=True)]}},
    "space before each piece": {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, level(add_prefix_space=True)]}},
    "removed": cut(at(" ", "Removed")),
    "inverted": cut(split(r"\p{L}+|\s+", "Removed", True)),
    "merged with previous": cut(split(r"[\s.]", "MergedWithPrevious")),
    "merged with next": cut(split(r"[\s.]", "MergedWithNext")),
    "merged with next, inverted": cut(split(r"\p{L}+", "MergedWithNext", True)),
    "sequence of processors": {"post_processor": {"type": "Sequence", "processors": [
        level(trim_offsets=False),
        around("<s>", "</s>"),
    ]}},
}
PIECES = {
    "llama2": {},
    "gemma": {"normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
              "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]}},
    "gemma3": {"normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}, "pre_tokenizer": at("▁", "MergedWithPrevious")},
    "metaspace always": space("always"),
    "metaspace first": space("first", False),
    "metaspace first, after digits": {**space("first"), "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, space("first")["pre_tokenizer"]]}},
    "metaspace never": space("never"),
    "metaspace of old": space("never", add_prefix_space=False),
    "fused unknowns": {"model": {"byte_fallback": False, "fuse_unk": True}},
    "unknowns": {"model": {"byte_fallback": False, "fuse_unk": False}},
    "no unknowns": {"model": {"byte_fallback": False, "unk_token": None}},
    "compatibility": norm({"type": "NFKC"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}),
    "strip": {**norm({"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "Prepend", "prepend": "▁"}),
              "decoder": {"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "Strip", "content": "▁", "start": 2, "stop": 1}]}},
    "no decoder": {"decoder": None},
}
WORDS = {
    "bert uncased": {},
    "bert cased": bert(lowercase=False),
    "bert cased without accents": bert(lowercase=False, strip_accents=True),
    "bert uncased with accents": bert(strip_accents=False),
    "bert not cleaned": bert(clean_text=False, handle_chinese_chars=False),
    "short words": {"model": {"max_input_chars_per_word": 5}},
    "no prefix": {"model": {"continuing_subword_prefix": ""}},
    "no cleanup": {"decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False}},
    "lower case": norm({"type": "Lowercase"}),
    "no marks": norm({"type": "NFD"}, {"type": "StripAccents"}, {"type": "Lowercase"}),
    "compatible without marks": norm({"type": "NFKD"}, {"type": "StripAccents"}),
    "nmt": norm({"type": "Nmt"}, {"type": "NFKC"}, replace(" {2,}", " ")),
    "white space as one": norm(replace(r"\s+", " "), {"type": "Strip", "strip_left": False, "strip_right": True}),
    "words": {"pre_tokenizer": {"type": "Whitespace"}},
    "delimiter": {"pre_tokenizer": {"type": "CharDelimiterSplit", "delimiter": "e"}},
    "scripts": {"pre_tokenizer": {"type": "UnicodeScripts"}},
    **{f"punctuation {behavior}": sequence({"type": "WhitespaceSplit"}, {"type": "Punctuation", "behavior": behavior})
       for behavior in ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")},
    "contiguous": sequence(split(r"[\s.]", "Contiguous")),
    "contiguous, inverted": sequence(split(r"\p{L}", "Contiguous", True)),
    "template": {"post_processor": around("</s>", "<s>")},
    "bert after bytes": {"post_processor": {"type": "Sequence", "processors": [level(), {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]}]}},
}
SCORES = {
    "t5": {},
    "xlm-r": {**norm(CHARSMAP, replace(" {2,}", " ")), "pre_tokenizer": space("always")["pre_tokenizer"]},
    "albert": norm({"type": "Replace", "pattern": {"String": "``"}, "content": '"'}, {"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}, CHARSMAP),
    "chat": {**space("first"), "model": {"byte_fallback": True}},
    "one piece": {"normalizer": None, "pre_tokenizer": space("never", False)["pre_tokenizer"], "model": {"byte_fallback": True}},
    "no words": {"normalizer": None, "pre_tokenizer": None},
    "scripts before marks": {"normalizer": None, **sequence({"type": "UnicodeScripts"}, space("always")["pre_tokenizer"])},
    "marks of old": {"normalizer": None, "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "str_rep": "▁", "add_prefix_space": True}},
    "stripped": norm({"type": "Strip", "strip_left": False, "strip_right": True}, CHARSMAP, replace(" {2,}", "▁")),
}
ADDED = [
    AddedToken("<lstrip>", lstrip=True, normalized=False), AddedToken("<rstrip>", rstrip=True, normalized=False),
    AddedToken("<both>", lstrip=True, rstrip=True), AddedToken("word", single_word=True, normalized=False),
    AddedToken("<both>!", normalized=False), AddedToken("Å b", normalized=True), AddedToken("\n\n", normalized=False),
]
TEXTS = [
    "", " ", "a", "  a", "Hello, World! It's they'LL we've I'ſ", " 12345 x² Ⅷ ½ ١٢٣", "a\n\n\nb \n c\r\n\td  ", "password word word's <lstrip>", "  <lstrip>  <rstrip>  \n<both>  <both>!x",
    "<s>hi</s> <s>", "Å b \u212b b A\u030a b", "e\u0301" + "\u0301\u0323" * 25 + "x", "ᄀ\u1161\u11a8 가 \u0958 \u0344", "中文の テスト龥龦 한국어", "👩‍👩‍👧 🇩🇪❤️", "\ufffd\x00\x7f\u00a0\u3000x", "▁▁a▁ b", "<0x41><0x0A>", "fooBarBAZQux HTTPServer_x-y", ".Then,now;/path/to//\n/x", "ﬁ ① ﷺ Ａ", "①\u0301 e\u0301\u0323 か\u3099\u3099 \r\n…１", "İIı ΑΣ ẞß Ǆǅ ÀÉ", "a\u200bb\u00adc\ue000d\x01e\ufeff", "𝒳\u1734\u1885\u166d\ua9bd", "do not ` ` ``quote''", "!\u0589!ա\u0589 ا\u061cا अ\u0953\u0954आ ガー が", "x" * 200 + " " * 150 + "y", "Å bx", "word\u200d word\u0345 1word Ⓐword _word word",
]


YOUNG = "a\u0c77b\u061dc\u0afcd"  # of later Unicode than the library's categories; its scripts do not count


def trained():
    plain = Tokenizer(models.BPE())
    plain.pre_tokenizer, plain.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    plain.post_processor = processors.ByteLevel(trim_offsets=False)
    plain.train_from_iterator(oracle.SENTENCES, trainers.BpeTrainer(
        vocab_size=560, special_tokens=["<s>", "</s>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    plain.add_tokens(ADDED)

    spaced = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    spaced.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    codes = [f"<0x{b:02X}>" for b in range(256)]
    spaced.train_from_iterator(oracle.SENTENCES, trainers.BpeTrainer(
        vocab_size=800, special_tokens=["<unk>", "<s>", "</s>", *codes], show_progress=False))
    spaced = json.loads(spaced.to_str())
    spaced["added_tokens"] = [t for t in spaced["added_tokens"] if t["content"] not in codes]
    spaced["pre_tokenizer"] = None
    spaced["normalizer"] = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}
    spaced["decoder"] = {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}
    spaced["post_processor"] = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}], "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}], "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}}
    spaced = Tokenizer.from_str(json.dumps(spaced))
    spaced.add_tokens(ADDED)
    spaced = json.loads(spaced.to_str())
    spaced["model"]["merges"] = [" ".join(pair) for pair in spaced["model"]["merges"]]  # as older files have them
    return {"bytes": json.loads(plain.to_str()), "pieces": spaced, "words": words(), "scores": scores(codes)}


def words():
    tok = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tok.normalizer, tok.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    tok.decoder, tok.post_processor = decoders.WordPiece(), processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    tok.train_from_iterator(oracle.SENTENCES + oracle.CODE, trainers.WordPieceTrainer(
        vocab_size=700, special_tokens=["[UNK]", "[CLS]", "[SEP]", "<s>", "</s>"], show_progress=False))
    tok.add_tokens(ADDED)
    return json.loads(tok.to_str())


def scores(codes):
    tok = Tokenizer(models.Unigram())
    tok.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tok.decoder = decoders.Metaspace()
    tok.train_from_iterator(oracle.SENTENCES + oracle.CODE, trainers.UnigramTrainer(
        vocab_size=800, unk_token="<unk>", special_tokens=["<s>", "</s>", "<unk>", *codes], show_progress=False))
    tok.add_tokens(ADDED)
    made = json.loads(tok.to_str())
    made["added_tokens"] = [t for t in made["added_tokens"] if t["content"] not in codes]
    made["normalizer"] = CHARSMAP
    made["post_processor"] = {**around("<s>", "</s>"), "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}]}
    return made


def variant(name, base, document, change):
    changed = {**document, **change, "model": {**document["model"], **change.get("model", {})}}
    tok = Tokenizer.from_str(json.dumps(changed))
    rng = random.Random(name)
    texts = TEXTS + [YOUNG][:"UnicodeScripts" not in json.dumps(changed)] + rng.sample(oracle.SENTENCES, 4) + rng.sample(oracle.CODE, 2) + ["".join(rng.choices(oracle.HARD, k=15)) for _ in range(12)]
    ids = [[rng.randrange(tok.get_vocab_size() + 3) for _ in range(25)] for _ in range(3)]

    def line(text):
        ids, full = tok.encode(text, add_special_tokens=False).ids, tok.encode(text).ids
        decoded = tok.decode(full, skip_special_tokens=False)
        return {"text": text, "ids": ids, **({} if full == ids else {"full": full}), **({} if decoded == text else {"decoded": decoded})}

    return {
        "name": name, "base": base, "change": change, "special": tok.num_special_tokens_to_add(False),
        "texts": [line(text) for text in texts],
        "ids": [{"ids": i, "decoded": tok.decode(i, skip_special_tokens=False)} for i in ids],
    }


def write(name, value):
    (HERE / f"{name}.json").write_text(json.dumps(value, ensure_ascii=True, separators=(",", ":")) + "\n")


def main():
    documents = trained()
    for name, document in documents.items():
        write(name, document)
    write("variants", [variant(name, base, documents[base], change)
                       for base, changes in (("bytes", BYTES), ("pieces", PIECES), ("words", WORDS), ("scores", SCORES)) for name, change in changes.items()])


if __name__ == "__main__":
    main()
