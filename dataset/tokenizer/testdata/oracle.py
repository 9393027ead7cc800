"""Writes what Hugging Face's own library makes of many texts, for the Go test.

usage: oracle.py FOLDER

For each FOLDER/*/tokenizer.json it writes vectors.jsonl beside it. Each line is
one text with its ids, without and with special tokens, and their decoded text;
or random ids with their decoded text and its ids. The first line says how many
MB/s the library encodes of prose.txt, which is written to FOLDER; and of what
the file was made, so that another run leaves it as it is.
"""

import functools
import hashlib
import json
import pathlib
import random
import sys
import time
import unicodedata

from tokenizers import Tokenizer
from tokenizers.normalizers import NFC, NFKD, BertNormalizer, StripAccents
from tokenizers.pre_tokenizers import Punctuation, UnicodeScripts

SENTENCES = [
    "The quick test of a slow server isn't done until we've measured it 3 times; they'll agree.",
    "Wer misst, misst Mist: Größe, Straße und Übermut kosten 1.234,56 € im Jahr 2024.",
    "Le serveur répond en moyenne après 12 ms, mais l'été dernier c'était déjà trop.",
    "Сервер отвечает быстро, если очередь пуста и запросов не больше десяти.",
    "Ο διακομιστής απαντά γρήγορα όταν η ουρά είναι άδεια.",
    "服务器在队列为空时响应很快，但是第100个请求要等待三秒。",
    "サーバーはキューが空のときに速く応答します。テストは３回行いました。",
    "서버는 대기열이 비어 있을 때 빠르게 응답합니다. 시험은 3번 했습니다.",
    "الخادم يستجيب بسرعة عندما يكون الطابور فارغًا، ١٢٣ مرة.",
    "השרת עונה מהר כאשר התור ריק, בערך 12 פעמים ביום.",
    "जब कतार खाली होती है तो सर्वर जल्दी उत्तर देता है। १२३ बार।",
    "เซิร์ฟเวอร์ตอบสนองเร็วเมื่อคิวว่าง ๑๒๓ ครั้ง",
    "Máy chủ trả lời nhanh khi hàng đợi trống, khoảng ba lần mỗi giây.",
    "სერვერი სწრაფად პასუხობს, როცა რიგი ცარიელია.",
    "வரிசை காலியாக இருக்கும்போது சேவையகம் விரைவாக பதிலளிக்கிறது.",
]
BLOCKS = [
    (0x20, 0x7F), (0xA0, 0x250), (0x300, 0x370), (0x370, 0x400), (0x400, 0x530), (0x590, 0x700),
    (0x900, 0xE00), (0xE00, 0x1100), (0x1100, 0x1200), (0x1E00, 0x2000), (0x2000, 0x2100),
    (0x2100, 0x2C00), (0x3040, 0x3100), (0x4E00, 0x9FA6), (0xAC00, 0xD7A4), (0xF900, 0xFB07),
    (0xFE00, 0x10000), (0x10400, 0x10450), (0x1D400, 0x1D800), (0x1F300, 0x1F650), (0x20000, 0x2A6D7),
]
CODE = [
    "func main() {\n\tfmt.Println(\"x\", 1<<20)\n}\n", "for (int i=0;i<n;++i) a[i]+=b[i]*0x1F;  // sum\r\n",
    "def f(x):\n    return {'k': [y**2 for y in x if y!=3]}\n\n\n", "SELECT * FROM t WHERE id=42 AND name LIKE '%x%';",
    "<div class=\"a-b\">&nbsp;{{ x }}</div>", "https://example.com/a/b?c=d&e=1,000.5#f", "\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n",
    "parseHTTPRequestURL(XMLHttp2, fooBarBAZ_qux) || __init__", "{\"a\": [1, 2.5e-10, null, true]}",
]
EMOJI = ["😀", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "👍🏽", "❤️", "☃", "1️⃣", "🫠", "\u200d", "\ufe0f"]
HARD = list(" '\n\r\t/.,!-_sStTmMdDlLrReEvV019aZ") + [
    "  ", "   ", "\n\n", "\r\n", "'s", "'RE", "'ſ", "ſ", "\u00a0", "\u0085", "\u3000", "\u2028", "\u200b", "é", "e\u0301", "Ǆ", "ǅ", "ʰ",
    "ª", "中", "の", "ア", "龥", "龦", "٣", "Ⅷ", "½", "²", "€", "𝒳", "\u0301", "\u0345", "\u0344", "\u1161", "가", "ᄀ", "ᆨ", "İ", "ß", "ẞ", "▁", "Ġ", "<0x0A>", "\x00", "\x7f", "·", "\u037e", "\u212b", "K", "ﬁ", "\u0958", "\u0ddd", "…", "—", "¿", "«",
]


CASES = [
    "İ", "I", "ı", "i\u0307", "ß", "ẞ", "ΑΣ", "ΑΣΑ", "Σ", "ς", "ΌΣΟΣ.", "Ǆ", "ǅ", "ǆ", "ŉ", "ǰ", "ΐ", "ᾈ", "ᾼ", "Ώ", "\u2126", "\u212a", "\u212b", "ſ", "ﬀ", "Ⅷ", "ⅷ", "Ⓐ", "ⓐ",
    "𐐀", "𐐨", "Ꭰ", "ꭰ", "Ა", "ა", "Ⴀ", "Հ", "և", "Å", "A\u030a", "É", "E\u0301", "Ệ", "E\u0302\u0323", "Ñandú", "Žluťoučký", "ЁЖИК", "Йод", "И\u0306", "ГЛÁВА", "ĳ", "Ĳ", "Ω\u0345", "ᾳ", "K", "Tschüß", "STRASSE",
]
JUNK = [chr(c) for c in (
    *range(0x21), 0x7F, 0x80, 0x85, 0x8F, 0x90, 0x9F, 0xA0, 0xAD, 0x34F, 0x600, 0x61C, 0x115F, 0x1680, 0x180E, *range(0x2000, 0x2010), *range(0x2028, 0x2030), 0x205F, *range(0x2060, 0x2065),
    0x2066, 0x206F, 0x2581, 0x3000, 0x3164, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF9, 0xFFFC, 0xFFFD, 0xE000, 0xF8FF, 0xE0001, 0xE0041, 0xE0100, 0xF0000, 0x10FFFD,
)]
SYMBOLS = list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~¡§«¬±¶·×÷¿‐–—‘’“”„†•…‰′⁄⁇⁈₀€№™→∀−≠≤─█☺♯⟨、。「」〜・…！＂＃（），．：？＠［］～｡｢､￥") + [
    "``", "''", "``a''", "...", "--", "?!", "$5", "a+b", "<a>", "x^2", "~/", "|", "don't", "do not", "n't", " ,", " .", " '", "I 'm", "we 've", "' s", "¼", "1/2",
]
WIDE = [(0xFF01, 0xFFBF), (0xFFE0, 0xFFE7), (0x2070, 0x20A0), (0x2100, 0x2190), (0x2460, 0x2500), (0x3200, 0x3400), (0xFB00, 0xFB07), (0xFB13, 0xFB18), (0xFE50, 0xFE6C), (0xFC00, 0xFD3E), (0xF900, 0xFA6E), (0x3300, 0x3358)]
RARE = [(0x1400, 0x1680), (0x16A0, 0x16F1), (0x12000, 0x1239A), (0x13000, 0x1342F), (0xA000, 0xA48D), (0x2800, 0x2900), (0x1F000, 0x1F02C), (0x10300, 0x10320), (0x2A600, 0x2A6D7)]


ASCII = "$+<=>^`|~"
STRIPPED, PUNCTUATION, CLEANED, SCRIPTS = StripAccents(), Punctuation(), BertNormalizer(True, False, False, False), UnicodeScripts()


def library(char):
    """What the library takes char for: a mark, punctuation, a control; and its compatible form."""
    cut = [part for part, _ in PUNCTUATION.pre_tokenize_str(f"x{char}x")]
    return STRIPPED.normalize_str("x" + char) == "x", char in cut, CLEANED.normalize_str(f"x{char}x") == "xx", NFKD().normalize_str(char)


def unicode(char):
    """The same by Unicode's tables."""
    kind = unicodedata.category(char)
    control = kind in ("Cc", "Cf") and char not in "\t\n\r" or char == "\ufffd"
    return kind[0] == "M", kind[0] == "P" or char in ASCII, control, unicodedata.normalize("NFKD", char)


@functools.cache
def young(char):
    """Whether the library's tables, of Unicode 9 or so, have char otherwise than Unicode does today, or don't know in which order its mark goes."""
    ccc = unicodedata.combining(char)
    pair = "q" + (char + "\u0334" if ccc > 1 else "\u0301" + char)
    return library(char) != unicode(char) or ccc > 0 and NFC().normalize_str(pair) != unicodedata.normalize("NFC", pair)


@functools.cache
def scripted(char):
    """Whether the library knows a script for char, which so joins no letter of another, or it's a space."""
    return char == " " or len(SCRIPTS.pre_tokenize_str("x" + char)) + len(SCRIPTS.pre_tokenize_str("ก" + char)) > 2


@functools.cache
def assigned(block):
    return [chr(c) for c in range(*block) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co") and not young(chr(c))]


def texts(rng, added):
    blocks = [assigned(block) for block in BLOCKS]
    wides, rares = [assigned(block) for block in WIDE], [assigned(block) for block in RARE]
    marks = [c for c in assigned((0x300, 0x3000)) if unicodedata.combining(c)]

    def word():
        return "".join(rng.choices(rng.choice(blocks), k=rng.randint(1, 9)))

    def prose():
        return rng.choice([" ", " ", "\n", "  "]).join(rng.choices(SENTENCES, k=rng.randint(1, 3)))

    def shuffled():
        words = " ".join(rng.choices(SENTENCES, k=2)).split(" ")
        rng.shuffle(words)
        return " ".join(w if rng.random() < 0.9 else rng.choice([w.upper(), w.title(), w + word()]) for w in words)

    def marked():
        return "".join(rng.choice(["a", "e", "ἀ", "क", "가", "x ", "Ω", " "]) + "".join(rng.choices(marks, k=rng.choice([0, 1, 2, 3, 8, 40, 70]))) for _ in range(6))

    def bytes_():
        chars = bytes(rng.choices(range(256), k=rng.randint(1, 60))).decode("utf-8", "replace")
        return "".join(c for c in chars if unicodedata.category(c) != "Cn" and not young(c))

    def hard():
        return "".join(rng.choices(HARD, k=rng.randint(1, 30)))

    def with_added():
        return "".join(rng.choice(added + HARD + [word(), prose()]) if rng.random() < 0.7 else rng.choice(added) for _ in range(rng.randint(1, 8)))

    def blank():
        return rng.choice(["", "a", "é", "."]) + rng.choice([" ", "\n", "\t", " \n", "▁"]) * rng.randint(1, 200) + rng.choice(["", "b", ".", "7"])

    def cased():
        def one():
            w = rng.choice(CASES + [word(), rng.choice(SENTENCES)])
            return rng.choice([w, w.upper(), w.lower(), w.title(), unicodedata.normalize("NFD", w)])
        return rng.choice(["", " "]).join(one() for _ in range(rng.randint(1, 8)))

    def junk():
        return "".join(rng.choice(JUNK + ["a", "é", "中", " ", word()]) for _ in range(rng.randint(1, 30)))

    def long():
        """Words near the 20 and 100 characters that a word of a model may have."""
        unit = rng.choice(["a", "the", "é", "e\u0301", "я", "中", "가", "x1", "Ab", "😀", "-", "\u0301", "ab\u200b", "ﬁ", "ÿ"])
        size = rng.choice([19, 20, 21, 99, 100, 101, 102, rng.randint(1, 400)])
        return rng.choice(["", "a ", "x"]) + (unit * size)[:size] + rng.choice(["", " b", "."])

    def symbols():
        return "".join(rng.choice(SYMBOLS + ["a", "B", "9", " ", "中"]) for _ in range(rng.randint(1, 25)))

    def wide():
        """Forms of compatibility, with marks behind, some in one cluster of at most five bytes."""
        return "".join(rng.choice(rng.choice(wides)) + rng.choice(["", "", " ", "\u0301", "\u0323", "\u200d", "\ufe0f", "か\u3099", "a"]) for _ in range(rng.randint(1, 12)))

    def unknown():
        runs = ["".join(rng.choices(rng.choice(rares), k=rng.randint(1, 5))) for _ in range(rng.randint(1, 6))]
        return rng.choice(["", " ", "a", " the "]).join(runs) + rng.choice(["", "s", ".", " x", " "])

    kinds = [
        (1500, prose), (1200, shuffled), (1200, lambda: " ".join(word() for _ in range(rng.randint(1, 12)))),
        (500, lambda: "".join(rng.choices(CODE, k=rng.randint(1, 4)))),
        (400, lambda: "".join(rng.choice(EMOJI + [" ", "x"]) for _ in range(rng.randint(1, 20)))),
        (600, marked), (500, bytes_), (2200, hard), (800, with_added), (200, blank),
        (600, cased), (600, junk), (200, long), (400, symbols), (300, wide), (300, unknown),
    ]
    yield ""
    for count, make in kinds:
        for _ in range(count):
            yield make()


def vectors(folder, prose, stamp):
    tok = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tok.no_padding()
    tok.no_truncation()
    start = time.perf_counter()
    tok.encode(prose, add_special_tokens=False)
    speed = len(prose.encode()) / 1e6 / (time.perf_counter() - start)
    rng = random.Random(folder.name)
    added = [t.content for t in tok.get_added_tokens_decoder().values()][:400]
    inputs = list(texts(rng, added or ["x"]))
    if "UnicodeScripts" in tok.to_str():
        inputs = ["".join(filter(scripted, text)) for text in inputs]
    plain = tok.encode_batch(inputs, add_special_tokens=False)
    full = tok.encode_batch(inputs)
    out = [{"stamp": stamp, "mbs": speed, "size": tok.get_vocab_size(with_added_tokens=False), "special": tok.num_special_tokens_to_add(False)}]
    for text, a, b in zip(inputs, plain, full):
        out.append({"text": text, "ids": a.ids, "full": b.ids, "decoded": tok.decode(b.ids, skip_special_tokens=False)})
    size = tok.get_vocab_size()
    for _ in range(1500):
        ids = [rng.randrange(size) for _ in range(rng.randint(1, 60))]
        text = tok.decode(ids, skip_special_tokens=False)
        out.append({"text": text, "ids": tok.encode(text, add_special_tokens=False).ids, "full": tok.encode(text).ids, "random": ids, "decoded": text})
    with open(folder / "vectors.jsonl", "w") as f:
        f.writelines(json.dumps(line) + "\n" for line in out)


def main():
    root = pathlib.Path(sys.argv[1])
    rng = random.Random(1)
    prose, size = [], 0
    while size < 1_000_000:
        words = SENTENCES[0].split() + SENTENCES[rng.choice([1, 2, 12])].split() + CODE[rng.randrange(len(CODE))].split()
        rng.shuffle(words)
        prose.append(" ".join(words) + rng.choice([". ", "\n", "\n\n"]))
        size += len(prose[-1].encode())
    prose = "".join(prose)
    (root / "prose.txt").write_bytes(prose.encode())
    for file in sorted(root.glob("*/tokenizer.json")):
        made, stamp = file.with_name("vectors.jsonl"), hashlib.sha256(pathlib.Path(__file__).read_bytes() + file.read_bytes()).hexdigest()
        if not made.exists() or json.loads(made.open().readline() or "{}").get("stamp") != stamp:
            vectors(file.parent, prose, stamp)


if __name__ == "__main__":
    main()
