"""Helpers that write fake data for builders of TensorFlow Datasets."""
import bz2, csv, gzip, io, json, os, random, tarfile, wave, zipfile, zlib
import numpy as np
from pathlib import Path
R = random.Random(0); NR = np.random.RandomState(0)
def seed(name):
    global NR
    R.seed(name); NR = np.random.RandomState(zlib.crc32(name.encode()))
WORDS = 'alpha Beta gamma déjà vu "quoted" naïve, comma; semi 東京 émigré the quick brown fox 1984 3.5'.split()
def text(n=None): return ' '.join(R.choice(WORDS) for _ in range(n or R.randint(2, 9)))
def word(): return R.choice(['red','blue','green','cyan','pink','grün'])
def W(p, data):
    p = Path(p); p.parent.mkdir(parents=True, exist_ok=True)
    p.write_bytes(data if isinstance(data, bytes) else data.encode())
def J(p, o): W(p, json.dumps(o))
def JL(p, rows):
    s = '\n'.join(json.dumps(r) for r in rows) + '\n'
    W(p, gzip.compress(s.encode()) if str(p).endswith('.gz') else s)
def C(p, rows, d=',', header=True, q=csv.QUOTE_MINIMAL):
    f = io.StringIO(); w = csv.writer(f, delimiter=d, lineterminator='\n', quoting=q, **({'quotechar': None, 'escapechar': '\\'} if q == csv.QUOTE_NONE else {}))
    rows = list(rows)
    if header: w.writerow(list(rows[0]))
    for r in rows: w.writerow(r.values() if isinstance(r, dict) else r)
    W(p, f.getvalue())
def img(h=None, w=None, c=3, fmt='PNG', kind=np.uint8, high=256, **o):
    from PIL import Image
    h = h or R.randint(8, 24); w = w or R.randint(8, 24)
    a = NR.randint(0, high, (h, w, c)).astype(kind)
    y, x = np.mgrid[:h, :w]
    if high == 256: a = ((a // 4) + ((x * 5 + y * 3) % 190)[..., None]).astype(kind)
    f = io.BytesIO(); im = Image.fromarray(a[..., 0] if c == 1 else a)
    if fmt == 'JPEG': o.setdefault('quality', 90)
    im.save(f, fmt, **o); return f.getvalue()
def jpg(h=None, w=None, c=3, **o): return img(h, w, c, 'JPEG', **o)
def I(p, h=None, w=None, c=3, **o):
    e = str(p).lower().rsplit('.', 1)[-1]
    W(p, img(h, w, c, {'jpg': 'JPEG', 'jpeg': 'JPEG', 'tif': 'TIFF', 'tiff': 'TIFF', 'bmp': 'BMP', 'gif': 'GIF','ppm':'PPM'}.get(e, 'PNG'), **o))
def TAR(p, files, mode='w', dirs=()):
    p = Path(p); p.parent.mkdir(parents=True, exist_ok=True); n = str(p)
    mode = 'w:gz' if n.endswith(('.gz', '.tgz')) else 'w:bz2' if n.endswith('.bz2') else mode
    with tarfile.open(p, mode) as t:
        for d in dirs:
            i = tarfile.TarInfo(d); i.type = tarfile.DIRTYPE; i.mode = 0o755; t.addfile(i)
        for k, v in files.items():
            v = v if isinstance(v, bytes) else v.encode(); i = tarfile.TarInfo(k); i.size = len(v); t.addfile(i, io.BytesIO(v))
def ZIP(p, files):
    p = Path(p); p.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(p, 'w', zipfile.ZIP_DEFLATED) as z:
        for k, v in files.items(): z.writestr(k, v)
def npy(a): f = io.BytesIO(); np.save(f, a); return f.getvalue()
def npz(**k): f = io.BytesIO(); np.savez(f, **k); return f.getvalue()
def mat(d): import scipy.io; f = io.BytesIO(); scipy.io.savemat(f, d); return f.getvalue()
def H5(p, tree, attrs=None):
    import h5py
    Path(p).parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(p, 'w') as f:
        for k, v in tree.items(): f[k] = v
        for k, v in (attrs or {}).items():
            g, _, a = k.rpartition('@'); (f[g] if g else f).attrs[a] = v
def wav(n=400, ch=1, rate=16000, width=2):
    f = io.BytesIO()
    with wave.open(f, 'wb') as w:
        w.setnchannels(ch); w.setsampwidth(width); w.setframerate(rate)
        w.writeframes((NR.randint(-9000, 9000, n * ch)).astype('<i2').tobytes())
    return f.getvalue()
def flac(n=400, rate=16000):
    import soundfile; f = io.BytesIO(); soundfile.write(f, NR.randint(-9000, 9000, n).astype('int16'), rate, format='FLAC'); return f.getvalue()
def value(f, s=False):
    """A random author value of a feature of TFDS; s: as a string of CSV."""
    n = type(f).__name__
    if hasattr(f, 'keys') and not n.endswith('Sequence'): return {k: value(v, s) for k, v in f.items()}
    if n == 'ClassLabel': return R.choice(f.names) if f.names and f.names[0] != '0' else (str if s else int)(R.randrange(f.num_classes or 2))
    if n == 'Text': return text()
    if n in ('Sequence',): return [value(f.feature, s) for _ in range(R.randint(0, 3) if f._length is None else f._length)]
    if n in ('Scalar', 'Tensor', 'BBoxFeature', 'Audio'):
        k = np.dtype(getattr(f, 'np_dtype', None) or f.dtype)
        def one():
            if k.kind == 'f': return round(R.uniform(-9, 9), 4)
            if k.kind in 'iu': return R.randint(0, 9)
            if k.kind == 'b': return R.random() < .5
            return text()
        shape = tuple(3 if d is None else d for d in f.shape)
        if not shape: return str(one()) if s else one()
        return np.array([one() for _ in range(int(np.prod(shape)))]).reshape(shape).tolist()
    if n == 'Translation': return {k: text() for k in f.languages}
    raise NotImplementedError(n)
def rows(b, n=3, s=False, only=None): return [{k: value(v, s) for k, v in b.info.features.items() if not only or k in only} for _ in range(n)]
def EX(**k):
    """A tf.train.Example as bytes."""
    import tensorflow as tf
    fs = {}
    for n, v in k.items():
        v = v if isinstance(v, (list, tuple, np.ndarray)) else [v]
        if isinstance(v, np.ndarray): v = v.ravel().tolist()
        if isinstance(v[0], (bytes, str)): fs[n] = tf.train.Feature(bytes_list=tf.train.BytesList(value=[x if isinstance(x, bytes) else x.encode() for x in v]))
        elif isinstance(v[0], float): fs[n] = tf.train.Feature(float_list=tf.train.FloatList(value=v))
        else: fs[n] = tf.train.Feature(int64_list=tf.train.Int64List(value=v))
    return tf.train.Example(features=tf.train.Features(feature=fs)).SerializeToString()
def TFR(p, recs, comp=None):
    import tensorflow as tf
    Path(p).parent.mkdir(parents=True, exist_ok=True)
    with tf.io.TFRecordWriter(str(p), options=comp) as w:
        for r in recs: w.write(r)
def ND(x): return np.dtype(getattr(x.dtype,'as_numpy_dtype',x.dtype))
