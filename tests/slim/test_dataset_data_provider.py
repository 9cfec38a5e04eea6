"""The provider: as the real TF-Slim where its order is promised; exact, bounded, and with errors that say where."""

import base64
import json
import pickle
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from datasets_core import records, slim
from datasets_core.errors import (
    ArgumentTypeError,
    ConfigurationError,
    DamagedRecordError,
    FileFormatError,
    OutOfRangeError,
    StreamStateError,
    UnknownFeatureError,
    UnknownItemError,
)

GOLDEN = json.loads((Path(__file__).parent / "golden" / "readers.json").read_text(encoding="utf-8"))["provided"]
MOST = 60


def all_of(provider, items, most=1 << 30):
    found = []
    try:
        while len(found) < most:
            found.append(provider.get(items))
    except OutOfRangeError:
        with pytest.raises(OutOfRangeError):
            provider.get(items)
        return found, "OutOfRangeError"
    return found, None


def shown(sample, folder):
    """A sample as the golden table has it."""
    return [
        base64.b64encode(value.replace(f"{folder}/", "").encode() if isinstance(value, str) else value).decode()
        if isinstance(value, str | bytes)
        else value
        for value in sample
    ]


@pytest.mark.parametrize("number", range(len(GOLDEN)))
def test_samples_and_ends_are_those_of_tf_slim(number, golden_folder, whole):
    case = GOLDEN[number]
    dataset = slim.Dataset([str(golden_folder / name) for name in case["files"]], slim.TFRecordReader, whole, 7, {})
    try:
        with slim.DatasetDataProvider(dataset, **case["options"]) as provider:
            assert (provider.list_items(), provider.num_samples()) == (case.get("list_items"), case.get("num_samples"))
            found, end = all_of(provider, case["items"], MOST)
    except ValueError:
        assert case["end"] not in (None, "OutOfRangeError")
        return
    samples = [shown(sample, golden_folder) for sample in found]
    is_in_order = not case["options"].get("shuffle") and case["options"].get("num_readers", 1) == 1
    assert (samples if is_in_order else sorted(samples, key=repr), end) == (case["samples"], case["end"])


TABLE = json.loads((Path(__file__).parent / "golden" / "decoders.json").read_text(encoding="utf-8"))["providers"]


@pytest.mark.parametrize("number", range(len(TABLE)))
def test_the_table_of_providers_holds(number, tmp_path):
    for file, count in enumerate([4, 2, 3]):
        with records.TFRecordWriter(tmp_path / f"data-{file}-of-3.tfrecord") as writer:
            writer.write_all(records.encode_example({"id": 10 * file + at}) for at in range(count))
    options = dict(TABLE[number]["options"])
    asked, sources = options.pop("get", ["id"]), "nothing-*" if options.pop("sources", None) else "data-*"
    decoder = slim.TFExampleDecoder({"id": slim.FixedLenFeature([], "int64")}, {"id": slim.Tensor("id")})
    dataset = slim.Dataset(str(tmp_path / sources), slim.TFRecordReader, decoder, 9, {})
    expected = TABLE[number].get("expected") or TABLE[number]["expected_as_set"]
    if "error" in expected:
        told = r"record_key|No data files|items|nosuch|queue"
        with pytest.raises(ValueError, match=told), slim.DatasetDataProvider(dataset, **options) as provider:
            provider.get([asked] if asked == "nosuch" else "id" if asked != ["id"] else asked)
        return
    with slim.DatasetDataProvider(dataset, **options) as provider:
        assert (provider.num_samples(), provider.list_items()) == (expected["num_samples"], expected["list_items"])
        found, end = all_of(provider, ["id", "record_key"])
    ids, keys = [int(sample[0]) for sample in found], [Path(sample[1]).name for sample in found]
    assert end == expected["end"]
    assert keys[: len(expected["keys"])] == expected["keys"]
    assert ids == expected["ids"] if "ids" in expected else sorted(ids) == expected["sorted_ids"]


@pytest.mark.parametrize("num_readers", [1, 2, 3, 10])
@pytest.mark.parametrize("shuffle", [False, True])
def test_every_sample_comes_once_in_each_epoch(num_readers, shuffle, numbered):
    with slim.DatasetDataProvider(numbered(40, 2, 30), num_readers, shuffle=shuffle, num_epochs=2, seed=5) as provider:
        found = Counter(sample["data"] for sample in provider)
    assert found == {b"%d:%d" % (file, at): 2 for file, count in enumerate((40, 2, 30)) for at in range(count)}


def test_the_order_is_one_of_the_seed(numbered):
    dataset = numbered(300, 200)

    def order(seed, **options):
        with slim.DatasetDataProvider(dataset, num_epochs=1, seed=seed, **options) as provider:
            return [sample["data"] for sample in provider]

    assert order(1) == order(1)
    assert len({tuple(order(seed)) for seed in (1, 2, None, None)}) == 4
    assert order(1, num_readers=2) != order(1)
    assert order(1) != sorted(order(1))


def test_shuffling_reaches_as_far_as_the_queue(numbered):
    with slim.DatasetDataProvider(
        numbered(1000), num_epochs=1, common_queue_capacity=100, common_queue_min=50, seed=3
    ) as provider:
        numbers = [int(sample["data"].split(b":")[1]) for sample in provider]
    assert sorted(numbers) == list(range(1000))
    assert all(number - place < 100 for place, number in enumerate(numbers))
    assert max(place - number for place, number in enumerate(numbers)) > 100


def test_a_loop_and_get_go_on_where_the_other_stands(numbered):
    provider = slim.DatasetDataProvider(numbered(6), shuffle=False, num_epochs=1)
    loop = iter(provider)
    found = [next(loop)["data"], provider.get(["data"])[0], next(loop)["data"], *provider.get(["length", "data"])[1:]]
    assert found == [b"0:0", b"0:1", b"0:2", b"0:3"]
    assert [batch["data"] for batch in provider.batch(5, ["data"])] == [[b"0:4", b"0:5"]]
    assert list(provider) == []
    provider.close()


def test_items_are_decoded_only_where_they_are_asked_for(numbered, whole):
    with slim.DatasetDataProvider(numbered(3), shuffle=False, num_epochs=1) as provider:
        assert provider.get(["record_key"])[0].endswith("numbered-0.tfrecord:0")
        assert provider.get(["data"]) == [b"0:1"]


def test_a_sample_says_where_it_is_from(numbered):
    dataset = numbered(5, 3)
    with slim.DatasetDataProvider(dataset, num_readers=2, num_epochs=1, seed=4) as provider:
        for sample in provider:
            path, _, offset = sample["record_key"].rpartition(":")
            assert records.TFRecordReader(path).read_at(int(offset)) == sample["data"]


def test_a_provider_without_keys(numbered):
    with slim.DatasetDataProvider(numbered(1), shuffle=False, num_epochs=1, record_key=None) as provider:
        assert (provider.list_items(), list(provider)) == (["data", "length"], [{"data": b"0:0", "length": 3}])


class Duck:
    """A decoder that only has the methods, as older code spells them."""

    def Decode(self, data, items):  # noqa: N802
        return [data[::-1] for _ in items]

    def ListItems(self):  # noqa: N802
        return ["reversed"]


def test_anything_with_the_methods_decodes(numbered):
    with slim.DatasetDataProvider(numbered(1, decoder=Duck()), shuffle=False, num_epochs=1) as provider:
        assert provider.get(["reversed"]) == [b"0:0"]


def test_rows_of_other_formats_are_provided(tmp_path):
    (tmp_path / "a.csv").write_text("name,count\nwren,3\nowl,4\n", encoding="utf-8")
    dataset = slim.Dataset(str(tmp_path / "*.csv"), "csv", slim.RowDecoder(["count", "name"]), 2, {})
    with slim.DatasetDataProvider(dataset, shuffle=False, num_epochs=1) as provider:
        assert list(provider) == [
            {"count": 3, "name": "wren", "record_key": f"{tmp_path}/a.csv:0"},
            {"count": 4, "name": "owl", "record_key": f"{tmp_path}/a.csv:1"},
        ]


# -- states ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"shuffle": False}, {"shuffle": False, "num_readers": 3}, {"seed": 2}, {"num_readers": 2}])
@pytest.mark.parametrize("at", [0, 1, 17, 130, 259, 260])
def test_a_state_resumes_exactly(options, at, numbered):
    dataset = numbered(100, 0, 30)
    with slim.DatasetDataProvider(dataset, num_epochs=2, **options) as provider:
        for _ in range(at):
            provider.get(["length"])
        state = json.loads(json.dumps(provider.state_dict()))
        rest = [sample["record_key"] for sample in provider]
    with slim.DatasetDataProvider(dataset, num_epochs=2, **options) as provider:
        provider.load_state_dict(state)
        assert [sample["record_key"] for sample in provider] == rest
    assert len(rest) == 260 - at


def test_a_state_resumes_in_another_process_which_ends_though_nothing_is_closed(numbered):
    dataset = numbered(50, 60)
    with slim.DatasetDataProvider(dataset, num_readers=2, num_epochs=1) as provider:
        for _ in range(33):
            provider.get(["length"])
        state = json.dumps(provider.state_dict())
        rest = [sample["record_key"] for sample in provider]
    script = """
import json, sys, time
from datasets_core import slim

class Whole(slim.DataDecoder):
    def decode(self, data, items=None):
        return [data for _ in items]
    def list_items(self):
        return ["data"]

state = json.loads(sys.argv[1])
dataset = slim.Dataset(sys.argv[2:], slim.TFRecordReader, Whole(), 110, {})
provider = slim.DatasetDataProvider(dataset, num_readers=2, num_epochs=1)
provider.load_state_dict(state)
print(json.dumps([sample["record_key"] for sample in provider]))

class Slow(slim.SampleReader):
    def samples(self, path):
        for number in range(10**9):
            yield number, number
            time.sleep(0.001 if path == "a" else 100)

slow = slim.parallel_read(["a", "b"], Slow, None, 2, shuffle=False)
assert slow.read().value == 0
"""
    call = [sys.executable, "-W", "error", "-c", script, state, *dataset.data_sources]
    found = subprocess.run(call, capture_output=True, text=True, timeout=60, check=True)
    assert (json.loads(found.stdout), found.stderr) == (rest, "")


def test_a_state_is_small(numbered):
    with slim.DatasetDataProvider(numbered(3000), num_epochs=1, seed=1) as provider:
        for _ in range(500):
            provider.get(["length"])
        assert len(json.dumps(provider.state_dict())) < 10_000


def test_the_state_of_another_dataset_is_refused(numbered, tmp_path, whole):
    dataset = numbered(5, 5)
    with slim.DatasetDataProvider(dataset, seed=1) as provider:
        state = provider.state_dict()
    other = slim.Dataset(dataset.data_sources[:1], slim.TFRecordReader, whole, 5, {})
    with slim.DatasetDataProvider(other, seed=1) as provider, pytest.raises(StreamStateError, match="files"):
        provider.load_state_dict(state)
    other = slim.Dataset(dataset.data_sources, slim.TextLineReader, whole, 5, {})
    with slim.DatasetDataProvider(other, seed=1) as provider, pytest.raises(StreamStateError, match="reader"):
        provider.load_state_dict(state)


# -- errors ------------------------------------------------------------------------------------------------------------


def test_a_damaged_record_is_told_behind_the_good_samples(numbered):
    dataset = numbered(20, 20)
    path = Path(dataset.data_sources[1])
    path.write_bytes(path.read_bytes()[:-5])
    with slim.DatasetDataProvider(dataset, num_epochs=1, seed=1) as provider:
        found = []
        with pytest.raises(DamagedRecordError) as caught:
            found.extend(iter(lambda: provider.get(["data"])[0], None))
        assert str(caught.value.file).endswith("numbered-1.tfrecord")
        assert (caught.value.row, caught.value.record) == (19, 19)
        with pytest.raises(DamagedRecordError) as caught:
            provider.get(["data"])
        assert str(caught.value.file).endswith("numbered-1.tfrecord")
        assert (caught.value.row, caught.value.record) == (19, 19)
    assert len(found) == len(set(found)) >= 19


def test_a_missing_file_is_told(whole, tmp_path):
    dataset = slim.Dataset(str(tmp_path / "missing"), slim.TFRecordReader, whole, 1, {})
    with slim.DatasetDataProvider(dataset) as provider, pytest.raises(FileNotFoundError, match="missing"):
        provider.get(["data"])


class Picky(slim.DataDecoder):
    """Refuses some samples."""

    def decode(self, data, items=None):
        if data.endswith((b":3", b":21")):
            raise KeyError(f"not {data!r}")
        return [data]

    def list_items(self):
        return ["data"]


def test_a_sample_that_cannot_be_decoded_is_told_and_the_next_one_comes(numbered):
    good, bad = [], []
    with slim.DatasetDataProvider(numbered(30, decoder=Picky()), shuffle=False, num_epochs=1) as provider:
        while len(good) + len(bad) < 30:
            try:
                good.append(provider.get(["data"])[0])
            except FileFormatError as error:
                bad.append((len(good), str(error)))
        assert [place for place, _ in bad] == [3, 20]
        assert all("numbered-0.tfrecord:" in told and "not b'0:" in told for _, told in bad)
        assert len(good) == 28
        with pytest.raises(OutOfRangeError) as caught:
            provider.get(["data"])
        assert caught.value.num_samples == 30


def test_a_state_behind_a_sample_that_failed_goes_on_behind_it(numbered):
    dataset = numbered(6, decoder=Picky())
    with slim.DatasetDataProvider(dataset, shuffle=False, num_epochs=1) as provider:
        assert [provider.get(["data"]) for _ in range(3)]
        with pytest.raises(FileFormatError, match="cannot be decoded"):
            provider.get(["data"])
        state = provider.state_dict()
    with slim.DatasetDataProvider(dataset, shuffle=False, num_epochs=1) as provider:
        provider.load_state_dict(state)
        assert [sample["data"] for sample in provider] == [b"0:4", b"0:5"]


@pytest.mark.parametrize(
    ("items", "error", "told"),
    [
        ("data", ArgumentTypeError, "not 'data'"),
        (None, ArgumentTypeError, "not None"),
        (["data", "nothing"], UnknownItemError, "nothing"),
        ([3], UnknownItemError, "3"),
    ],
)
def test_items_are_checked_before_a_sample_is_taken(items, error, told, numbered):
    with slim.DatasetDataProvider(numbered(2), shuffle=False) as provider:
        with pytest.raises(error, match=told):
            provider.get(items)
        if items is not None:
            with pytest.raises(error, match=told):
                provider.batch(2, items)
        assert provider.get(["data"]) == [b"0:0"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"record_key": "data"}, "record_key"),
        ({"num_epochs": 0}, "num_epochs"),
        ({"num_readers": 0}, "num_readers"),
        ({"common_queue_capacity": 8}, "capacity, 8"),
        ({"common_queue_capacity": 8, "common_queue_min": 8}, "capacity, 8"),
        ({"common_queue_capacity": 0, "shuffle": False}, "capacity"),
        ({"reader_kwargs": {"nothing": 1}}, "reader_kwargs"),
        ({"seed": "x"}, "seed"),
        ({"format": "jax"}, "format"),
    ],
)
def test_arguments_without_a_meaning_are_refused_at_once(options, told, numbered):
    with pytest.raises(ConfigurationError, match=told):
        slim.DatasetDataProvider(numbered(2), **options)


def test_a_decoder_without_the_methods_is_refused(numbered):
    with pytest.raises(ConfigurationError, match="list_items"):
        slim.DatasetDataProvider(numbered(2, decoder=object()))


class NoKeyOf1(slim.SampleReader):
    def samples(self, path):
        yield from ((number, f"{number}".encode()) for number in range(5))

    def key(self, path, position):
        if position == 1:
            raise LookupError("no key")
        return f"{path}:{position}"


def test_a_sample_without_a_key_is_told_and_passed(whole):
    dataset = slim.Dataset(["x"], NoKeyOf1, whole, 5, {})
    with slim.DatasetDataProvider(dataset, shuffle=False, num_epochs=1) as provider:
        assert provider.get(["data", "record_key"]) == [b"0", "x:0"]
        with pytest.raises(FileFormatError, match="NoKeyOf1, cannot make a key for sample 1: LookupError: no key"):
            provider.get(["data", "record_key"])
        assert [provider.get(["data", "record_key"]) for _ in range(3)] == [[b"2", "x:2"], [b"3", "x:3"], [b"4", "x:4"]]


def test_an_interrupt_leaves_samples_and_keys_in_step(whole, monkeypatch):
    dataset, interrupted = slim.Dataset(["x"], NoKeyOf1, whole, 5, {}), []

    def key(self, path, position):
        if position in (1, 3) and position not in interrupted:
            interrupted.append(position)
            raise KeyboardInterrupt
        return f"{path}:{position}"

    monkeypatch.setattr(NoKeyOf1, "key", key)
    with slim.DatasetDataProvider(dataset, shuffle=False, num_epochs=1) as provider:
        found = []
        while len(found) < 5:
            try:
                found.append(provider.get(["data", "record_key"]))
            except KeyboardInterrupt:
                continue
    assert found == [[b"%d" % number, f"x:{number}"] for number in range(5)]


@pytest.mark.parametrize("format", ["numpy", "torch"])
def test_samples_that_make_no_batch_are_given_again(tmp_path, format):
    path = str(tmp_path / "a.tfrecord")
    with records.TFRecordWriter(path) as writer:
        writer.write_all(records.encode_example({"a": list(range(number % 3))}) for number in range(1, 9))
    decoder = slim.TFExampleDecoder({"a": slim.VarLenFeature("int64")}, {"a": slim.Tensor("a")})
    dataset = slim.Dataset(path, slim.TFRecordReader, decoder, 8, {})
    if format == "torch":
        pytest.importorskip("torch")
    with slim.DatasetDataProvider(dataset, shuffle=False, num_epochs=1, format=format) as provider:
        first = provider.get(["a"])[0].tolist()
        before = provider.state_dict()
        for _ in range(2):
            with pytest.raises(ConfigurationError, match="ragged='pad'"):
                next(provider.batch(3, ["a"]))
            assert provider.state_dict() == before
        found = [batch["a"].tolist() for batch in provider.batch(3, ["a"], ragged="pad")]
    assert first == [0]
    assert found == [[[0, 1], [0, 0], [0, 0]], [[0, 1], [0, 0], [0, 0]], [[0, 1]]]


def test_an_interrupt_loses_no_more_than_the_sample_that_is_handed_over(numbered, interrupts):
    dataset = numbered(2, 1)

    def run(block):
        found, lost = [], 0
        with slim.DatasetDataProvider(dataset, 2, None, True, 1, 4, 2, seed=1) as provider:
            while True:
                try:
                    with block:
                        found.append(provider.get(["data"] if len(found) % 2 else ["length", "data"])[-1])
                except KeyboardInterrupt:
                    lost = provider.state_dict()["num_given"] - len(found)
                except OutOfRangeError:
                    return found, lost

    none = interrupts(-1)
    whole, _ = run(none)
    for line in range(0, none.count, 2):
        found, lost = run(interrupts(line))
        assert found == [sample for sample in whole if sample in found]
        assert lost == len(whole) - len(found) <= 1


def test_an_interrupted_batch_gives_its_samples_again(whole, monkeypatch):
    dataset, interrupted = slim.Dataset(["x"], NoKeyOf1, whole, 5, {}), []

    def key(self, path, position):
        if position == 3 and not interrupted:
            interrupted.append(position)
            raise KeyboardInterrupt
        return f"{path}:{position}"

    monkeypatch.setattr(NoKeyOf1, "key", key)
    with slim.DatasetDataProvider(dataset, shuffle=False, num_epochs=1) as provider:
        with pytest.raises(KeyboardInterrupt):
            list(provider.batch(4))
        assert [batch["record_key"] for batch in provider.batch(4)] == [["x:0", "x:1", "x:2", "x:3"], ["x:4"]]


def test_a_closed_provider_gives_nothing(numbered):
    provider = slim.DatasetDataProvider(numbered(9), shuffle=False)
    provider.get(["data"])
    provider.close()
    with pytest.raises(ConfigurationError, match="closed"):
        provider.get(["data"])


# -- batches and tensors -----------------------------------------------------------------------------------------------


class Arrays(slim.DataDecoder):
    """The number of the record as a scalar, and as many ones."""

    def decode(self, data, items=None):
        number = int(data.split(b":")[1])
        return [{"number": np.array(number), "ones": np.ones(number % 3, np.float32)}[item] for item in items]

    def list_items(self):
        return ["number", "ones"]


def test_batches_are_arrays(numbered):
    dataset = numbered(7, decoder=Arrays())
    with slim.DatasetDataProvider(dataset, shuffle=False, num_epochs=1) as provider:
        batches = list(provider.batch(3, ["number", "record_key"]))
    assert [batch["number"].tolist() for batch in batches] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [len(batch["record_key"]) for batch in batches] == [3, 3, 1]
    with slim.DatasetDataProvider(dataset, shuffle=False, num_epochs=1) as provider:
        padded = next(provider.batch(3, ragged="pad", padding=-1))
        listed = next(provider.batch(3, ["ones"], ragged="list"))
    with (
        slim.DatasetDataProvider(dataset, shuffle=False, num_epochs=1) as provider,
        pytest.raises(ConfigurationError, match="ones"),
    ):
        next(provider.batch(3))
    assert padded["ones"].tolist() == [[-1, -1], [1, -1], [1, 1]]
    assert [ones.tolist() for ones in listed["ones"]] == [[], [1], [1, 1]]


def test_a_remainder_is_left_out_where_that_is_asked_for(numbered):
    with slim.DatasetDataProvider(numbered(7, decoder=Arrays()), shuffle=False, num_epochs=1) as provider:
        assert [len(batch["number"]) for batch in provider.batch(3, ["number"], drop_remainder=True)] == [3, 3]


def test_samples_before_an_error_are_a_smaller_batch(numbered):
    with slim.DatasetDataProvider(numbered(9, decoder=Picky()), shuffle=False, num_epochs=1) as provider:
        batches = provider.batch(2, ["data"])
        assert [next(batches)["data"], next(batches)["data"]] == [[b"0:0", b"0:1"], [b"0:2"]]
        with pytest.raises(FileFormatError, match="cannot be decoded"):
            next(batches)


def test_a_state_between_batches_goes_on_with_the_next_batch(numbered):
    dataset = numbered(50, decoder=Arrays())
    with slim.DatasetDataProvider(dataset, num_epochs=1, seed=1) as provider:
        batches = provider.batch(4, ["number"])
        next(batches)
        state = provider.state_dict()
        rest = [batch["number"].tolist() for batch in batches]
    with slim.DatasetDataProvider(dataset, num_epochs=1, seed=1) as provider:
        provider.load_state_dict(state)
        assert [batch["number"].tolist() for batch in provider.batch(4, ["number"])] == rest


def test_tensors_of_torch(numbered):
    torch = pytest.importorskip("torch")
    with slim.DatasetDataProvider(numbered(4, decoder=Arrays()), shuffle=False, num_epochs=1, format="torch") as provider:
        number, ones, key = provider.get(["number", "ones", "record_key"])
        batch = next(provider.batch(2, ragged="pad"))
    assert (number.dtype, number.item(), ones.shape, type(key)) == (torch.int64, 0, (0,), str)
    assert torch.equal(batch["ones"], torch.tensor([[1.0, 0.0], [1.0, 1.0]]))


def test_a_provider_that_is_pickled_goes_on_where_it_stood(tmp_path):
    (tmp_path / "a.csv").write_text("a\n" + "\n".join(map(str, range(50))), encoding="utf-8")
    dataset = slim.Dataset(str(tmp_path / "a.csv"), "csv", slim.RowDecoder(["a"]), 50, {})
    with slim.DatasetDataProvider(dataset, num_epochs=2) as provider:
        for _ in range(33):
            provider.get(["a"])
        with pickle.loads(pickle.dumps(provider)) as copy:
            assert [sample["a"] for sample in copy] == [sample["a"] for sample in provider]


def test_a_decoder_that_fits_no_sample_is_told_as_the_decoder(tmp_path: Path) -> None:
    with records.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write(records.encode_example({"a": 1}))
    decoder = slim.TFExampleDecoder({"a": records.FixedLenFeature([], "int64")}, {"b": slim.Tensor("b")})
    dataset = slim.Dataset(str(tmp_path / "a.tfrecord"), slim.TFRecordReader, decoder, 1, {})
    missing = pytest.raises(UnknownFeatureError, match=r"the key 'b', which has no feature spec")
    with slim.DatasetDataProvider(dataset, shuffle=False) as provider, missing:
        provider.get(["b"])
