"""Recorded names of classes and functions in fingerprints, wherever they are defined now.

A fingerprint holds the full name of a class, and is the key of results on disk.  So that moving a class to another module, or
giving it another name, loses no result, fingerprints hold the name of the module in which it was when it was recorded here.
"""

from __future__ import annotations

import functools

from datasets_core.store.code import is_of_library

# Each recorded module with the classes and functions that were defined in it; a name has one definition in the whole library.
_MODULES: dict[str, str] = {
    "datasets_core._lazy": "later",
    "datasets_core.builders._arrow_blocks": "ArrowBlocks",
    "datasets_core.builders._block_source": "BlockSource",
    "datasets_core.builders._croissant_assembly": "Assembly",
    "datasets_core.builders._croissant_files": "ResourceFiles",
    "datasets_core.builders._croissant_found": "FoundFile",
    "datasets_core.builders._croissant_parts": "SplitField split_field splits_of_names",
    "datasets_core.builders._croissant_records": "Records",
    "datasets_core.builders._croissant_rows": "ResourceRows",
    "datasets_core.builders._croissant_values": "ValueFault",
    "datasets_core.builders._csv_form": "CsvForm WideRecords",
    "datasets_core.builders._csv_records": "Grammar",
    "datasets_core.builders._csv_types": "TextRules",
    "datasets_core.builders._folder": "FolderBuilder FolderConfig",
    "datasets_core.builders._folder_files": "FolderFiles",
    "datasets_core.builders._folder_metadata": "Locator",
    "datasets_core.builders._grid": "Grid",
    "datasets_core.builders._json_blocks": "LineBlock Scanner",
    "datasets_core.builders._json_mixed": "BrokenRow",
    "datasets_core.builders._parquet_blocks": "Options ParquetBlocks",
    "datasets_core.builders._schemas": "look_at_names repeated",
    "datasets_core.builders._sequences": "Record SequenceBuilder SequenceConfig lines_of refuse_large",
    "datasets_core.builders._source": "ByteStream TextBytes invalid_utf8 refuse_foreign text_reader",
    "datasets_core.builders._sparse": "Sparse",
    "datasets_core.builders._tables": "FileBuilder",
    "datasets_core.builders._tfrecord_blocks": "Groups SplitColumns",
    "datasets_core.builders._tfrecord_reading": "TfRecordReading",
    "datasets_core.builders._window": "Window",
    "datasets_core.builders.arrow": "Arrow ArrowConfig read_arrow",
    "datasets_core.builders.audiofolder": "AudioFolder",
    "datasets_core.builders.conll": "Conll ConllConfig read_conll",
    "datasets_core.builders.croissant": "Croissant CroissantConfig described_in",
    "datasets_core.builders.csv": "Csv CsvConfig",
    "datasets_core.builders.fasta": "Fasta",
    "datasets_core.builders.fastq": "Fastq",
    "datasets_core.builders.hdf5": "Hdf5 Hdf5Config read_hdf5",
    "datasets_core.builders.imagefolder": "ImageFolder",
    "datasets_core.builders.json": "JsonConfig JsonReader",
    "datasets_core.builders.meshfolder": "MeshFolder",
    "datasets_core.builders.niftifolder": "NiftiFolder",
    "datasets_core.builders.pandas": "Pandas PandasConfig read_frame",
    "datasets_core.builders.parquet": "Parquet ParquetConfig read_parquet",
    "datasets_core.builders.pdffolder": "PdfFolder",
    "datasets_core.builders.sql": "Sql SqlConfig read_sql",
    "datasets_core.builders.text": "TextConfig text_blocks",
    "datasets_core.builders.tfrecord": "TfRecord TfRecordConfig",
    "datasets_core.builders.videofolder": "VideoFolder",
    "datasets_core.builders.webdataset": "WebDataset WebDatasetConfig claims read_webdataset",
    "datasets_core.builders.xml": "Xml XmlConfig",
    "datasets_core.building.builder": "ArrowBasedBuilder",
    "datasets_core.building.built": "Built",
    "datasets_core.building.built_pushing": "BuiltPushing",
    "datasets_core.building.file_origins": "BuilderFiles",
    "datasets_core.building.hooks": "Builder Encoded Hooks SplitGenerator",
    "datasets_core.building.live": "LiveSplits",
    "datasets_core.building.live_files": "FileJob FileSplits",
    "datasets_core.building.live_job": "LiveJob LivePart Splits",
    "datasets_core.building.live_marks": "Mark",
    "datasets_core.building.options": "BuildOptions",
    "datasets_core.building.record_reading": "RecordReading",
    "datasets_core.building.versioned": "Versioned",
    "datasets_core.building.versions": "BlockedVersions Versions",
    "datasets_core.columns.column_changes": "ColumnChanges",
    "datasets_core.config": "Config disable_caching enable_caching from_environment is_caching_enabled settings",
    "datasets_core.dataset.combine": "concatenate_datasets interleave_datasets",
    "datasets_core.dataset.constructors": "Constructors",
    "datasets_core.dataset.group": "DatasetDict",
    "datasets_core.dataset.streaming": "Streaming",
    "datasets_core.distributed": "split_dataset_by_node split_for_jax_process split_for_process split_for_torch_process",
    "datasets_core.engines.deadline": "Deadline TimeUp",
    "datasets_core.engines.engine": "Engine get_engine register_engine",
    "datasets_core.engines.local": "Failure ProcessEngine ThreadEngine",
    "datasets_core.engines.serial": "SerialEngine",
    "datasets_core.errors": (
        "ArchiveError ArgumentTypeError BlockedVersionError CastError CellCastError ChecksumVerificationError "
        "ConfigurationError ConfinementUnavailableError DamagedRecordError DamagedShardError "
        "DataFilesNotFoundError DataFilesWarning DatasetBuildError DatasetDiskError DatasetGenerationCastError "
        "DatasetGenerationError DatasetNotFoundError DatasetsCoreError DefunctDatasetError DeniedAccessError "
        "DeniedAccessWarning DisabledRepositoryError DownloadError DuplicateKeysError EmptyRepositoryError "
        "EmptySplitError ExampleError ExpectedMoreDownloadedFilesError ExpectedMoreSplitsError "
        "ExperimentalVersionWarning FileChangedError FileFormatError FileInPlaceError FileNotFoundDatasetsError "
        "ForbiddenRepositoryError GatedRepositoryError HubError HubUnreachableError IndexFileError InvalidKeyError "
        "InvalidTokenError ItemError LockDriftError ManifestError ManualDownloadError MaskLengthError "
        "MediaDecodeError MediaError MediaNotFoundError MissingChecksumError MissingDependencyError "
        "MissingIndexError MissingRowIdsError MissingVersionError NestedQueueRunnerError NoDataFilesError "
        "NonMatchingChecksumError NonMatchingSplitsSizesError NotPreparedError OfflineError OutOfRangeError "
        "PluginError PushConflictError PushError QueryError RankError ReferenceSyntaxError RepositoryNotFoundError "
        "RevisionNotFoundError RowIdError RowIndexError ScriptError ScriptMemoryError ScriptTimeoutError "
        "SplitSyntaxError SplitsVerificationError StreamStateError TooManyErrorsError "
        "UnexpectedDownloadedFileError UnexpectedSplitsError UnhashableError UnknownColumnError UnknownConfigError "
        "UnknownExperimentError UnknownFeatureError UnknownFormatError UnknownItemError UnknownOptionError "
        "UnknownSplitError UnknownVersionError UnpreparableVersionError UnsafeArchiveError UntrustedPathError "
        "UntrustedScriptError UrlNotFoundError VerificationError WorkerDiedError WrongVersionError rebuild"
    ),
    "datasets_core.exchange.disk": "Disk",
    "datasets_core.exchange.export": "Export",
    "datasets_core.exchange.pushing": "Pushing",
    "datasets_core.exchange.tf_dataset": "ForTensorflow",
    "datasets_core.features.base": "LargeList List Value register_feature",
    "datasets_core.features.formats.formats": "TabularFormat register_tabular",
    "datasets_core.features.codec": "RowEncoder",
    "datasets_core.features.fixed_shape": "FixedShape",
    "datasets_core.features.kind_marks": "audio_id box_id optional",
    "datasets_core.features.media": "Media",
    "datasets_core.features.media_paths": "MediaPaths",
    "datasets_core.features.nesting": "Misfit list_array",
    "datasets_core.features.order_free": "OrderFreeEncoder",
    "datasets_core.features.pdf": "Pdf",
    "datasets_core.features.plain": "plain_array",
    "datasets_core.features.schema": "Features",
    "datasets_core.features.science": "BioSequence BioStructure Mesh Nifti",
    "datasets_core.features.sound": "AudioMetadata AudioSamples Sound",
    "datasets_core.fetch.checksum": "Digest FileRecord RegisteredFile VerificationMode",
    "datasets_core.fetch.download_config": "DownloadMode",
    "datasets_core.fetch.hub_url": "hub_url parse_hub_url",
    "datasets_core.fetch.members": "Budget",
    "datasets_core.fetch.remote": "RemoteFile",
    "datasets_core.fetch.streaming_downloads": "StreamingDownloadManager",
    "datasets_core.files": "is_url local_path",
    "datasets_core.format.arrays": "Casting",
    "datasets_core.format.formatter": "Formatter RowFormat",
    "datasets_core.format.nanoseconds": "NanosecondDatetime NanosecondTime NanosecondTimedelta",
    "datasets_core.format.row_reader": "RowReader ValueDecoder",
    "datasets_core.format.tensors": "JaxKit Kit NumpyKit TensorflowKit TorchKit",
    "datasets_core.insight.overview": "Overview",
    "datasets_core.inspect": (
        "get_dataset_config_info get_dataset_config_names get_dataset_default_config_name get_dataset_infos "
        "get_dataset_split_names"
    ),
    "datasets_core.load": "load_dataset load_dataset_builder load_from_disk request_of",
    "datasets_core.locks": "lock_dataset",
    "datasets_core.logging": (
        "disable_propagation enable_propagation get_verbosity set_verbosity set_verbosity_debug "
        "set_verbosity_error set_verbosity_info set_verbosity_warning"
    ),
    "datasets_core.meta.builder_name": "BuilderName",
    "datasets_core.meta.card_text": "Edit",
    "datasets_core.meta.config_entries": "Card ConfigEntry LazyInfos",
    "datasets_core.meta.croissant_document": "parse_croissant",
    "datasets_core.meta.croissant_fields": "FieldWriter",
    "datasets_core.meta.croissant_nodes": "Container CroissantDocument FieldNode FileNode RecordSetNode ValueSource",
    "datasets_core.meta.croissant_terms": "Ids",
    "datasets_core.meta.data_files": "DataFilesDict DataFilesList",
    "datasets_core.meta.dataset_files": "DatasetFile DatasetFiles FilesOrigin",
    "datasets_core.meta.even_splits": "even_part even_splits",
    "datasets_core.meta.experiment": "Experiment",
    "datasets_core.meta.extensions": "extensions is_bare_shard",
    "datasets_core.meta.file_instruction": "FileInstruction",
    "datasets_core.meta.info": "SupervisedKeysData",
    "datasets_core.meta.json_ld": "Terms",
    "datasets_core.meta.lazy_card": "LazyCard LazyDatasetInfos",
    "datasets_core.meta.listings": "Listing",
    "datasets_core.meta.reference": "DatasetRef split_version",
    "datasets_core.meta.row_blocks": "RowBlocks",
    "datasets_core.meta.rows": "RowRange",
    "datasets_core.meta.shard_lengths": "ShardLengths",
    "datasets_core.meta.small_files": "UnfitFileError",
    "datasets_core.meta.split": "AbsoluteRange NamedSplit Split parse_split",
    "datasets_core.meta.split_info": "SplitDict SplitInfo",
    "datasets_core.meta.split_part": "EvenCut SplitPart is_split_name",
    "datasets_core.meta.sub_split": "SubSplitInfo",
    "datasets_core.meta.tfds_description": "TfdsDescription TfdsSplit",
    "datasets_core.optional": "needed",
    "datasets_core.progress": "are_progress_bars_disabled disable_progress_bars enable_progress_bars is_progress_bar_enabled",
    "datasets_core.records.encoded_columns": "encode_examples",
    "datasets_core.records.example_columns": "ExampleReader",
    "datasets_core.records.example_encoding": "encode_example encode_sequence_example",
    "datasets_core.records.example_parsing": "ExampleParser parse_example parse_single_example",
    "datasets_core.records.feature_specs": "SparseFeature",
    "datasets_core.records.parsed_values": "RaggedValue SparseValue",
    "datasets_core.records.ragged_specs": "RaggedFeature RowLengths RowLimits RowSplits RowStarts UniformRowLength ValueRowIds",
    "datasets_core.records.record_block": "RecordBlock",
    "datasets_core.records.record_frames": "blocks_of",
    "datasets_core.records.record_index": "RecordIndex",
    "datasets_core.records.sequence_parsing": "SequenceParser parse_sequence_example parse_single_sequence_example",
    "datasets_core.records.sequence_wire": "decode_sequence_examples",
    "datasets_core.records.spec_parts": "ElementsPart FixedPart ListPart RaggedPart SparsePart StepsPart",
    "datasets_core.records.tfrecord_reader": "index",
    "datasets_core.records.tfrecord_writer": "TFRecordWriter",
    "datasets_core.records.wire": "decode_example decode_sequence_example",
    "datasets_core.records.wire_columns": "decode_examples",
    "datasets_core.records.wire_values": "SequenceColumn WireColumn",
    "datasets_core.redact": "redact redact_text",
    "datasets_core.resolve.registry": "register_format",
    "datasets_core.resolve.request": "checked_trust",
    "datasets_core.resolve.resolve": "resolve source_of",
    "datasets_core.rows.arrayed": "ArrayRows",
    "datasets_core.rows.column": "Column",
    "datasets_core.rows.file_names": "FileNames",
    "datasets_core.rows.formatted": "CompletedRows CustomRows TableRows",
    "datasets_core.rows.generator_rows": "Recipe",
    "datasets_core.rows.identified": "Identified",
    "datasets_core.rows.lazy_values": "LazyDict",
    "datasets_core.rows.lineage": "Lineage",
    "datasets_core.rows.origin": "fetch",
    "datasets_core.rows.row_block": "RowBlock",
    "datasets_core.rows.view": "RowView",
    "datasets_core.scripting.epath_standin": "Path as_path",
    "datasets_core.scripting.lazy_packages": "LazyImports",
    "datasets_core.scripting.tf_dtypes": "DType",
    "datasets_core.search.queries": "Queries",
    "datasets_core.search.search": "Search",
    "datasets_core.selection.selection": "Selection",
    "datasets_core.slim.box_handlers": (
        "BoundingBox BoundingBoxSequence KeypointsSequence NumBoxesSequence _CoordinatesSequence"
    ),
    "datasets_core.slim.builder_reader": "BuilderReader",
    "datasets_core.slim.data_decoder": "DataDecoder",
    "datasets_core.slim.data_provider": "DataProvider",
    "datasets_core.slim.data_sources": "get_data_files",
    "datasets_core.slim.dataset_data_provider": "DatasetDataProvider",
    "datasets_core.slim.example_decoder": "TFExampleDecoder",
    "datasets_core.slim.item_handlers": "BackupHandler ItemHandler ItemHandlerCallback LookupTensor",
    "datasets_core.slim.lookup_tables": "LookupTable",
    "datasets_core.slim.merged_units": "Entry MergeState MergedUnits",
    "datasets_core.slim.message_decoder": "MessageDecoder",
    "datasets_core.slim.parallel_reader": (
        "FIFOQueue KeyedSamples ParallelReader RandomShuffleQueue parallel_read single_pass_read"
    ),
    "datasets_core.slim.prefetching": "PrefetchQueue prefetch_queue",
    "datasets_core.slim.queues": "QueueRunners Runner",
    "datasets_core.slim.row_decoder": "RowDecoder",
    "datasets_core.slim.sample_queue": "FirstInFirstOut RandomQueue",
    "datasets_core.slim.sample_reader": "SampleBlock SampleReader",
    "datasets_core.slim.sample_readers": "FixedLengthRecordReader TextLineReader WholeFileReader _BlockReader",
    "datasets_core.slim.sample_stream": "SampleStream",
    "datasets_core.slim.sequence_decoder": "TFSequenceExampleDecoder",
    "datasets_core.slim.sparse_handler": "SparseTensor",
    "datasets_core.slim.torch_samples": "as_torch",
    "datasets_core.slim.unit_threads": "ThreadsClosedError UnitThreads",
    "datasets_core.slim.work_units": "WorkUnits",
    "datasets_core.store.fingerprint": "Hasher",
    "datasets_core.store.table": "RowTable",
    "datasets_core.stream.aligning": "Aligned",
    "datasets_core.stream.audit": "audit",
    "datasets_core.stream.changes": "Added Cast Decoding Renamed Selected",
    "datasets_core.stream.error_policy": "ErrorPolicy Guard Ledger Tally",
    "datasets_core.stream.file_order": "FileRows",
    "datasets_core.stream.functions": "Function RowsMade",
    "datasets_core.stream.interleave": "Interleave",
    "datasets_core.stream.iterable": "IterableDataset",
    "datasets_core.stream.iterable_column": "IterableColumn",
    "datasets_core.stream.iterable_group": "IterableDatasetDict",
    "datasets_core.stream.media_decoding": "DecodeMedia Decoded",
    "datasets_core.stream.merged_states": "merge_states",
    "datasets_core.stream.mixture": "InTurn Staged Weighted",
    "datasets_core.stream.null_rows": "NullOfCast NullOfMap",
    "datasets_core.stream.order": "Count Layer Repeated Shuffled Slice",
    "datasets_core.stream.packing": "Pack Packed",
    "datasets_core.stream.plan": "Share",
    "datasets_core.stream.rank_lanes": "RankLanes",
    "datasets_core.stream.read_config": "ReadConfig",
    "datasets_core.stream.rows_of_blocks": "BlockPart RowsOfBlocks",
    "datasets_core.stream.rows_of_built": "RowsOfBuilt TableJob",
    "datasets_core.stream.rows_of_files": "Order RowsOfFiles",
    "datasets_core.stream.rows_of_generator": "GeneratorJob",
    "datasets_core.stream.rows_of_jobs": "RowsOfJobs",
    "datasets_core.stream.rows_of_streams": "Joining Mixture RowsOfStreams",
    "datasets_core.stream.rows_of_table": "RowsOfTable",
    "datasets_core.stream.shuffled_blocks": "BlocksInTurn ShuffledBlocks",
    "datasets_core.stream.steps": "Batch ChangeColumns Filter Limit Map PlainStep Repeat Shuffle Step",
    "datasets_core.stream.stream_exports": "StreamExports",
    "datasets_core.stream.stream_making": "StreamMaking",
    "datasets_core.stream.stream_pushing": "StreamPushing",
    "datasets_core.stream.streamed": "Streamed at_least_one",
    "datasets_core.stream.transforming": "Transforming",
    "datasets_core.tfds.beam_splits": "BeamSplits",
    "datasets_core.tfds.conll": "ConllBuilderConfig ConllDatasetBuilder ConllUBuilderConfig ConllUDatasetBuilder",
    "datasets_core.tfds.connectors": (
        "Connector FeaturesDict ListColumns ListFeature ScalarFeature TensorInfo TensorList connector_of list_of"
    ),
    "datasets_core.tfds.dataframe": "as_dataframe",
    "datasets_core.tfds.decoding": "PartialDecoding SkipDecoding changed make_decoder",
    "datasets_core.tfds.downloads": "ExtractMethod Members Resource SeekableMember",
    "datasets_core.tfds.element_steps": "ElementFunction FilterElements MapElements NumberElements",
    "datasets_core.tfds.elements": "Batched Form Supervised Whole",
    "datasets_core.tfds.features": (
        "BBox BBoxFeature BBoxFormat Documentation Encoding FeatureConnector LabeledImage Optional Scalar as_tfds"
    ),
    "datasets_core.tfds.image_arrays": "ImageArray",
    "datasets_core.tfds.kinds": "tensor_of",
    "datasets_core.tfds.loading": "PreparedBuilder builder builder_cls data_source list_builders",
    "datasets_core.tfds.measuring": "BenchmarkResult benchmark",
    "datasets_core.tfds.script_paths": "gcs_path tfds_path",
    "datasets_core.tfds.split_reading": "SplitReading",
    "datasets_core.tfds.split_stream": "SplitStream",
    "datasets_core.tfds.testing_names": "GraphVisualizerMetadataDict NotHere",
    "datasets_core.tfds.tfds_builder": "ShardBasedBuilder",
    "datasets_core.tfds.tfds_info": "DatasetIdentity Keys MetadataDict",
    "datasets_core.tfds.type_names": "ListOrElem ListOrTreeOrElem Tree TreeDict TupleOrList",
    "datasets_core.tfds.utilities": "FileFormat Size TextEncoderConfig classproperty",
    "datasets_core.transforms.transforms": "Transforms",
}

# Names with several definitions in the library: the package or module in which each is defined now, and its recorded module.
_NAMESAKES: dict[str, dict[str, str]] = {
    "Access": {"datasets_core.fetch": "datasets_core.fetch.remote", "datasets_core.features": "datasets_core.format.accessors"},
    "Array2D": {
        "datasets_core.features": "datasets_core.features.fixed_shape",
        "datasets_core.tfds": "datasets_core.tfds.connectors",
    },
    "Array3D": {
        "datasets_core.features": "datasets_core.features.fixed_shape",
        "datasets_core.tfds": "datasets_core.tfds.connectors",
    },
    "Array4D": {
        "datasets_core.features": "datasets_core.features.fixed_shape",
        "datasets_core.tfds": "datasets_core.tfds.connectors",
    },
    "Array5D": {
        "datasets_core.features": "datasets_core.features.fixed_shape",
        "datasets_core.tfds": "datasets_core.tfds.connectors",
    },
    "Arrivals": {"datasets_core.slim": "datasets_core.slim.sample_queue"},
    "Audio": {"datasets_core.features": "datasets_core.features.audio", "datasets_core.tfds": "datasets_core.tfds.features"},
    "BeamBasedBuilder": {
        "datasets_core.building": "datasets_core.building.beam",
        "datasets_core.tfds": "datasets_core.tfds.tfds_builder",
    },
    "BuilderConfig": {
        "datasets_core.building": "datasets_core.building.builder_config",
        "datasets_core.tfds": "datasets_core.tfds.tfds_builder",
    },
    "ClassLabel": {
        "datasets_core.features": "datasets_core.features.labels",
        "datasets_core.tfds.connectors": "datasets_core.tfds.connectors",
        "datasets_core.tfds.features": "datasets_core.tfds.features",
    },
    "Columns": {
        "datasets_core.builders._croissant_rows": "datasets_core.builders._croissant_rows",
        "datasets_core.builders._csv_types": "datasets_core.builders._csv_form",
    },
    "Cut": {"datasets_core.meta": "datasets_core.meta.card_cut", "datasets_core.stream": "datasets_core.stream.order"},
    "Dataset": {
        "datasets_core.dataset": "datasets_core.dataset.dataset",
        "datasets_core.slim": "datasets_core.slim.slim_dataset",
        "datasets_core.tfds": "datasets_core.tfds.features",
    },
    "DatasetBuilder": {
        "datasets_core.building": "datasets_core.building.builder",
        "datasets_core.tfds": "datasets_core.tfds.tfds_builder",
    },
    "DatasetInfo": {"datasets_core.meta": "datasets_core.meta.info", "datasets_core.tfds": "datasets_core.tfds.tfds_info"},
    "Decoder": {"datasets_core.features": "datasets_core.features.codec", "datasets_core.tfds": "datasets_core.tfds.decoding"},
    "DownloadConfig": {
        "datasets_core.fetch": "datasets_core.fetch.download_config",
        "datasets_core.tfds": "datasets_core.tfds.downloads",
    },
    "DownloadManager": {
        "datasets_core.fetch": "datasets_core.fetch.download",
        "datasets_core.tfds": "datasets_core.tfds.downloads",
    },
    "Facts": {"datasets_core.features": "datasets_core.features.order_free"},
    "Feature": {"datasets_core.features": "datasets_core.features.base", "datasets_core.records": "datasets_core.records.wire"},
    "FixedLenFeature": {"datasets_core.records": "datasets_core.records.feature_specs"},
    "FixedLenSequenceFeature": {"datasets_core.records": "datasets_core.records.feature_specs"},
    "GeneratorBasedBuilder": {
        "datasets_core.building": "datasets_core.building.builder",
        "datasets_core.tfds": "datasets_core.tfds.tfds_builder",
    },
    "Grouped": {"datasets_core.stream": "datasets_core.stream.order"},
    "Image": {
        "datasets_core.features": "datasets_core.features.image",
        "datasets_core.slim": "datasets_core.slim.image_handler",
    },
    "Json": {
        "datasets_core.builders": "datasets_core.builders.json",
        "datasets_core.features": "datasets_core.features.dynamic",
    },
    "KeptRows": {"datasets_core.builders": "datasets_core.builders._parquet_filters"},
    "Keyed": {
        "datasets_core.builders": "datasets_core.builders._croissant_joins",
        "datasets_core.slim": "datasets_core.slim.parallel_reader",
    },
    "Member": {
        "datasets_core.builders": "datasets_core.builders._folder_files",
        "datasets_core.fetch": "datasets_core.fetch.members",
    },
    "Names": {"datasets_core.tfds": "datasets_core.tfds.testing_names"},
    "Origin": {"datasets_core.slim": "datasets_core.slim.merged_units"},
    "Outcome": {"datasets_core.stream": "datasets_core.stream.error_policy"},
    "Part": {
        "datasets_core.builders": "datasets_core.builders._folder",
        "datasets_core.building": "datasets_core.building.hooks",
        "datasets_core.records": "datasets_core.records.spec_parts",
        "datasets_core.stream": "datasets_core.stream.steps",
    },
    "Plan": {"datasets_core.stream": "datasets_core.stream.plan"},
    "ReadInstruction": {
        "datasets_core.meta": "datasets_core.meta.split",
        "datasets_core.tfds": "datasets_core.tfds.instruction",
    },
    "RecordBlocks": {
        "datasets_core.builders._csv_types": "datasets_core.builders._csv_records",
        "datasets_core.builders._tfrecord_rows": "datasets_core.builders._tfrecord_blocks",
    },
    "Request": {"datasets_core.resolve": "datasets_core.resolve.request"},
    "Row": {"datasets_core.store": "datasets_core.rows.row_block", "datasets_core.tfds": "datasets_core.tfds.elements"},
    "Sequence": {"datasets_core.features": "datasets_core.features.base", "datasets_core.tfds": "datasets_core.tfds.features"},
    "Source": {
        "datasets_core.builders": "datasets_core.builders._source",
        "datasets_core.store": "datasets_core.rows.lazy_values",
    },
    "TFRecordReader": {
        "datasets_core.records": "datasets_core.records.tfrecord_reader",
        "datasets_core.slim": "datasets_core.slim.sample_readers",
    },
    "Tensor": {"datasets_core.slim": "datasets_core.slim.item_handlers", "datasets_core.tfds": "datasets_core.tfds.features"},
    "Text": {"datasets_core.builders": "datasets_core.builders.text", "datasets_core.tfds": "datasets_core.tfds.features"},
    "Translation": {
        "datasets_core.features": "datasets_core.features.translation",
        "datasets_core.tfds.connectors": "datasets_core.tfds.connectors",
        "datasets_core.tfds.features": "datasets_core.tfds.features",
    },
    "TranslationVariableLanguages": {
        "datasets_core.features": "datasets_core.features.translation",
        "datasets_core.tfds.connectors": "datasets_core.tfds.connectors",
        "datasets_core.tfds.features": "datasets_core.tfds.features",
    },
    "VarLenFeature": {"datasets_core.records": "datasets_core.records.feature_specs"},
    "Version": {"datasets_core.meta": "datasets_core.meta.version"},
    "Video": {"datasets_core.features": "datasets_core.features.video", "datasets_core.tfds": "datasets_core.tfds.features"},
    "_Columns": {"datasets_core.tfds": "datasets_core.tfds.connectors"},
    "_same": {"datasets_core.dataset": "datasets_core.transforms.transforms"},
    "_signed": {"datasets_core.building": "datasets_core.building.live"},
    "as_numpy": {"datasets_core.tfds": "datasets_core.tfds.numpy_elements"},
    "builder_from_directories": {
        "datasets_core.building": "datasets_core.building.joined",
        "datasets_core.tfds": "datasets_core.tfds.loading",
    },
    "builder_from_directory": {
        "datasets_core.building": "datasets_core.building.prepared",
        "datasets_core.tfds": "datasets_core.tfds.loading",
    },
    "chosen": {"datasets_core.tfds": "datasets_core.tfds.decoding"},
    "companions": {"datasets_core.builders": "datasets_core.builders._folder"},
    "damaged": {"datasets_core.builders": "datasets_core.builders._sequences"},
    "describe": {"datasets_core.errors": "datasets_core.errors"},
    "dtype_name": {"datasets_core.tfds": "datasets_core.tfds.kinds"},
    "empty_batch": {"datasets_core.builders": "datasets_core.builders._schemas"},
    "get_logger": {"datasets_core.logging": "datasets_core.logging"},
    "kind_of": {"datasets_core.features": "datasets_core.features.kind_marks"},
    "load": {"datasets_core.tfds": "datasets_core.tfds.loading"},
    "read": {"datasets_core.records": "datasets_core.records.tfrecord_reader"},
    "read_json": {"datasets_core.builders": "datasets_core.builders.json"},
    "read_text": {"datasets_core.builders": "datasets_core.builders.text"},
    "whole_number": {"datasets_core.store": "datasets_core.stream.streamed"},
}

# Classes and functions with another name now: "module now:name now", and the recorded full name.
_RENAMED: dict[str, str] = {
    "datasets_core.store.rows.rows:Rows": "datasets_core.rows.tabled.Tabled",
    "datasets_core.builders._tfrecord_rows:RecordRows": "datasets_core.builders._tfrecord_rows.Rows",
    "datasets_core.building.hooks:Replay": "datasets_core.building.hooks.Reread",
    "datasets_core.store.rows.reading:DatasetFacts": "datasets_core.rows.described.Described",
    "datasets_core.meta.croissant_description:CroissantFacts": "datasets_core.meta.croissant_description.Described",
    "datasets_core.store.rows.reading:RowReading": "datasets_core.rows.reading.Reading",
    "datasets_core.stream.nodes.block:BlockFormatter": "datasets_core.stream.shown.Shown",
    "datasets_core.stream.order.mixture:MixtureSchedule": "datasets_core.stream.mixture.Turns",
    "datasets_core.stream.combine:ZipStreams": "datasets_core.stream.rows_of_streams.Beside",
    "datasets_core.stream.combine:ConcatStreams": "datasets_core.stream.rows_of_streams.Chain",
    "datasets_core.builders._csv_types:ColumnTypes": "datasets_core.builders._csv_types.Settled",
    "datasets_core.builders._blocks:SeekableFile": "datasets_core.builders._window.Sought",
    "datasets_core.builders._folder:LazyArchives": "datasets_core.builders._folder.Later",
    "datasets_core.builders._folder:LazyArchiveParts": "datasets_core.builders._folder.LaterParts",
    "datasets_core.features.media.audio:SampleRequest": "datasets_core.features.sound.Wanted",
    "datasets_core.stream.order.layers:OrderLayer": "datasets_core.stream.order.PlainLayer",
    "datasets_core.dataset.sources:GeneratedTable": "datasets_core.dataset.generated.Generated",
}


def recorded_name(module: str, qualname: str) -> str:
    """The full name by which fingerprints know a class or a function.

    >>> from datasets_core import Value
    >>> recorded_name(Value.__module__, "Value"), recorded_name("decimal", "Decimal.sqrt")
    ('datasets_core.features.base.Value', 'decimal.Decimal.sqrt')
    """
    root, dot, rest = qualname.partition(".")
    if is_of_library(module) and (renamed := _RENAMED.get(f"{module}:{root}")) is not None:
        return f"{renamed}{dot}{rest}"
    return f"{recorded_module(module, qualname)}.{qualname}"


def recorded_module(module: str, qualname: str) -> str:
    """The module in which fingerprints look for a class or a function; of other packages, and of what is not recorded, its own.

    >>> recorded_module("datasets_core.now.elsewhere", "Value.storage")
    'datasets_core.features.base'
    """
    if not is_of_library(module):
        return module
    root = qualname.partition(".")[0]
    if (renamed := _RENAMED.get(f"{module}:{root}")) is not None:
        return renamed.rpartition(".")[0]
    for place, recorded in _NAMESAKES.get(root, {}).items():
        if module == place or module.startswith(f"{place}."):
            return recorded
    return _module_of_name().get(root, module)


@functools.cache
def _module_of_name() -> dict[str, str]:
    return {name: module for module, names in _MODULES.items() for name in names.split()}
