"""Writes what Hugging Face's own library makes of many texts, for the Go test.

usage: oracle.py FOLDER

For each FOLDER/*/tokenizer.json it writes vectors.jsonl beside it. Each line is
one text with its ids, without and with special tokens, and their decoded text;
or random ids with their decoded text and its ids. The first line says how many
MB/s the library encodes of prose.txt, which is written to FOLDER.
"""

import json
import pathlib
import random
import sys
import time
import unicodedata

from tokenizers import Tokenizer
from tokenizers.normalizers import NFC

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


def assigned(block):
    return [chr(c) for c in range(*block) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co") and not young(chr(c))]


def young(char):
    """Whether char is a mark that the library's NFC, of Unicode 9, does not know to reorder."""
    ccc = unicodedata.combining(char)
    pair = "q" + (char + "\u0334" if ccc > 1 else "\u0301" + char)
    return ccc > 0 and NFC().normalize_str(pair) != unicodedata.normalize("NFC", pair)


def texts(rng, added):
    blocks = [assigned(block) for block in BLOCKS]
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
        return bytes(rng.choices(range(256), k=rng.randint(1, 60))).decode("utf-8", "replace")

    def hard():
        return "".join(rng.choices(HARD, k=rng.randint(1, 30)))

    def with_added():
        return "".join(rng.choice(added + HARD + [word(), prose()]) if rng.random() < 0.7 else rng.choice(added) for _ in range(rng.randint(1, 8)))

    def blank():
        return rng.choice(["", "a", "é", "."]) + rng.choice([" ", "\n", "\t", " \n", "▁"]) * rng.randint(1, 200) + rng.choice(["", "b", ".", "7"])

    kinds = [
        (2500, prose), (1500, shuffled), (1500, lambda: " ".join(word() for _ in range(rng.randint(1, 12)))),
        (800, lambda: "".join(rng.choices(CODE, k=rng.randint(1, 4)))),
        (500, lambda: "".join(rng.choice(EMOJI + [" ", "x"]) for _ in range(rng.randint(1, 20)))),
        (500, marked), (700, bytes_), (2500, hard), (800, with_added), (200, blank),
    ]
    yield ""
    for count, make in kinds:
        for _ in range(count):
            yield make()


def vectors(folder, prose):
    tok = Tokenizer.from_file(str(folder / "tokenizer.json"))
    start = time.perf_counter()
    tok.encode(prose, add_special_tokens=False)
    speed = len(prose.encode()) / 1e6 / (time.perf_counter() - start)
    rng = random.Random(folder.name)
    added = [t.content for t in tok.get_added_tokens_decoder().values()][:400]
    inputs = list(texts(rng, added or ["x"]))
    plain = tok.encode_batch(inputs, add_special_tokens=False)
    full = tok.encode_batch(inputs)
    out = [{"mbs": speed, "size": tok.get_vocab_size(with_added_tokens=False), "special": tok.num_special_tokens_to_add(False)}]
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
    for folder in sorted(p.parent for p in root.glob("*/tokenizer.json")):
        vectors(folder, prose)


if __name__ == "__main__":
    main()
