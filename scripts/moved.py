"""Rewrites imports of this library's private modules from their paths in 0.1.0 before the new layout to those of today.

    python scripts/moved.py FILE...            rewrites the files
    python scripts/moved.py --check FILE...    changes nothing, and prints what it would change

Only imports and dotted uses of imported modules are changed; comments and formatting stay. Each name that a rewritten statement
imports is looked up in the source of its new module, without importing it. A name that lies in another module now is taken from
there; a name that exists nowhere is reported with its line, and the exit status is 1. Paths in texts (`mock.patch("...")`) are
reported and stay.
"""

from __future__ import annotations

import argparse
import ast
import functools
import itertools
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = "datasets_core"

# Each module of today with the modules of before that became part of it, below `datasets_core`.
_MODULES: dict[str, str] = {
    "builders._blocks": "builders._arrow_blocks builders._block_source builders._sparse builders._window",
    "builders._croissant_files": "builders._croissant_found",
    "builders._croissant_records": "builders._croissant_assembly",
    "builders._croissant_rows": "builders._croissant_documents builders._croissant_tables",
    "builders._croissant_values": "builders._croissant_joins",
    "builders._csv_reader": "builders._csv_read",
    "builders._parquet_blocks": "builders._parquet_filters",
    "builders._csv_types": "builders._csv_form builders._csv_records",
    "builders._folder_metadata": "builders._folder_files builders._gather",
    "builders._json_values": "builders._json_arrow builders._json_mixed",
    "builders._source": "builders._grid",
    "builders._tables": "builders._schemas",
    "builders._tfrecord_rows": "builders._tfrecord_reading builders._tfrecord_blocks",
    "builders.croissant": "builders._croissant_parts",
    "builders.csv": "builders._csv_pandas",
    "builders.fasta": "builders._sequences",
    "builders.hdf5": "builders._hdf5_values",
    "building.beam": "building.beam_rows",
    "building.built": "building.built_pushing building.file_stream",
    "building.cache_key": "building.class_identity building.file_origins building.sources building.told_files",
    "building.failures": "building.author_failures building.author_places",
    "building.folders": "building.bump building.prepared_folders building.prepared_manifest building.soundness",
    "building.hooks": "building.builder_config",
    "building.live": "building.fetched_first building.live_blocks",
    "building.live_jobs": "building.live_files building.live_job building.live_tables",
    "building.lock": "building.dataset_lock building.pinning",
    "building.marks": "building.live_marks",
    "building.options": "building.checks building.split_names building.write_order building.registration",
    "building.prepare": "building.hub_builds",
    "building.prepared": "building.converted building.joined building.prepared_hub building.record_reading",
    "building.tfds_folders.columns": "records.tfds_columns records.tfds_values",
    "building.tfds_folders.description": "meta.tfds_description",
    "building.tfds_folders.folder": (
        "building.record_cursor building.record_manifest building.record_shard building.tfds_folder"
    ),
    "building.tfds_folders.layout": "records.tfds_layout",
    "building.versions": "building.versioned",
    "building.write.build": "building.build building.job_runs building.journal",
    "building.write.generate": "building.generate building.row_chunks building.row_order",
    "building.write.jobs": "building.arrivals building.file_counts building.jobs building.schemas building.sink",
    "building.write.reorder": "building.ordering building.reorder building.shard_counts",
    "building.write.row_keys": "building.key_hash building.keys",
    "building.write.runs": "building.merge_plan building.row_bytes building.sorted_runs",
    "cli.datasets": "cli.croissant_file cli.look cli.provenance cli.sharing",
    "cli.maintenance": "cli.doctor cli.housekeeping cli.scaffold cli.wording",
    "dataset.columns": "columns.additions columns.column_changes columns.flattening",
    "dataset.combine": "dataset.alignment dataset.combined_streams dataset.interleaving",
    "dataset.dataset": "dataset.constructors dataset.streaming",
    "dataset.dataset_dict": "dataset.group dataset.group_columns dataset.group_rows",
    "dataset.insight.describe": "insight.page insight.summary",
    "dataset.insight.indexes": "search.documents search.vectors",
    "dataset.insight.notebook": "insight.overview insight.pictures",
    "dataset.insight.search": "search.search search.queries",
    "dataset.insight.statistics": "insight.distinct insight.statistics",
    "dataset.recompute": "columns.casting columns.class_codes columns.distinct_values columns.recompute",
    "dataset.relational": "selection.sorting",
    "dataset.results": "results.cached results.widening",
    "dataset.selection": "selection.randomness selection.selection selection.train_test",
    "dataset.sources": "dataset.generated exchange.from_files exchange.from_frames",
    "dataset.transforms.calling": "transforms.calling transforms.row_jobs",
    "dataset.transforms.jobs": "transforms.map_jobs transforms.new_columns transforms.plain_code",
    "dataset.transforms.map": "transforms.batching transforms.filtering transforms.transforms",
    "dataset.transforms.mapper": "transforms.assembling transforms.mapping",
    "dataset.transforms.values": "transforms.inputs transforms.reads transforms.returned",
    "engines": "engines.engine",
    "engines.deadline": "engines.serial",
    "engines.pool": "engines.in_order engines.local engines.worker_pool",
    "engines.process": "engines.worker_process",
    "engines.threads": "fetch.after_fork fetch.daemons fetch.parallel",
    "errors": "redact",
    "features.arrow": "features.merge features.nesting features.plain",
    "features.base": "features.dtypes",
    "features.cast": "features.columns",
    "features.formats.arrays": "features.formats.times format.arrays format.nanoseconds",
    "features.formats.formats": "format.formatter format.frames format.tensors",
    "features.formats.python": "format.accessors format.lists format.row_reader",
    "features.inference": "features.media_objects",
    "features.media.audio": "features.audio features.sound",
    "features.media.media": "features.embed features.media features.media_paths features.stored_media",
    "features.media.types": "features.image features.pdf features.science features.video",
    "features.schema": "features.codec features.mixed features.union",
    "features.serialization": "features.forms features.kind_marks",
    "features.types": "features.dynamic features.fixed_shape features.labels features.translation",
    "features.unordered": "features.order_free",
    "features.values": "features.loose",
    "fetch.checksums": "fetch.checksum fetch.registered_files meta.checksum_file fetch.download_config fetch.nested",
    "fetch.disk_cache": "fetch.range_cache fetch.temporaries store.index_cache",
    "fetch.downloads": "fetch.download",
    "fetch.extract": "fetch.listing",
    "fetch.http": "fetch.host_pauses fetch.retry",
    "fetch.hub.branch": "fetch.hub_branch fetch.hub_write_failures",
    "fetch.hub.client": "fetch.hub fetch.hub_refusals fetch.hub_requests",
    "fetch.hub.files": "fetch.hub_downloads fetch.hub_files",
    "fetch.hub.repository": "fetch.hub_cache fetch.hub_listing fetch.kept_hashes",
    "fetch.hub.transfer": "fetch.hub_blobs fetch.hub_storage fetch.hub_transfer",
    "fetch.hub.upload": "fetch.hub_change fetch.hub_upload fetch.hub_xet",
    "fetch.members": "fetch.decompress",
    "fetch.ranges.file": "fetch.range_file fetch.range_plan fetch.transports",
    "fetch.ranges.http": "fetch.http_ranges fetch.one_response",
    "fetch.ranges.reader": "fetch.range_reader fetch.read_ahead fetch.read_pieces",
    "fetch.ranges.sequential": "fetch.remote_bytes",
    "fetch.ranges.stores": "fetch.obstore_ranges fetch.store_ranges",
    "fetch.remote_files": "fetch.remote_access fetch.remote_archive",
    "fetch.streaming": "fetch.ranges fetch.streaming_downloads",
    "hub_urls": "fetch.hub_url",
    "files": "due fetch.sniff",
    "io.export": "exchange.export exchange.tf_dataset",
    "io.push": "publish.foreign_files publish.push publish.push_folder",
    "io.push_card": "publish.dataset_card publish.standing_splits",
    "io.push_parquet": "exchange.pushed_rows exchange.pushing publish.arrow_size publish.parquet_shards",
    "io.push_target": "publish.push_target publish.same_features publish.shard_limits",
    "io.save_to_disk": "exchange.disk exchange.saved_datasets exchange.saved_files exchange.saving",
    "io.saved_folder": "exchange.placing exchange.saved",
    "io.sinks": "exchange.stream_sinks",
    "io.split_mapping": "dataset.grouped",
    "io.tables": "exchange.frames_out exchange.parquet_file exchange.rows_out",
    "io.text": "exchange.json_text exchange.text_files",
    "io.tfrecord": "exchange.framed_rows exchange.record_sink exchange.tfrecord_files exchange.tfrecord_places",
    "load": "locks",
    "meta.card": "meta.config_entries",
    "meta.card_edit": "meta.card_text",
    "meta.card_sections": "meta.card_cut meta.lazy_card",
    "meta.croissant_description": "meta.croissant_fields meta.croissant_splits meta.croissant_terms",
    "meta.croissant_document": "meta.json_ld",
    "meta.croissant_nodes": "meta.croissant_types meta.json_path",
    "meta.data_files": "meta.patterns",
    "meta.listings": "meta.dataset_files meta.extensions meta.small_files",
    "meta.reference": "meta.builder_name meta.naming",
    "meta.row_blocks": "meta.even_splits meta.row_ids",
    "meta.split_info": "meta.file_instruction meta.sub_split",
    "meta.splits": "meta.rows meta.shard_lengths meta.split meta.split_part",
    "meta.version": "meta.experiment",
    "records.encoding": "records.encoded_columns records.encoded_values records.example_encoding",
    "records.examples": "records.example_columns",
    "records.feature_readers": "records.example_inference records.message_kinds records.message_plan",
    "records.frames": "records.crc32c records.framing records.inflated records.joined_crcs records.record_frames",
    "records.reader": "records.record_files records.tfrecord_reader",
    "records.specs.parsing": "records.example_parsing records.quick_example records.sequence_parsing",
    "records.specs.readers": "records.ragged_readers records.spec_readers records.step_readers records.step_rows",
    "records.specs.specs": "records.feature_specs records.ragged_specs records.spec_types",
    "records.specs.values": "records.parsed_values records.spec_parts records.wanted_values",
    "records.wire.columns": "records.sequence_wire records.wire_columns",
    "records.wire.maps": "records.wire_entries records.wire_lists records.wire_spans records.wire_words",
    "records.wire.messages": "records.protobuf_wire records.tensorflow_wire records.wire",
    "records.wire.values": "records.record_block records.varints records.wire_features records.wire_values",
    "records.writer": "records.deflated records.tfrecord_writer",
    "resolve.folder": "resolve.format_source",
    "resolve.hub": "resolve.from_cache resolve.hub_source",
    "resolve.hub_script": "resolve.checkout",
    "resolve.registry": "resolve.formats",
    "resolve.request": "resolve.hub_commits resolve.web",
    "resolve.resolve": "resolve.holding resolve.root",
    "resolve.script": "resolve.confined_source resolve.scripted resolve.standing resolve.trust",
    "resolve.tfds_folder": "resolve.records_source",
    "scripting.compat.datasets": "scripting.old_helpers scripting.old_names scripting.old_settings scripting.tasks",
    "scripting.compat.packages": "scripting.epath_standin scripting.gfile scripting.lazy_packages scripting.small_packages",
    "scripting.compat.tables": "scripting.faces scripting.hugging_face scripting.tensorflow_faces",
    "scripting.compat.tensorflow": "scripting.tf_dtypes scripting.tf_standin",
    "scripting.modules": "scripting.calling_script scripting.collected",
    "scripting.sandbox.answers": "confine.answers confine.fetched_before",
    "scripting.sandbox.batches": "confine.gen_values confine.sent_batches",
    "scripting.sandbox.builder": "confine.confined_builder",
    "scripting.sandbox.children": "confine.children",
    "scripting.sandbox.denials": "confine.denials confine.notices confine.reported",
    "scripting.sandbox.grants": "confine.granted confine.own_files",
    "scripting.sandbox.kernel": "confine.landlock confine.libc confine.seccomp confine.syscalls",
    "scripting.sandbox.limits": (
        "confine.bwrap confine.cage confine.layers confine.limits confine.readable_places confine.scratch"
    ),
    "scripting.sandbox.process": "confine.confined confine.ending confine.held confine.output",
    "scripting.sandbox.protocol": "confine.builder_form confine.pipe confine.trial",
    "scripting.sandbox.served": "confine.asked_downloads confine.asked_streams confine.served",
    "scripting.sandbox.template": "confine.boot confine.child confine.forks confine.template",
    "scripting.script": "scripting.own_code scripting.rewritten",
    "slim.data_provider": "slim.sample_stream",
    "slim.dataset": "slim.builder_reader slim.data_sources slim.reader_choice slim.slim_dataset",
    "slim.dataset_data_provider": "slim.torch_samples",
    "slim.handlers": "slim.item_handlers slim.lookup_tables slim.shaping",
    "slim.image_handlers": "slim.box_handlers slim.image_handler slim.picture_decoding slim.sparse_handler",
    "slim.parallel_reader": "slim.prefetch slim.prefetching",
    "slim.queues": "slim.sample_batches slim.sample_queue slim.whole_numbers",
    "slim.readers": "slim.sample_reader slim.sample_readers",
    "slim.tfexample_decoder": "slim.example_decoder slim.message_decoder slim.row_decoder slim.sequence_decoder",
    "slim.threads": "slim.merged_units slim.unit_threads slim.work_units",
    "store.atomic": "store.swap store.whole_file",
    "store.code": "store.code_reach store.foreign_values store.imported_source",
    "store.commit": "store.garbage",
    "store.diff": "store.comparison store.difference store.paired_columns",
    "store.equality": "store.content store.one_type store.value_differences",
    "store.fingerprint": "store.identity",
    "store.manifest": "results.passing store.layout",
    "store.pieces": "store.file_structure store.places",
    "store.rows.column": "rows.column rows.display rows.lazy_values",
    "store.rows.create": "rows.create rows.generator_rows store.beside store.derived_shard store.filled",
    "store.rows.indices": "rows.arguments rows.index_file rows.indices",
    "store.rows.reading": "rows.described rows.formatted rows.reading",
    "store.rows.rows": "rows.lineage rows.tabled rows.file_names rows.identified",
    "store.rows.view": "rows.arrayed rows.blocks rows.row_block rows.view",
    "store.shard": "store.readers",
    "store.source": "rows.origin store.verify",
    "store.table": "store.lazy_shards",
    "store.writer": "store.hashing store.plain_types store.stream_writer",
    "stream.combine": "stream.resharding stream.rows_of_streams",
    "stream.costs": "stream.block_costs stream.explanation",
    "stream.explain": "stream.advice stream.explaining",
    "stream.io.exports": "stream.stream_exports stream.stream_making",
    "stream.io.files": "exchange.stream_files exchange.stream_saving exchange.stream_sql",
    "stream.io.push": "stream.stream_pushing stream.stream_shards",
    "stream.io.write": "exchange.stream_batches exchange.stream_writing exchange.write_journal",
    "stream.iterable": "stream.iterable_column",
    "stream.iterable_dict": "stream.iterable_group",
    "stream.iteration": "stream.known stream.streamed stream.torch_loader",
    "stream.nodes.block": "stream.block stream.shown",
    "stream.nodes.columns": "stream.aligning stream.changes stream.null_rows",
    "stream.nodes.errors": "stream.error_policy stream.quarantine",
    "stream.nodes.functions": "stream.functions",
    "stream.nodes.jobs": "stream.first_requests stream.made_rows",
    "stream.nodes.map_filter": "stream.nodes stream.pooled",
    "stream.nodes.mix": "stream.chained stream.mixed_nodes stream.several stream.side_by_side",
    "stream.nodes.node": "stream.node",
    "stream.nodes.ordered": "stream.ordered stream.shared_reading",
    "stream.nodes.positions": "stream.expectations stream.rows_by_place stream.ways",
    "stream.nodes.shard": "stream.lanes stream.tap",
    "stream.order.files": "stream.file_order stream.file_turns stream.interleave stream.read_config",
    "stream.order.layers": "stream.order stream.permutation",
    "stream.order.mixture": "stream.fair_picks stream.mixture",
    "stream.order.shuffle": "stream.lane_places stream.shuffled_blocks",
    "stream.plan": "stream.media_decoding stream.projection stream.rank_lanes",
    "stream.row_ids": "stream.row_origins stream.rows_by_id",
    "stream.sources.block_index": "stream.block_index stream.saved_index",
    "stream.sources.block_reader": "stream.block_fetches stream.block_files stream.block_reader",
    "stream.sources.blocks": "stream.block_fit stream.rows_of_blocks",
    "stream.sources.tables": (
        "stream.rows_of_built stream.rows_of_files stream.rows_of_generator stream.rows_of_jobs stream.rows_of_table"
    ),
    "stream.state": "stream.audit stream.folded stream.merged_states stream.seen_versions",
    "stream.transforms": "stream.transforming",
    "tfds.connectors": "tfds.kinds",
    "tfds.decode": "tfds.decoding",
    "tfds.download": "tfds.downloads",
    "tfds.elements": "tfds.rows_in tfds.values_out",
    "tfds.images": "tfds.deep_pictures tfds.image_arrays",
    "tfds.info": "tfds.instruction tfds.registered tfds.tfds_info",
    "tfds.loading": "tfds.measuring",
    "tfds.reading": "tfds.dataframe tfds.numpy_elements tfds.split_reading",
    "tfds.split_stream": "tfds.block_rows tfds.element_steps",
    "tfds.tfds_builder": "tfds.beam_splits",
    "tfds.utils": "tfds.conll tfds.conll_tags tfds.script_paths tfds.testing_names tfds.type_names tfds.utilities",
}  # fmt: skip

# Names that got another one, since two modules that became one had it.
_RENAMED: dict[tuple[str, str], str] = {
    ("building.split_names", "check_splits"): "check_split_list",
    ("confine.child", "run"): "run_child",
    ("features.forms", "kind_of"): "library_kind",
    ("fetch.hub_write_failures", "shown"): "shown_text",
    ("rows.view", "Row"): "PlainRow",
    ("scripting.hugging_face", "FACES"): "HUGGING_FACE_FACES",
    ("scripting.hugging_face", "REASONS"): "HUGGING_FACE_REASONS",
    ("scripting.tensorflow_faces", "FACES"): "TENSORFLOW_FACES",
    ("scripting.tensorflow_faces", "REASONS"): "TENSORFLOW_REASONS",
    ("stream.iteration", "Shown"): "ShownRows",
    ("stream.projection", "Source"): "AnySource",
    ("stream.rows_by_id", "files_of"): "files_of_plan",
}  # fmt: skip

MOVED: dict[str, str] = {f"{LIBRARY}.{old}": f"{LIBRARY}.{new}" for new, olds in _MODULES.items() for old in olds.split()}
_FOLDERS = {module.rpartition(".")[0] for module in MOVED}  # packages of before, of which some are gone


class Edit(NamedTuple):
    """A stretch of a text, in characters, and what stands in its place afterwards."""

    start: int
    stop: int
    text: str


class Outcome(NamedTuple):
    """A rewritten text, how many places of it changed, and what a person has to look at, as (line, message)."""

    text: str
    changes: int
    notes: list[tuple[int, str]]


@functools.cache
def source_of(module: str) -> Path | None:
    """The source file of a module of the library today."""
    parts = module.split(".")
    folder = ROOT / "builders" if parts[1:2] == ["builders"] else ROOT / LIBRARY
    base = folder.joinpath(*parts[2 if folder.name == "builders" else 1 :])
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


@functools.cache
def names_of(module: str) -> frozenset[str]:
    """Names at the top level of a module, texts in its tables of names, and its submodules where it is a package."""
    path = source_of(module)
    if path is None:
        return frozenset()
    names = {each.stem for each in path.parent.iterdir()} if path.name == "__init__.py" else set()
    waiting: list[ast.stmt] = list(ast.parse(path.read_text(encoding="utf-8")).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.stmt):
                    waiting.append(child)
                else:
                    names |= {
                        each.id for each in ast.walk(child) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
                    }
                    names |= {
                        each.value for each in ast.walk(child) if isinstance(each, ast.Constant) and isinstance(each.value, str)
                    }
    return frozenset(names)


@functools.cache
def _owners() -> dict[str, list[str]]:
    """Each class and function at the top level of a module with the modules that define it."""
    found: dict[str, list[str]] = {}
    for folder, package in ((ROOT / LIBRARY, LIBRARY), (ROOT / "builders", f"{LIBRARY}.builders")):
        for path in sorted(folder.rglob("*.py")):
            module = ".".join((package, *path.relative_to(folder).with_suffix("").parts)).removesuffix(".__init__")
            for name in re.findall(r"^(?:async def|def|class) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
                found.setdefault(name, []).append(module)
    return found


def new_module(module: str) -> str | None:
    """Today's path of a module: itself where it never moved, `None` for a package that was dissolved."""
    if module in MOVED:
        return MOVED[module]
    return None if module in _FOLDERS and source_of(module) is None else module


def new_place(module: str, name: str) -> tuple[str, str] | None:
    """Today's module and name of `name` of a module of before; `None` where there is none."""
    if f"{module}.{name}" in MOVED:
        package, _, last = MOVED[f"{module}.{name}"].rpartition(".")
        return package, last
    if source_of(f"{module}.{name}") is not None:  # a module of today in a package that has the name of a module of before
        return module, name
    renamed = _RENAMED.get((module.removeprefix(f"{LIBRARY}."), name), name)
    home = new_module(module)
    if home is not None and (name == "*" or renamed in names_of(home)):
        return home, renamed
    owners = _owners().get(renamed, [])
    return (owners[0], renamed) if len(owners) == 1 else None


def _is_affected(module: str) -> bool:
    return module in MOVED or module in _FOLDERS


def _is_at_home(module: str, name: str) -> bool:
    """True for a name that a module which did not move has as before, as far as its source tells."""
    if f"{module}.{name}" in MOVED:
        return False
    known = names_of(module)
    return not known or name == "*" or not known.isdisjoint((name, "*", "__getattr__"))


def _dotted(node: ast.expr) -> str:
    """`datasets_core.a.b` as it is written; of any other expression an empty text."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([LIBRARY, *reversed(names)]) if isinstance(node, ast.Name) and node.id == LIBRARY else ""


class _Rewriter(ast.NodeVisitor):
    def __init__(self, text: str) -> None:
        self.text, self.edits, self.notes = text, list[Edit](), list[tuple[int, str]]()
        self._modules: dict[str, str] = {}  # names that are bound to moved modules, with the paths of before
        self._lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n|$)", text)  # as `ast` counts them
        self._starts = [0, *itertools.accumulate(map(len, self._lines))]

    def _at(self, line: int, column: int) -> int:
        """A place of `ast`, which counts bytes, in characters of the text."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def _replace(self, node: ast.expr | ast.stmt | ast.alias, text: str) -> None:
        assert node.end_lineno is not None and node.end_col_offset is not None
        start, stop = self._at(node.lineno, node.col_offset), self._at(node.end_lineno, node.end_col_offset)
        if self.text[start:stop] != text:
            self.edits.append(Edit(start, stop, text))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name.partition(".")[0] == LIBRARY and _is_affected(alias.name):
                new = new_module(alias.name)
                if new is None:
                    self.notes.append((node.lineno, f"{alias.name} was dissolved: import the modules that you need"))
                else:
                    self._replace(alias, f"{new} as {alias.asname}" if alias.asname else new)
                    if alias.asname:
                        self._modules[alias.asname] = alias.name

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level or module.partition(".")[0] != LIBRARY:
            return
        if not _is_affected(module) and all(_is_at_home(module, alias.name) for alias in node.names):
            return
        homes: dict[str, list[str]] = {}
        names = []
        for alias in node.names:
            place = new_place(module, alias.name)
            if place is None:
                self.notes.append((node.lineno, f"{module}.{alias.name} exists no longer"))
                place = (module, alias.name)
            home, name = place
            bound = alias.asname or alias.name
            if f"{module}.{alias.name}" in MOVED:
                self._modules[bound] = f"{module}.{alias.name}"
            names.append(name)
            homes.setdefault(home, []).append(name if name == bound else f"{name} as {bound}")
        if len(homes) == 1 and names == [alias.name for alias in node.names]:  # only the module changes: keep the formatting
            start = self.text.index(module, self._at(node.lineno, node.col_offset))
            if (home := next(iter(homes))) != module:
                self.edits.append(Edit(start, start + len(module), home))
            return
        indent = "\n" + " " * node.col_offset
        self._replace(node, indent.join(f"from {home} import {', '.join(parts)}" for home, parts in homes.items()))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        dotted = _dotted(node)
        if dotted in MOVED:
            self._replace(node, MOVED[dotted])
        elif (module := dotted.rpartition(".")[0]) in MOVED:
            place = new_place(module, node.attr)
            if place is None:
                self.notes.append((node.lineno, f"{dotted} exists no longer"))
            else:
                self._replace(node, ".".join(place))
        elif isinstance(node.value, ast.Name) and node.value.id in self._modules:
            self._check(node, self._modules[node.value.id])
        else:
            self.generic_visit(node)

    def _check(self, node: ast.Attribute, module: str) -> None:
        """Report a name of a module under an alias that is not in the new module by that name."""
        place = new_place(module, node.attr)
        if place is None:
            self.notes.append((node.lineno, f"{module}.{node.attr} exists no longer"))
        elif place != (new_module(module), node.attr):
            self.notes.append((node.lineno, f"{module}.{node.attr} is {'.'.join(place)} now"))

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and node.value.startswith(f"{LIBRARY}."):
            module = node.value.replace(":", ".")
            while module and module not in MOVED:
                module = module.rpartition(".")[0]
            if module:
                self.notes.append((node.lineno, f"the text {node.value!r} names {module}, which is {MOVED[module]} now"))


def rewritten(text: str) -> Outcome:
    """A Python text with its imports of moved modules as they are today.

    >>> rewritten("from datasets_core.rows.view import RowView").text
    'from datasets_core.store.rows.view import RowView'
    """
    rewriter = _Rewriter(text)
    rewriter.visit(ast.parse(text))
    for edit in sorted(rewriter.edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.stop :]
    return Outcome(text, len(rewriter.edits), sorted(rewriter.notes))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="moved.py", description="Rewrite imports of private modules that moved.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 where something would change")
    options = parser.parse_args(arguments)
    status = 0
    for path in options.files:
        outcome = rewritten(path.read_bytes().decode("utf-8"))
        if outcome.changes and not options.check:
            path.write_bytes(outcome.text.encode("utf-8"))
        for line, message in outcome.notes:
            print(f"{path}:{line}: {message}")
        if outcome.changes:
            print(f"{path}: {outcome.changes} {'places to change' if options.check else 'places changed'}")
        if outcome.notes or (options.check and outcome.changes):
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
