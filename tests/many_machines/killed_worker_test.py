"""A list over three workers, of which one is killed: all is done, and nothing twice.

    killed_worker_test.py SOURCE [MODELS]

Exit code 77: there is no Dask here, or no x2ir in PYTHONPATH.
"""
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time

try:
    import x2ir
    from distributed import Client, LocalCluster
except ImportError as error:
    print(f"{error}: left out", file=sys.stderr)
    sys.exit(77)


def lines_of(folder):
    found = []
    for name in os.listdir(folder):
        if name.startswith("shard-") and name.endswith(".jsonl"):
            with open(os.path.join(folder, name)) as file:
                found += [json.loads(line) for line in file if line.endswith("\n")]
    return found


def main(source, count=60):
    count = int(count)
    sys.path.insert(0, os.path.join(source, "examples", "many_machines"))
    import convert

    model = os.path.join(source, "tests", "data", "demo", "model.onnx")
    with tempfile.TemporaryDirectory() as folder:
        models, out = os.path.join(folder, "list"), os.path.join(folder, "out")
        names = [os.path.join(folder, f"in{i:05}.onnx") for i in range(count)]
        for name in names:
            shutil.copy(model, name)
        with open(names[7], "wb") as file:
            file.write(b"no model")
        # Names of their own for the outputs, in the folder.
        with open(models, "w") as file:
            file.writelines(f"{name}\t{os.path.basename(name)}\n" for name in names)
        os.mkdir(out)

        how = dict(to="onnx", options={"opset": "13"}, shards=12)
        killed = []

        def kill_one(client):
            # In the middle: something is done, and something is not.
            while len(lines_of(out)) < count // 6:
                time.sleep(0.02)
            pids = list(client.run(os.getpid).values())
            os.kill(pids[0], signal.SIGKILL)
            killed.append((pids[0], len(lines_of(out))))

        start = time.time()
        with LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None,
                          local_directory=folder) as cluster, Client(cluster) as client:
            began = time.time()
            killer = threading.Thread(target=kill_one, args=(client,))
            killer.start()
            done, failed = convert.convert(client, models, out, **how)
            seconds = time.time() - began
            killer.join()
            assert killed and killed[0][1] < count, "the worker was killed too late to matter"
            assert (done, failed) == (count - 1, 1), (done, failed)
            records = lines_of(out)
            # The one that fails is tried again by whoever takes up its shard.
            good = [r["input"] for r in records if not r["error"]]
            assert sorted(good) == sorted(names[:7] + names[8:]), "some twice, or not at all"
            with open(os.path.join(out, "report.jsonl")) as file:
                report = [json.loads(line) for line in file]
            assert sorted(r["input"] for r in report) == names
            outputs = {open(os.path.join(out, os.path.basename(n)), "rb").read()
                       for n in names[:7] + names[8:]}
            assert len(outputs) == 1 and len(outputs.pop()) > 1000
            assert not [n for n in os.listdir(out) if n.startswith(".")], os.listdir(out)

            # Again: nothing but the failure is tried.
            assert convert.convert(client, models, out, **how) == (done, failed)
            assert len([r for r in lines_of(out) if not r["error"]]) == count - 1

        start_alone = time.time()
        for name in names[:7] + names[8:]:
            x2ir.convert(name, os.path.join(folder, "alone.onnx"), opset=13)
        alone = time.time() - start_alone
        print(f"{count} models over 3 workers, one killed after {killed[0][1]}: {done} done, "
              f"{failed} failed as it must, none twice; {seconds:.1f} s "
              f"({start_alone - start:.1f} s with the cluster and the second run); one process alone: {alone:.1f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
