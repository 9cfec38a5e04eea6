"""A script that is found and runs confined, as what it is asked for."""

from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import (
    ConfinementUnavailableError,
    DeniedAccessError,
    ManifestError,
    MissingDependencyError,
    ScriptError,
    UnknownConfigError,
    UnknownOptionError,
    UnknownVersionError,
)
from datasets_core.inspect import (
    get_dataset_config_info,
    get_dataset_config_names,
    get_dataset_default_config_name,
    get_dataset_infos,
    get_dataset_split_names,
)
from datasets_core.load import load_dataset, load_dataset_builder, lock_dataset
from datasets_core.resolve.request import Request
from datasets_core.resolve.resolve import resolve, source_of
from datasets_core.resolve.script import SandboxedSource
from datasets_core.scripting.sandbox.builder import SandboxedBuilder
from datasets_core.scripting.sandbox.limits import layers

pytestmark = pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")

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


def test_what_a_dataset_offers_is_told_by_its_process(folder: Path) -> None:
    path = str(folder)
    assert isinstance(source_of(Request(path)), SandboxedSource)
    assert get_dataset_config_names(path) == ["en", "de"]
    assert get_dataset_default_config_name(path) == "en"
    assert get_dataset_config_info(path, "de").description == "de"
    assert list(get_dataset_infos(path)) == ["en", "de"]
    assert get_dataset_split_names(path) == ["train"]


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


def test_a_dataset_that_was_built_either_way_is_the_same(folder: Path, tmp_path: Path) -> None:
    confined = load_dataset(str(folder), split="train", cache_dir=tmp_path)
    plain = load_dataset(str(folder), split="train", cache_dir=tmp_path, trust_remote_code=True)
    assert confined["word"][:] == plain["word"][:] == ["gooden", "baden"]
    assert confined.cache_files == plain.cache_files


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


def test_the_files_of_the_user_are_read(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.txt").write_text("my own")
    rows = load_dataset(str(folder), split="train", data_dir=str(tmp_path / "mine"), cache_dir=tmp_path / "cache")
    assert rows["word"][0] == "my own"


def test_a_home_is_no_folder_of_the_users_files(folder: Path) -> None:
    with pytest.raises(ConfinementUnavailableError, match="data_dir is"):
        resolve(Request(str(folder), data_dir="/"))


def test_a_lock_is_written_and_held(folder: Path, tmp_path: Path) -> None:
    lock = tmp_path / "dataset.lock"
    assert lock_dataset(str(folder), lock=lock, cache_dir=tmp_path / "cache").is_written
    assert load_dataset(str(folder), split="train", lock=lock, cache_dir=tmp_path / "other").num_rows == 2
    assert not lock_dataset(str(folder), lock=lock, cache_dir=tmp_path / "cache", trust_remote_code=True).is_written


def test_a_script_that_cannot_be_loaded_is_told_by_its_line(folder: Path) -> None:
    (folder / "words.py").write_text("WORDS = []\nraise KeyError('no words')\n")
    with pytest.raises(ScriptError, match=r"words\.py, line 2: importing it failed with KeyError"):
        resolve(Request(str(folder)))
    (folder / "words.py").write_text("import package_that_nobody_has\nWORDS = []\n")
    with pytest.raises(MissingDependencyError, match="package_that_nobody_has"):
        resolve(Request(str(folder)))


def test_a_module_that_is_a_link_to_a_file_of_the_user_is_not_read_out(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "token.env").write_text("WORDS = ['hf_secret']")
    (folder / "words.py").unlink()
    (folder / "words.py").symlink_to(tmp_path / "token.env")
    with pytest.raises(ScriptError, match=r"words\.py: it is a link that leads out of its folder"):
        resolve(Request(str(folder)))


@pytest.mark.parametrize("name", ["dataset_infos.json", ".huggingface.yaml", "README.md", "checksums.tsv"])
def test_what_is_recorded_beside_a_script_is_no_file_of_the_user(folder: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_text("{}" if name.endswith("json") else "")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(tmp_path / "secret")
    with pytest.raises(ManifestError, match="a link that leads out of its folder"):
        resolve(Request(str(folder), name="de"))


def test_a_config_names_no_files_of_the_user(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    text = (folder / "reviews.py").read_text()
    named = f'data_files=[{str(tmp_path / "secret.txt")!r}], name="de"'
    (folder / "reviews.py").write_text(text.replace('name="de"', named))
    with pytest.raises(DeniedAccessError, match=r"read .*secret\.txt"):
        resolve(Request(str(folder), name="de"))
