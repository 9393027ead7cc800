"""Makes the folders hub and datasets: what a cache of Hugging Face has of stand-ins of repositories,
whose rows are in testdata/golden/hf_rows.json. Run it in this folder with datasets 5.2.0."""

import csv, json, os, shutil, struct, zlib

import pyarrow as pa
from datasets import Dataset, Features, Image, List, Value

rows = json.load(open("../../../testdata/golden/hf_rows.json"))
root = "hub"
shutil.rmtree(root, ignore_errors=True)


def png(i):
    w, h = 4, 3
    raw = b""
    k = 0
    for y in range(h):
        raw += b"\0"
        for x in range(w):
            raw += bytes([(7 * i + 3 * k) % 256, (11 * i + k) % 256, 20 * k % 256])
            k += 1

    def ch(t, d):
        return struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d))

    return (
        b"\x89PNG\r\n\x1a\n"
        + ch(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0))
        + ch(b"IDAT", zlib.compress(raw))
        + ch(b"IEND", b"")
    )


def snap(repo):
    b = f"{root}/datasets--{repo.replace('/','--')}"
    os.makedirs(b + "/refs")
    open(b + "/refs/main", "w").write("0" * 39 + "1")
    s = b + "/snapshots/" + "0" * 39 + "1"
    os.makedirs(s)
    return s


def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "w").write(data)


def parquet(repo, path, rs, feats=None):
    p = snap_of[repo] + "/" + path
    os.makedirs(os.path.dirname(p), exist_ok=True)
    Dataset.from_list(rs, features=feats).to_parquet(p)


snap_of = {r: snap(r) for r in rows}
R = lambda r: rows[r]["rows"]
jl = lambda rs: "".join(json.dumps(r) + "\n" for r in rs)
parquet("philschmid/mt-bench", "data/train-00000-of-00001.parquet", R("philschmid/mt-bench"))
r = "openai/openai_humaneval"
put(
    snap_of[r] + "/README.md",
    "---\nlicense: mit\nconfigs:\n- config_name: openai_humaneval\n  data_files:\n  - split: test\n    path: openai_humaneval/test-*\n---\n# HumanEval\n",
)
parquet(r, "openai_humaneval/test-00000-of-00001.parquet", R(r))
r = "openai/gsm8k"
put(
    snap_of[r] + "/README.md",
    "---\nconfigs:\n- config_name: main\n  data_files:\n  - split: test\n    path: main/test-*\n- config_name: socratic\n  data_files:\n  - split: test\n    path: socratic/test-*\n---\n",
)
parquet(r, "main/test-00000-of-00001.parquet", R(r))
parquet(r, "socratic/test-00000-of-00001.parquet", [{"question": "s", "answer": "1"}])
r = "likaixin/InstructCoder"
put(snap_of[r] + "/train.json", jl(R(r)))
put(snap_of[r] + "/valid.json", jl([{"instruction": "v", "input": "v", "output": "v"}]))
parquet("vdaita/edit_5k_char", "data/train-00000-of-00001.parquet", R("vdaita/edit_5k_char"))
r = "vdaita/edit_10k_char"
with open(snap_of[r] + "/train.csv", "w", newline="") as f:
    w = csv.DictWriter(f, list(R(r)[0]))
    w.writeheader()
    w.writerows(R(r))
parquet("AI-MO/aimo-validation-aime", "data/train-00000-of-00001.parquet", R("AI-MO/aimo-validation-aime"))
r = "zed-industries/zeta"
put(snap_of[r] + "/train.jsonl", jl(R(r)))
put(snap_of[r] + "/eval.jsonl", jl([{"events": "", "input": "", "output": "o"}]))
put(snap_of[r] + "/dpo.txt", "no rows")
r = "mgoin/mlperf-inference-llama2-data"
put(snap_of[r] + "/processed.json", json.dumps(R(r), indent=1))
r = "Aeala/ShareGPT_Vicuna_unfiltered"
put(snap_of[r] + "/ShareGPT_V4.3.json", json.dumps(R(r)))
r = "yale-nlp/MMVU"
put(snap_of[r] + "/validation.json", json.dumps(R(r)))
img = lambda rs: [dict(x, image={"bytes": png(i), "path": None}) for i, x in enumerate(rs)]
imgs = lambda rs: [dict(x, images=[{"bytes": png(i), "path": None}]) for i, x in enumerate(rs)]
msg = {"role": Value("string"), "content": Value("string")}
conv = {"from": Value("string"), "value": Value("string")}
put(
    snap_of["Lin-Chen/MMStar"] + "/README.md",
    "---\nconfigs:\n- config_name: val\n  data_files:\n  - split: val\n    path: mmstar.parquet\n---\n",
)
parquet(
    "Lin-Chen/MMStar",
    "mmstar.parquet",
    img(R("Lin-Chen/MMStar")),
    Features({"question": Value("string"), "image": Image()}),
)
parquet(
    "lmarena-ai/vision-arena-bench-v0.1",
    "data/train-00000-of-00001.parquet",
    imgs(R("lmarena-ai/vision-arena-bench-v0.1")),
    Features({"turns": List(List(msg)), "images": List(Image())}),
)
parquet(
    "lmarena-ai/VisionArena-Chat",
    "data/train-00000-of-00001.parquet",
    imgs(R("lmarena-ai/VisionArena-Chat")),
    Features({"conversation": List(List(msg)), "images": List(Image())}),
)
parquet(
    "lmms-lab/LLaVA-OneVision-Data",
    "data/train-00000-of-00001.parquet",
    img(R("lmms-lab/LLaVA-OneVision-Data")),
    Features({"conversations": List(conv), "image": Image()}),
)
# one data set only as the library datasets keeps it
d = "datasets/AI-MO___numina_math-1.5/default/0.0.0/" + "0" * 39 + "2"
shutil.rmtree("datasets", ignore_errors=True)
os.makedirs(d)
t = Dataset.from_list(R("AI-MO/aimo-validation-aime")).data.table
with pa.OSFile(d + "/numina_math-1.5-train.arrow", "wb") as f:
    with pa.ipc.new_stream(f, t.schema) as w:
        w.write_table(t, max_chunksize=5)

# the leaderboard
folder = snap("gorilla-llm/Berkeley-Function-Calling-Leaderboard")
for name in ("simple", "multiple", "live_simple"):
    shutil.copy(f"../../../testdata/golden/inputs/BFCL_v3_{name}.json", folder)
