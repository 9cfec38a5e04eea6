"""A script that is found and runs confined, as what it is asked for."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from datasets_core import config
from datasets_core.errors import (
    ConfigurationError,
    ConfinementUnavailableError,
    DatasetNotFoundError,
    DatasetsCoreError,
    DeniedAccessError,
    ManifestError,
    MissingDependencyError,
    ScriptError,
    UnknownConfigError,
    UnknownOptionError,
    UnknownVersionError,
    UntrustedScriptError,
)
from datasets_core.inspect import (
    get_dataset_config_info,
    get_dataset_config_names,
    get_dataset_default_config_name,
    get_dataset_infos,
    get_dataset_split_names,
)
from datasets_core.load import load_dataset, load_dataset_builder, lock_dataset
from datasets_core.resolve.request import Request, checked_trust
from datasets_core.resolve.resolve import resolve, source_of
from datasets_core.resolve.script import LocalScript, SandboxedSource, ScriptSource, run_mode
from datasets_core.scripting.sandbox import limits as found_layers
from datasets_core.scripting.sandbox.builder import SandboxedBuilder
from datasets_core.scripting.sandbox.limits import Layers, layers

SCRIPT = '''
import datasets
from .words import WORDS

class ReviewsConfig(datasets.BuilderConfig):
    def __init__(self, language="en", times=1, **rest):
        super().__init__(version=datasets.Version("1.0.0"), **rest)
        self.language, self.times = language, times

class Reviews(datasets.GeneratorBasedBuilder):
    """Reviews of things."""
    BUILDER_CONFIG_CLASS = ReviewsConfig
    BUILDER_CONFIGS = [ReviewsConfig(name="en"), ReviewsConfig(name="de", language="de")]
    DEFAULT_CONFIG_NAME = "en"
    SUPPORTED_VERSIONS = ["0.9.0"]

    def _info(self):
        features = datasets.Features({"word": datasets.Value("string")})
        return datasets.DatasetInfo(description=self.config.language, features=features)

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(datasets.Split.TRAIN, {"folder": self.config.data_dir})]

    def _generate_examples(self, folder):
        if folder:
            with open(folder + "/mine.txt") as file:
                yield "mine", {"word": file.read()}
        for number, word in enumerate(WORDS * self.config.times):
            yield number, {"word": word + self.config.language}
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "reviews"
    folder.mkdir()
    (folder / "reviews.py").write_text(SCRIPT)
    (folder / "words.py").write_text("WORDS = ['good', 'bad']\n")
    return folder


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_what_a_dataset_offers_is_told_by_its_process(folder: Path) -> None:
    path = str(folder)
    assert isinstance(source_of(Request(path)), SandboxedSource)
    assert get_dataset_config_names(path) == ["en", "de"]
    assert get_dataset_default_config_name(path) == "en"
    assert get_dataset_config_info(path, "de").description == "de"
    assert list(get_dataset_infos(path)) == ["en", "de"]
    assert get_dataset_split_names(path) == ["train"]


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_builder_is_one_as_any_other(folder: Path, tmp_path: Path) -> None:
    confined = load_dataset_builder(str(folder), "de", cache_dir=tmp_path, times=2)
    plain = load_dataset_builder(str(folder), "de", cache_dir=tmp_path, times=2, trust_remote_code=True)
    assert isinstance(confined, SandboxedBuilder)
    assert type(confined).__name__ == "Reviews"
    assert type(confined).__doc__ == "Reviews of things."
    for what in ("name", "dataset_name", "hash", "config_id", "cache_dir", "version", "versions", "info", "label", "base_path"):
        assert getattr(confined, what) == getattr(plain, what), what
    assert str(confined) == str(plain)
    assert (confined.config.name, confined.config.language, confined.config.times) == ("de", "de", 2)
    assert list(confined.builder_configs) == list(plain.builder_configs)
    assert confined.script_digest == plain.script_digest


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_the_build_of_a_confined_script_stands_for_no_other_place(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    mine = tmp_path / "mine" / "reviews.py"
    mine.parent.mkdir()
    (mine.parent / "words.py").write_text("WORDS = ['mine']")
    mine.write_text(SCRIPT.replace('Version("1.0.0")', 'Version("0.9.0")').replace('SUPPORTED_VERSIONS = ["0.9.0"]', ""))
    load_dataset(str(mine), cache_dir=cache, trust_remote_code=True)
    load_dataset(str(folder), cache_dir=cache)  # of the same name, in a higher version
    other = folder.with_name("corp")
    other.mkdir()
    (other / "corp.py").write_text(SCRIPT.replace("Reviews", "Corp"))
    (other / "words.py").write_text("WORDS = ['evil']")
    load_dataset(str(other), cache_dir=cache)
    mine.unlink()
    assert load_dataset(str(mine), split="train", cache_dir=cache)["word"][:] == ["mineen"]
    with config.using(offline=True), pytest.raises(DatasetsCoreError):
        load_dataset("org/corp", cache_dir=cache)
    (folder / "reviews.py").unlink()
    with pytest.raises(DatasetNotFoundError):  # a script that is named runs with all rights; this one did not
        load_dataset(str(folder / "reviews.py"), cache_dir=cache)
    again = load_dataset(str(folder / "reviews.py"), split="train", cache_dir=cache, trust_remote_code="sandbox")
    assert again["word"][:] == ["gooden", "baden"]


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_dataset_that_was_built_either_way_is_the_same(folder: Path, tmp_path: Path) -> None:
    confined = load_dataset(str(folder), split="train", cache_dir=tmp_path)
    plain = load_dataset(str(folder), split="train", cache_dir=tmp_path, trust_remote_code=True)
    assert confined["word"][:] == plain["word"][:] == ["gooden", "baden"]
    assert confined.cache_files == plain.cache_files


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"name": "fr"}, UnknownConfigError),
        ({"colour": "red"}, UnknownOptionError),
        ({"version": "7.0.0"}, UnknownVersionError),
    ],
)
def test_what_does_not_exist_is_the_same_error(folder: Path, asked: dict[str, Any], error: type[Exception]) -> None:
    said = []
    for trust in (None, True):
        with pytest.raises(error) as caught:
            load_dataset_builder(str(folder), trust_remote_code=trust, **asked)
        said.append((str(caught.value), {**caught.value.__dict__, "__notes__": []}))
    assert said[0] == said[1]


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_the_files_of_the_user_are_read(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.txt").write_text("my own")
    rows = load_dataset(str(folder), split="train", data_dir=str(tmp_path / "mine"), cache_dir=tmp_path / "cache")
    assert rows["word"][0] == "my own"


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_home_is_no_folder_of_the_users_files(folder: Path) -> None:
    with pytest.raises(ConfinementUnavailableError, match="data_dir is"):
        resolve(Request(str(folder), data_dir="/"))


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_lock_is_written_and_held(folder: Path, tmp_path: Path) -> None:
    lock = tmp_path / "dataset.lock"
    assert lock_dataset(str(folder), lock=lock, cache_dir=tmp_path / "cache").is_written
    assert load_dataset(str(folder), split="train", lock=lock, cache_dir=tmp_path / "other").num_rows == 2
    assert not lock_dataset(str(folder), lock=lock, cache_dir=tmp_path / "cache", trust_remote_code=True).is_written


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_script_that_cannot_be_loaded_is_told_by_its_line(folder: Path) -> None:
    (folder / "words.py").write_text("WORDS = []\nraise KeyError('no words')\n")
    with pytest.raises(ScriptError) as caught:
        resolve(Request(str(folder)))
    assert str(caught.value.file).endswith("words.py")
    assert caught.value.line == 2
    (folder / "words.py").write_text("import package_that_nobody_has\nWORDS = []\n")
    with pytest.raises(MissingDependencyError, match="package_that_nobody_has"):
        resolve(Request(str(folder)))


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_module_that_is_a_link_to_a_file_of_the_user_is_not_read_out(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "token.env").write_text("WORDS = ['hf_secret']")
    (folder / "words.py").unlink()
    (folder / "words.py").symlink_to(tmp_path / "token.env")
    with pytest.raises(ScriptError, match=r"words\.py: it is a link that leads outside its folder"):
        resolve(Request(str(folder)))


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_script_of_a_collection_reads_the_files_of_its_package_and_no_others(tmp_path: Path) -> None:
    whole = tmp_path / "tensorflow_datasets"
    (whole / "birds").mkdir(parents=True)
    (whole / "__init__.py").write_text("")
    (whole / "common.py").write_text("def words(path):\n    with open(path) as file:\n        return file.read().split()\n")
    (whole / "labels.txt").write_text("owl tit")
    (tmp_path / "secret.txt").write_text("secret")
    text = SCRIPT.replace("from .words import WORDS", "import os\nfrom tensorflow_datasets.common import words")
    text = text.replace("enumerate(WORDS *", "enumerate(words(os.path.dirname(__file__) + '/../labels.txt') *")
    (whole / "birds" / "birds.py").write_text(text)
    rows = load_dataset(str(whole / "birds"), "en", split="train", cache_dir=tmp_path / "cache")
    assert list(rows["word"]) == ["owlen", "titen"]
    (whole / "birds" / "birds.py").write_text(text.replace("../labels.txt", "../../secret.txt"))
    with pytest.raises(DeniedAccessError) as caught:
        load_dataset(str(whole / "birds"), "en", split="train", cache_dir=tmp_path / "cache")
    assert caught.value.tried.startswith("read ")


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
@pytest.mark.parametrize("name", ["dataset_infos.json", ".huggingface.yaml", "README.md", "checksums.tsv"])
def test_what_is_recorded_beside_a_script_is_no_file_of_the_user(folder: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_text("{}" if name.endswith("json") else "")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(tmp_path / "secret")
    with pytest.raises(ManifestError, match="a link that leads outside its folder"):
        resolve(Request(str(folder), name="de"))


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_config_names_no_files_of_the_user(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    text = (folder / "reviews.py").read_text()
    named = f'data_files=[{str(tmp_path / "secret.txt")!r}], name="de"'
    (folder / "reviews.py").write_text(text.replace('name="de"', named))
    with pytest.raises(DeniedAccessError, match=r"read .*secret\.txt"):
        resolve(Request(str(folder), name="de"))


# scripted

SCRIPT_SCRIPTED = """
import datasets_core as datasets

class Reviews(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name=name, version="1.0.0") for name in {configs!r}]
    DEFAULT_CONFIG_NAME = {default!r}

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({{"x": datasets.Value("int64")}}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator("train")]

    def _generate_examples(self):
        yield 0, {{"x": 1}}
"""


def _source(folder: Path, configs: tuple[str, ...] = (), default: str | None = None, **request: Any) -> ScriptSource:
    path = folder / "reviews.py"
    path.write_text(SCRIPT_SCRIPTED.format(configs=configs, default=default))
    return ScriptSource(Request(str(path), **request), LocalScript(str(path)))


@pytest.mark.parametrize(
    ("configs", "default", "names", "expected"),
    [
        ((), None, ["default"], "default"),
        (("en",), None, ["en"], "en"),
        (("en", "fr"), None, ["en", "fr"], None),
        (("en", "fr"), "fr", ["en", "fr"], "fr"),
        (("en", "default"), None, ["en", "default"], None),
    ],
)
def test_configs_are_those_of_the_class(
    tmp_path: Path, configs: tuple[str, ...], default: str | None, names: list[str], expected: str | None
) -> None:
    source = _source(tmp_path, configs, default)
    assert source.config_names == names
    assert source.default_config_name == expected


def test_the_builder_is_of_the_script_and_its_folder(tmp_path: Path) -> None:
    builder = _source(tmp_path, ("en", "fr"), name="fr", data_dir="/manual").builder()
    assert (builder.dataset_name, builder.config.name, builder.base_path) == ("reviews", "fr", str(tmp_path))
    assert builder.config.data_dir == "/manual"


def test_the_default_config_is_built_when_none_is_named(tmp_path: Path) -> None:
    assert _source(tmp_path, ("en", "fr"), default="fr").builder().config.name == "fr"


def test_an_unknown_config_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownConfigError, match=r"Available configs: 'en', 'fr'"):
        _source(tmp_path, ("en", "fr"), name="de").builder()


def test_several_configs_without_a_default_ask_for_a_name(tmp_path: Path) -> None:
    with pytest.raises(UnknownConfigError, match=r"no default config.*Available configs: 'en', 'fr'"):
        _source(tmp_path, ("en", "fr")).builder()


def test_a_changed_script_builds_elsewhere(tmp_path: Path) -> None:
    one = _source(tmp_path, ("en",)).builder().cache_dir
    two = _source(tmp_path, ("en", "fr"), name="en").builder().cache_dir
    assert one != two


def test_what_is_recorded_beside_the_script_goes_to_the_builder(tmp_path: Path) -> None:
    split = {"name": "train", "num_bytes": 8, "num_examples": 1, "dataset_name": "reviews"}
    url, sha = "https://example.org/a.zip", "0" * 64
    (tmp_path / "dataset_infos.json").write_text(
        json.dumps({"en": {"splits": {"train": split}, "download_checksums": {url: {"num_bytes": 1, "checksum": None}}}})
    )
    (tmp_path / "checksums.tsv").write_text(f"{url}\t5\t{sha}\ta.zip\nhttps://example.org/b.zip\t6\tNone\tb.zip\n")
    builder = _source(tmp_path, ("en",)).builder()
    assert builder.recorded.splits is not None
    assert builder.recorded.splits["train"].num_examples == 1
    assert builder.recorded.download_checksums == {url: {"num_bytes": 1, "checksum": None}}
    assert builder.checksums_path == str(tmp_path / "checksums.tsv")


def test_data_files_for_a_script_are_looked_for_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    assert _source(tmp_path, data_files="*.txt").builder().config.data_files == {"train": [str(tmp_path / "a.txt")]}


def test_equal_scripts_beside_other_files_build_elsewhere(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    assert _source(tmp_path / "one").builder().cache_dir != _source(tmp_path / "two").builder().cache_dir


@pytest.mark.parametrize("failure", ["1 / 0", "raise SystemExit(3)"])
def test_what_the_scripts_own_hooks_raise_is_told_by_its_place(tmp_path: Path, failure: str) -> None:
    path = tmp_path / "reviews.py"
    path.write_text(SCRIPT_SCRIPTED.format(configs=(), default=None).replace("return datasets.DatasetInfo", f"{failure} #"))
    with pytest.raises(ScriptError, match=r"reviews\.py, line 9: creating its builder failed with (ZeroDivision|SystemExit)"):
        ScriptSource(Request(str(path)), LocalScript(str(path))).builder()


# Where a script stands; in a repository: see `test_hub_script`.


def test_a_script_stands_in_its_folder(tmp_path: Path) -> None:
    script = tmp_path / "words.py"
    script.write_text("import datasets\n")
    (tmp_path / "dataset_infos.json").write_text(json.dumps({"en": {"description": "of words"}}))
    (tmp_path / "a.csv").write_text("a\n1\n")
    standing = LocalScript(str(script))
    assert standing.commit is None
    assert (standing.folder, standing.base_path, standing.dataset_name) == (str(tmp_path), str(tmp_path), "words")
    for is_confined in (False, True):
        assert standing.card(is_confined=is_confined).infos["en"].description == "of words"
        info = standing.info("en", is_confined=is_confined)
        assert info is not None
        assert info.description == "of words"
        assert standing.info("de", is_confined=is_confined) is None
        assert [module.name for module in standing.read(is_confined=is_confined).modules] == ["words"]
    found = standing.data_files(Request(str(script), data_files="*.csv"))
    assert found is not None
    assert list(found["train"]) == [str(tmp_path / "a.csv")]
    assert standing.data_files(Request(str(script))) is None
    assert standing.own_files(standing.home(str(tmp_path))) is None


def test_another_text_or_another_folder_is_another_identity(tmp_path: Path) -> None:
    identities = set()
    for place, text in (("a", "x = 1"), ("a", "x = 2"), ("b", "x = 1")):
        script = tmp_path / place / "words.py"
        script.parent.mkdir(exist_ok=True)
        script.write_text(text)
        standing = LocalScript(str(script))
        identities.add(standing.identity(standing.read()))
    assert len(identities) == 3


# Who may run: every trust, for every way to come by a script.

NOTHING = Layers(machine=None, landlock=0, seccomp=False, notices=False)
KINDS: tuple[Any, ...] = ("file", "folder", "repository")


@pytest.fixture(params=[True, False], ids=["confined here", "not confined here"])
def can_sandbox(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if not request.param:
        monkeypatch.setattr(found_layers, "layers", lambda: NOTHING)
    elif not layers().can_sandbox:
        pytest.skip(layers().reason)
    return bool(request.param)


def way(trust: Any, kind: Any) -> str:
    try:
        return run_mode(trust, kind, "reviews.py", repository="acme/reviews" if kind == "repository" else None, commit="ab12")
    except (UntrustedScriptError, ConfinementUnavailableError) as error:
        return type(error).__name__


def test_every_trust_of_every_kind(can_sandbox: bool) -> None:
    found = {trust: [way(trust, kind) for kind in KINDS] for trust in (None, True, False, "sandbox")}
    refused = "UntrustedScriptError"
    otherwise = "confined" if can_sandbox else refused
    sandbox = "confined" if can_sandbox else "ConfinementUnavailableError"
    assert found == {
        None: ["plain", otherwise, otherwise],
        True: ["plain"] * 3,
        False: [refused] * 3,
        "sandbox": [sandbox] * 3,
    }


def test_a_refusal_says_why_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found_layers, "layers", lambda: NOTHING)
    with pytest.raises(UntrustedScriptError, match=r"cannot confine it: .*then pass trust_remote_code=True or name the \.py"):
        run_mode(None, "folder", "reviews.py")
    with pytest.raises(UntrustedScriptError, match=r"reviews\.py of acme/reviews at commit ab12 .*revision='ab12'"):
        run_mode(None, "repository", "reviews.py", repository="acme/reviews", commit="ab12")
    with pytest.raises(UntrustedScriptError, match=r"trust_remote_code=False disables scripts\. Pass .*='sandbox'"):
        run_mode(False, "file", "reviews.py")


def test_trust_of_a_repository_is_bound_to_its_commit(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "datasets_core"):
        run_mode(True, "repository", "reviews.py", repository="acme/reviews", commit="ab12")
    assert "acme/reviews at commit ab12" in caplog.text


@pytest.mark.parametrize("trust", ["yes", "True", 1, 0, 2, [], "Sandbox"])
def test_what_is_no_trust_is_refused(trust: Any) -> None:
    with pytest.raises(ConfigurationError, match="trust_remote_code="):
        checked_trust(trust)


def test_the_environment_may_refuse_and_never_trust() -> None:
    assert config.from_environment({"HF_DATASETS_TRUST_REMOTE_CODE": "0"}).refuse_found_scripts
    assert not config.from_environment({"HF_DATASETS_TRUST_REMOTE_CODE": "1"}).refuse_found_scripts
    with config.using(refuse_found_scripts=True):
        assert [way(None, kind) for kind in KINDS] == ["plain", "UntrustedScriptError", "UntrustedScriptError"]
        assert way(True, "folder") == "plain"
