"""How many files and frames of the library a user's call passes through, and which of its modules a first use opens.

A walk counts the files of `datasets_core/` in which a function ran, and the frames of `datasets_core/` on the stack at the call
of the author's or user's code. Formats (`builders/`) are not counted: they are the author's code of that walk.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import PIL.Image
import pyarrow as pa
import pytest

from datasets_core import Dataset, load_dataset

ROOT = Path(__file__).parents[1]


class Ceiling(NamedTuple):
    """The most files that a walk enters, and the most frames at the code that it calls."""

    files: int
    frames: int | None = None


WALKS = {
    # One of the files is errors/base.py, which makes the loggers of modules.
    "cold csv": Ceiling(files=40, frames=9),  # frames at `Csv._generate_tables`
    "warm csv": Ceiling(files=24),
    "second row": Ceiling(files=2),
    "built script": Ceiling(files=90, frames=10),  # frames at `_generate_examples`
    "streamed script": Ceiling(files=45, frames=10),  # with the meter of progress bars
    "map": Ceiling(files=27, frames=9),  # frames at the function; store/shard.py compares, store/atomic.py has the folder
}

FORMATS = ("json", "parquet", "arrow", "text", "tfrecord", "imagefolder")

# The modules of the library that are loaded after a first use in a new process: for the main ones each by name, and for the
# warm load of other formats how many there are at most.
MODULES: dict[str, list[str]] = json.loads(Path(__file__).with_name("walks.json").read_text(encoding="utf-8"))
MOST_MODULES = {f"warm {kind}": 100 for kind in FORMATS}

# The dataclasses that the library's modules of a first row define: those that users see, those that enter fingerprints or
# pickles of datasets, and those that a named tuple cannot be (a field called `index` or one that is not compared, a subclass
# with fields, a list of its own).
DATACLASSES = [
    "builders.csv.CsvConfig",
    "building.hooks.BuilderConfig",
    "building.hooks.SplitGenerator",
    "building.versions.BlockedVersions",
    "config.Config",
    "features.base.LargeList",
    "features.base.List",
    "features.base.Value",
    "features.formats.formats.RowFormat",
    "features.media.media.MediaPaths",
    "fetch.checksums.DownloadConfig",
    "files.FileEntry",
    "io.push_parquet.PushedRows",
    "meta.info.Card",
    "meta.info.DatasetInfo",
    "meta.info.SupervisedKeysData",
    "meta.split_info.FileInstruction",
    "meta.split_info.SplitInfo",
    "meta.splits.EvenCut",
    "meta.splits.SplitPart",
    "meta.version.Version",
    "resolve.folder.FolderSource",
    "store.manifest.Manifest",
]

# What a first use has no need of, as beginnings of module names below `datasets_core`.
_COLD = ("cli", "distributed", "inspect", "io.push_card", "slim", "tfds")
_BUILT = (*_COLD, "building.live", "building.write", "fetch.http", "fetch.hub.client", "io.push_target", "scripting", "stream")
_REMOTE = ("fetch.cache", "fetch.http", "fetch.hub", "fetch.ranges.http", "fetch.ranges.stores", "fetch.transfer")
_OTHER_PLACES = ("building.tfds_folders", "resolve.hub", "resolve.tfds_folder", "tfds", *_REMOTE)
DENIED = {
    "cold csv": _OTHER_PLACES,
    "checked csv": _OTHER_PLACES,
    "csv stream": _OTHER_PLACES,
    "warm load": _BUILT,
    "first row": _BUILT,
    **{f"warm {kind}": _BUILT for kind in FORMATS},
    "first stream": (*_COLD, "building.write.build", "fetch.hub.upload", "records", "scripting.sandbox.process"),
}

WALKER = """
import json, os, pathlib, sys
ROOT, WORK = sys.argv[1:]
sys.path.insert(0, ROOT)
import datasets_core as D

OWN = os.path.join(ROOT, "datasets_core") + os.sep
D.disable_progress_bars()
files, frames = {}, {}

class Walk:
    def __init__(self, name):
        self.found = files[name] = set()
    def __enter__(self):
        sys.setprofile(self)
    def __exit__(self, *failure):
        sys.setprofile(None)
    def __call__(self, frame, event, argument):
        code = frame.f_code
        if event == "call" and code.co_flags & 1 and code.co_filename.startswith(OWN):  # functions, no bodies of modules
            self.found.add(os.path.relpath(code.co_filename, ROOT))
        if event == "call" and code.co_name == "_generate_tables":
            reached("cold csv")

def reached(name):
    stack, frame = [], sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.startswith(OWN):
            stack.append(f"{os.path.relpath(frame.f_code.co_filename, ROOT)}: {frame.f_code.co_qualname}")
        frame = frame.f_back
    if len(stack) > len(frames.get(name, ())):
        frames[name] = stack

folder, cache, script = f"{WORK}/data", f"{WORK}/cache", f"{WORK}/birds.py"
with Walk("cold csv"):
    rows = D.load_dataset(folder, split="train[:10%]", cache_dir=cache)
with Walk("warm csv"):
    rows = D.load_dataset(folder, split="train[:10%]", cache_dir=cache)
rows[0]
with Walk("second row"):
    rows[1]
walk = "built script"
with Walk(walk):
    D.load_dataset(script, split="train", cache_dir=cache, trust_remote_code=True)
walk = "streamed script"
with Walk(walk):
    stream = D.load_dataset(script, split="train", streaming=True, trust_remote_code=True)
    next(iter(stream.shuffle(seed=1, buffer_size=10)))

def function(row):
    reached("map")
    return {"c": row["a"]}

with Walk("map"):
    rows.map(function)
print(json.dumps({name: {"files": sorted(found), "frames": frames.get(name)} for name, found in files.items()}))
"""

SCRIPT = """
import sys
import datasets_core as datasets

class Birds(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"a": datasets.Value("int64")}))
    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={"n": 50})]
    def _generate_examples(self, n):
        main = sys.modules["__main__"]
        for i in range(n):
            if hasattr(main, "reached"):
                main.reached(main.walk)
            yield i, {"a": i}
"""

FIRST_USES = {
    "import": "",
    "warm load": 'D.load_dataset(f"{WORK}/data", split="train", cache_dir=f"{WORK}/cache")',
    "first row": 'D.load_dataset(f"{WORK}/data", split="train", cache_dir=f"{WORK}/cache")[0]',
    "second row": 'rows = D.load_dataset(f"{WORK}/data", split="train", cache_dir=f"{WORK}/cache"); rows[0]; rows[1]',
    "cold csv": 'D.load_dataset(f"{WORK}/data", split="train", cache_dir=f"{WORK}/cold")[0]',
    "checked csv": 'D.load_dataset(f"{WORK}/data", cache_dir=f"{WORK}/checked", verification_mode="all_checks")["train"][0]',
    "csv stream": 'next(iter(D.load_dataset(f"{WORK}/data", split="train", streaming=True)))',
    **{
        f"warm {kind}": f'D.load_dataset(f"{{WORK}}/{kind}", split="train", cache_dir=f"{{WORK}}/cache")[0]' for kind in FORMATS
    },
    "first stream": 'next(iter(D.load_dataset(f"{WORK}/birds.py", split="train", streaming=True, trust_remote_code=True)))',
}


def _run(program: str, *arguments: object) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True, check=False, cwd=arguments[-1]
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small csv dataset and a script."""
    folder = tmp_path_factory.mktemp("walks")
    (folder / "data").mkdir()
    for split, count in (("train", 100), ("test", 10)):
        (folder / "data" / f"{split}.csv").write_text("a,b\n" + "".join(f"{i},x{i}\n" for i in range(count)), encoding="utf-8")
    (folder / "birds.py").write_text(SCRIPT, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def walks(work: Path) -> dict[str, dict[str, list[str]]]:
    """Files and frames of every walk; the csv folder is built in the cache afterwards."""
    found: dict[str, dict[str, list[str]]] = _run(WALKER, ROOT, work)
    return found


@pytest.fixture(scope="module")
def formats(work: Path) -> None:
    """A built folder of each other format."""
    rows, cache = Dataset.from_dict({"text": ["a", "b"]}), work / "cache"
    for kind in FORMATS:
        (work / kind).mkdir()
    rows.to_json(work / "json" / "rows.jsonl")
    rows.to_parquet(work / "parquet" / "rows.parquet")
    rows.to_tfrecord(work / "tfrecord" / "rows.tfrecord")
    with pa.ipc.new_file(work / "arrow" / "rows.arrow", rows.data.schema) as writer:
        writer.write_table(pa.table({"text": ["a", "b"]}, rows.data.schema))
    (work / "text" / "rows.txt").write_text("a\nb\n", encoding="utf-8")
    PIL.Image.new("RGB", (4, 4)).save(work / "imagefolder" / "a.png")
    for kind in FORMATS:
        load_dataset(str(work / kind), split="train", cache_dir=cache)


@pytest.fixture(scope="module")
def opened(work: Path, walks: dict[str, Any], formats: None) -> dict[str, list[str]]:
    """Modules of the library that are loaded after each first use."""
    program = (
        "import json, sys\nROOT, WORK = sys.argv[1:]\nsys.path.insert(0, ROOT)\nimport datasets_core as D\n{}\n"
        "print(json.dumps(sorted(name for name in sys.modules if name.partition('.')[0] == 'datasets_core')))"
    )
    return {name: _run(program.format(use), ROOT, work) for name, use in FIRST_USES.items()}


@pytest.fixture(scope="module")
def made(work: Path, walks: dict[str, Any]) -> dict[str, list[str]]:
    """What the library's modules of a first row make when they open, which costs more than it looks: by kind the names."""
    program = f"""
import json, re, sys
ROOT, WORK = sys.argv[1:]
sys.path.insert(0, ROOT)
import datasets_core as D
{FIRST_USES["first row"]}
found = {{"dataclasses": [], "patterns": []}}
for module in [module for name, module in sys.modules.items() if name.partition(".")[0] == "datasets_core"]:
    for name, value in vars(module).items():
        label = f"{{module.__name__.removeprefix('datasets_core.')}}.{{name}}"
        if isinstance(value, type) and value.__module__ == module.__name__ and "__dataclass_fields__" in vars(value):
            found["dataclasses"].append(label)
        elif isinstance(value, re.Pattern):
            found["patterns"].append(label)
print(json.dumps({{kind: sorted(names) for kind, names in found.items()}}))
"""
    return _run(program, ROOT, work)


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_enters_few_files(walks: dict[str, dict[str, list[str]]], walk: str) -> None:
    files = walks[walk]["files"]
    assert len(files) <= WALKS[walk].files, f"{len(files)} files:\n" + "\n".join(files)


@pytest.mark.parametrize("walk", [walk for walk, ceiling in WALKS.items() if ceiling.frames])
def test_few_frames_lie_above_the_code_that_a_walk_calls(walks: dict[str, dict[str, list[str]]], walk: str) -> None:
    frames, most = walks[walk]["frames"], WALKS[walk].frames
    assert most is not None and 0 < len(frames) <= most, f"{len(frames)} frames, innermost first:\n" + "\n".join(frames)


@pytest.mark.parametrize("use", MODULES)
def test_a_first_use_opens_these_modules(opened: dict[str, list[str]], use: str) -> None:
    found = {name.removeprefix("datasets_core.") for name in opened[use]}
    more, fewer = sorted(found - set(MODULES[use])), sorted(set(MODULES[use]) - found)
    advice = "If that is meant, change tests/walks.json; else import within the function that needs it."
    assert not (more or fewer), f"{use} opens {more or 'no module'} in addition, and no longer {fewer or 'any'}. {advice}"


@pytest.mark.parametrize("use", MOST_MODULES)
def test_a_warm_load_opens_few_modules(opened: dict[str, list[str]], use: str) -> None:
    assert len(opened[use]) <= MOST_MODULES[use], f"{len(opened[use])} modules:\n" + "\n".join(opened[use])


def test_a_first_row_defines_these_dataclasses(made: dict[str, list[str]]) -> None:
    assert made["dataclasses"] == DATACLASSES


def test_a_first_row_opens_no_module_that_compiles_a_pattern(made: dict[str, list[str]]) -> None:
    assert made["patterns"] == []


@pytest.mark.parametrize("use", DENIED)
def test_a_first_use_opens_no_module_that_it_has_no_need_of(opened: dict[str, list[str]], use: str) -> None:
    denied = tuple(f"datasets_core.{name}" for name in DENIED[use])
    assert [name for name in opened[use] if name.startswith(denied)] == []
