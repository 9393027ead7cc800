"""Reads what servebench report --write has written with DuckDB and pandas, and compares
it with the record stream in the same folder."""

import base64
import json
import sys

import duckdb
import pandas

folder = sys.argv[1] + "/"
requests = [line for line in map(json.loads, open(folder + "run.jsonl")) if line["k"] == "req"]


def gaps(request):
    found, value, shift = [], 0, 0
    for byte in base64.b64decode(request.get("gaps", "")):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(((value >> 1) ^ -(value & 1)) / 1e6)
            value = shift = 0
    return found


def same(what, got, want):
    if len(got) != len(want):
        sys.exit(f"{what}: {len(got)} values, want {len(want)}")
    for a, b in zip(got, want):
        if a != b and not (isinstance(b, float) and abs(a - b) <= 1e-9 * abs(b)):
            sys.exit(f"{what}: {a!r}, want {b!r}")


# The columns, from the stream's own fields. Unknown is None.
wanted = {
    "run": [r["run"] for r in requests],
    "index": [r["i"] for r in requests],
    "completed": ["class" not in r for r in requests],
    "failure": [r.get("class") for r in requests],
    "status": [r.get("status", 200) for r in requests],
    "sent_s": [r.get("sent", 0) / 1e9 for r in requests],
    "ttft_ms": [None if "class" in r else r.get("first", 0) / 1e6 for r in requests],
    "e2el_ms": [None if "class" in r else r.get("last", r.get("first", 0)) / 1e6 for r in requests],
    "chunks": [r.get("chunks", 0) for r in requests],
    "output_tokens": [r.get("out", 0) for r in requests],
}
tables = {
    "DuckDB, Parquet": duckdb.read_parquet(folder + "requests.parquet"),
    "DuckDB, CSV": duckdb.read_csv(folder + "requests.csv"),
    "pandas, CSV": duckdb.from_df(pandas.read_csv(folder + "requests.csv")),
}
for name, table in tables.items():
    for column, values in wanted.items():
        same(f"{name}: {column}", [row[0] for row in table.select(f'"{column}"').fetchall()], values)
lists = [row[0] for row in tables["DuckDB, Parquet"].select("itl_ms").fetchall()]
same("requests with ITL", [i for i, values in enumerate(lists) if values], [i for i, r in enumerate(requests) if "class" not in r])
for values, r in zip(lists, requests):
    same("itl_ms", values, [] if "class" in r else gaps(r))

# The runs, from the requests: numpy's percentile is the one of the block.
runs = pandas.read_csv(folder + "runs.csv")
table = pandas.read_csv(folder + "requests.csv")
done = table[table.completed & (table.phase == "main")]
same("run", list(runs.run), list(dict.fromkeys(wanted["run"])))
for run in runs.itertuples():
    own = done[done.run == run.run]
    same("completed", [run.completed, run.failed], [len(own), int((table.run == run.run).sum()) - len(own)])
    for name, value in {"median": 0.5, "p99": 0.99}.items():
        got = [getattr(run, f"{name}_ttft_ms"), getattr(run, f"{name}_e2el_ms")]
        want = [own.ttft_ms.quantile(value), own.e2el_ms.quantile(value)]
        # The table has six decimals.
        if any(abs(a - b) > 1e-6 for a, b in zip(got, want)):
            sys.exit(f"{name} TTFT and E2EL: {got}, want {want}")
print(f"{len(runs)} runs and {len(requests)} requests agree")
