"""Datasets made of what other tools hold: frames of pandas, polars and Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeVar

import pyarrow as pa

from datasets_core.errors import ArgumentTypeError, CastError, UnknownOptionError
from datasets_core.features.codec import cast_table
from datasets_core.features.dynamic import Json
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split import Split
from datasets_core.optional import needed
from datasets_core.rows.arguments import agreed, as_features
from datasets_core.rows.create import columns_table
from datasets_core.rows.tabled import Tabled

if TYPE_CHECKING:
    import os

    import pandas as pd
    import polars as pl

T = TypeVar("T", bound=Tabled)
_SPARK_OPTIONS = ("split", "features", "keep_in_memory", "cache_dir", "working_dir", "load_from_cache_file")


class FromFrames(Tabled):
    """What a dataset is made of: a frame."""

    @classmethod
    def from_pandas(
        cls,
        df: pd.DataFrame,
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: str | None = None,
        preserve_index: bool | None = None,
    ) -> Self:
        """A dataset of the rows of a pandas frame, in memory; numbers without nulls are not copied.

        Args:
            df: the frame.
            features: what the columns are to be; None: what the frame says.
            info: what is known of the dataset.
            split: the split that the rows are of.
            preserve_index: keep the index as a column; None does so where it is more than a count of the rows.

        Raises:
            CastError: a column whose values share no type, or that does not fit its feature.

        >>> import pandas as pd
        >>> Dataset.from_pandas(pd.DataFrame({"a": [1, 2]}, index=pd.Index([5, 6], name="id")))[0]
        {'a': 1, 'id': 5}
        """
        if not hasattr(df, "columns") or not hasattr(df, "dtypes"):
            raise ArgumentTypeError(f"from_pandas() takes a pandas frame, found {type(df).__name__}. Give a DataFrame.")
        texts = _json_columns(df, as_features(features))
        try:
            table = pa.Table.from_pandas(df.drop(columns=list(texts)), preserve_index=preserve_index)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            said = " ".join(str(part) for part in error.args)
            raise CastError(f"{said}. Give the column one type, or make the dataset with from_dict.") from error
        metadata = {key: value for key, value in (table.schema.metadata or {}).items() if key != b"pandas"}
        for name, column in texts.items():
            table = table.add_column(min(df.columns.get_loc(name), table.num_columns), name, column)
        return _made(cls, table.replace_schema_metadata(metadata or None), features, info, split)

    @classmethod
    def from_polars(
        cls,
        df: pl.DataFrame | pl.LazyFrame,
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: str | None = None,
    ) -> Self:
        """A dataset of the rows of a polars frame, in memory; columns are not copied.

        Args:
            df: the frame; a lazy one is collected.
            features: what the columns are to be; None: what the frame says.
            info: what is known of the dataset.
            split: the split that the rows are of.

        Raises:
            CastError: a column that does not fit its feature.

        >>> import polars as pl
        >>> Dataset.from_polars(pl.DataFrame({"a": [1, 2], "b": ["x", None]}))[1]
        {'a': 2, 'b': None}
        """
        frame: Any = df
        if hasattr(frame, "collect"):
            frame = frame.collect()
        if not hasattr(frame, "to_arrow"):
            raise ArgumentTypeError(f"from_polars() takes a polars frame, found {type(df).__name__}. Give a DataFrame.")
        return _made(cls, frame.to_arrow(), features, info, split)

    @classmethod
    def from_spark(
        cls,
        df: Any,
        split: str | None = None,
        features: Features | None = None,
        keep_in_memory: bool = False,
        cache_dir: str | os.PathLike[str] | None = None,
        working_dir: str | None = None,
        load_from_cache_file: bool = True,
        **kwargs: Any,
    ) -> Self:
        """A dataset of the rows of a Spark frame, collected by the driver as Arrow data.

        Args:
            df: the frame.
            split: the split that the rows are of.
            features: what the columns are to be; None: what the frame says.
            keep_in_memory: has no effect: the rows are in memory.  Write large frames as Parquet, and load that.
            cache_dir, working_dir, load_from_cache_file: have no effect.

        Raises:
            UnknownOptionError: another argument is given.
            MissingDependencyError: pyspark is not installed.
            CastError: a column that does not fit its feature.

        >>> from pyspark.sql import SparkSession
        >>> spark = SparkSession.builder.master("local[1]").getOrCreate()
        >>> Dataset.from_spark(spark.createDataFrame([(1, "x"), (2, "y")], ["a", "b"]))[1]
        {'a': 2, 'b': 'y'}
        >>> spark.stop()
        """
        for name in kwargs:
            raise UnknownOptionError(name, builder="from_spark", known=_SPARK_OPTIONS)
        needed("pyspark", "from_spark()", "pyspark")
        if not hasattr(df, "toPandas"):
            raise ArgumentTypeError(f"from_spark() takes a Spark frame, found {type(df).__name__}. Give a DataFrame.")
        if hasattr(df, "toArrow"):  # since Spark 4
            return _made(cls, df.toArrow(), features, None, split or Split.TRAIN)
        table = pa.Table.from_pandas(df.toPandas(), preserve_index=False).replace_schema_metadata(None)
        return _made(cls, table, features, None, split or Split.TRAIN)


def _json_columns(df: pd.DataFrame, features: Features | None) -> dict[str, pa.ChunkedArray]:
    """The columns of any values, which Arrow has no one type for, as they are stored."""
    names = [name for name, feature in (features or {}).items() if isinstance(feature, Json) and name in df.columns]
    return {name: columns_table({name: list(df[name])}, Features({name: Json()}), None).column(0) for name in names}


def _made(kind: type[T], table: pa.Table, features: Features | None, info: DatasetInfo | None, split: str | None) -> T:
    info, features = agreed(info, as_features(features))
    if any(pa.types.is_dictionary(field.type) or field.type.num_fields for field in table.schema):
        from datasets_core.store.writer import plain_schema  # 2 ms that frames without categories do without

        table = table.cast(plain_schema(table.schema))  # categories: their texts
    if features is not None:
        table = cast_table(table, features, what="The frame")
    return kind(table, info=info, split=split)
