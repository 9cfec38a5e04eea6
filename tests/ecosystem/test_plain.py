"""Libraries that take rows, an Arrow stream or a torch dataset, on `datasets_core` itself, without the alias."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import datasets_core
from datasets_core import as_datasets


@pytest.fixture(autouse=True)
def _without_the_alias() -> Iterator[None]:
    assert not as_datasets.is_installed()
    yield
    assert not as_datasets.is_installed()
    assert "+core." not in getattr(sys.modules.get("datasets"), "__version__", "")


def birds(count: int = 60) -> datasets_core.Dataset:
    """Rows of numbers, texts, lists and a missing value, in two pieces and another order."""
    rows = [{"n": i, "x": [float(i), float(i % 3)], "kind": "owl" if i % 3 else "wren", "mass": None if i == 7 else i * 0.5}
            for i in range(count)]  # fmt: skip
    whole = datasets_core.concatenate_datasets(
        [datasets_core.Dataset.from_list(rows[:40]), datasets_core.Dataset.from_list(rows[40:])]
    )
    return whole.select(range(count - 1, -1, -1))


# -- scikit-learn ------------------------------------------------------------------------------------------------------


def test_scikit_learn_fits_arrays_of_a_dataset() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    selection = pytest.importorskip("sklearn.model_selection")
    rows = birds().with_format("numpy")
    x, y = np.stack(rows["x"][:]), rows["kind"][:]
    model = linear.LogisticRegression(max_iter=500).fit(x, y)
    assert model.score(x, y) == 1.0
    assert len(selection.cross_val_score(model, x, y, cv=3)) == 3
    folds = selection.KFold(4).split(birds())
    assert sorted(int(i) for _, test in folds for i in birds().select(test)["n"]) == list(range(60))
    train, test = (birds().select(part) for part in selection.train_test_split(range(60), test_size=12, random_state=0))
    assert sorted([*train["n"], *test["n"]]) == list(range(60))


def test_scikit_learn_takes_rows_texts_and_frames() -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text")
    features = pytest.importorskip("sklearn.feature_extraction")
    pipeline, preprocessing = pytest.importorskip("sklearn.pipeline"), pytest.importorskip("sklearn.preprocessing")
    compose, linear = pytest.importorskip("sklearn.compose"), pytest.importorskip("sklearn.linear_model")
    assert text.CountVectorizer().fit_transform(birds()["kind"]).shape == (60, 2)
    assert text.HashingVectorizer(n_features=8).transform(row["kind"] for row in birds().to_iterable_dataset()).shape == (60, 8)
    few = birds().select_columns(["n", "kind"])
    assert features.DictVectorizer().fit_transform(few).shape == (60, 3)
    columns = compose.ColumnTransformer([("kind", preprocessing.OneHotEncoder(), ["kind"]), ("n", "passthrough", ["n"])])
    model = pipeline.make_pipeline(columns, linear.LinearRegression()).fit(few.to_pandas(), np.arange(60))
    assert model.predict(few.to_pandas()[:3]).shape == (3,)


def test_scikit_learn_partial_fit_over_batches() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    model = linear.SGDClassifier(random_state=0)
    for batch in birds().with_format("numpy").iter(batch_size=16):
        model.partial_fit(np.stack(batch["x"]), batch["kind"], classes=["owl", "wren"])
    assert model.coef_.shape == (1, 2)


def test_scikit_learn_estimators_run_in_map() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    rows = birds().with_format("numpy")
    model = linear.LinearRegression().fit(np.stack(rows["x"][:]), rows["n"][:])
    found = birds().map(lambda batch: {"guess": model.predict(np.asarray(batch["x"]))}, batched=True, num_proc=2)
    assert np.allclose(found["guess"][:], found["n"][:])


# -- frames and databases ----------------------------------------------------------------------------------------------


def test_polars_takes_a_dataset_and_gives_one() -> None:
    pl = pytest.importorskip("polars")
    rows = birds()
    for frame in (
        pl.from_arrow(pa.table(rows)),
        pl.DataFrame(rows),
        rows.to_polars(),
        pl.from_arrow(rows.with_format("arrow")[:]),
    ):
        assert frame.shape == (60, 4)
        assert frame["n"].to_list() == list(range(59, -1, -1))
        assert frame["mass"].null_count() == 1
    counted = pl.DataFrame(rows).lazy().group_by("kind").agg(pl.len()).sort("kind").collect()
    assert counted.rows() == [("owl", 40), ("wren", 20)]
    assert datasets_core.Dataset.from_polars(counted)[0] == {"kind": "owl", "len": 40}
    assert pl.from_dicts(list(rows)).shape == (60, 4)
    mapped = rows.with_format("polars").map(lambda frame: frame.with_columns(pl.col("n") * 2), batched=True)
    assert mapped.with_format(None)[0]["n"] == 118


def test_polars_scans_what_a_dataset_writes(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    birds().to_parquet(str(tmp_path / "birds.parquet"))
    assert pl.scan_parquet(tmp_path / "birds.parquet").filter(pl.col("n") > 50).collect().height == 9
    pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / "made.parquet")
    made = datasets_core.load_dataset(
        "parquet", data_files=str(tmp_path / "made.parquet"), split="train", cache_dir=str(tmp_path)
    )
    assert made["a"][:] == [1, 2]


def test_duckdb_queries_a_dataset() -> None:
    duckdb = pytest.importorskip("duckdb")
    rows = birds()
    asked = "select kind, count(*) as c, max(n) as m from {} group by kind order by kind"
    wanted = [("owl", 40, 59), ("wren", 20, 57)]
    assert rows.to_duckdb(name="birds").execute(asked.format("birds")).fetchall() == wanted
    connection = duckdb.connect()
    connection.register("birds", pa.table(rows))
    assert connection.execute(asked.format("birds")).fetchall() == wanted
    connection.register("streamed", pa.RecordBatchReader.from_stream(rows))
    assert connection.execute(asked.format("streamed")).fetchall() == wanted
    found = datasets_core.Dataset(connection.execute("select n from birds where n < 3 order by n").to_arrow_table())
    assert found["n"][:] == [0, 1, 2]


def test_ibis_takes_a_dataset() -> None:
    ibis = pytest.importorskip("ibis")
    pytest.importorskip("duckdb")
    table = ibis.memtable(pa.table(birds()))
    large = table.filter(table.n > 9)
    found = large.group_by("kind").aggregate(c=large.count()).order_by("kind")
    assert found.to_pyarrow().to_pylist() == [{"kind": "owl", "c": 34}, {"kind": "wren", "c": 16}]
    assert datasets_core.Dataset(found.to_pyarrow())["c"][:] == [34, 16]
    framed = ibis.memtable(birds().to_pandas().drop(columns="x"))
    assert framed.n.sum().to_pyarrow().as_py() == sum(range(60))


def test_narwhals_takes_a_dataset_and_gives_one() -> None:
    nw = pytest.importorskip("narwhals")
    rows = birds()
    for frame in (
        rows.to_narwhals(),
        nw.from_arrow(rows, backend="pyarrow"),
        nw.from_native(pa.table(rows)),
        nw.from_native(rows),
    ):
        assert frame.shape == (60, 4)
        found = frame.group_by("kind").agg(nw.col("n").max()).sort("kind")
        assert found.rows() == [("owl", 59), ("wren", 57)]
        assert datasets_core.Dataset.from_narwhals(found)[1] == {"kind": "wren", "n": 57}
    batch = rows.with_format("narwhals")[:3]
    assert batch["n"].to_list() == [59, 58, 57]


def test_dask_takes_a_dataset(tmp_path: Path) -> None:
    frames, bag, array = (pytest.importorskip(f"dask.{name}") for name in ("dataframe", "bag", "array"))
    rows = birds()
    frame = frames.from_pandas(rows.to_pandas(), npartitions=3)
    assert frame.groupby("kind").n.max().compute().to_dict() == {"owl": 59, "wren": 57}
    rows.to_parquet(str(tmp_path / "birds.parquet"))
    assert len(frames.read_parquet(str(tmp_path / "birds.parquet"))) == 60
    parts = [rows.shard(3, i) for i in range(3)]
    delayed = pytest.importorskip("dask").delayed
    joined = frames.from_delayed([delayed(part.to_pandas)() for part in parts], meta=rows.to_pandas()[:0])
    assert joined.n.sum().compute(scheduler="processes") == sum(range(60))
    assert sorted(bag.from_sequence(rows, npartitions=4).pluck("n").compute(scheduler="threads")) == list(range(60))
    numbers = array.from_array(rows.with_format("numpy")["n"][:], chunks=16)
    assert int(numbers.sum().compute()) == sum(range(60))
    found = datasets_core.Dataset.from_pandas(frame[frame.n < 3][["n"]].compute(), preserve_index=False)
    assert sorted(found["n"]) == [0, 1, 2]


def test_ray_data_takes_a_dataset() -> None:
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100 << 20)
    try:
        rows = birds()
        found = ray.data.from_arrow(pa.table(rows))
        assert found.count() == 60
        assert found.sum("n") == sum(range(60))
        doubled = found.map_batches(lambda batch: {"n": batch["n"] * 2}).to_arrow_refs()
        again = datasets_core.Dataset(pa.concat_tables(ray.get(doubled)))
        assert sorted(again["n"]) == list(range(0, 120, 2))
        assert ray.data.from_items(list(rows.select_columns(["n"]))).count() == 60
        assert sorted(row["n"] for row in ray.data.from_torch(rows.select_columns(["n"])).map(_item).take_all()) == list(
            range(60)
        )

        @ray.remote
        def length(given: Any) -> int:
            return len(given.filter(lambda row: row["n"] < 10))

        assert ray.get(length.remote(rows)) == 10  # a dataset is pickled into a worker
    finally:
        ray.shutdown()


def _item(row: dict[str, Any]) -> dict[str, Any]:
    return dict(row["item"])


# -- arrays and trainers -----------------------------------------------------------------------------------------------


def test_jax_trains_on_batches() -> None:
    jax = pytest.importorskip("jax")
    rows = birds().with_format("jax", columns=["x", "n"])
    assert isinstance(rows[0]["x"], jax.Array)
    assert rows[:4]["x"].shape == (4, 2)
    weights = jax.numpy.zeros(2)
    loss = jax.jit(lambda w, batch: ((batch["x"] @ w - batch["n"]) ** 2).mean())
    first = None
    for epoch in range(3):
        for batch in rows.shuffle(seed=epoch).iter(batch_size=12):
            weights = weights - 1e-4 * jax.grad(loss)(weights, batch)
            first = float(loss(weights, batch)) if first is None else first
    assert float(loss(weights, rows[:])) < first
    stream = birds().to_iterable_dataset().with_format("jax")
    assert isinstance(next(iter(stream))["x"], jax.Array)
    mapped = rows.map(lambda batch: {"norm": jax.numpy.linalg.norm(batch["x"], axis=1)}, batched=True)
    assert mapped.with_format("numpy")["norm"][:].shape == (60,)
    listed = rows.__getitems__([0, 1])
    assert isinstance(listed, list)
    assert [int(row["n"]) for row in listed] == [59, 58]


def test_lightning_fits_without_the_alias(tmp_path: Path) -> None:
    lightning, torch = pytest.importorskip("lightning"), pytest.importorskip("torch")

    class Model(lightning.LightningModule):  # type: ignore[misc, name-defined]
        seen = 0

        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def training_step(self, batch: Any) -> Any:
            self.seen += len(batch["n"])
            return self.layer(batch["x"]).mean()

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.01)

    rows = birds().select_columns(["n", "x"])
    for source in (rows.with_format("torch"), rows.to_iterable_dataset(num_shards=2).with_format("torch")):
        model = Model()
        trainer = lightning.Trainer(
            accelerator="cpu", max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=False,
            enable_model_summary=False, default_root_dir=tmp_path,
        )  # fmt: skip
        trainer.fit(model, torch.utils.data.DataLoader(source, batch_size=8))
        assert model.seen == 120
