"""Builds the same builders by this library, unmodified and without TensorFlow, and prints each config whose rows differ.

`TFDS_RIG=folder python ours.py [builder or config ...]`, after `theirs.py`; needs the extra `jpeg`.
"""
import sys, os, json, pickle, time, traceback, shutil, warnings
warnings.filterwarnings('ignore')
import logging; logging.disable(logging.WARNING)
from pathlib import Path
import numpy as np
HERE=Path(os.environ.get('TFDS_RIG') or os.path.join(__import__('tempfile').gettempdir(),'tfds_rig')); HERE.mkdir(parents=True,exist_ok=True)
import datasets_core
from datasets_core import tfds
from datasets_core.tfds import download as dl
from datasets_core.tfds.elements import as_bytes
from datasets_core.scripting.compat.packages import Path as P
datasets_core.disable_progress_bar() if hasattr(datasets_core,'disable_progress_bar') else None
def nest(m, f):
    if isinstance(m, dict): return {int(k) if k.isdigit() else k: nest(v,f) for k,v in m.items()}  # keys of JSON are texts
    if isinstance(m, (list,tuple)): return [nest(v,f) for v in m]
    return f(m)
RANDOM={'gpt3','wiki_dialog','ble_wind_field'}  # their keys differ in each run, so their rows are in another order
def leaf(v):
    if isinstance(v,(bytes,)): return v
    if isinstance(v,str): return v.encode()
    return v
def tolist(v):
    if isinstance(v,np.ndarray): return [tolist(x) for x in v] if v.dtype==object else v.tolist()
    if isinstance(v,(list,tuple)): return [tolist(x) for x in v]
    if isinstance(v,np.generic): return v.item()
    return leaf(v)
def same(a,b,at=''):
    """a: theirs, b: ours; a reason or None."""
    if isinstance(a,dict):
        if not isinstance(b,dict): return f'{at}: dict and {type(b).__name__}'
        if set(a)!=set(b): return f'{at}: keys {sorted(set(a)^set(b))[:6]}'
        for k in a:
            r=same(a[k],b[k],f'{at}/{k}')
            if r: return r
        return None
    if isinstance(a,tuple) and a and a[0]=='dataset':
        rows=a[1]
        if isinstance(b,dict):
            n={len(x) for x in leaves(b)}
            if n and n!={len(rows)}: return f'{at}: dataset of {len(rows)} and {n}'
            b=[pick(b,i) for i in range(len(rows))]
        if len(b)!=len(rows): return f'{at}: dataset of {len(rows)} and {len(b)}'
        for i,(x,y) in enumerate(zip(rows,b)):
            r=same(x,y,f'{at}[{i}]')
            if r: return r
        return None
    if isinstance(a,tuple) and a and a[0]=='ragged':
        return None if eq(tolist(a[2]),tolist(b)) else f'{at}: ragged {str(a[2])[:80]} and {str(tolist(b))[:80]}'
    if isinstance(a,np.ndarray):
        if a.dtype==object:
            return None if tolist(a)==tolist(b) else f'{at}: {str(tolist(a))[:90]} and {str(tolist(b))[:90]}'
        bb=np.asarray(b)
        if bb.size==0 and a.size==0:
            return None if bb.shape==a.shape or bb.ndim==1 else f'{at}: shape {a.shape} and {bb.shape}'
        if a.shape!=bb.shape: return f'{at}: shape {a.shape} {a.dtype} and {bb.shape} {bb.dtype}'
        if a.dtype!=bb.dtype: return f'{at}: dtype {a.dtype} and {bb.dtype}'
        if np.array_equal(a,bb,equal_nan=a.dtype.kind=='f'): return None
        w=np.argwhere(~((a==bb)|((a!=a)&(bb!=bb))))
        return f'{at}: {len(w)} of {a.size} values of {a.dtype}{a.shape} differ, first {w[0].tolist()}: {a[tuple(w[0])]} and {bb[tuple(w[0])]}, most {np.abs(a.astype(float)-bb.astype(float)).max()}'
    if isinstance(a,np.generic):
        if not isinstance(b,(np.generic,)) : return f'{at}: {type(a).__name__} {a!r} and {type(b).__name__} {str(b)[:60]!r}'
        if a.dtype!=b.dtype: return f'{at}: dtype {a.dtype} and {b.dtype}'
        return None if a==b or (a!=a and b!=b) else f'{at}: {a!r} and {b!r}'
    return None if leaf(a)==leaf(b) else f'{at}: {str(a)[:90]!r} and {str(b)[:90]!r}'
def eq(a,b):
    if isinstance(a,list): return isinstance(b,list) and len(a)==len(b) and all(eq(x,y) for x,y in zip(a,b))
    if isinstance(a,float): return a==b or (a!=a and b!=b) or (isinstance(b,float) and np.float32(a)==np.float32(b))
    return a==b
def leaves(d):
    for v in d.values():
        if isinstance(v,dict): yield from leaves(v)
        else: yield v
def pick(d,i): return {k:pick(v,i) if isinstance(v,dict) else v[i] for k,v in d.items()}
def patch(row):
    M=dl.DownloadManager
    def ext(self,u):
        if u==[]: return []
        if 'seq' in row and isinstance(u,str) and u in row['seq']: return nest(row['seq'][u],P)
        return nest(row['extract_result'],P)
    def dow(self,u):
        if 'seq' in row and isinstance(u,str) and u in row['seq']: return nest(row['seq'][u],P)
        return nest(row['download_result'],P)
    M.download_and_extract=ext; M.download=dow; M.download_kaggle_data=lambda self,competition_or_dataset: nest(row['download_result'],P)
    M.download_checksums=lambda self,u: None
    M.manual_dir=property(lambda self: P(row['manual'])) ; M.download_dir=property(lambda self:P(row['dir']))
    if row.get('only'): M.extract=lambda self,u: nest(row['only'],P)
    else: M.extract=ORIG
ORIG=dl.DownloadManager.extract
def make(row,data_dir,**k):
    asked=row['file']
    if tfds.builder_cls(asked).name!=row['name']: asked=row['name']
    kw={}
    if row['config']: kw['config']=row['config']
    if row.get('made'): tfds.builder_cls(asked); kw['config']=getattr(sys.modules[tfds.builder_cls(asked).__module__],row['made'][0])(**row['made'][1])
    if row['version']: kw['version']=row['version']
    values=row.get('values') or []
    cls=tfds.builder_cls(asked); set_values(cls,None,[v for v in values if v[0] in('class','module','path','store')])
    b=tfds.builder(asked,data_dir=data_dir,**kw,**k); set_values(b.__class__,b,values); return b
def set_values(cls,b,values):
    for where,name,value in values or ():
        if where=='store': from datasets_core.scripting.compat.packages import LazyImports; LazyImports.gcsfs_store=staticmethod(lambda s:s); continue
        if where=='path': value=nest(value,P)
        target={'class':cls,'module':sys.modules[cls.__module__],'path':sys.modules[cls.__module__],'instance':b,'config':getattr(b,'builder_config',None)}[where]
        setattr(target,name,value)
def run(row,mode):
    patch(row)
    data=HERE/'ourdata'/row['title']; shutil.rmtree(data,ignore_errors=True)
    b=make(row,str(data))
    t0=time.perf_counter(); b.download_and_prepare(download_config=tfds.download.DownloadConfig(manual_dir=row['manual'])); row['our_seconds']=time.perf_counter()-t0
    theirs=pickle.load(open(HERE/'out'/f"{row['title']}.pkl",'rb'))
    names=list(b.info.splits)
    if set(names)!=set(theirs): return f'splits {list(theirs)} and {names}'
    for s,rows in theirs.items():
        found=list(tfds.as_numpy(b.as_dataset(split=s))) if rows or b.info.splits[s].num_examples else []
        if len(found)!=len(rows): return f'{s}: {len(rows)} rows and {len(found)}'
        left=list(enumerate(found))
        for i,x in enumerate(rows):
            y=found[i] if row['name'] not in RANDOM else next((y for _,y in left if same(x,y) is None),None)
            r=same(x,y) if y is not None else ': a row that is not here'
            if r: return f'{s}[{i}]{r}'
            if row['name'] in RANDOM: left=[p for p in left if p[1] is not y]
    if names!=list(theirs): return f'order of splits {list(theirs)} and {names}'
    if getattr(sys.modules.get('__main__'),'KEEP',None) is None: shutil.rmtree(data,ignore_errors=True)
    return None
if __name__=='__main__':
    import os; from datasets_core import config as _c
    _u=_c.using(jpeg_dct='fast'); _u.__enter__()
    asked=set(sys.argv[1:]); plan=[r for r in json.loads((HERE/'plan.json').read_text()) if r['ok'] and (not asked or r['name'] in asked or r['title'] in asked)]
    res={}
    for row in plan:
        try: r=run(row,'plain')
        except BaseException as e:
            if isinstance(e,KeyboardInterrupt): raise
            r=f'{type(e).__name__}: {str(e)[:400]}'
            if len(asked)==1 and len(plan)<3: traceback.print_exc()
        res[row['title']]=(row['name'],r,row.get('our_seconds'),row.get('seconds'))
        if r: print(row['title'],'::',r.replace('\n',' ')[:420],flush=True)
    by={}
    for t,(n,r,*_) in res.items(): by.setdefault(n,[]).append(r)
    good=[n for n,rs in by.items() if not any(rs)]
    print(f"{sum(not r for _,r,*_ in res.values())} of {len(res)} configs equal, {len(good)} of {len(by)} builders equal whole")
    if not asked: (HERE/'ours.json').write_text(json.dumps(res))
