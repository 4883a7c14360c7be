#!/usr/bin/env python3
"""Converts the models of a list on a Dask cluster, with the Python package x2ir.

    convert.py LIST -o FOLDER --to FORMAT [--option NAME=VALUE]... [--scheduler HOST:PORT] [--shards N]

LIST and FOLDER lie in storage that all machines see. LIST has one model per line; a tab may be followed by the
name of its output in FOLDER. The list is processed in N shards by free workers. The report of a shard has one
line per finished model, so that a shard whose worker died is continued where it stopped, by another worker or
by the next run of this program. At the end FOLDER/report.jsonl has one line per model.
"""
import argparse
import fcntl
import json
import os
import sys

from distributed import Client, LocalCluster, as_completed

SHARDS = 64


def stamp(path):
    """What changes when a file changes; None: there is no such file."""
    try:
        info = os.stat(path)
    except OSError:
        return None
    return [info.st_size, info.st_mtime_ns]


def read_lines(report):
    """The records of a report. Half a line is what a killed worker leaves; it is cut off."""
    report.seek(0)
    text = report.read()
    whole = text.rfind(b"\n") + 1
    report.truncate(whole)
    return [json.loads(line) for line in text[:whole].splitlines()]


def convert_model(model, output, options):
    """Gives the record of one model."""
    import x2ir

    record = {"input": model, "output": output, "options": options, "read": stamp(model), "error": "", "failures": []}
    try:
        os.makedirs(os.path.dirname(output), exist_ok=True)
        x2ir.convert(model, output, **options)
    except (x2ir.Error, OSError, MemoryError) as error:
        record["error"] = str(error) or type(error).__name__
        record["failures"] = [{"op": f.op, "node": f.node, "reason": f.reason} for f in getattr(error, "failures", [])]
    record["written"] = stamp(output)
    return record


def is_done(record, model, options):
    return (record is not None and not record["error"] and record["options"] == options and
            record["read"] == stamp(model) and record["written"] == stamp(record["output"]) is not None)


def convert_shard(report_path, jobs, options):
    """Runs on a worker."""
    with open(report_path, "ab+") as report:
        fcntl.flock(report, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an error: another worker is at it
        last = {record["output"]: record for record in read_lines(report)}
        for model, output in jobs:
            if not is_done(last.get(output), model, options):
                line = json.dumps(convert_model(model, output, options)) + "\n"
                report.write(line.encode())
                report.flush()


def read_list(path, folder, to):
    """(model, output) of each line. Names without an output of their own stay in the folder."""
    jobs = []
    with open(path, encoding="utf-8", errors="surrogateescape") as lines:
        for line in filter(None, map(str.strip, lines)):
            model, _, output = line.partition("\t")
            inside = [part for part in model.split("/") if part not in ("", ".", "..")]
            output = output or os.path.splitext(os.path.join(*inside))[0] + "." + to
            jobs.append((os.path.abspath(model), os.path.join(folder, output)))
    outputs = [output for _, output in jobs]
    if len(set(outputs)) != len(outputs):
        raise SystemExit(f"{path}: two models have the same output")
    return jobs


def convert(client, models, folder, to, options=(), shards=SHARDS):
    """Converts the list with the workers of `client`; gives how many models are done, and failed."""
    folder = os.path.abspath(folder)
    os.makedirs(folder, exist_ok=True)
    options = {**dict(options), "to": to}
    jobs = read_list(models, folder, to)
    reports = [os.path.join(folder, f"shard-{i + 1}-of-{shards}.jsonl") for i in range(shards)]
    tasks = [client.submit(convert_shard, report, jobs[i::shards], options, pure=False, retries=5)
             for i, report in enumerate(reports) if jobs[i::shards]]
    for task in as_completed(tasks):
        task.result()
    last = {}
    for report in filter(os.path.exists, reports):
        with open(report, "rb+") as file:
            last.update((record["output"], record) for record in read_lines(file))
    path = os.path.join(folder, "report.jsonl")
    with open(path + ".part", "w") as file:
        file.writelines(json.dumps(last[output]) + "\n" for _, output in jobs)
    os.replace(path + ".part", path)
    failed = sum(bool(last[output]["error"]) for _, output in jobs)
    return len(jobs) - failed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", metavar="LIST")
    parser.add_argument("-o", dest="folder", required=True)
    parser.add_argument("--to", required=True, help="format of the outputs: onnx, tflite, ...")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE",
                        help="of x2ir.convert, as in opset=17")
    parser.add_argument("--scheduler", help="HOST:PORT; by default workers of this machine")
    parser.add_argument("--shards", type=int, default=SHARDS,
                        help="the same in every run over the same FOLDER")
    args = parser.parse_args()
    options = dict(option.split("=", 1) for option in args.option)
    cluster = args.scheduler or LocalCluster(threads_per_worker=1, dashboard_address=None)
    with Client(cluster) as client:
        done, failed = convert(client, args.models, args.folder, args.to, options, args.shards)
    print(f"{done + failed} models: {done} done, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
