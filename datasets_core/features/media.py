"""`Media`: what images, sounds, films and documents share: stored as `{bytes, path}`, decoded when they are looked at."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError, ConfigurationError, DatasetsCoreError, MediaDecodeError
from datasets_core.features.base import Feature, FeatureType, Value
from datasets_core.features.media_paths import ANYWHERE, MediaPaths
from datasets_core.features.nesting import Misfit, struct_array, struct_parts, validity
from datasets_core.features.stored_media import STORAGE, embedded_arrays, is_binary, is_text, media_array, narrowed
from datasets_core.redact import redact

types = pa.types
_ADDRESS = re.compile(r" <[^<>]* at 0x[0-9a-f]+>")  # of an object in memory, which tells a user nothing
Stored = Mapping[str, Any]


class Media(Feature):
    """A file in each row: its bytes, or a path that leads to it."""

    __slots__ = ()
    needs_encoding: ClassVar[bool] = True
    noun: ClassVar[str] = "file"
    """What one value is called in messages."""
    decode: bool

    @property
    def arrow_type(self) -> pa.DataType:
        """See `Feature.arrow_type`."""
        return STORAGE

    @property
    def needs_decoding(self) -> bool:
        """See `Feature.needs_decoding`."""
        return self.decode

    def encode_example(self, value: Any) -> dict[str, Any]:
        """What is stored of a path, of bytes, of a dict of both, or of an object of this kind.

        Raises:
            CastError: it is none of these.
        """
        if isinstance(value, str):
            return {"bytes": None, "path": str(value)}
        if isinstance(value, os.PathLike):
            return {"bytes": None, "path": os.path.abspath(os.fsdecode(value))}
        if isinstance(value, (bytes, bytearray, memoryview)):
            return {"bytes": bytes(value), "path": None}
        if isinstance(value, pa.Scalar):
            value = value.as_py()
        encoded = self._encode_object(value)
        if encoded is not None:
            return encoded
        if isinstance(value, Mapping):
            return self._encode_dict(value)
        raise CastError(
            f"A value of type {type(value).__name__} is no {self.noun}. Give a path, bytes, or a dict of 'bytes' and 'path'."
        )

    def _encode_dict(self, value: Stored) -> dict[str, Any]:
        data, path = value.get("bytes"), value.get("path")
        if isinstance(path, os.PathLike):
            path = os.path.abspath(os.fsdecode(path))
        if isinstance(data, (bytearray, memoryview)):
            data = bytes(data)
        if not isinstance(data, (bytes, type(None))) or not isinstance(path, (str, type(None))):
            kinds = f"{type(data).__name__} and {type(path).__name__}"
            raise CastError(f"The 'bytes' and 'path' of this {self.noun} are {kinds}. Give bytes and a text.")
        if data is None and path is None:
            raise CastError(f"This {self.noun} has neither 'bytes' nor 'path' but {sorted(map(str, value))}. Give one of them.")
        return {"bytes": data, "path": path}

    def _encode_object(self, value: Any) -> dict[str, Any] | None:
        """What is stored of an object of the package that decodes; None if `value` is none."""
        return None

    def decode_example(self, value: Any, token_per_repo_id: object = None) -> Any:
        """The decoded value of a stored one, whose path is opened wherever it leads.

        Raises:
            MediaDecodeError: the file is damaged, or of another kind.
            MissingDependencyError: the package that decodes is not installed.
        """
        return self.decode_stored(value, ANYWHERE)

    def decode_stored(self, value: Any, paths: MediaPaths) -> Any:
        """The same, whose path is opened where `paths` allows it; what is decoded already stays.

        Raises:
            UntrustedPathError: the path leads elsewhere.
        """
        if not self.decode:
            kind = type(self).__name__
            raise ConfigurationError(f"{kind}(decode=False) shows what is stored. Decode with {kind}(decode=True).")
        if isinstance(value, str):
            value = {"bytes": None, "path": value}
        if value is None or not isinstance(value, Mapping):
            return value
        data, path = value.get("bytes"), value.get("path")
        if data is None and path is None:
            raise MediaDecodeError(self.noun, "it has neither bytes nor a path")
        try:
            return self._decode(data, path, paths)
        except (DatasetsCoreError, ImportError):
            raise
        except Exception as error:  # a decoder fails in ways of its own on a damaged file
            where = f" {redact(path)!r}" if path else ""
            raise MediaDecodeError(f"{self.noun}{where}", reason_of(error)) from error

    def _decode(self, data: bytes | None, path: str | None, paths: MediaPaths) -> Any:
        raise NotImplementedError

    def flatten(self) -> Any:
        """The feature itself, or the columns that it is made of where it is not decoded."""
        return self if self.decode else storage_features()

    def cast_storage(self, storage: pa.Array) -> pa.Array:
        """An array of paths, of bytes or of structs with one or both of them, as it is stored.

        Raises:
            CastError: it holds something else.
        """
        try:
            return self.cast_array(storage)
        except Misfit as misfit:
            raise CastError(f"Row {misfit.index}: {misfit.reason}. Give paths, or bytes.") from misfit

    def cast_array(self, array: pa.Array) -> pa.Array:
        """See `cast_storage`; the error is a `Misfit`."""
        if array.type == STORAGE:
            return array
        length, valid = len(array), validity(array)
        if types.is_struct(array.type):
            _, fields = struct_parts(array)
            return self._from_fields(array, valid, fields)
        if is_text(array.type):
            return struct_array(STORAGE, length, valid, [pa.nulls(length, pa.binary()), narrowed(array, pa.string())])
        if is_binary(array.type):
            return struct_array(STORAGE, length, valid, [narrowed(array, pa.binary()), pa.nulls(length, pa.string())])
        if types.is_null(array.type):
            return pa.nulls(length, STORAGE)
        index = 0 if valid is None else int(np.argmax(valid))
        raise Misfit(index, f"{array.type} holds no {self.noun}")

    def _cast_objects(self, array: pa.Array) -> pa.Array:
        """An array whose values, as Python has them, are objects of this kind."""
        stored: list[dict[str, Any] | None] = []
        for index, value in enumerate(array.to_pylist()):
            try:
                stored.append(None if value is None else self.encode_example(value))
            except CastError as error:
                raise Misfit(index, str(error).removesuffix(".")) from error
        return media_array(stored)

    def _from_fields(self, array: pa.Array, valid: Any, fields: dict[str, pa.Array]) -> pa.Array:
        if not fields.keys() & {"bytes", "path"}:
            index = 0 if valid is None else int(np.argmax(valid))
            raise Misfit(index, f"it has the fields {list(fields)}, and a {self.noun} is stored as 'bytes' and 'path'")
        children = []
        for name, wanted in (("bytes", pa.binary()), ("path", pa.string())):
            child = fields.get(name)
            children.append(pa.nulls(len(array), wanted) if child is None else narrowed(child, wanted))
        return struct_array(STORAGE, len(array), valid, children)

    def embed_storage(
        self, storage: pa.Array, token_per_repo_id: object = None, local_files: bool = True, remote_files: bool = True
    ) -> pa.Array:
        """The stored values with the bytes of their files, and of their paths the last part.

        Raises:
            MediaNotFoundError: a file is missing.
        """
        done = embedded_arrays(storage, ANYWHERE, local_files=local_files, remote_files=remote_files)
        return done[0] if len(done) == 1 else pa.concat_arrays(done)


def storage_features() -> dict[str, FeatureType]:
    """The columns that a medium is made of."""
    return {"bytes": Value("binary"), "path": Value("string")}


def reason_of(error: Exception) -> str:
    """What a decoder says of a damaged file, in one line without addresses in memory."""
    text = " ".join(_ADDRESS.sub("", str(error)).split()).rstrip(".") or type(error).__name__
    return text if len(text) <= 200 else text[:199] + "…"
