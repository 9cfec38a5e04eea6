"""A user's process that loads attacks: a line of JSON on standard input asks, one on standard output tells what came of it."""

import contextlib
import gc
import glob
import io
import json
import logging
import os
import resource
import sys
import tempfile
import traceback
import warnings

resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))  # an attack that succeeds harms this process alone
ANSWERS = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
PRINTED = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)
os.dup2(PRINTED, 1)
os.dup2(PRINTED, 2)

import datasets_core  # noqa: E402
from datasets_core import inspect  # noqa: E402
from datasets_core.config import using  # noqa: E402


def loaded(asked):
    """The rows of each split."""
    options = dict(asked.get("options", {}))
    found = datasets_core.load_dataset(asked["path"], **options)
    if isinstance(found, (datasets_core.Dataset, datasets_core.IterableDataset)):
        found = {"train": found}
    rows = {}
    for split, rows_of_split in found.items():
        rows[split] = []
        for row in rows_of_split:
            rows[split].append({str(name): repr(value)[:5000] for name, value in row.items()})
            if len(rows[split]) >= 500:
                break
    return {"rows": rows, "shown": repr(found), "features": repr(next(iter(found.values())).features)}


def looked_at(asked):
    """What is said of a dataset without its rows."""
    path, told = asked["path"], {}
    for name in ("get_dataset_config_names", "get_dataset_default_config_name", "get_dataset_infos", "get_dataset_split_names"):
        told[name] = repr(getattr(inspect, name)(path))
    builder = datasets_core.load_dataset_builder(path)
    told["builder"] = repr([builder.info, builder.config, type(builder).__doc__])
    return {"rows": {}, "shown": repr(told)}


def left():
    """What may not be left when an attack is over."""
    gc.collect()
    kinds = sorted(
        os.readlink(f"/proc/self/fd/{each}") for each in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{each}")
    )
    processes = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat") as file:
            processes[int(name)] = int(file.read().rpartition(")")[2].split()[1])
    below, ours = [], {os.getpid()}
    while found := {name for name, parent in processes.items() if parent in ours} - set(below):
        below += found
        ours = found
    litter = glob.glob(os.path.join(os.environ["HF_DATASETS_CACHE"], "**", "script.incomplete-*"), recursive=True)
    litter += glob.glob(os.path.join(tempfile.gettempdir(), "datasets_core-*"))
    return {
        "descriptors": [each.partition(":")[0] for each in kinds],
        "processes": len(below),
        "litter": litter,
    }


def told_of(asked):
    """What came of one request."""
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    logger = logging.getLogger("datasets_core")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    os.ftruncate(PRINTED, 0)
    answer = {"error": None}
    with warnings.catch_warnings(record=True) as warned, using(**asked.get("settings", {})):
        warnings.simplefilter("always")
        try:
            answer |= {"load": loaded, "look": looked_at}[asked.get("do", "load")](asked)
        except Exception as error:
            own = {name: value for name, value in vars(error).items() if isinstance(value, (str, int, type(None)))}
            answer["error"] = {
                "class": [each.__name__ for each in type(error).__mro__],
                "text": str(error),
                "facts": own,
                "whole": traceback.format_exc(),
            }
    logger.removeHandler(handler)
    sys.stdout.flush()
    sys.stderr.flush()
    answer["warnings"] = [f"{each.category.__name__}: {each.message}" for each in warned]
    answer["log"] = log.getvalue()
    answer["printed"] = os.pread(PRINTED, 1 << 20, 0).decode(errors="replace")
    answer["left"] = left()
    with open("/proc/self/status") as file:
        answer["most_memory"] = next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))
    return answer


def main():
    """Answer until there are no more requests."""
    print(json.dumps({"ready": os.getpid(), "user": os.getuid()}), file=ANSWERS)
    for line in sys.stdin:
        print(json.dumps(told_of(json.loads(line))), file=ANSWERS)


if __name__ == "__main__":
    main()
