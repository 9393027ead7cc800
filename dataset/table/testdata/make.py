"""Makes the files of this folder from the same rows. Run it here with pyarrow 26."""

import base64
import json

import pyarrow as pa
import pyarrow.parquet as pq


def row(i):
    turn = [{"role": "user", "content": f"t{i} é"}, {"role": "assistant", "content": None}]
    return {
        "question": f"q{i}\n" if i % 7 else None,
        "number": i * 3 - 5,
        "share": i / 8,
        "yes": i % 2 == 0,
        "turns": [turn, []] if i % 3 else [],
        "image": {"bytes": bytes([i % 256]) * (300 * (i % 4)), "path": None} if i % 5 else None,
        "images": [{"bytes": b"x%d" % i, "path": "p"}] * (i % 3),
        "choices": {"B": "b", "A": str(i)},
        "tags": ["a", None][: i % 3] if i % 4 else None,
    }


def plain(value):
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list) else value


rows = [row(i) for i in range(60)]
table = pa.Table.from_pylist(rows)
pq.write_table(table, "groups.parquet", row_group_size=17, data_page_size=512)
pq.write_table(
    table, "index.parquet", row_group_size=40, write_page_index=True, compression="zstd", data_page_size=700,
    data_page_version="2.0", use_dictionary=False,
)
with pa.OSFile("stream.arrow", "wb") as f, pa.ipc.new_stream(f, table.schema) as writer:
    writer.write_table(table, max_chunksize=17)
with pa.OSFile("footer.arrow", "wb") as f, pa.ipc.new_file(f, table.schema) as writer:
    writer.write_table(table, max_chunksize=25)
with open("rows.jsonl", "w") as f:
    f.writelines(json.dumps(plain(r)) + "\n" for r in rows)
with open("rows.json", "w") as f:
    json.dump([plain(r) for r in rows], f, indent=1)

few = table.select(["question", "turns", "image"]).slice(1, 2)
pq.write_table(few, "few.parquet")
with pa.OSFile("few.arrow", "wb") as f, pa.ipc.new_stream(f, few.schema) as writer:
    writer.write_table(few)

# Columns of types that are only skipped stand before those that are read.
skipped = {
    "decimal": pa.array([1, None], pa.decimal128(9, 2)),
    "date": pa.array([1, None], pa.date32()),
    "time": pa.array([1, None], pa.time64("us")),
    "duration": pa.array([1, None], pa.duration("s")),
    "fixed": pa.array([b"abc", None], pa.binary(3)),
    "map": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int8())),
    "bytes": pa.array([None, b"z"], pa.large_binary()),
    "text": pa.array(["x", "y"], pa.large_string()),
    "list": pa.array([["v", "u"], ["w"]], pa.large_list(pa.string())),
    "question": pa.array(["a", "b"]),
}
with pa.OSFile("skipped.arrow", "wb") as f:
    with pa.ipc.new_stream(f, pa.table(skipped).schema) as writer:
        writer.write_table(pa.table(skipped))

# The library panics at a page without values.
pq.write_table(
    pa.table({"turns": [["a"]]}), "panic.parquet", data_page_version="2.0", data_page_size=1, write_batch_size=1, compression="none",
    store_schema=False, write_statistics=False,
)
