#!/usr/bin/env python3
"""Converts the models of a list on a Dask cluster.

    convert.py LIST -o FOLDER [--scheduler HOST:PORT] [--shards N] [-- FLAGS of x2ir convert]

LIST and FOLDER lie in storage that all machines see. The list is done in N shards, each by one run of
`x2ir convert --batch LIST --shard I/N` on whatever worker is free. What a shard did stands in its
report, line by line, so that a shard whose worker died is taken up where it stopped, by another worker
or by the next run of this program. At the end FOLDER/report.jsonl has one line a model.
"""
import argparse
import json
import os
import subprocess
import sys

from distributed import Client, LocalCluster, as_completed

SHARDS = 64


def convert_shard(shard, shards, models, folder, flags, program="x2ir"):
    """Runs on a worker. Gives the shard; raises where it could not be done at all."""
    # The program goes with its worker: what the next one starts must not find the report in use.
    command = ["setpriv", "--pdeathsig", "KILL", program, "convert", "--batch", models, "--shard",
               f"{shard}/{shards}", "-j", "1", "-q", "-o", folder, *flags]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):  # 1: some model failed, and the report says which
        raise RuntimeError(f"shard {shard}/{shards}: {done.stderr.strip()}")
    return shard


def records(folder, shards):
    """The last record of each output, in the order of the shards."""
    last = {}
    for shard in range(1, shards + 1):
        path = os.path.join(folder, f"batch-{shard}-of-{shards}.jsonl")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8", errors="surrogateescape") as lines:
            for line in lines:
                if line.endswith("\n"):  # half a line is what a killed run leaves
                    record = json.loads(line)
                    last[record["input"], record["output"]] = record
    return last


def convert(client, models, folder, flags=(), shards=SHARDS, program="x2ir"):
    """Converts the list with the workers of `client`; gives how many models are done, and failed."""
    os.makedirs(folder, exist_ok=True)
    tasks = [client.submit(convert_shard, shard, shards, os.path.abspath(models),
                           os.path.abspath(folder), list(flags), program, pure=False, retries=5)
             for shard in range(1, shards + 1)]
    for task in as_completed(tasks):
        task.result()
    last = records(folder, shards)
    report = os.path.join(folder, "report.jsonl")
    with open(report + ".part", "w", encoding="utf-8", errors="surrogateescape") as file:
        for record in last.values():
            file.write(json.dumps(record) + "\n")
    os.replace(report + ".part", report)
    failed = sum(record["exit_code"] != 0 for record in last.values())
    return len(last) - failed, failed


def main():
    argv, flags = sys.argv[1:], []
    if "--" in argv:
        at = argv.index("--")
        argv, flags = argv[:at], argv[at + 1:]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", metavar="LIST")
    parser.add_argument("-o", dest="folder", required=True)
    parser.add_argument("--scheduler", help="HOST:PORT; by default workers of this machine")
    parser.add_argument("--shards", type=int, default=SHARDS,
                        help="the same in every run over the same FOLDER")
    parser.add_argument("--program", default="x2ir", help="x2ir, as the workers find it")
    args = parser.parse_args(argv)
    cluster = args.scheduler or LocalCluster(threads_per_worker=1, dashboard_address=None)
    with Client(cluster) as client:
        done, failed = convert(client, args.models, args.folder, flags, args.shards, args.program)
    print(f"{done + failed} models: {done} done, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
