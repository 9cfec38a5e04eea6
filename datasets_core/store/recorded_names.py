"""Recorded names of classes and functions in fingerprints, wherever they are defined now.

A fingerprint holds the full name of a class, and is the key of results on disk.  Fingerprints hold the name of the module in
which the class was when it was recorded here. So no result is lost when a class is moved or renamed.
"""

from __future__ import annotations

import base64
import functools
import json
import sys
import zlib
from collections.abc import Iterator

from datasets_core.store.code import is_of_library

# Each recorded module, below the library, with the classes and functions that were defined in it when they were recorded.
# A name has one definition in the whole library.
_RECORDED = """
_lazy: later; as_datasets: Alias AliasModule _Config; as_datasets.internals: OneRow RowBatch RowOrBatch _DictKind
DatasetInfosDict ExtractManager Extractor FileInstructions MetadataConfigs NonMutableDict StreamingDownloads _FeatureTypes
_StreamingKind tracked_str; as_datasets.tables:
_MappedRows AbstractDatasetInputStream AbstractDatasetReader ArrowReader ArrowWriter BaseReader ConcatenationTable
GeneratorStream SparkReader SqlReader InMemoryTable MemoryMappedTable OptimizedTypedSequence
SchemaInferenceError Table TypedSequence; builders._arrow_blocks: ArrowBlocks _Batch _Ended; builders._block_source:
BlockSource; builders._croissant_assembly: Assembly; builders._croissant_files: ResourceFiles; builders._croissant_found:
FoundFile; builders._croissant_parts: SplitField split_field splits_of_names; builders._croissant_records: Records;
builders._croissant_rows: ResourceRows; builders._croissant_values: ValueFault; builders._csv_form: CsvForm WideRecords;
builders._csv_records: Grammar; builders._csv_types: TextRules _Every; builders._folder: FolderBuilder FolderConfig;
builders._folder_files: FolderFiles; builders._folder_metadata: Locator; builders._grid: Grid; builders._json_blocks:
LineBlock Scanner _Stream; builders._json_mixed: BrokenRow; builders._parquet_blocks: Options ParquetBlocks;
builders._schemas: look_at_names repeated; builders._sequences: Record SequenceBuilder SequenceConfig lines_of refuse_large;
builders._source: ByteStream TextBytes invalid_utf8 refuse_foreign text_reader; builders._sparse: Sparse; builders._tables:
FileBuilder _Known; builders._tfrecord_blocks: Groups SplitColumns; builders._tfrecord_reading: TfRecordReading;
builders._window: Window; builders.arrow: Arrow ArrowConfig read_arrow; builders.audiofolder: AudioFolder; builders.conll:
Conll ConllConfig read_conll; builders.croissant: Croissant CroissantConfig described_in; builders.csv: Csv CsvConfig
_Typed; builders.fasta: Fasta; builders.fastq: Fastq; builders.hdf5: Hdf5 Hdf5Config read_hdf5; builders.imagefolder:
ImageFolder; builders.json: JsonConfig JsonReader; builders.meshfolder: MeshFolder; builders.niftifolder: NiftiFolder;
builders.pandas: Pandas PandasConfig read_frame; builders.parquet: Parquet ParquetConfig read_parquet; builders.pdffolder:
PdfFolder; builders.sql: Sql SqlConfig read_sql; builders.text: TextConfig _Lines text_blocks; builders.tfrecord: TfRecord
TfRecordConfig; builders.videofolder: VideoFolder; builders.webdataset: WebDataset WebDatasetConfig _Encoder claims
read_webdataset; builders.xml: Xml XmlConfig; building.beam: SortedRows; building.beam_rows: BeamRun; building.builder:
ArrowBasedBuilder _ConfigsByName; building.built: Built; building.built_pushing: BuiltPushing; building.converted:
ConvertedRecords; building.dataset_lock: DatasetLock LockedFile LockedSplit; building.file_counts: FileCounts;
building.file_origins: BuilderFiles; building.file_stream: Files _Identity; building.hooks: Builder Encoded Hooks
SplitGenerator; building.hub_builds: HubBuild HubReference; building.jobs: ShardJob ShardResult; building.journal: Journal;
building.keys: Clash KeyLog KeyRecord; building.live: LiveSplits; building.live_blocks: Bounds Fixed SplitBlocks;
building.live_files: FileJob FileSplits; building.live_job: LiveJob LivePart Splits; building.live_marks: FileMarks Mark
TextFile; building.live_tables: LiveTables; building.marks: MarkCache; building.merge_plan: EqualWords MergePlan;
building.options: BuildOptions LocalFiles _HookLabel; building.ordering: Ordering; building.pinning: Present;
building.prepared: ReadOnlyBuilder; building.prepared_folders: Prepared; building.record_cursor: RecordCursor;
building.record_manifest: Conversion RecordManifest; building.record_reading: RecordReading; building.record_shard:
RecordShard; building.registration: Register; building.reorder: CutJob MergeJob SortJob; building.row_order: RowOrder;
building.schemas: RecastJob; building.sink: TableSink Writer; building.tfds_folder: TfdsManifest; building.versioned:
Versioned; building.versions: BlockedVersions Versions; building.write.build: Build; building.write.generate: AuthorGuard;
building.write.jobs: Stage; cli.housekeeping: _Finished; cli.wording: PlainFormatter; columns.column_changes: ColumnChanges;
config: Config _Environ _Module disable_caching enable_caching from_environment is_caching_enabled settings;
confine.builder_form: BuilderFacts ClassFacts; confine.children: Children Home; confine.denials: Denial; confine.forks:
_Template; confine.gen_values: Values; confine.granted: Granted; confine.layers: Layers; confine.notices: Notices _Call;
confine.output: Output; confine.own_files: OwnFiles; confine.pipe: Channel Incoming Kind Message PipeError;
confine.sent_batches: OtherKey Receiver Sender _Table; confine.served: Served; confine.template: Forked Template;
dataset.combine: concatenate_datasets interleave_datasets; dataset.constructors: Constructors; dataset.group: DatasetDict;
dataset.results: CachedResult; dataset.streaming: Streaming; dataset.transforms.calling: ProgressFile;
dataset.transforms.mapper: ColumnLengthError MapPlan MappedRows; distributed: split_dataset_by_node split_for_jax_process
split_for_process split_for_torch_process; due: Overdue; engines.deadline: Deadline TimeUp _Timer; engines.engine: Engine
get_engine register_engine; engines.in_order: Pace; engines.local: Failure ProcessEngine ThreadEngine _Remade; engines.pool:
Workers JobPace RemoteEngine; engines.process: _Forked _Nowhere _Observer _Pickler; engines.serial: SerialEngine;
engines.threads: CallWindow Endable StallTimeout; engines.worker_pool: WorkerPool; engines.worker_process: SentFunction
WorkerProcess; errors:
ColumnLimitError
DecodingDisabledError InvalidConfigNameError MediaTypeError ArchiveError ArgumentTypeError BlockedVersionError CastError
CellCastError ChecksumVerificationError ConfigurationError ConfinementUnavailableError DamagedRecordError DamagedShardError
DataFilesNotFoundError DataFilesWarning DatasetBuildError DatasetDiskError DatasetGenerationCastError DatasetGenerationError
DatasetNotFoundError DatasetsCoreError DefunctDatasetError DeniedAccessError DeniedAccessWarning DisabledRepositoryError
DownloadError DuplicateKeysError EmptyRepositoryError EmptySplitError ExampleError ExpectedMoreDownloadedFilesError
ExpectedMoreSplitsError ExperimentalVersionWarning FileChangedError FileFormatError FileInPlaceError
FileNotFoundDatasetsError ForbiddenRepositoryError GatedRepositoryError HubError HubUnreachableError IndexFileError
InvalidKeyError InvalidTokenError ItemError LockDriftError ManifestError ManualDownloadError MaskLengthError
MediaDecodeError MediaError MediaNotFoundError MissingChecksumError MissingDependencyError MissingIndexError
MissingRowIdsError MissingVersionError NestedQueueRunnerError NoDataFilesError NonMatchingChecksumError
NonMatchingSplitsSizesError NotPreparedError OfflineError OutOfRangeError PluginError PushConflictError PushError QueryError
RankError ReferenceSyntaxError RepositoryNotFoundError RevisionNotFoundError RowIdError RowIndexError ScriptError
ScriptMemoryError ScriptTimeoutError SplitSyntaxError SplitsVerificationError StreamStateError TooManyErrorsError
UnexpectedDownloadedFileError UnexpectedSplitsError UnhashableError UnknownColumnError UnknownConfigError
UnknownExperimentError UnknownFeatureError UnknownFormatError UnknownItemError UnknownOptionError UnknownSplitError
UnknownVersionError UnpreparableVersionError UnsafeArchiveError UntrustedPathError UntrustedScriptError UrlNotFoundError
VerificationError WorkerDiedError WrongVersionError _HarmlessWarning rebuild; exchange.disk: Disk; exchange.export: Export;
exchange.framed_rows: FramedRows; exchange.from_files: FromFiles; exchange.from_frames: FromFrames; exchange.placing:
_Folder _Store; exchange.pushed_rows: PushedRows; exchange.pushing: Pushing; exchange.record_sink: RecordSink;
exchange.saved: Saved SavedShard; exchange.saved_files: SavedFiles; exchange.stream_batches: StreamBatches;
exchange.stream_files: FileForm Target WriteRequest; exchange.stream_sinks: ArrowSink ParquetSink Sink TextSink;
exchange.stream_writing: StreamWrite; exchange.text_files: TextForm; exchange.tf_dataset: ForTensorflow;
exchange.tfrecord_files: _Jobs _Write; exchange.tfrecord_places: RecordPlaces; exchange.write_journal: WriteJournal;
features.base: Adopted FieldLists LargeList List Value _SequenceType register_feature; features.codec: RowEncoder;
features.fixed_shape: FixedShape; features.formats.arrays: _Fine; features.formats.formats: Objects TabularFormat
register_tabular; features.formats.pandas_arrays: PandasArrayExtensionArray PandasArrayExtensionDtype; features.media.types:
_NameOfBytes; features.kind_marks: audio_id box_id optional; features.media: Media _OfClass; features.media_paths:
MediaPaths; features.nesting: Misfit list_array; features.order_free: OrderFreeEncoder; features.pdf: Pdf; features.plain:
plain_array; features.schema: Features; features.science: BioSequence BioStructure Mesh Nifti; features.sound: AudioMetadata
AudioSamples Sound _SoundfileReader _TorchcodecReader; features.union: _DifferError; fetch.after_fork: Forkable;
fetch.archive: KeptOpen _Forward _MemberFile _SharedFile _StrictTarInfo _TarOpener _ZipOpener; fetch.cache: CachedFile
DownloadCache; fetch.checksum: Digest FileRecord RegisteredFile VerificationMode; fetch.daemons: Daemons Job StoppedError;
fetch.decompress: _Decompressor _Frames _Gunzip _Streams; fetch.disk_cache: DiskCache; fetch.download_config: DownloadMode;
fetch.extract: ExtractionCache; fetch.host_pauses: HostPauses; fetch.http: Attempts Credentials HttpClient HttpResponse
TransientError _Answer OwnLinkError Received ConnectionFailedError InvalidRequestError; fetch.connections: Connections
DirectResponse; fetch.http_ranges: HttpTransport; fetch.hub: Hub; fetch.hub.cache:
HashCache Notes;
fetch.hub.transfer: RefusalJudge; fetch.hub_blobs: BlobDigest BlobPart WrongBytesError; fetch.hub_branch: HubBranch;
fetch.hub_cache: HubCache; fetch.hub_change: Change NewFile; fetch.hub_downloads: HubDownloads; fetch.hub_files: HubFiles
Reuse; fetch.hub_listing: HubCommit HubFile; fetch.hub_requests: HubAnswer HubRequests UnansweredError; fetch.hub_storage:
StorageUrls; fetch.hub_transfer: BlobSource ExpiredError _Tries; fetch.hub_upload: HubWriter MissedCommitError;
fetch.hub_url: HubPath hub_url parse_hub_url; fetch.hub_write_failures: GarbledAnswerError; fetch.listing: ArchiveIterable
FilesIterable _Seen; fetch.members: Budget _Links; fetch.obstore_ranges: ObstoreTransport _failures; fetch.one_response:
OneResponse; fetch.parallel: CalledOffError; fetch.range_cache: RangeCache; fetch.range_file: FileVersion LocalRanges
OpenedRanges RangeFile; fetch.range_plan: Merged; fetch.range_reader: TransportRanges; fetch.ranges.file: _SoughtRanges;
fetch.ranges.reader: Underway; fetch.ranges.sequential: ReadRequest; fetch.read_ahead: ReadAhead _Item; fetch.remote:
RemoteFile; fetch.remote_access: StreamedAccess; fetch.remote_archive: Closing Once RemoteArchive RemoteFiles ZipMembers
_OpenedArchive; fetch.remote_bytes: PartedBytes RemoteBytes StoreBytes; fetch.remote_files: RemoteFacts _Slice _SelfClosing;
fetch.retry: RetryPolicy SystemClock; fetch.store_ranges: StoreTransport; fetch.streaming_downloads:
StreamingDownloadManager; fetch.transfer: BodyLimit Fetched HttpSource StoreSource _Body store_errors; fetch.transports:
NoRangesError Transport; files: Due FileEntry is_url local_path; format.arrays: Casting; format.formatter: Formatter
RowFormat; format.nanoseconds: NanosecondDatetime NanosecondTime NanosecondTimedelta; format.row_reader: RowReader
ValueDecoder; format.tensors: JaxKit Kit NumpyKit TensorflowKit TorchKit _Memory _TensorKit; insight.distinct: Distinct;
insight.overview: Overview; insight.pictures: _Budget; insight.statistics: _Moments; insight.summary: ColumnSummary
Histogram Lengths Summary; inspect: get_dataset_config_info get_dataset_config_names get_dataset_default_config_name
get_dataset_infos get_dataset_split_names; io.push_card: ExistingSplit; io.split_mapping: Pushable SplitMapping Looked;
load: load_dataset load_dataset_builder load_from_disk request_of; locks: LockOutcome lock_dataset; logging:
disable_propagation enable_propagation get_verbosity set_verbosity set_verbosity_debug set_verbosity_error
set_verbosity_info set_verbosity_warning _Printer; meta.builder_name: BuilderName; meta.card: _CardReader _Weigher _Weight;
meta.card_cut: _Unclear; meta.card_text: Edit _Entries; meta.config_entries: Card ConfigEntry LazyInfos;
meta.croissant_document: _Parser _Unsupported parse_croissant; meta.croissant_fields: FieldWriter; meta.croissant_nodes:
Container CroissantDocument FieldNode FileNode RecordSetNode ValueSource; meta.croissant_terms: Ids; meta.data_files:
DataFilesDict DataFilesList _Search; meta.dataset_files: DatasetFile DatasetFiles FilesOrigin; meta.even_splits: even_part
even_splits; meta.experiment: Experiment _OfLibrary; meta.extensions: extensions is_bare_shard; meta.file_instruction:
FileInstruction; meta.info: Deferred SupervisedKeysData _FeaturesField _OfFiles; meta.json_ld: Terms; meta.lazy_card:
LazyCard LazyDatasetInfos; meta.listings: Listing; meta.reference: DatasetRef split_version; meta.row_blocks: RowBlocks;
meta.rows: RowRange; meta.shard_lengths: ShardLengths; meta.small_files: UnfitFileError; meta.split: AbsoluteRange
NamedSplit _Recorded parse_split; meta.split_info: SplitDict SplitInfo; meta.split_part: EvenCut SplitPart
is_split_name; meta.sub_split: SubSplitInfo _Shards; meta.tfds_description: TfdsDescription TfdsSplit _refusing; optional:
needed; progress: Progress Switch _PrintedLines _Silent are_progress_bars_disabled disable_progress_bars
enable_progress_bars is_progress_bar_enabled FileMeter Meter; publish.dataset_card: _Merge; publish.parquet_shards:
ShardFile; publish.push: _Commit _Upload; publish.push_target: LocalShard PushTarget PushedSplit RepositoryState
RepositoryTexts; publish.shard_limits: ShardLimits; publish.standing_splits: _Globs; records.deflated: ByteSink
DeflatedFile; records.encoded_columns: ExampleEncoder _Heads encode_examples; records.encoded_values: LeafValues;
records.example_columns: ExampleReader _ByFeatures _ByRecords _BySpecs _Raw _RowMaker; records.example_encoding:
encode_example encode_sequence_example; records.example_inference: _Kinds; records.example_parsing: ExampleParser
parse_example parse_single_example; records.feature_readers: ColumnReader LeafNode ListNode StructNode Wanted;
records.feature_specs: SparseFeature; records.inflated: Inflated _HeadedStream; records.parsed_values: RaggedValue
SparseValue; records.ragged_readers: RaggedReader; records.ragged_specs: RaggedFeature RowLengths RowLimits RowSplits
RowStarts UniformRowLength ValueRowIds; records.record_block: RecordBlock; records.record_files: GivenRecords LocalRecords
RecordFile RemoteRecords; records.record_frames: Bytes Damage blocks_of; records.record_index: RecordIndex;
records.sequence_parsing: SequenceParser parse_sequence_example parse_single_sequence_example; records.sequence_wire: _Steps
decode_sequence_examples; records.spec_parts: ElementsPart FixedPart ListPart RaggedPart SparsePart StepsPart;
records.spec_readers: ElementsReader FixedReader SparseReader SpecReader VarLenReader; records.step_readers: StepsReader;
records.tfds_columns: TfdsReader _Built _Wire; records.tfds_layout: Fields Items; records.tfds_values: Unfit;
records.tfrecord_reader: index; records.tfrecord_writer: TFRecordWriter; records.wanted_values: Where; records.wire:
decode_example decode_sequence_example; records.wire_columns: MapFeature decode_examples; records.wire_entries: Entries
_Unsorted; records.wire_features: Malformed; records.wire_lists: FeatureGroup; records.wire_spans: Spans;
records.wire_values: SequenceColumn WireColumn; records.wire_words: WireBytes; redact: redact redact_text; resolve.checkout:
Checkout; resolve.folder: FolderKind FolderSource; resolve.format_source: FormatSource; resolve.formats: Format;
resolve.from_cache: PreparedSource; resolve.hub_commits: HubCommits; resolve.hub_script: HubScript; resolve.hub_source:
HubSource; resolve.records_source: RecordsSource; resolve.registry: register_format; resolve.request: Location
checked_trust; resolve.resolve: resolve source_of; resolve.script: LocalScript SandboxedSource; resolve.scripted:
ScriptSource; results.cached: Result; results.widening: WideningWriter Written; rows.arrayed: ArrayRows; rows.column:
Column; rows.file_names: FileNames; rows.formatted: CompletedRows CustomRows TableRows; rows.generator_rows: Recipe;
rows.identified: Identified _Inverse; rows.lazy_values: LazyDict _Untouched; rows.lineage: Lineage; rows.origin: fetch;
rows.row_block: RowBlock; rows.view: RowView; scripting.collected: Collected _OnDisk; scripting.compat.datasets:
ScriptSequence _ScriptSequenceType; scripting.compat.eager: EagerDataset EagerGraph EagerTensor RaggedTensor RecordDataset
ResizeMethod TensorShape TrainExample TrainFeature TrainFeatures TrainSequenceExample
_FeatureLists _FeatureMap _FeatureSteps _ValueList;
scripting.epath_standin: Path as_path; scripting.faces: Face; scripting.gfile: GFile _OpensFiles _ReopenedFile _Status
_Text; scripting.lazy_packages: Absent LazyImports LazyModules; scripting.modules: Imports Module Relative Script;
scripting.old_helpers: NestedDataStructure PostProcessedInfo; scripting.sandbox.answers: PrefetchedFiles;
scripting.sandbox.batches: RemoteData RemoteIterator RemoteValue; scripting.sandbox.builder: SandboxedBuilder ScriptSandbox;
scripting.sandbox.children: _IdleProcesses; scripting.sandbox.limits: Sandbox; scripting.sandbox.process: ProcessResources
SandboxedProcess _EndedError _ReportedError _Stopper; scripting.sandbox.protocol: RemoteText; scripting.sandbox.served:
RemoteDownloads RemoteStreams; scripting.script: _Loader _ScriptModule _Shipped; scripting.small_packages: AbslFlags
AbslLogging; scripting.tasks: AudioClassification AutomaticSpeechRecognition ImageClassification LanguageModeling
QuestionAnsweringExtractive Summarization TaskTemplate TextClassification _Labelled; scripting.tf_dtypes: DType;
scripting.tf_standin: Missing OtherError _Parsed; search.documents: TextIndex; search.queries: _TooLargeError;
search.search: BatchedNearestExamplesResults BatchedSearchResults NearestExamplesResults Search SearchResults;
search.vectors: VectorIndex; selection.selection: Selection; selection.sorting: SortKeys _Run; slim.box_handlers:
BoundingBox BoundingBoxSequence KeypointsSequence NumBoxesSequence _CoordinatesSequence; slim.builder_reader: BuilderReader;
slim.data_decoder: DataDecoder; slim.data_provider: DataProvider; slim.data_sources: get_data_files;
slim.dataset_data_provider: DatasetDataProvider; slim.example_decoder: TFExampleDecoder; slim.item_handlers: BackupHandler
ItemHandler ItemHandlerCallback LookupTensor; slim.lookup_tables: LookupTable; slim.merged_units: Entry MergeState
MergedUnits _Lane; slim.message_decoder: MessageDecoder; slim.parallel_reader: FIFOQueue KeyedSamples ParallelReader
RandomShuffleQueue parallel_read single_pass_read; slim.prefetching: PrefetchQueue _End prefetch_queue; slim.queues:
QueueRunners Runner; slim.reader_choice: _Adapted; slim.row_decoder: RowDecoder; slim.sample_queue: FirstInFirstOut
RandomQueue; slim.sample_reader: SampleBlock SampleReader; slim.sample_readers: FixedLengthRecordReader TextLineReader
WholeFileReader _BlockReader; slim.sample_stream: SampleStream _Point; slim.sequence_decoder: TFSequenceExampleDecoder;
slim.sparse_handler: SparseTensor; slim.torch_samples: as_torch; slim.unit_threads:
ThreadsClosedError UnitThreads _Buffer; slim.work_units: WorkUnits; store.beside: FieldsShard; store.chunks:
ChangedRowsError Chunks; store.code_reach: Reach; store.commit: Staging; store.comparison: _Comparison _Side; store.content:
RowDigest; store.derived_shard: DerivedShard; store.difference: Difference RowDifference; store.file_structure: FilePlaces
FileStructure Span; store.filled: FilledShard; store.fingerprint: Hasher; store.garbage: Garbage; store.identity:
ValueWriter _Missing; store.index_cache: IndexCache; store.layout: StagingName; store.lazy_shards: LazyShards;
store.manifest: Manifest ShardRecord SourceRecord; store.source: Chosen; store.shard_records: ShardIndex IndexedSplit
_OfSplit _Names; store.module_state: ModuleStateError _Named _Seeing; store.one_type:
IncomparableError; store.paired_columns: FeatureChange PairedColumn; store.pieces: BatchLocations BatchRows BatchRowsOf
RowRanges HasLocations PartSummer PartSums; store.places: Places; store.readers: Reader
_ArrowReader _ParquetReader _StreamReader _PartReader;
store.shard: ColumnsShard FileShard MemoryShard ShardCache; store.swap: StagedFolder; store.table: RowTable ZippedShard;
store.verify: Problem; store.writer: ShardWriter _ArrowShard _OpenShard _ParquetShard; stream.aligning: Aligned;
stream.audit: Audit LaneRows audit; stream.block: ArrowBlock DecodedBlock DictBlock Failures Kinds; stream.block_costs:
BlockCosts; stream.block_fetches: BlockFetches _Group; stream.block_files: BlockFile FileIndex; stream.block_fit: BlockFit
FileFit; stream.block_index: BlockIndex; stream.block_reader: BlockReader _Decoded; stream.changes: Added Cast Decoding
Renamed Selected; stream.costs: RankCost ReadCost; stream.error_policy: ErrorPolicy Ledger Tally; stream.expectations:
Expectations; stream.explain: ExplainRequest; stream.explanation: Explanation LargeBlock; stream.file_order: FileRows;
stream.file_turns: _Stretch; stream.functions: Function RowsMade; stream.interleave: Interleave _Rounds; stream.iterable:
IterableDataset; stream.iterable_column: IterableColumn; stream.iterable_group: IterableDatasetDict; stream.iteration:
Cursor Resumable RowIterator StreamFacts WorkerNumbers; stream.lane_places: _Spans; stream.lanes: _Clock; stream.made_rows:
Marked RowJob; stream.media_decoding: DecodeMedia Decoded; stream.merged_states: merge_states; stream.mixed_nodes: Mixed;
stream.mixture: InTurn Staged Weighted; stream.node: Delivery Ordered RowChange; stream.nodes: Batchwise Changed Counted
Filtered FilteredByBatch Lists MappedByBatch Rounds Windows _RowByRow; stream.nodes.columns: ColumnChange _KeepsColumns;
stream.nodes.jobs: GeneratedRows; stream.nodes.map_filter: Resumed SelectedRows _Filtering; stream.nodes.mix: Combination
Concat Zip _BehindMix _BehindZip; stream.nodes.node: Locality Over Unmeasured _Waiting; stream.nodes.ordered: SharedCursor;
stream.nodes.positions: NextPositions Positions WidePositions; stream.nodes.shard: EveryNth Lookahead PlacedShards
ShardsInTurn; stream.null_rows: NullOfCast NullOfMap; stream.order: Count Layer Repeated Shuffled Slice _AsFarAsAsked;
stream.order.files: EndlessFileTurns FileTurns; stream.order.mixture: Stopping; stream.order.shards: ShardPositions;
stream.packing: Pack Packed _Pieces; stream.permutation: Permutation Permutations; stream.plan: Share; stream.quarantine:
Quarantine; stream.rank_lanes: RankLanes; stream.read_config: ReadConfig _Default; stream.row_origins: FileTable
OriginsAdded RowIds WithOrigins; stream.rows_by_id: RowsById; stream.rows_by_place: Origins RowsByPlace;
stream.rows_of_blocks: BlockPart RowsOfBlocks _Own; stream.rows_of_built: RowsOfBuilt TableJob; stream.rows_of_files: Order
RowsOfFiles; stream.rows_of_generator: GeneratorJob; stream.rows_of_jobs: RowsOfJobs; stream.rows_of_streams: Joining
Mixture RowsOfStreams; stream.rows_of_table: RowsOfTable; stream.shared_reading: Piece; stream.shown: _TensorColumn;
stream.shuffled_blocks: BlocksInTurn ShuffledBlocks _Turns _Windows; stream.sources.block_index: BlockPositions;
stream.sources.block_reader: BlockRequest; stream.steps: Batch ChangeColumns Filter Limit Map PlainStep Repeat Shuffle Step
_Whole; stream.stream_exports: StreamExports; stream.stream_making: StreamMaking; stream.stream_pushing: StreamPushing;
stream.stream_shards: StreamRows; stream.streamed: Streamed at_least_one; stream.transforming: Transforming;
tfds.beam_splits: BeamSplits; tfds.conll: ConllBuilderConfig ConllDatasetBuilder ConllUBuilderConfig ConllUDatasetBuilder
_Conll; tfds.connectors: Connector DatasetColumns FeaturesDict ListColumns ListFeature ScalarFeature SerializedInfo TensorInfo
TensorList
connector_of list_of; tfds.dataframe: as_dataframe; tfds.decoding: PartialDecoding SkipDecoding changed make_decoder;
tfds.downloads: ExtractMethod Members Resource SeekableMember; tfds.element_steps: ElementFunction FilterElements
MapElements NumberElements; tfds.elements: Batched Form Supervised Whole; tfds.features: BBox BBoxFeature BBoxFormat
Documentation Encoding FeatureConnector LabeledImage Optional Scalar _Made as_tfds; tfds.image_arrays: ImageArray;
tfds.instruction: _IsAnyInstruction; tfds.kinds: tensor_of; tfds.loading: PreparedBuilder builder builder_cls data_source
list_builders; tfds.measuring: BenchmarkResult benchmark; tfds.script_paths: gcs_path tfds_path; tfds.split_reading:
SplitReading; tfds.split_stream: SplitStream _OnRows; tfds.testing_names: GraphVisualizerMetadataDict NotHere;
tfds.tfds_builder: ShardBasedBuilder _Taken _Taker; tfds.tfds_info: DatasetIdentity Keys MetadataDict; tfds.type_names:
ListOrElem ListOrTreeOrElem Tree TreeDict TupleOrList _Generic; tfds.utilities: FileFormat Size TextEncoderConfig
classproperty; transforms.assembling: Assembler Draft; transforms.calling: Caller Calls _RowFailure; transforms.filtering:
FilterPlan; transforms.inputs: Inputs _ColumnSource _FormattedColumns _FormattedRows _RowSource; transforms.map_jobs: _Work;
transforms.mapping: Mapper _Stored; transforms.returned: ColumnEncoder; transforms.transforms: Transforms; dataset.keys:
Aggregation GroupFunction; dataset.relational: GroupBy Relational; stream.transforms: ExpressionMask; builders.binary: Avro
Excel ExcelConfig Numpy NumpyConfig Orc Sqlite SqliteConfig TableConfig _Binary; scripting.compat.tensorflow: EagerSession
OneShotIterator; engines.executor: ExecutorEngine; engines.ray: RayEngine; engines.dask: DaskEngine; viewer.report:
_Correlations _Overlap _Pass _Report; viewer.queries: View _Base; viewer.pictures: Picture Pictures _Coder _StoppedError
_PairCounts;
viewer.cells: Limits; viewer.opening: Opened; viewer.media: Content; viewer.server: Viewer; building.write.exchange:
Exchange JobPlan; io.push_target: WorkerUploads; store.diff: _Tables; io.tfds: TfdsForm TfdsRows; stream.io.write: _Attempt;
tfds.reading: SerializedParser; dataset.dataset: Clusters
"""

# Names with several definitions in the library: the package or module in which each is defined now, and its recorded module.
_SEVERAL = """
Access: fetch=fetch.remote features=format.accessors; Answers: scripting.sandbox.answers=confine.answers
viewer.server=viewer.server; Array2D: features=features.fixed_shape tfds=tfds.connectors; Array3D:
features=features.fixed_shape tfds=tfds.connectors; Array4D: features=features.fixed_shape tfds=tfds.connectors; Array5D:
features=features.fixed_shape tfds=tfds.connectors; Arrivals: slim=slim.sample_queue building.write.jobs=building.arrivals;
Audio: features=features.audio tfds=tfds.features; BeamBasedBuilder: building=building.beam tfds=tfds.tfds_builder; Block:
dataset.transforms.values=transforms.inputs stream.nodes.block=stream.block; BuilderConfig: building=building.builder_config
tfds=tfds.tfds_builder; ClassLabel: features=features.labels tfds.connectors=tfds.connectors tfds.features=tfds.features;
Clock: engines.threads=fetch.retry stream.nodes.shard=stream.tap; Columns: builders._croissant_rows=builders._croissant_rows
builders._csv_reader=builders._csv_form; Cut: meta=meta.card_cut stream=stream.order; Dataset: dataset=dataset.dataset
slim=slim.slim_dataset tfds=tfds.features; DatasetBuilder: building=building.builder tfds=tfds.tfds_builder; DatasetInfo:
meta=meta.info tfds=tfds.tfds_info; Decoder: features=features.codec tfds=tfds.decoding; DownloadConfig:
fetch=fetch.download_config tfds=tfds.downloads; DownloadManager: fetch=fetch.download tfds=tfds.downloads; Facts:
features=features.order_free stream.explain=stream.advice; Feature: features=features.base records=records.wire;
FixedLenFeature: records=records.feature_specs scripting.compat.tensorflow=scripting.tf_standin; FixedLenSequenceFeature:
records=records.feature_specs scripting.compat.tensorflow=scripting.tf_standin; Frames: io.export=io.export
records.frames=records.record_frames; GeneratorBasedBuilder: building=building.builder tfds=tfds.tfds_builder; Grouped:
stream=stream.order; Guard: stream.nodes.errors=stream.error_policy viewer.server=viewer.server; HashedFile:
io.sinks=exchange.stream_sinks store.writer=store.hashing; Image: features=features.image slim=slim.image_handler; Json:
builders=builders.json features=features.dynamic; KeptRows: builders=builders._parquet_filters; Keyed:
builders=builders._croissant_joins slim=slim.parallel_reader; Leaf: building.tfds_folders.layout=records.tfds_layout
records.feature_readers=records.message_plan; Member: builders=builders._folder_files fetch=fetch.members; Names:
tfds=tfds.testing_names scripting.compat.tensorflow=scripting.tf_standin; Node:
records.feature_readers=records.feature_readers stream.nodes.node=stream.node; Origin: slim=slim.merged_units
building.cache_key=building.told_files; Outcome: stream=stream.error_policy dataset.transforms.jobs=transforms.map_jobs;
Part: builders=builders._folder building=building.hooks records=records.spec_parts stream=stream.steps
dataset.transforms.calling=transforms.row_jobs scripting.sandbox.served=confine.served; Pieces:
fetch.ranges.reader=fetch.read_pieces records.encoding=records.encoded_values; Place: dataset.results=results.cached
fetch.hub.transfer=fetch.hub_transfer scripting.modules=scripting.collected stream.state=stream.state; Plan:
stream=stream.plan fetch.members=fetch.members; Queries: dataset.insight.search=search.queries
viewer.queries=viewer.queries; ReadInstruction: meta=meta.split tfds=tfds.instruction; RecordBlocks:
builders._csv_types=builders._csv_records builders._tfrecord_rows=builders._tfrecord_blocks; Request:
resolve=resolve.request fetch.cache=fetch.cache; Row: store=rows.row_block tfds=tfds.elements; Run:
building.write.runs=building.sorted_runs dataset.transforms.jobs=transforms.new_columns; RunWriter:
building.write.runs=building.sorted_runs dataset.transforms.jobs=transforms.new_columns; Sequence: features=features.base
tfds=tfds.features; Shard: store.shard=store.shard stream.io.write=exchange.stream_writing; Shards:
io.save_to_disk=exchange.saving stream.nodes.shard=stream.nodes.shard; Split:
meta=meta.split tfds=tfds.info; Source: builders=builders._source
store=rows.lazy_values fetch.transfer=fetch.transfer resolve.request=resolve.request
stream.nodes.positions=stream.nodes.positions; TFRecordReader: records=records.tfrecord_reader slim=slim.sample_readers;
Tensor: slim=slim.item_handlers tfds=tfds.features; Text: builders=builders.text tfds=tfds.features; Translation:
features=features.translation tfds.connectors=tfds.connectors tfds.features=tfds.features; TranslationVariableLanguages:
features=features.translation tfds.connectors=tfds.connectors tfds.features=tfds.features; VarLenFeature:
records=records.feature_specs scripting.compat.tensorflow=scripting.tf_standin; Version: meta=meta.version
scripting.compat.datasets=scripting.old_names; Video: features=features.video tfds=tfds.features; Watch:
engines.threads=fetch.parallel scripting.sandbox.denials=confine.denials; _Ahead: scripting.sandbox.served=confine.served
slim.parallel_reader=slim.prefetching builders._source=builders._source; _Behind: stream.nodes.jobs=stream.made_rows
stream.nodes.shard=stream.lanes; _Bytes: scripting.compat.packages=scripting.gfile
scripting.sandbox.served=confine.asked_streams; _Checked: scripting.sandbox.protocol=confine.builder_form
store.module_state=store.module_state builders._source=builders._source; _Column: records.encoding=records.encoded_columns
store.rows.view=rows.arrayed; _Columns: tfds=tfds.connectors building.tfds_folders.columns=records.tfds_columns; _File:
stream.io.write=exchange.stream_writing builders.csv=builders._csv_pandas; _Finder: as_datasets=as_datasets
scripting.compat.tables=scripting.faces scripting.script=scripting.script; _Footer: builders._blocks=builders._arrow_blocks
builders._parquet_blocks=builders._parquet_blocks; _Head: records.encoding=records.encoded_columns
stream.explain=stream.explaining; _OneVersion: records.reader=records.record_files builders._source=builders._source; _Part:
dataset.insight.statistics=insight.statistics dataset.sources=dataset.generated
scripting.sandbox.builder=confine.confined_builder; _Parts: io.push_parquet=exchange.pushed_rows
records.encoding=records.encoded_columns; _Place: io.saved_folder=exchange.placing
meta.croissant_description=meta.croissant_fields; _Plain: fetch.archive=fetch.archive viewer.cells=viewer.cells; _Reader:
building.lock=building.dataset_lock building.tfds_folders.layout=records.tfds_layout features.media.audio=features.sound
builders._csv_reader=builders._csv_read; _Reading: building.live_jobs=building.live_jobs fetch.ranges.http=fetch.http_ranges
stream.nodes.ordered=stream.shared_reading; _Rows: building.write.runs=building.write.runs
store.rows.create=rows.generator_rows
stream.combine=stream.rows_of_streams stream.packing=stream.packing; _Shard: io.push=publish.push
stream.nodes.shard=stream.nodes.shard; _Writer: io.text=exchange.json_text meta.card=meta.card; _same:
dataset=transforms.transforms; _signed: building=building.live; as_numpy: tfds=tfds.numpy_elements;
builder_from_directories: building=building.joined tfds=tfds.loading; builder_from_directory: building=building.prepared
tfds=tfds.loading; chosen: tfds=tfds.decoding; companions: builders=builders._folder; damaged: builders=builders._sequences;
describe: errors=errors; dtype_name: tfds=tfds.kinds; empty_batch: builders=builders._schemas; get_logger: logging=logging;
kind_of: features=features.kind_marks; load: tfds=tfds.loading; read: records=records.tfrecord_reader; read_json:
builders=builders.json; read_text: builders=builders.text; view: cli.datasets=cli.datasets viewer.server=viewer.server;
whole_number: store=stream.streamed
"""


def _entries(text: str) -> Iterator[tuple[str, list[str]]]:
    for entry in text.split(";"):
        name, _, values = entry.partition(":")
        yield name.strip(), values.split()


def _full(name: str) -> str:
    return f"datasets_core.{name}"


_MODULES: dict[str, list[str]] = {_full(module): names for module, names in _entries(_RECORDED)}
_NAMESAKES: dict[str, dict[str, str]] = {
    name: {_full(now): _full(recorded) for now, _, recorded in (place.partition("=") for place in places)}
    for name, places in _entries(_SEVERAL)
}

# Methods that were in another class, by the class and the module in which they are now: the recorded class with the methods.
_METHODS: dict[str, dict[str, str]] = {
    "datasets_core.dataset.dataset_dict:DatasetDict": {
        "datasets_core.dataset.group_columns.GroupColumns": (
            "align_labels_with_mapping cast_column class_encode_column flatten reset_format set_format set_transform unique "
            "with_format with_transform"
        ),
        "datasets_core.dataset.group_rows.GroupRows": "cleanup_cache_files filter flatten_indices map shuffle sort",
    },
    "datasets_core.io.export:Frames": {"datasets_core.exchange.export.Export": "to_dict to_list to_pandas to_polars"},
    "datasets_core.io.split_mapping:Pushable": {"datasets_core.exchange.pushing.Pushing": "push_to_hub"},
    "datasets_core.io.split_mapping:SplitMapping": {
        "datasets_core.dataset.group.DatasetDict": "push_to_hub",
        "datasets_core.dataset.group_columns.GroupColumns": ("cast remove_columns rename_column rename_columns select_columns"),
    },
}

# Classes and functions with another name now: "module now:name now", and the recorded full name.
_RENAMED: dict[str, str] = {
    "datasets_core.dataset.insight.statistics:Scale": "datasets_core.insight.statistics._Scale",
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
    "datasets_core.fetch.ranges.file:SeekableFile": "datasets_core.builders._window.Sought",
    "datasets_core.builders._folder:LazyArchives": "datasets_core.builders._folder.Later",
    "datasets_core.builders._folder:LazyArchiveParts": "datasets_core.builders._folder.LaterParts",
    "datasets_core.features.media.audio:SampleRequest": "datasets_core.features.sound.Wanted",
    "datasets_core.stream.order.layers:OrderLayer": "datasets_core.stream.order.PlainLayer",
    "datasets_core.dataset.sources:GeneratedTable": "datasets_core.dataset.generated.Generated",
}


def recorded_name(module: str, qualname: str) -> str:
    """Return the full name by which fingerprints know a class or a function.

    >>> from datasets_core import Value
    >>> recorded_name(Value.__module__, "Value"), recorded_name("decimal", "Decimal.sqrt")
    ('datasets_core.features.base.Value', 'decimal.Decimal.sqrt')
    """
    root, dot, rest = qualname.partition(".")
    for recorded, methods in _METHODS.get(f"{module}:{root}", {}).items():
        if rest in methods.split():
            return f"{recorded}.{rest}"
    if is_of_library(module) and (renamed := _RENAMED.get(f"{module}:{root}")) is not None:
        return f"{renamed}{dot}{rest}"
    return f"{recorded_module(module, qualname)}.{qualname}"


def recorded_module(module: str, qualname: str) -> str:
    """Return the module name of a class or function in fingerprints; for other packages and unrecorded names, its own module.

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
    return {name: module for module, names in _MODULES.items() for name in names}


# Fingerprints used to hold the code of five class methods, which differs in each version of Python; now they hold their names.
# Their code for Python 3.11 is kept: results that refer to a column, to splits or to a stream are found.

_CODES = (
    "c-q}rZExE)5dJGfJ_~{<$&yVB1B!OVioIZHyM0Lvm6m8*jZAqIHOH9q-*-IHu^hi-"
    "N$e(QikcKf9*^YR!+TEuUKCvOM(8HXYbE@d(A;n4RjK`tf)^iTqg9*hvX=f>)w68Qm2NH=xfr(+n=jL0UKipr8IG1(G>p=OU9~|lNX>5$Xj?q@m)kl$j"
    "kL%At~#nD`&Hqir>S_0MQAsw_k1Otr1bfc=sA|#kr^J489qsAy0r<PocXo$N|1U?z>Zm;C0^>$!0VZ(u+QqzSCQ*1lVXu&8F+!UZydBWvd1E?=f$Q<Lz"
    "Y(!_M7p-cDoFQwv30R)GT7bO}MTETa^J+s8KA4?1;$uO~BTY%p?KJYj8a-b#qCvCGNA&Q$d<`W_0?3^MCQkVp`@?!j&MJUkgciL-"
    "bTEO^aWMF>fo75DYujTvU}Qxs<i$#)X^9a47jqz$#HJu5!RWiN9MRb8-2}z`-Bz#`a2>f>kSt-FoaEOmMALIci}^Fh@ORVayI8%!Nk|qEA-JaqZ*G@5)"
    "?T@Ud?Scs_<ey(rv5AZN?g%_9AL99eZGh0jK|6Z?WP1&y7O9qbHW3OhTi3=XXF(K02jvR`aYvmbXaoD-"
    "m5bPn`;cfKvL1|CnkPd&So*iAdcjY_Ysb`8SzPi&E%%u7Jh=yiHXvf5m@&O>@H8(pO5x^BCp`gw55!+o6)7`&phJ%t0<dh){Nx!P#K^UcYeBbYnC7qr%"
    "P$Isapd;3Hk?;W@`+c$V44T|&KCb$&4!F09R?Y@0Ic3z;al&ck+6QqNut@-QY&H1)t2jLc->gen&Dm@Rw8o3SV-"
    "h(u~z0xbY9Plvxa^9uCjmg`P30Az18-*bQVw3{QNxgxWz<=8JXy`>qoDx<xB@&Wc{Kn_=Qcg-OW=&R=jTQyQ=^r3shgU)t7_6Hx{cSDB<)l?eGk#L4Rx"
    "aMp43pqRv8@6HmPM(VH8E@p|2fvx>l@a!p$1J?P@{o76sA@fN@gnKTFu6FD+|;45J!tn#?ksiOPXR!(u|soSr#W&H)8Z*@M!kSBejC+%<dx@Es4?Czmi"
    "vyxWA9QY+%AogZbOtO(W4r2F}MdDH|e13G`2SL@(-&8nqNShnx8yUbVRE(3dP!4N6>>vhX+4Z4s&{V886Qscnh{ZZ)#LPKzz-WkELlYiA(cW2D-"
    "R?HcL&?ADeNvCx`D!u-"
    "H&z@ZbS51epx^n?fOhl!BlX0Cqh((&J6J3lYyg2l{K?Fh%xnYBkS=7_zqCt%J+3E;N{*a7f!><5aIkJw1e8QH^;?JPq*2$uyui5orx>5YGH&b!rgC#NC"
    "ndc_^*r<S)<7TlBaKvp1f<0$L+9XjKHeb7SjQRR{Y#`VdHIApklJ|1}^m&4({Mk{n%S5!Y>P{0VI+D@in!0wU(J1K?%JDNt=%`>Qa(fD~?wKM6zwM9KX"
    "mQxt)ODS|?v*5c;Ou9_MI=*n+IPZo&arU$cwnm4~8XY}x^uDVwW#$^}d42Tb9$V)J|0$uEb3Gjk4rVEutx*HGyv&7_T4V|_O=yO6MjT5R#wSh~hCvSy$"
    "Qn87SkDAO!|z@+Z`9=eHDh#Ucr}>b9$CPZ0*`=VP8hGiLH+GPW|0hGY<;iT&Yr2ub=$ZURneftQr?r`wuq61xywv%yrvpVWp29u|D<MYktSwlLH2~+!&"
    "L$3A(VS#w03DsyO{`5zVF+iDZ4vq=+kHK?UO;!Lok&vizho6)nf-"
    "C=m0)dr4)Q3{9j#pE$f9m`sw9f;&V^HU39PKv#_@<&_J*3TU>DY76%#h`nY)2<x!FB<}_as?4E_xodQ$WXq|UK`xOGMVH=5;AYR1`Ej+7LIVoj^(R)_$"
    "M(^Tm59vYbh5^oEXY8x$T074<KhnlF?g|13`vJ5-L*u!CV0B}_PELfHE0AqMKwO-Mk==|hN5aPJ4j6HmcEGnJ3!wxtmj!YN4Wd+|efuE_<*XGt6wrltA"
    ">XL3D|q`^wZb*g$3=nh`r8ohv5mgr*EQmv+sN0<<Z#s-"
    "!owk5${e)qfMvoC<KZq^BE|AM+wK3%8(=~H6pEvO8N?3(=J^u!VK@2lD$tCcI}NeBV){LOliCMy5lg&*3o+U`*sYj~o1&aRNU`SwGXfz+M8n``igx_1J"
    "~7k8rZ3E_>#PB);gM33ro7PtLOIYMfGIC$ydtm=V6P8nF8-"
    "88rs0b&ZE+XgVMfA)rY0hsn0ZR=84ZZ6i2)aEErisiUOp)dy!*Co!$~|7prJcxgs65Oi6Y7#z?zHO{{SA;t<C"
)


@functools.cache
def _codes() -> dict[str, bytes]:
    if sys.version_info[:2] != (3, 11):
        return {}
    return {name: code.encode("latin1") for name, code in json.loads(zlib.decompress(base64.b85decode(_CODES))).items()}


def recorded_function(module: str, qualname: str) -> bytes:
    """Return the recorded name that fingerprints hold for a function; for a few class methods, their earlier code.

    >>> recorded_function("datasets_core.load", "load_dataset")
    b'function:31:datasets_core.load.load_dataset'
    """
    name = recorded_name(module, qualname)
    code = _codes().get(name) if is_of_library(module) else None
    return f"function:{len(name.encode())}:{name}".encode() if code is None else code
