"""Writes the files that datasets are read from: stand-ins for repositories of Hugging Face's hub.

usage: rows.py GOLDEN FOLDER

GOLDEN has hf_rows.json, the rows of each repository, and inputs. In FOLDER comes a folder
ORGANIZATION/NAME for each, in which the library datasets finds it as a local one, and home, a
cache of the hub, with those repositories that vLLM's client fetches from there.
"""

import io
import json
import os
import shutil
import sys

import datasets
import pyarrow as pa
from PIL import Image

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SUBSETS = {"openai/gsm8k": "main"}
IMAGES = {"lmarena-ai/vision-arena-bench-v0.1": "images", "lmarena-ai/VisionArena-Chat": "images", "Lin-Chen/MMStar": "image", "lmms-lab/LLaVA-OneVision-Data": "image"}


def image(i):
    """The image of row i, as PNG: 4 wide and 3 high."""
    picture, out = Image.new("RGB", (4, 3)), io.BytesIO()
    picture.putdata([((7 * i + 3 * k) % 256, (11 * i + k) % 256, 20 * k % 256) for k in range(12)])
    picture.save(out, "PNG")
    return {"bytes": out.getvalue(), "path": None}


def columns(name, rows):
    """The rows of a repository, with their images, and the types of columns that hold any."""
    column = IMAGES.get(name)
    if column is None:
        return rows, {}
    several = column == "images"
    rows = [row | {column: [image(i)] if several else image(i)} for i, row in enumerate(rows)]
    return rows, {column: datasets.List(datasets.Image()) if several else datasets.Image()}


def write(folder, name, split, rows):
    rows, types = columns(name, rows)
    table = datasets.Dataset.from_list(rows)
    for column, kind in types.items():
        table = table.cast_column(column, kind)
    subset = SUBSETS.get(name, "data")
    target = os.path.join(folder, name, subset, f"{split}-00000-of-00001.parquet")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    table.to_parquet(target)
    if subset != "data":
        with open(os.path.join(folder, name, "README.md"), "w") as out:
            out.write(f"---\nconfigs:\n- config_name: {subset}\n  data_files:\n  - split: {split}\n    path: {subset}/{split}-*\n---\n")


def shard(folder, name, file, rows):
    """Rows that go into one file of a repository, and its path."""
    path = os.path.join(folder, name, file)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return datasets.Dataset.from_list(rows), path


def write_formats(folder):
    """Writes files of all formats, and more rows and files than datasets shuffles at a time."""
    prompts = [{"prompt": f"def f{i}():\n    # {'purlen ' * (i % 5)}{i}"} for i in range(2600)]
    for start in range(0, 2600, 700):
        rows, path = shard(folder, "many/parquet", f"test-{start}.parquet", prompts[start : start + 700])
        rows.to_parquet(path, batch_size=90)
        rows, path = shard(folder, "many/json", f"test-{start}.jsonl", prompts[start : start + 700])
        rows.to_json(path)
    rows, path = shard(folder, "one/json", "test.json", prompts[:30])
    rows.to_json(path, lines=False)
    rows, path = shard(folder, "one/csv", "test.csv", prompts[:30])
    rows.to_csv(path, index=False)
    rows, path = shard(folder, "one/arrow", "test.arrow", prompts[:30])
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_stream(sink, rows.data.table.schema) as writer:
        writer.write_table(rows.data.table)


def cached(folder, name, files):
    """Puts files, by their names there, into the cache of the hub, and into the local folder if there is one."""
    repository = os.path.join(folder, "home", "hub", "datasets--" + name.replace("/", "--"))
    snapshot = os.path.join(repository, "snapshots", COMMIT)
    os.makedirs(os.path.join(repository, "refs"))
    with open(os.path.join(repository, "refs", "main"), "w") as out:
        out.write(COMMIT)
    local = os.path.join(folder, name)
    for place in [snapshot, local] if os.path.isdir(local) else [snapshot]:
        for to, source in files.items():
            os.makedirs(os.path.dirname(os.path.join(place, to)), exist_ok=True)
            shutil.copy(source, os.path.join(place, to))


def main(golden, folder):
    inputs = os.path.join(golden, "inputs")
    with open(os.path.join(golden, "hf_rows.json")) as file:
        for name, repository in json.load(file).items():
            write(folder, name, repository["split"], repository["rows"])
    cached(folder, "yale-nlp/MMVU", {f"videos/{i}.mp4": os.path.join(inputs, "a.png") for i in range(12)})
    bfcl = [name for name in os.listdir(inputs) if name.startswith("BFCL")]
    cached(folder, "gorilla-llm/Berkeley-Function-Calling-Leaderboard", {name: os.path.join(inputs, name) for name in bfcl})

    write_formats(folder)

    sounds = sorted(os.listdir(os.path.join(inputs, "asr")), key=lambda name: int(name[1:-4]))
    paths = [os.path.join(inputs, "asr", name) for name in sounds]
    encoded = [{"audio": {"bytes": open(path, "rb").read(), "path": None}, "text": "t"} for path in paths]
    speech = datasets.Dataset.from_list(encoded).cast_column("audio", datasets.Audio(decode=False))
    target = os.path.join(folder, "openslr/librispeech_asr", "data", "train-00000-of-00001.parquet")
    os.makedirs(os.path.dirname(target))
    speech.to_parquet(target)
    cleaned = "ArtificialAnalysis/Earnings22-Cleaned-AA"
    write(folder, cleaned, "train", [{"url": "media/" + name, "transcript": "t"} for name in sounds])
    cached(folder, cleaned, {"media/" + name: path for name, path in zip(sounds, paths)})


if __name__ == "__main__":
    main(*sys.argv[1:])
