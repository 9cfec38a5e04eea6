"""Scripts in repositories of the Hub: who may run them, what they stand on, and what they may have."""

import io
import json
import logging
import os
import shutil
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from datasets_core import config
from datasets_core.errors import DatasetsCoreError, NonMatchingChecksumError, ScriptError, UntrustedScriptError
from datasets_core.fetch.hub.client import Hub
from datasets_core.inspect import (
    get_dataset_config_info,
    get_dataset_config_names,
    get_dataset_default_config_name,
    get_dataset_infos,
    get_dataset_split_names,
)
from datasets_core.load import load_dataset, load_dataset_builder
from datasets_core.resolve.hub_script import Checkout
from datasets_core.scripting.sandbox.limits import layers

WAYS = [
    True,
    pytest.param(None, marks=pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")),
]

SCRIPT = '''
import os
import datasets
from .words import PREFIX
from .deep.more import SUFFIX

class Reviews(datasets.GeneratorBasedBuilder):
    """Reviews of things."""
    VERSION = datasets.Version("1.0.0")
    BUILDER_CONFIGS = [datasets.BuilderConfig(name, datasets.Version("1.0.0")) for name in ("en", "de")]
    DEFAULT_CONFIG_NAME = "en"

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"word": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        zipped = dl_manager.download_and_extract({"a": "data/test.zip"})
        tarred = dl_manager.iter_archive("data/dev.tar")
        return [
            datasets.SplitGenerator("train", {"path": dl_manager.download(f"data/{self.config.name} ü#%.txt"), "files": ()}),
            datasets.SplitGenerator("test", {"path": os.path.join(zipped["a"], "test.txt"), "files": ()}),
            datasets.SplitGenerator("dev", {"path": None, "files": tarred}),
        ]

    def _generate_examples(self, path, files):
        for name, file in files:
            yield name, {"word": file.read().decode()}
        if path:
            with open(path, encoding="utf-8") as lines:
                for number, line in enumerate(lines):
                    yield number, {"word": PREFIX + line.strip() + SUFFIX}
'''


def zipped(**members: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.txt"), text)
    return out.getvalue()


def tarred(**members: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


FILES: dict[str, Any] = {
    "reviews.py": SCRIPT,
    "words.py": "PREFIX = '<'\n",
    "deep/more.py": "from ..other import SUFFIX\n",
    "other.py": "SUFFIX = '>'\n",
    "unused.py": "raise SystemExit('nobody asked for this')\n",
    "data/en ü#%.txt": "good\nbad\n",
    "data/de ü#%.txt": "gut\n",
    "data/test.zip": zipped(test="t1\nt2\n"),
    "data/dev.tar": tarred(a="A", b="B"),
    "README.md": "---\nlicense: mit\n---\n",
}
ROWS = {"train": ["<good>", "<bad>"], "test": ["<t1>", "<t2>"], "dev": ["A", "B"]}


def one_file(text: str) -> dict[str, str]:
    """A repository whose script makes rows of what `_split_generators` finds, as text."""
    return {
        "one.py": f"""
import datasets

class One(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({{"v": datasets.Value("string")}}))

    def _split_generators(self, dl_manager):
{text}
        return [datasets.SplitGenerator("train", {{"found": found}})]

    def _generate_examples(self, found):
        for number, value in enumerate(found):
            yield number, {{"v": str(value)}}
"""
    }


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("private", [True, False])
def test_a_script_with_data_beside_it_loads_and_streams(hub: Any, way: Any, private: bool) -> None:
    hub.repo("org/reviews", FILES, private=private)
    who: dict[str, Any] = {"trust_remote_code": way, "token": hub.token if private else None}
    found = load_dataset("org/reviews", **who)
    assert {split: rows["word"][:] for split, rows in found.items()} == ROWS
    assert "org___reviews" in found.cache_files["train"][0]["filename"]
    assert not any("unused" in request.target for request in hub.requests)
    assert all(request.token in (None, hub.token) for request in hub.requests)
    assert all(request.token is None for request in hub.of("storage"))
    streams = load_dataset("org/reviews", streaming=True, **who)
    assert {split: [row["word"] for row in rows] for split, rows in streams.items()} == ROWS
    hub.forget()
    sha = hub.repos["org/reviews"].sha
    assert load_dataset("org/reviews", "de", revision=sha, split="train", **who)["word"][:] == ["<gut>"]
    assert [request.name for request in hub.requests] == ["data/de ü#%.txt"]
    hub.forget()
    assert load_dataset("org/reviews", revision=sha, split="train", **who)["word"][:] == ROWS["train"]
    assert hub.requests == []


@pytest.mark.parametrize("way", WAYS)
def test_what_a_script_offers_is_told_without_its_data(hub: Any, way: Any) -> None:
    record = {"en": {"description": "on record", "splits": {"train": {"name": "train", "num_bytes": 1, "num_examples": 2}}}}
    hub.repo("org/reviews", {**FILES, "dataset_infos.json": json.dumps(record)})
    assert get_dataset_config_names("org/reviews", trust_remote_code=way) == ["en", "de"]
    assert get_dataset_default_config_name("org/reviews", trust_remote_code=way) == "en"
    builder = load_dataset_builder("org/reviews", trust_remote_code=way)
    sha = hub.repos["org/reviews"].sha
    assert (builder.repo_id, builder.commit_sha, builder.dataset_name) == ("org/reviews", sha, "reviews")
    assert builder.base_path == f"hf://datasets/org/reviews@{sha}"
    assert builder.label == "org/reviews/en"
    assert get_dataset_config_info("org/reviews", "en", trust_remote_code=way).description == "on record"
    assert not any(request.name.startswith("data/") for request in hub.requests)
    assert get_dataset_split_names("org/reviews", "de", trust_remote_code=way) == ["train", "test", "dev"]
    of_data = {request.name for request in hub.of("resolve") if request.name.startswith("data/")}
    assert of_data == {"data/test.zip"}  # whose folder the script makes a text of


@pytest.mark.parametrize(
    "look",
    [
        load_dataset,
        load_dataset_builder,
        get_dataset_config_names,
        get_dataset_default_config_name,
        get_dataset_split_names,
        get_dataset_infos,
        get_dataset_config_info,
        lambda path, **how: load_dataset(path, streaming=True, **how),
    ],
)
def test_no_byte_of_a_refused_script_is_fetched(hub: Any, look: Any) -> None:
    sha = hub.repo("org/reviews", FILES).sha
    with pytest.raises(UntrustedScriptError) as caught:
        look("org/reviews", trust_remote_code=False)
    for part in ("org/reviews", sha, "reviews.py", "trust_remote_code=False"):
        assert part in str(caught.value)
    with config.using(refuse_found_scripts=True), pytest.raises(UntrustedScriptError, match="HF_DATASETS_TRUST_REMOTE_CODE=0"):
        look("org/reviews")
    assert not hub.of("resolve") + hub.of("storage")
    assert not os.path.exists(os.path.join(config.settings().cache_dir, "modules"))


def test_a_refusal_names_the_revision_that_needs_no_script(hub: Any) -> None:
    repo = hub.repo("org/reviews", FILES)
    with pytest.raises(UntrustedScriptError) as caught:
        load_dataset("org/reviews", trust_remote_code=False)
    assert caught.value.export is None
    repo.commit({"default/train/a.csv": "v\n1\n"}, branch="refs/convert/parquet")
    with pytest.raises(UntrustedScriptError, match="Pass revision='refs/convert/parquet' to load its rows without") as caught:
        load_dataset("org/reviews", trust_remote_code=False)
    assert caught.value.export == "refs/convert/parquet"
    assert load_dataset("org/reviews", revision="refs/convert/parquet", split="train", trust_remote_code=False)["v"][:] == [1]


def test_trust_is_said_in_the_log_with_the_commit(hub: Any, caplog: pytest.LogCaptureFixture) -> None:
    sha = hub.repo("org/reviews", FILES).sha
    with caplog.at_level(logging.WARNING, logger="datasets_core"):
        load_dataset("org/reviews", trust_remote_code=True)
    (said,) = [record.getMessage() for record in caplog.records if "trust_remote_code" in record.getMessage()]
    assert sha in said
    assert "org/reviews" in said


@pytest.mark.parametrize("way", WAYS)
def test_what_changes_is_built_anew_and_nothing_else_is(hub: Any, way: Any) -> None:
    repo = hub.repo("org/reviews", FILES)

    def place() -> str:
        return str(load_dataset("org/reviews", split="train", trust_remote_code=way).cache_files[0]["filename"])

    first, sha = place(), repo.sha
    repo.commit({"README.md": "another text", "LICENSE": "free"})
    assert place() == first
    repo.commit({"data/en ü#%.txt": "other\n"})
    second = place()
    assert second != first
    repo.commit({"other.py": "SUFFIX = '!'\n"})
    assert place() not in (first, second)
    assert load_dataset("org/reviews", split="train", trust_remote_code=way)["word"][:] == ["<other!"]
    assert load_dataset("org/reviews", split="train", trust_remote_code=way, revision=sha)["word"][:] == ROWS["train"]


@pytest.mark.parametrize("way", WAYS)
def test_all_is_of_one_commit_though_the_repository_changes_meanwhile(hub: Any, way: Any) -> None:
    repo = hub.repo("org/reviews", FILES)
    changed = {"other.py": "SUFFIX = '!'\n", "data/en ü#%.txt": "other\n"}
    hub.before(lambda request: repo.commit(changed), "resolve", times=1)
    assert load_dataset("org/reviews", split="train", trust_remote_code=way)["word"][:] == ROWS["train"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["json", "datasets", "__init__", "a.b-c_d", "class", "test", "Reviews", "1st"])
def test_a_repository_may_have_any_name(hub: Any, name: str, way: Any) -> None:
    text = "        import pathlib\n        path = pathlib.Path(dl_manager.download('a.txt'))\n"
    script = one_file(text + "        found = [path.read_text(), __name__.split('.')[0]]")["one.py"]
    hub.repo(f"org/{name}", {f"{name}.py": script, "a.txt": "A"})
    assert load_dataset(f"org/{name}", split="train", trust_remote_code=way)["v"][:] == ["A", "datasets_core_scripts"]


@pytest.mark.parametrize("way", WAYS)
def test_modules_of_a_repository_are_found_by_relative_imports_alone(hub: Any, way: Any) -> None:
    text = "from .json import VALUE\nfrom . import pack\nimport json\n"
    files = one_file("        found = [VALUE, pack.VALUE, json.dumps(1), dir(pack.inner)[-1]]")
    files["one.py"] = text + files["one.py"]
    inner = {"pack/__init__.py": "from . import inner\nVALUE = 'pack'\n", "pack/inner/__init__.py": "zz = 1\n"}
    hub.repo("org/one", {**files, "json.py": "VALUE = 'mine'\n", **inner})
    assert load_dataset("org/one", split="train", trust_remote_code=way)["v"][:] == ["mine", "pack", "1", "zz"]
    hub.repos["org/one"].commit({"one.py": files["one.py"].replace(".json", ".gone")})
    with pytest.raises(ScriptError, match=r"gone\.py, which does not exist"):
        load_dataset("org/one", trust_remote_code=way)
    hub.repos["org/one"].commit({"one.py": files["one.py"].replace("import json", "import pair"), "pair.py": ""})
    with pytest.raises(ScriptError, match=r"Import the file next to the script relatively: 'from \.pair import"):
        load_dataset("org/one", trust_remote_code=way)
    hub.repos["org/one"].commit({"one.py": files["one.py"].replace(".json", "...up")})
    with pytest.raises(ScriptError, match="leaves the script's folder"):
        load_dataset("org/one", trust_remote_code=way)


@pytest.mark.parametrize("way", WAYS)
def test_small_files_that_a_script_finds_by_its_own_path_lie_beside_it(hub: Any, way: Any) -> None:
    text = "        import os, pathlib\n        path = pathlib.Path(os.path.dirname(__file__), 'labels', 'a.txt')\n"
    text += "        found = path.read_text().split()"
    hub.repo("org/one", {**one_file(text), "labels/a.txt": "x y", "labels/b.txt": "z"})
    assert load_dataset("org/one", split="train", trust_remote_code=way)["v"][:] == ["x", "y"]
    assert not any(request.name == "labels/b.txt" for request in hub.requests)


@pytest.mark.parametrize("way", WAYS)
def test_what_lies_in_the_modules_folder_is_what_the_commit_holds(hub: Any, way: Any, tmp_path: Path) -> None:
    repo = hub.repo("org/reviews", FILES)
    load_dataset("org/reviews", split="train", trust_remote_code=way)
    folder = Path(config.settings().cache_dir, "modules", "hub", "org--reviews", repo.sha)
    assert not any(path.is_symlink() for path in folder.rglob("*"))
    assert (folder / "words.py").read_text() == FILES["words.py"]
    (folder / "words.py").write_text("PREFIX = '!'\n")
    (tmp_path / "other.py").write_text("SUFFIX = '>'\n")
    (folder / "other.py").unlink()
    (folder / "other.py").symlink_to(tmp_path / "other.py")
    rows = load_dataset("org/reviews", split="train", trust_remote_code=way, download_mode="force_redownload")
    assert rows["word"][:] == ROWS["train"]
    assert not (folder / "other.py").is_symlink()
    shutil.rmtree(folder)
    hub.forget()
    with config.using(offline=True):
        assert load_dataset("org/reviews", split="train", trust_remote_code=way)["word"][:] == ROWS["train"]
    assert hub.requests == []


def test_a_script_with_wrong_bytes_never_runs(hub: Any) -> None:
    hub.repo("org/reviews", FILES)
    hub.fail(hub.faults.wrong(b"raise SystemExit\n"), "resolve", "reviews.py", times=None)
    with pytest.raises(NonMatchingChecksumError) as caught:
        load_dataset("org/reviews", trust_remote_code=True)
    assert str(caught.value.file).endswith("reviews.py")


@pytest.mark.parametrize("way", WAYS)
def test_a_repository_that_is_no_script_s_size_is_refused(hub: Any, way: Any) -> None:
    hub.repo(
        "org/one", {**one_file("        from .large import x\n        found = []"), "large.py": "x = 1\n" + "#" * (33 << 20)}
    )
    with pytest.raises(ScriptError, match=r"large\.py.*33,554,432"):
        load_dataset("org/one", trust_remote_code=way)
    assert not any(request.name == "large.py" for request in hub.requests)


ATTEMPTS = [
    "hf://datasets/org/secret/a.txt",
    "hf://datasets/org/secret@main/a.txt",
    "hf://datasets/org/one@{other}/a.txt",
    "hf://datasets/org/one@{sha}/../../secret/a.txt",
    "hf://datasets/org/one@{sha}/x/../../a.txt",
    "HF://datasets/org/secret/a.txt",
    "hf://org/secret/a.txt",
    "zip://a.txt::hf://datasets/org/secret/a.zip",
    "../secret/a.txt",
    "data/../../secret/a.txt",
    "data/../a.txt",
    "{url}/datasets/org/secret/resolve/main/a.txt",
    "{url}/datasets/org/one/resolve/main/../../../secret/resolve/main/a.txt",
    "{url}/datasets/org/one/resolve/{sha}/..%2F..%2F..%2Fsecret%2Fresolve%2Fmain%2Fa.txt",
    "{url}/api/whoami-v2",
]


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.filterwarnings("ignore::datasets_core.errors.DeniedAccessWarning")
def test_a_confined_script_has_the_files_of_its_own_commit_and_no_other_as_the_user(
    hub: Any, streaming: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", hub.token)
    hub.repo("org/secret", {"a.txt": "the secret", "a.zip": zipped(a="the secret")}, private=True)
    text = """
        found = []
        for url in URLS:
            try:
                path = dl_manager.download(url)
                with open(path) as file:
                    found.append(file.read())
            except Exception as error:
                found.append(type(error).__name__)
"""
    repo = hub.repo("org/one", {**one_file(text), "a.txt": "old"}, private=True)
    before = repo.sha
    repo.commit({"a.txt": "mine"})
    facts = {"url": hub.url, "other": before, "sha": "0" * 40}
    urls = [attempt.format(**facts) for attempt in ATTEMPTS]
    own = ["a.txt", "./a.txt", "hf://datasets/org/one/a.txt", f"{hub.url}/datasets/org/one/resolve/main/a.txt"]
    repo.commit({"one.py": f"URLS = {urls + own!r}\n" + one_file(text)["one.py"]})
    hub.forget()
    rows = load_dataset("org/one", split="train", streaming=streaming, token=hub.token)
    found = [row["v"] for row in rows]
    assert found[len(urls) :] == ["mine"] * len(own)
    assert not {"old", "mine", "the secret"} & set(found[: len(urls)])
    with_token = [request.target for request in hub.requests if request.token is not None]
    assert all("/org/one/" in target for target in with_token)
    assert all(f"/{before}/" not in target for target in with_token)


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_confined_script_sees_no_token_and_no_hub_cache(hub: Any) -> None:
    text = """
        import os, glob
        path = dl_manager.download("a.txt")
        found = [repr(dict(os.environ)), repr(vars(self)), repr(vars(dl_manager)), repr(dl_manager.download_config), path]
        try:
            found += os.listdir(HUB)
        except OSError as error:
            found.append(type(error).__name__)
"""
    files = one_file(text)
    hub.repo("org/one", {"one.py": f"HUB = {str(hub.cache_dir)!r}\n" + files["one.py"], "a.txt": "mine"}, private=True)
    with pytest.warns(UserWarning, match="was denied|tried to"):
        *said, denied = load_dataset("org/one", split="train", token=hub.token)["v"][:]
    assert not any(hub.token in text for text in said)
    assert str(hub.cache_dir) not in said[-1]
    assert denied == "PermissionError"


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_confined_script_that_sees_the_user_s_files_has_its_own_from_before(hub: Any, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "x.txt").write_text("b.txt")
    text = """
        import os
        folder = self.config.data_dir
        found = [open(dl_manager.download("a.txt")).read()]
        with open(os.path.join(folder, "x.txt")) as file:
            found.append(open(dl_manager.download(file.read())).read())
"""
    hub.repo("org/one", {**one_file(text), "a.txt": "A", "b.txt": "B"}, private=True)
    with pytest.raises(DatasetsCoreError, match="after it could read your own files"):
        load_dataset("org/one", data_dir=str(tmp_path / "mine"), token=hub.token)
    assert not any(request.name == "b.txt" for request in hub.requests)
    hub.repos["org/one"].commit(one_file(text.split("        with")[0]))
    rows = load_dataset("org/one", data_dir=str(tmp_path / "mine"), token=hub.token, split="train")
    assert rows["v"][:] == ["A"]


@pytest.mark.parametrize("way", WAYS)
def test_of_a_large_archive_no_more_is_fetched_than_is_read(hub: Any, way: Any) -> None:
    text = "        found = ((f.read(1) or b'').decode() for _, f in dl_manager.iter_archive(dl_manager.download('large.tar')))"
    members = {f"m{number:02}": chr(97 + number) * (1 << 20) for number in range(10)}
    hub.repo("org/one", {**one_file(text), "large.tar": tarred(**members)}, private=True)
    stream = load_dataset("org/one", split="train", streaming=True, trust_remote_code=way, token=hub.token)
    assert [row["v"] for row in stream.take(2)] == ["a", "b"]
    assert hub.of("storage")
    assert not any(path.stat().st_size > 8 << 20 for path in hub.home.rglob("*") if path.is_file())


@pytest.mark.parametrize("way", WAYS)
def test_data_files_of_the_user_are_those_of_the_repository(hub: Any, way: Any) -> None:
    text = "        found = [p.rpartition('/')[2] for p in dl_manager.download(self.config.data_files['train'])]"
    hub.repo("org/one", {**one_file(text), "d/a.txt": "A", "d/b.txt": "B"})
    assert load_dataset("org/one", data_files="d/*.txt", split="train", trust_remote_code=way)["v"][:] == ["a.txt", "b.txt"]
    assert load_dataset("org/one", data_files={"train": "d/b.txt"}, split="train", trust_remote_code=way)["v"][:] == ["b.txt"]


@pytest.mark.parametrize("way", WAYS)
def test_several_processes_build_from_a_repository(hub: Any, way: Any) -> None:
    script = FILES["reviews.py"].replace('"files": ()', '"files": []')
    hub.repo("org/reviews", {**FILES, "reviews.py": script}, private=True)
    rows = load_dataset("org/reviews", split="train", num_proc=2, token=hub.token, trust_remote_code=way)
    assert rows["word"][:] == ROWS["train"]


# Files of a commit in a folder: fetched when they are asked for, verified, and none outside.

FILES_CHECKOUT = {"a.py": "a", "pack/__init__.py": "", "pack/deep/b.py": "b", "data/c.bin": b"c" * 100}


@pytest.fixture
def checkout(hub: Any, tmp_path: Path) -> Checkout:
    hub.repo("org/name", FILES_CHECKOUT)
    found = Hub.of()
    return Checkout.below(str(tmp_path / "modules"), found, found.commit("org/name"))


def test_a_file_is_fetched_when_it_is_asked_for_and_once(checkout: Checkout, hub: Any, tmp_path: Path) -> None:
    sha = hub.repos["org/name"].sha
    assert checkout.folder == str(tmp_path / "modules" / "hub" / "org--name" / sha)
    assert not Path(checkout.folder).exists()
    hub.forget()
    for _ in range(2):
        assert checkout.is_file(checkout.path("pack/deep/b.py"))
    assert Path(checkout.folder, "pack", "deep", "b.py").read_text() == "b"
    assert [request.name for request in hub.requests] == ["pack/deep/b.py"]
    again = Checkout(Hub.of(), checkout.commit, checkout.folder)
    assert again.is_file(again.path("pack/deep/b.py"))
    assert len(hub.requests) == 1


def test_what_is_asked_for_outside_is_not_there(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("mine")
    for path in (tmp_path / "a.py", Path(checkout.folder), Path(checkout.folder).parent / "a.py"):
        assert not checkout.is_file(str(path))
        assert not checkout.is_folder(str(path))
    assert not checkout.is_file(f"{checkout.folder}/../a.py")
    assert not checkout.is_file(checkout.path("gone.py"))


def test_folders_are_those_that_files_stand_in(checkout: Checkout) -> None:
    assert checkout.is_folder(checkout.path("pack"))
    assert checkout.is_folder(checkout.path("pack/deep"))
    assert not checkout.is_folder(checkout.path("pac"))
    assert not checkout.is_folder(checkout.path("a.py"))


def test_altered_files_and_links_are_put_right(checkout: Checkout, tmp_path: Path) -> None:
    checkout.bring(FILES_CHECKOUT)
    (tmp_path / "a.py").write_text("a")
    Path(checkout.path("a.py")).unlink()
    Path(checkout.path("a.py")).symlink_to(tmp_path / "a.py")
    Path(checkout.path("pack/deep/b.py")).write_text("!")
    again = Checkout(Hub.of(), checkout.commit, checkout.folder)
    again.bring(FILES_CHECKOUT)
    assert not Path(again.path("a.py")).is_symlink()
    assert Path(again.path("pack/deep/b.py")).read_text() == "b"


def test_there_are_not_too_many_nor_too_large_ones(hub: Any, tmp_path: Path) -> None:
    hub.repo("org/many", {f"m{number}.py": "" for number in range(1001)})
    found = Hub.of()
    checkout = Checkout.below(str(tmp_path), found, found.commit("org/many"))
    with pytest.raises(ScriptError, match=r"limit of 1,000 files.*Download the repository"):
        checkout.bring(checkout.commit.files)
