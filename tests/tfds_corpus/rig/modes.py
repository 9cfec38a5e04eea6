"""Builds them confined, and streams them, against the plain build: `TFDS_RIG=folder TFDS_SOURCE=tensorflow_datasets python modes.py [builder ...]`."""
import sys, collections, hashlib
from ours import *
from datasets_core import load_dataset
S=Path(os.environ['TFDS_SOURCE']); T=HERE/'tree/tensorflow_datasets'
if not T.exists():
    shutil.copytree(S,T,ignore=shutil.ignore_patterns('__pycache__','*_test.py'))
SNIP='''

def _here():
    from etils import epath
    return epath.Path(__file__).parent
class _FakeManager:
    def __init__(self, real, root): self._real, self._root = real, root
    def __getattr__(self, name):
        if name.startswith('__'): raise AttributeError(name)
        return getattr(self.__dict__['_real'], name) if '_real' in self.__dict__ else object.__getattribute__(self, name)
    def _told(self, kind, url):
        import json
        from etils import epath
        plan = json.loads((_here() / "_plan.json").read_text())
        if isinstance(url, str) and url in plan.get("seq", {}): found = plan["seq"][url]
        else: found = plan[kind]
        def made(x):
            if isinstance(x, dict): return {int(k) if k.isdigit() else k: made(v) for k, v in x.items()}
            if isinstance(x, list): return [made(v) for v in x]
            return epath.Path(self._root) / x
        return made(found)
    def download_and_extract(self, url): return self._told("extract_result", url)
    def download(self, url): return self._told("download_result", url)
    def download_kaggle_data(self, competition_or_dataset): return self._told("download_result", competition_or_dataset)
    def extract(self, path):
        import json
        plan = json.loads((_here() / "_plan.json").read_text())
        return self._told("only", path) if plan.get("only") else self._real.extract(path)
    @property
    def manual_dir(self): return self._real.manual_dir
    @property
    def download_dir(self): return self._real.manual_dir
def _faked(cls):
    import functools
    inner = cls._split_generators
    @functools.wraps(inner)
    def _split_generators(self, dl_manager, *more):
        for where, name, value in _VALUES:  # what the test case sets
            if where in ("instance", "config"): setattr(self if where == "instance" else self.builder_config, name, value)
        return inner(self, _FakeManager(dl_manager, dl_manager.manual_dir), *more)
    cls._split_generators = _split_generators
    for where, name, value in _VALUES:
        if where == "class": setattr(cls, name, value)
        elif where == "module": globals()[name] = value
        elif where == "path":
            from etils import epath
            globals()[name] = {k: epath.Path(v) for k, v in value.items()} if isinstance(value, dict) else epath.Path(value)
        elif where == "store": globals().update(tfds=_Store(tfds))
    if _MADE: cls.BUILDER_CONFIGS = [globals()[_MADE[0]](**_MADE[1])]
    cls.MANUAL_DOWNLOAD_INSTRUCTIONS = cls.MANUAL_DOWNLOAD_INSTRUCTIONS or "none"
class _Store:
    """`tfds` with a store of local files."""
    def __init__(self, real): self._real = real
    def __getattr__(self, name): return _Store(getattr(self._real, name)) if name in ("core", "lazy_imports") else (lambda s: s) if name == "gcsfs_store" else getattr(self._real, name)
_VALUES, _MADE = %s, %s
_faked(%s)
'''
def rel(x,d): return nest(x,lambda p: os.path.relpath(p,d)) if x is not None else None
def prepare(row):
    f=T/os.path.relpath(row['file'],S); src=Path(row['file']).read_text()
    f.write_text(src+SNIP%(repr(row.get('values') or []),repr(row.get('made')),row['cls']))
    d=row['dir']
    (f.parent/'_plan.json').write_text(json.dumps({'extract_result':rel(row['extract_result'],d),'download_result':rel(row['download_result'],d),'only':rel(row.get('only'),d),'seq':rel(row.get('seq'),d) or {}}))
    return str(f)
def digest(r): return hashlib.md5(repr(plain(r)).encode()).hexdigest()
def plain(v):
    if isinstance(v,dict): return {k:plain(x) for k,x in sorted(v.items())}  # some builders name their columns by a set
    if isinstance(v,(list,tuple)): return [plain(x) for x in v]
    if hasattr(v,'tobytes') and not isinstance(v,(bytes,np.ndarray,np.generic)): return ('img',v.size,hashlib.md5(v.tobytes()).hexdigest())
    if isinstance(v,np.ndarray): return v.tolist()
    return v
def same_splits(a,b,random=False):
    """Compare all splits; NaN equals NaN."""
    if random: return all(collections.Counter(map(digest,a[s]))==collections.Counter(map(digest,b[s])) for s in a)
    return list(a)==list(b) and all(a[s].num_rows==b[s].num_rows and all(digest(x)==digest(y) for x,y in zip(a[s],b[s])) for s in a)
if __name__=='__main__':
    asked=set(sys.argv[1:]); todo=[r for r in json.loads((HERE/'plan.json').read_text()) if r['ok'] and (not asked or r['name'] in asked)]
    seen=set(); n=collections.Counter(); bad=[]
    start=time.time()
    for row in todo:
        if row['name'] in seen and not asked: continue   # one config of each builder
        seen.add(row['name'])
        script=prepare(row); cache=HERE/'cache'; shutil.rmtree(cache,ignore_errors=True)
        kw={'data_dir':row['dir']}
        if row['version']: kw['version']=row['version']
        try:
            a=load_dataset(script,row['config'],cache_dir=cache/'a',trust_remote_code=True,**kw)
        except BaseException as e:
            n['plain fails']+=1; print(row['title'],'PLAIN',type(e).__name__,str(e)[:250].replace('\n',' '),flush=True); continue
        for mode in ('sandbox','stream','stream-sandbox'):
            try:
                if mode=='sandbox':
                    b=load_dataset(script,row['config'],cache_dir=cache/'b',trust_remote_code='sandbox',**kw)
                    why=None if same_splits(a,b,row['name'] in RANDOM) else 'rows differ'
                else:
                    b=load_dataset(script,row['config'],cache_dir=cache/'c',trust_remote_code=True if mode=='stream' else 'sandbox',streaming=True,**kw)
                    why=None
                    for s in a:
                        x=collections.Counter(digest(r) for r in a[s]); y=collections.Counter(digest(r) for r in b[s])
                        if x!=y: why=f'{s}: {sum(x.values())} rows and {sum(y.values())}, {sum((x&y).values())} equal'; break
            except BaseException as e:
                why=f'{type(e).__name__}: {str(e)[:300]}'.replace('\n',' ')
            n[mode+(' equal' if why is None else ' differs')]+=1
            if why: print(row['title'],mode,why,flush=True)
    print(dict(n), f'{time.time()-start:.0f}s')
