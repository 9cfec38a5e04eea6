"""Processor time of a build of many rows by both libraries: `TFDS_RIG=folder python speed.py ours|theirs title ...`, after `theirs.py`.

The rows that a builder generates from its fake data are kept in memory and yielded again and again with new keys, up to 10,000
rows or `TFDS_RIG_BYTES` (default 2 GB) of prepared data. A small build goes before, so that imports do not count. `ours` runs by
an interpreter with this library and the extra `jpeg`, `theirs` by one with tensorflow-datasets. `title` is one of `plan.json`.
"""
import io, resource, sys, os
MODE, TITLES = sys.argv[1], sys.argv[2:]
if MODE == 'theirs':
    os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
    here = os.path.dirname(os.path.abspath(__file__))
    source = open(os.path.join(here, 'theirs.py')).read().replace('main(set(sys.argv[1:]))', '')
    exec(compile(source, os.path.join(here, 'theirs.py'), 'exec'))
else:
    from ours import *
    from datasets_core import config as _config
    _config.using(jpeg_dct='fast').__enter__()
BYTES = int(os.environ.get('TFDS_RIG_BYTES', 2 * 10**9)); ROWS = int(os.environ.get('TFDS_RIG_ROWS', 10000))
def freeze(v):
    if isinstance(v, dict): return {k: freeze(x) for k, x in v.items()}
    if isinstance(v, list): return [freeze(x) for x in v]
    return ('file', v.read()) if hasattr(v, 'read') else v
def thaw(v):
    if isinstance(v, dict): return {k: thaw(x) for k, x in v.items()}
    if isinstance(v, list): return [thaw(x) for x in v]
    return io.BytesIO(v[1]) if isinstance(v, tuple) and len(v) == 2 and isinstance(v[0], str) and v[0] == 'file' else v
def blown(cls, total):
    """Let a class generate this many rows in each split; return the class's own function."""
    inner = cls._generate_examples
    def _generate_examples(self, *a, **k):
        rows, n = [(key, freeze(example)) for key, example in inner(self, *a, **k)], 0
        while rows:
            for key, example in rows:
                if n >= total: return
                yield f'{key}#{n}', thaw(example)
                n += 1
    cls._generate_examples = _generate_examples
    return inner
def cpu():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return np.array([sum(u[0] for u in used), sum(u[1] for u in used)])
def build(row, data):
    shutil.rmtree(data, ignore_errors=True)
    if MODE == 'ours':
        b = make(row, str(data)); start = cpu()
        b.download_and_prepare(download_config=tfds.download.DownloadConfig(manual_dir=row['manual']))
    else:
        E = tfds.core.Path
        b = B(data_dir=str(data), config=row['config'] or None)
        patches = {'download_and_extract': lambda self, u: nest(row['extract_result'], E), 'download': lambda self, u: nest(row['download_result'], E), 'manual_dir': E(row['dir'])}
        with mock.patch.multiple('tensorflow_datasets.core.download.DownloadManager', **patches):
            start = cpu(); b.download_and_prepare(download_config=tfds.download.DownloadConfig(compute_stats=tfds.download.ComputeStatsMode.SKIP))
    used = cpu() - start
    size = sum(p.stat().st_size for p in Path(data).rglob('*') if p.is_file()); shutil.rmtree(data, ignore_errors=True)
    return sum(s.num_examples for s in b.info.splits.values()), len(b.info.splits), size, used
plan = {r['title']: r for r in json.loads((HERE/'plan.json').read_text())}
for title in TITLES:
    row = plan[title]; data = HERE/'speed'/f'{MODE}-{title}'
    if MODE == 'ours': patch(row); B = type(make(row, str(data)))
    else: B = getattr(importlib.import_module('tensorflow_datasets.' + os.path.relpath(row['file'], S)[:-3].replace('/', '.')), row['cls'])
    each = sum(p.stat().st_size for p in Path(row['folder']).glob('*tfrecord*')) / sum(row['splits'].values())
    total = max(1, min(ROWS, int(BYTES / each)) // len(row['splits']))
    inner = blown(B, 3); build(row, data)
    B._generate_examples = inner; blown(B, total)
    if os.environ.get('PROFILE'):
        import cProfile, pstats
        p = cProfile.Profile(time.process_time); p.enable(); build(row, data); p.disable(); pstats.Stats(p).sort_stats(os.environ['PROFILE']).print_stats(45); continue
    rows, splits, size, used = build(row, data)
    print(json.dumps({'by': MODE, 'title': title, 'rows': rows, 'splits': splits, 'MB': round(size / 1e6), 'user': round(used[0], 2), 'sys': round(used[1], 2), 'cpu': round(sum(used), 2)}), flush=True)
