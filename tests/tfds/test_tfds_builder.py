"""Builders as TFDS has them: versions, configs, folders, hooks, and the order in which rows are written."""

import ast
import importlib.util
import json
import os
import pathlib
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

from datasets_core import tfds
from datasets_core.errors import (
    BlockedVersionError,
    ConfigurationError,
    DatasetGenerationError,
    DatasetsCoreError,
    DuplicateKeysError,
    ExperimentalVersionWarning,
    ManualDownloadError,
    MissingDependencyError,
    MissingVersionError,
    UnknownOptionError,
)
from datasets_core.tfds.tfds_builder import BeamSplits, beam_value, is_beam

GOLDEN = pathlib.Path(__file__).parents[1]
VERSIONS = json.loads((GOLDEN / "meta/golden/tfds_versions.json").read_text())
GENERATION = json.loads((GOLDEN / "building/golden/tfds_generation.json").read_text())


class One(tfds.core.GeneratorBasedBuilder, skip_registration=True):
    def _info(self) -> Any:
        return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict({"x": np.int64}))

    def _split_generators(self, dl_manager: Any) -> Any:
        return {"train": self._generate_examples()}

    def _generate_examples(self) -> Any:
        yield 0, {"x": 1}


# -- versions ----------------------------------------------------------------------------------------------------------


def _versioned() -> dict[str, type[Any]]:
    class Imagenet2012Like(One):
        VERSION = tfds.core.Version("2.0.1")
        SUPPORTED_VERSIONS = (
            tfds.core.Version("3.0.0"),
            tfds.core.Version("1.0.0"),
            tfds.core.Version("0.0.9", tfds_version_to_prepare="v1.0.0"),
        )

    class TwoThrees(One):
        VERSION = tfds.core.Version("2.0.1")
        SUPPORTED_VERSIONS = (tfds.core.Version("3.0.0"), tfds.core.Version("3.1.1"), tfds.core.Version("2.0.0"))

    class NoVersion(One):
        VERSION = None

    class StrVersions(One):
        VERSION = "1.0.0"
        SUPPORTED_VERSIONS = ("1.1.0",)

    class Cfgs(One):
        VERSION = tfds.core.Version("9.0.0")
        SUPPORTED_VERSIONS = (tfds.core.Version("8.0.0"),)
        BUILDER_CONFIGS = [  # noqa: RUF012 - as scripts write it
            tfds.core.BuilderConfig(
                name="original", version=tfds.core.Version("0.2.0"), supported_versions=[tfds.core.Version("1.0.0")]
            ),
            tfds.core.BuilderConfig(name="small"),
            tfds.core.BuilderConfig(name="strv", version="4.0.0"),
        ]

    return {cls.__name__: cls for cls in (Imagenet2012Like, TwoThrees, NoVersion, StrVersions, Cfgs)}


@pytest.fixture
def versioned() -> dict[str, type[Any]]:
    return _versioned()


def _quietly(function: Any) -> Any:
    """What comes of a call, as the golden tables write it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalVersionWarning)
        try:
            return {"value": function()}
        except DatasetsCoreError as error:
            assert isinstance(error, ValueError)
            return {"error": type(error).__name__}


def _alike(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    return ("error" in found) == ("error" in expected) and found.get("value") == expected.get("value")


@pytest.mark.parametrize("case", VERSIONS["pick_version"], ids=lambda case: f"{case['class']}:{case['requested']}")
def test_the_version_that_tfds_picks_is_picked_but_for_the_highest_match(case: Any, versioned: Any, data_dir: str) -> None:
    expected = case["expected"]
    if (case["class"], case["requested"]) in {("TwoThrees", "3.*.*"), ("TwoThrees", "*.*.*"), ("Imagenet2012Like", "*.*.*")}:
        expected = {"value": "3.1.1" if case["class"] == "TwoThrees" else "3.0.0"}  # TFDS takes the first match
    if (case["class"], case["requested"]) in {("Imagenet2012Like", "*.0.*"), ("TwoThrees", "*.0.*")}:
        expected = {"value": "3.0.0"}
    if (case["class"], case["requested"]) in {("StrVersions", "1.*.*"), ("StrVersions", "*.*.*")}:
        expected = {"value": "1.1.0"}
    found = _quietly(lambda: str(versioned[case["class"]](data_dir=data_dir, version=case["requested"]).version))
    assert _alike(found, expected)


@pytest.mark.parametrize("case", VERSIONS["configs"], ids=lambda case: f"{case['config']}:{case['requested']}")
def test_configs_have_versions_of_their_own(case: Any, versioned: Any, data_dir: str) -> None:
    def made() -> Any:
        builder = versioned[case["class"]](data_dir=data_dir, config=case["config"], version=case["requested"])
        folder = os.path.relpath(builder.data_dir, data_dir)
        return {"config": builder.builder_config.name, "version": str(builder.version), "dir": folder}

    assert _alike(_quietly(made), case["expected"])


@pytest.mark.parametrize("case", VERSIONS["download_and_prepare"], ids=lambda case: f"{case['class']}:{case['requested']}")
def test_the_canonical_and_the_highest_version_can_be_prepared(case: Any, versioned: Any, data_dir: str) -> None:
    expected = case["expected"]
    if (case["class"], case["requested"]) == ("TwoThrees", "3.*.*"):
        expected = {"value": {"version": "3.1.1", "dir": "two_threes/3.1.1"}}

    def made() -> Any:
        builder = versioned[case["class"]](data_dir=data_dir, version=case["requested"])
        builder.download_and_prepare()
        return {"version": str(builder.version), "dir": os.path.relpath(builder.data_dir, data_dir)}

    assert _alike(_quietly(made), expected)


def test_a_builder_without_a_version_is_refused(data_dir: str) -> None:
    with pytest.raises(MissingVersionError, match="one"):
        type("One", (One,), {})(data_dir=data_dir)


def test_a_blocked_version_is_refused(data_dir: str) -> None:
    class Blocked(One):
        VERSION = tfds.core.Version("1.0.0")
        BLOCKED_VERSIONS = tfds.core.BlockedVersions(versions={"1.0.0": "wrong labels"})

    with pytest.raises(BlockedVersionError, match="wrong labels"):
        Blocked(data_dir=data_dir).download_and_prepare()


# -- order -------------------------------------------------------------------------------------------------------------


def _keyed(case: Any) -> type[Any]:
    keys = [ast.literal_eval(key) for key in case["keys"]]

    class Ordered(tfds.core.GeneratorBasedBuilder):
        VERSION = tfds.core.Version("1.0.0")

        def _info(self) -> Any:
            return tfds.core.DatasetInfo(
                builder=self, features={"key": np.str_}, disable_shuffling=case.get("disable_shuffling", False)
            )

        def _split_generators(self, dl_manager: Any) -> Any:
            return {split: self._generate_examples() for split in case["splits"]}

        def _generate_examples(self) -> Any:
            for key in keys:
                yield key, {"key": repr(key)}

    return Ordered


@pytest.mark.parametrize("case", GENERATION["generated_order"], ids=lambda case: f"{len(case['keys'])} keys")
def test_rows_are_written_in_the_order_of_tfds(case: Any, data_dir: str) -> None:
    builder = _keyed(case)(data_dir=data_dir)
    config = tfds.download.DownloadConfig(
        num_shards=case["num_shards"], max_examples_per_split=case.get("max_examples_per_split")
    )
    expected = case["expected"].get("value")
    if expected is None:
        with pytest.raises(DatasetsCoreError):
            builder.download_and_prepare(download_config=config)
        return
    builder.download_and_prepare(download_config=config)
    for split, files in expected.items():
        rows = builder.as_data_source(split)["key"][:]
        assert builder.info.splits[split].shard_lengths == files["shard_lengths"]
        assert rows == [key for file in files["files"] for key in file]


def _sources(builder: Any, split: str) -> list[Any]:
    return list(builder.as_data_source(split)["number"][:])


@pytest.mark.parametrize("options", [{}, {"num_proc": 2}], ids=str)
def test_neither_processes_nor_the_form_of_the_splits_change_a_byte(options: Any, data_dir: str, numbers: Any) -> None:
    class Listed(numbers, skip_registration=True):  # type: ignore[misc]
        name = "numbers"
        lists_are_jobs = True

        def _split_generators(self, dl_manager: Any) -> Any:
            return [
                tfds.core.SplitGenerator(name=tfds.Split.TRAIN, gen_kwargs={"which": list(range(9, -1, -1))}),
                tfds.core.SplitGenerator(name="test", gen_kwargs={"which": [13, 12, 11, 10]}),
            ]

    first, second = numbers(data_dir=f"{data_dir}/a"), Listed(data_dir=f"{data_dir}/b")
    first.download_and_prepare()
    second.download_and_prepare(**options)
    digests = [[shard.sha256 for shard in builder._built().shards] for builder in (first, second)]
    assert digests[0] == digests[1]


# -- hooks -------------------------------------------------------------------------------------------------------------


def test_generation_errors_of_tfds_are_refused_and_so_are_splits_of_one_name(data_dir: str) -> None:
    class Wrong(One):
        VERSION = "1.0.0"
        splits: Any = None
        keys: Any = (0,)

        def _split_generators(self, dl_manager: Any) -> Any:
            return [tfds.core.SplitGenerator(name, {}) for name in self.splits]

        def _generate_examples(self) -> Any:
            for key in self.keys:
                yield key, {"x": 1}

    for splits in (["all"], ["ALL"], ["train", "train"]):
        with pytest.raises(ConfigurationError):
            type("Wrong", (Wrong,), {"splits": splits})(data_dir=data_dir).download_and_prepare()
    with pytest.raises(DuplicateKeysError, match=r"row 0.*row 1"):
        type("Wrong", (Wrong,), {"splits": ["train"], "keys": ("a", "a")})(data_dir=data_dir).download_and_prepare()


def test_splits_may_be_given_by_any_iterable_of_pairs(data_dir: str) -> None:
    class Other(One):
        VERSION = "1.0.0"

        def _split_generators(self, dl_manager: Any) -> Any:
            return {
                "a": self._others(3),
                "b": [("k", {"x": 5})],
                "c": {"k": {"x": 6}},
                "d": self._generate_examples(),
            }

        def _others(self, count: int) -> Any:
            return ((number, {"x": number}) for number in range(count))

    builder = Other(data_dir=data_dir)
    builder.download_and_prepare()
    found = {split: sorted(row["x"] for row in rows) for split, rows in builder.as_dataset().items()}
    assert found == {"a": [0, 1, 2], "b": [5], "c": [6], "d": [1]}


def test_arguments_of_a_hook_with_any_number_of_them_are_kept(data_dir: str) -> None:
    class Many(One):
        VERSION = "1.0.0"

        def _split_generators(self, dl_manager: Any) -> Any:
            return {"train": self._generate_examples(1, 2, more=3)}

        def _generate_examples(self, *numbers: int, **named: int) -> Any:
            for number in (*numbers, *named.values()):
                yield number, {"x": number}

    builder = Many(data_dir=data_dir)
    builder.download_and_prepare(num_proc=2)
    assert sorted(row["x"] for row in builder.as_dataset("train")) == [1, 2, 3]


def test_a_hook_gets_its_lists_whole(data_dir: str) -> None:
    class Numbered(One):
        VERSION = "1.0.0"
        is_listed = False

        def _info(self) -> Any:
            return tfds.core.DatasetInfo(builder=self, features={"place": np.int64, "name": np.str_})

        def _split_generators(self, dl_manager: Any) -> Any:
            names = ["a", "b", "c"]
            if self.is_listed:
                return [tfds.core.SplitGenerator("train", {"names": names}), tfds.core.SplitGenerator("test", gen_kwargs=None)]
            return {"train": self._generate_examples(names), "test": self._generate_examples()}

        def _generate_examples(self, names: Any = ("d",)) -> Any:
            for place, name in enumerate(names):
                yield name, {"place": place, "name": name}

    for is_listed in (False, True):
        builder = type("Numbered", (Numbered,), {"is_listed": is_listed})(data_dir=f"{data_dir}/{is_listed}")
        builder.download_and_prepare(num_proc=2)
        found = {row["name"]: row["place"] for row in builder.as_dataset("train+test")}
        assert found == {"a": 0, "b": 1, "c": 2, "d": 0}


@pytest.mark.skipif(importlib.util.find_spec("apache_beam") is not None, reason="Apache Beam is here")
def test_a_hook_that_takes_a_pipeline_needs_beam(data_dir: str) -> None:
    class Piped(One):
        VERSION = "1.0.0"

        def _split_generators(self, dl_manager: Any, pipeline: Any) -> Any:
            return {"train": self._generate_examples()}

    with pytest.raises(MissingDependencyError, match="apache_beam"):
        Piped(data_dir=data_dir).download_and_prepare()


@pytest.mark.parametrize("given", [None, 5])
def test_a_split_of_no_rows_at_all_is_refused(given: Any, data_dir: str) -> None:
    class Empty(One):
        VERSION = "1.0.0"

        def _split_generators(self, dl_manager: Any) -> Any:
            return {"train": given}

    with pytest.raises(DatasetsCoreError):
        Empty(data_dir=data_dir).download_and_prepare()


def test_an_author_who_fails_is_told_where(data_dir: str) -> None:
    class Failing(One):
        VERSION = "1.0.0"

        def _generate_examples(self) -> Any:
            yield 0, {"x": 1}
            raise RuntimeError("the disk is on fire")

    with pytest.raises(DatasetGenerationError) as caught:
        Failing(data_dir=data_dir).download_and_prepare()
    assert str(caught.value.file).endswith("test_tfds_builder.py")
    assert (caught.value.row, caught.value.split) == (1, "train")


@pytest.mark.skipif(importlib.util.find_spec("apache_beam") is not None, reason="Apache Beam is here")
def test_a_builder_of_beam_needs_it(data_dir: str) -> None:
    class Beamed(tfds.core.BeamBasedBuilder):
        VERSION = "1.0.0"
        _info, _build_pcollection = One._info, One._generate_examples

        def _split_generators(self, dl_manager: Any) -> Any:
            return [tfds.core.SplitGenerator("train", {})]

    with pytest.raises(MissingDependencyError, match="apache_beam"):
        Beamed(data_dir=data_dir).download_and_prepare()


# -- files -------------------------------------------------------------------------------------------------------------


def test_downloads_are_paths_and_lie_below_the_data_folder(data_dir: str, tmp_path: Any) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")

    class Lines(One):
        VERSION = "1.0.0"

        def _info(self) -> Any:
            return tfds.core.DatasetInfo(builder=self, features={"line": np.str_})

        def _split_generators(self, dl_manager: Any) -> Any:
            paths = dl_manager.download({"a": tfds.download.Resource(url=str(tmp_path / "a.txt"))})
            return {"train": self._generate_examples(path=paths["a"])}

        def _generate_examples(self, path: Any) -> Any:
            with path.open() as file:
                for number, line in enumerate(file):
                    yield number, {"line": line.strip()}

    builder = Lines(data_dir=data_dir)
    builder.download_and_prepare()
    assert sorted(row["line"] for row in builder.as_dataset("train")) == ["one", "two"]


def test_files_fetched_by_hand_are_looked_for_where_tfds_looks(data_dir: str) -> None:
    class Manual(One):
        VERSION = "1.0.0"
        MANUAL_DOWNLOAD_INSTRUCTIONS = "Ask the author for it."

        def _split_generators(self, dl_manager: Any) -> Any:
            return {"train": [(0, {"x": int((dl_manager.manual_dir / "x.txt").read_text())})]}

    with pytest.raises(ManualDownloadError, match="Ask the author"):
        Manual(data_dir=data_dir).download_and_prepare()
    folder = pathlib.Path(data_dir, "downloads", "manual")
    folder.mkdir(parents=True)
    (folder / "x.txt").write_text("7")
    builder = Manual(data_dir=data_dir)
    builder.download_and_prepare()
    assert list(builder.as_dataset("train")) == [{"x": 7}]


def test_a_version_that_stands_is_not_built_again(data_dir: str, numbers: Any) -> None:
    numbers(data_dir=data_dir).download_and_prepare()

    class Changed(numbers, skip_registration=True):  # type: ignore[misc]
        name = "numbers"

        def _generate_examples(self, which: Any) -> Any:
            raise RuntimeError("not again")

    builder = Changed(data_dir=data_dir)
    assert builder.is_prepared()
    assert builder.info.splits["train"].num_examples == 10
    builder.download_and_prepare()
    assert len(builder.as_dataset("train")) == 10


def test_options_that_do_not_exist_are_refused_whether_it_stands_or_not(data_dir: str, numbers: Any) -> None:
    for _ in range(2):
        with pytest.raises(ConfigurationError, match="shards"):
            numbers(data_dir=data_dir).download_and_prepare(shards=3)
        numbers(data_dir=data_dir).download_and_prepare(num_proc=1)


def test_fewer_rows_than_all_do_not_pass_for_all(data_dir: str, numbers: Any) -> None:
    numbers(data_dir=data_dir).download_and_prepare(download_config=tfds.download.DownloadConfig(max_examples_per_split=3))
    assert len(tfds.load("numbers", split="train", data_dir=data_dir)) == 10


def test_what_another_library_prepared_is_left_alone(data_dir: str, numbers: Any) -> None:
    folder = pathlib.Path(data_dir, "numbers", "1.0.0")
    folder.mkdir(parents=True)
    (folder / "dataset_info.json").write_text('{"name": "numbers", "version": "1.0.0", "fileFormat": "tfrecord"}')
    with pytest.raises(ConfigurationError, match="another library"):
        numbers(data_dir=data_dir).download_and_prepare()
    assert "tfrecord" in (folder / "dataset_info.json").read_text()


def test_the_default_folder_is_that_of_tfds(monkeypatch: pytest.MonkeyPatch, numbers: Any, tmp_path: Any) -> None:
    monkeypatch.setenv("TFDS_DATA_DIR", str(tmp_path))
    assert numbers().data_dir == str(tmp_path / "numbers" / "1.0.0")
    monkeypatch.delenv("TFDS_DATA_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert numbers().data_dir == str(tmp_path / "tensorflow_datasets" / "numbers" / "1.0.0")


@pytest.mark.parametrize("file_format", ["parquet", "tfrecord", None])
def test_file_formats_of_tfds_mean_the_default_one(file_format: Any, data_dir: str, numbers: Any) -> None:
    builder = numbers(data_dir=data_dir)
    builder.download_and_prepare(file_format=file_format)
    ending = ".parquet" if file_format == "parquet" else ".arrow"
    assert any(name.endswith(ending) for name in os.listdir(builder.data_dir))
    with pytest.raises(ConfigurationError, match="riegeli"):
        builder.download_and_prepare(file_format="riegeli")


def test_builder_configs_are_chosen_by_name_by_value_and_by_default(data_dir: str) -> None:
    class Config(tfds.core.BuilderConfig):
        def __init__(self, *, times: int = 1, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.times = times

    class Configured(One):
        VERSION = "1.0.0"
        BUILDER_CONFIGS = [Config(name="once"), Config(name="twice", times=2)]  # noqa: RUF012

        def _generate_examples(self) -> Any:
            yield 0, {"x": self.builder_config.times}

    wanted = {None: 1, "twice": 2, Config(name="thrice", times=3).name: None}
    assert Configured(data_dir=data_dir).data_dir.endswith("configured/once/1.0.0")
    for config in (None, "twice", Config(name="thrice", times=3)):
        builder = Configured(data_dir=data_dir, config=config)
        builder.download_and_prepare()
        assert [row["x"] for row in builder.as_dataset("train")] == [
            wanted.get(config, 3) if not hasattr(config, "times") else 3
        ]
    with pytest.raises(ConfigurationError, match="once"):
        Configured(data_dir=data_dir, config="nothing")


class _Tongue(tfds.core.BuilderConfig):
    def __init__(self, *, lang: str = "en", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.lang = lang


class _Tongues(One, skip_registration=True):
    VERSION = "1.0.0"
    BUILDER_CONFIGS = [_Tongue(name="a"), _Tongue(name="b", lang="fr")]  # noqa: RUF012

    def __init__(self, *, limit: int = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.limit = limit

    def _generate_examples(self) -> Any:
        yield 0, {"x": self.limit}


@pytest.mark.parametrize("option", [{"lang": "fr"}, {"description": "other"}, {"name": "b"}, {"features": {"x": np.int8}}])
def test_options_that_would_change_the_rows_of_a_config_are_refused(option: Any, data_dir: str) -> None:
    with pytest.raises(UnknownOptionError, match="limit"):
        type("Tongues", (_Tongues,), {}, skip_registration=True)(data_dir=data_dir, **option)
    assert not os.path.exists(data_dir)


def test_what_a_class_takes_itself_may_stand_in_its_name(data_dir: str) -> None:
    type("Tongues", (_Tongues,), {})
    assert list(tfds.load("tongues/b/limit=7", split="train", data_dir=data_dir)) == [{"x": 7}]
    with pytest.raises(TypeError, match="lang"):
        tfds.load("tongues/lang=fr", data_dir=data_dir)


def test_a_config_that_differs_from_the_listed_one_of_its_name_is_refused(data_dir: str) -> None:
    made = type("Tongues", (_Tongues,), {}, skip_registration=True)
    with pytest.raises(ConfigurationError, match=r"'a'.*differs"):
        made(data_dir=data_dir, config=_Tongue(name="a", lang="ZZ"))
    assert made(data_dir=data_dir, config=_Tongue(name="a")).builder_config.lang == "en"
    builder = made(data_dir=data_dir)
    assert (builder.builder_config.version, builder._builder_config) == (None, builder.builder_config)
    assert made(data_dir=data_dir, config=_Tongue(name="c", lang="ZZ")).data_dir.endswith("tongues/c/1.0.0")


# Splits that Apache Beam makes are found among the others.


def test_plain_rows_are_none_of_beam() -> None:
    def rows(n: int) -> Any:
        yield n

    assert beam_value(rows, (1,), {}) is None
    assert beam_value(list, ([],), {}) is None
    assert not is_beam(rows(1))


def test_a_pipeline_does_not_travel(tmp_path: Any) -> None:
    again = pickle.loads(pickle.dumps(BeamSplits("a", str(tmp_path / "x"))))
    assert again.rows() == {}
    assert not (tmp_path / "x").exists()


def test_transforms_and_collections_make_splits(data_dir: str) -> None:
    beam = pytest.importorskip("apache_beam")

    class Piped(tfds.core.GeneratorBasedBuilder, skip_registration=True):
        VERSION = "1.0.0"

        def _info(self) -> Any:
            return tfds.core.DatasetInfo(builder=self, features={"n": tfds.features.Scalar("int64")})

        def _split_generators(self, dl_manager: Any, pipeline: Any) -> Any:
            whole = pipeline | beam.Create([(0, {"n": 0})])
            return {"train": self._generate_examples(3), "whole": whole, "plain": [(0, {"n": 7})]}

        def _generate_examples(self, count: int) -> Any:
            return beam.Create(range(count)) | beam.Map(lambda n: (n, {"n": n}))

    builder = Piped(data_dir=data_dir)
    builder.download_and_prepare()
    found = {split: sorted(row["n"] for row in builder.as_dataset(split)) for split in ("train", "whole", "plain")}
    assert found == {"train": [0, 1, 2], "whole": [0], "plain": [7]}


def test_numbers_are_rounded_as_tfds_stores_them(data_dir: str) -> None:
    class Doubles(tfds.core.GeneratorBasedBuilder):
        VERSION = tfds.core.Version("1.0.0")

        def _info(self) -> Any:
            exact = tfds.features.Tensor(shape=(2,), dtype=np.float64, encoding=tfds.features.Encoding.ZLIB)
            features = {
                "one": np.float64,
                "array": tfds.features.Tensor(shape=(2, 2), dtype=np.float64),
                "list": tfds.features.Sequence(np.float64),
                "steps": tfds.features.Dataset({"action": tfds.features.Tensor(shape=(2,), dtype=np.float64)}),
                "exact": exact,
            }
            return self.dataset_info_from_configs(features=tfds.features.FeaturesDict(features))

        def _split_generators(self, dl_manager: Any) -> Any:
            return {"train": self._generate_examples()}

        def _generate_examples(self) -> Any:
            third = np.array([1 / 3, 2 / 3])
            yield (
                0,
                {
                    "one": 1 / 3,
                    "array": [[1 / 3, 1], [1e300, 0]],
                    "list": [1 / 3, 2],
                    "steps": {"action": np.stack([third, third])},
                    "exact": third,
                },
            )

    builder = tfds.builder("doubles", data_dir=data_dir)
    builder.download_and_prepare()
    row = next(iter(tfds.as_numpy(builder.as_dataset("train"))))
    rounded = float(np.float32(1 / 3))
    assert row["one"] == rounded and row["list"].tolist() == [rounded, 2.0]
    assert row["array"].tolist() == [[rounded, 1.0], [float("inf"), 0.0]]
    assert row["steps"]["action"][0].tolist() == [rounded, float(np.float32(2 / 3))]
    assert row["exact"].tolist() == [1 / 3, 2 / 3] and row["one"].dtype == np.float64


def test_rows_of_a_sequence_of_dicts_may_be_lists(data_dir: str) -> None:
    class Frames(tfds.core.GeneratorBasedBuilder):
        VERSION = tfds.core.Version("1.0.0")

        def _info(self) -> Any:
            features = tfds.features.Sequence({"n": np.int64, "text": tfds.features.Text()})
            return tfds.core.DatasetInfo(builder=self, features=features)

        def _split_generators(self, dl_manager: Any) -> Any:
            return {"train": self._generate_examples()}

        def _generate_examples(self) -> Any:
            yield 0, [{"n": 1, "text": "a"}, {"n": 2, "text": "b"}]

    builder = tfds.builder("frames", data_dir=data_dir)
    builder.download_and_prepare()
    row = next(iter(tfds.as_numpy(builder.as_dataset("train"))))
    assert row["n"].tolist() == [1, 2] and list(row["text"]) == [b"a", b"b"]


class Bytes(tfds.core.GeneratorBasedBuilder, skip_registration=True):
    """Texts and strings that hold bytes, in all places."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self) -> Any:
        text, string = tfds.features.Text(), np.object_
        features = {"a": text, "b": [string], "c": {"d": tfds.features.Sequence({"e": string, "n": np.int64})}, "t": text}
        return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict(features))

    def _split_generators(self, dl_manager: Any) -> Any:
        return {"train": self._generate_examples()}

    def _generate_examples(self) -> Any:
        yield 0, {"a": "é", "b": ["x"], "c": {"d": []}, "t": b"plain"}
        yield 1, {"a": b"\xff\x00", "b": [b"\xfe", "y"], "c": {"d": [{"e": b"\xfd", "n": 1}]}, "t": "é"}


@pytest.mark.parametrize("num_proc", [None, 2])
def test_columns_with_bytes_that_are_not_text_are_columns_of_bytes(data_dir: str, num_proc: int | None) -> None:
    builder = Bytes(data_dir=data_dir)
    builder.download_and_prepare(num_proc=num_proc)
    kinds = builder.info.features
    assert [kinds["a"].dtype, kinds["b"].feature.dtype, kinds["c"]["d"]["e"].feature.dtype, kinds["t"].dtype] == [
        "binary", "binary", "binary", "string",
    ]  # fmt: skip
    first, second = sorted(tfds.as_numpy(builder.as_dataset("train")), key=lambda row: len(row["b"]))
    assert first["a"] == "é".encode() and second["a"] == b"\xff\x00" and list(second["b"]) == [b"\xfe", b"y"]
    assert list(second["c"]["d"]["e"]) == [b"\xfd"] and second["t"] == "é".encode()
    again = Bytes(data_dir=data_dir)
    again.download_and_prepare()
    assert again.info.features == kinds


def test_names_of_splits_are_joined_as_texts(data_dir: str) -> None:
    assert tfds.Split.TRAIN + "_05" == "train_05" and tfds.core.Split("dev") == "dev" and f"{tfds.Split.TEST}" == "test"

    class Shares(One):
        VERSION = tfds.core.Version("1.0.0")

        def _split_generators(self, dl_manager: Any) -> Any:
            return {tfds.Split.TRAIN: self._generate_examples(), tfds.Split.TRAIN + "_05": self._generate_examples()}

    builder = Shares(data_dir=data_dir)
    builder.download_and_prepare()
    assert list(builder.info.splits) == ["train", "train_05"]


def test_beam_builders_may_make_collections_of_their_rows_themselves(data_dir: str) -> None:
    beam = pytest.importorskip("apache_beam")

    class Joined(One):
        VERSION = tfds.core.Version("1.0.0")

        def _split_generators(self, dl_manager: Any, pipeline: Any) -> Any:  # type: ignore[override]
            shared = pipeline | beam.Create([1, 2])
            make = beam.ptransform_fn(self._generate_examples)
            return {name: pipeline | name >> make(shared=shared, plus=plus) for name, plus in (("a", 0), ("b", 5))}

        def _generate_examples(self, pipeline: Any, shared: Any, plus: int) -> Any:  # type: ignore[override]
            return shared | "rows" >> beam.Map(lambda number: (number, {"x": number + plus}))

    class Direct(tfds.core.BeamBasedBuilder, skip_registration=True):
        VERSION = tfds.core.Version("1.0.0")
        _info = One._info

        def _split_generators(self, dl_manager: Any) -> Any:
            return {"train": self._generate_examples([1, 2], 3)}

        def _generate_examples(self, numbers: Any, plus: int) -> Any:
            return beam.Create(numbers) | beam.Map(lambda number: (number, {"x": number + plus}))

    builder = Joined(data_dir=data_dir)
    builder.download_and_prepare()
    assert [sorted(row["x"] for row in builder.as_dataset(split)) for split in ("a", "b")] == [[1, 2], [6, 7]]
    direct = Direct(data_dir=data_dir)
    direct.download_and_prepare()
    assert sorted(row["x"] for row in direct.as_dataset("train")) == [4, 5]
