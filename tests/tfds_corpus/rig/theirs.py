"""Builds the builders of TensorFlow Datasets by itself on fake data, as their test cases say: `TFDS_RIG=folder python theirs.py [builder ...]`.

Needs tensorflow, tensorflow-datasets, and the packages that builders import. Rows are kept in the folder, for `ours.py`.
"""
import sys, os, json, pickle, time, importlib, inspect, traceback, shutil, warnings
os.environ['TF_CPP_MIN_LOG_LEVEL']='3'; os.environ['CUDA_VISIBLE_DEVICES']=''
warnings.filterwarnings('ignore')
import logging; logging.disable(logging.WARNING)
from pathlib import Path
from unittest import mock
import numpy as np
import tensorflow as tf, tensorflow_datasets as tfds
from tensorflow_datasets.core import dataset_utils
from tensorflow_datasets import testing as T
tfds.disable_progress_bar()
sys.path.insert(0, os.path.dirname(__file__))
import fake_files as lib
HERE=Path(os.environ.get('TFDS_RIG') or os.path.join(__import__('tempfile').gettempdir(),'tfds_rig')); HERE.mkdir(parents=True,exist_ok=True); FAKES=HERE/'fakes'; OUT=HERE/'out'; OUT.mkdir(exist_ok=True)
S=Path(tfds.__file__).parent
import tensorflow_datasets.testing.test_utils as tu
tu.fake_examples_dir=lambda: str(FAKES)
def canon(v):
    if isinstance(v, dict): return {k: canon(x) for k,x in sorted(v.items())}
    if isinstance(v, (tf.RaggedTensor, tf.compat.v1.ragged.RaggedTensorValue)): return ('ragged', np.dtype(v.dtype if not hasattr(v.dtype,'as_numpy_dtype') else v.dtype.as_numpy_dtype).name if True else '', v.to_list())
    if isinstance(v, dataset_utils._IterableDataset) or type(v).__name__ in('_IterableDataset',): return ('dataset', [canon(x) for x in v])
    if isinstance(v, (np.ndarray, np.generic)): return v
    return v
def nest(m, f):
    if isinstance(m, dict): return {k: nest(v,f) for k,v in m.items()}
    if isinstance(m, (list,tuple)): return [nest(v,f) for v in m]
    return f(m)
def set_values(cls,b,values):
    """Set what a test case sets: attributes of the class, of its module, of the builder, of its config."""
    for where,name,value in values or ():
        if where=='store': mock.patch('tensorflow_datasets.public_api.core.lazy_imports.gcsfs_store',lambda s:s).start(); continue
        if where=='path': value=nest(value,tfds.core.Path)
        target={'class':cls,'module':sys.modules[cls.__module__],'path':sys.modules[cls.__module__],'instance':b,'config':getattr(b,'builder_config',None)}[where]
        setattr(target,name,value)
def fakes():
    import importlib.util
    found={}
    for p in sorted(Path(__file__).parent.glob('fakes_*.py')):
        s=importlib.util.spec_from_file_location(p.stem,p); m=importlib.util.module_from_spec(s); s.loader.exec_module(m)
        for k,v in vars(m).items():
            if inspect.isfunction(v) and v.__module__==p.stem and not k.startswith('_'): found[k.rstrip('_')]=v
    return found
def main(asked):
    F=fakes(); plan=[]
    done={}
    pf=HERE/'plan.json'
    if pf.exists(): done={r['title']:r for r in json.loads(pf.read_text())}
    tests=[p for p in sorted(S.rglob('*_test.py')) if 'DatasetBuilderTestCase' in p.read_text() and not any(x in ('core','scripts','testing') for x in p.relative_to(S).parts)]
    skipped={}
    for p in tests:
        mod='.'.join(('tensorflow_datasets',*p.relative_to(S).with_suffix('').parts))
        if asked:
            t=p.read_text(); st=str(p)
        stem=p.stem[:-5].replace('_dataset_builder','')
        try: m=importlib.import_module(mod)
        except BaseException as e: skipped[str(p.relative_to(S))]=f'import: {type(e).__name__}: {e}'; continue
        for cname,cls in list(vars(m).items()):
            if not(inspect.isclass(cls) and issubclass(cls,T.DatasetBuilderTestCase) and cls.__module__==mod): continue
            B=cls.DATASET_CLASS
            if B is None or not inspect.isclass(B): skipped[f'{stem}.{cname}']='no class'; continue
            name=B.name
            if asked and name not in asked: continue
            if name not in F: skipped[name]='no fake'; continue
            made=getattr(F[name],'configs',None)
            configs=made or getattr(F[name],'names',None) or cls.BUILDER_CONFIG_NAMES_TO_TEST or [c.name for c in B.BUILDER_CONFIGS]
            if len(configs)>3 and not made and not hasattr(F[name],'names') and not cls.BUILDER_CONFIG_NAMES_TO_TEST: configs=configs[:2]+configs[-1:]
            for config in configs or [None]:
                asks=config if made else None
                if asks: config=getattr(sys.modules[B.__module__],asks[0])(**asks[1])
                cn=getattr(config,'name',config)
                title='-'.join(x for x in (name,cname,str(cn).replace('/','_') if cn else '') if x)
                if title in done and not asked and (OUT/f'{title}.pkl').exists(): continue
                row={'title':title,'name':name,'config':cn,'version':str(cls.VERSION) if cls.VERSION else None,'file':inspect.getfile(B),'cls':B.__name__,'made':asks}
                try:
                    d=FAKES/title; shutil.rmtree(d,ignore_errors=True); d.mkdir(parents=True)
                    tmp=HERE/'peerdata'/title; shutil.rmtree(tmp,ignore_errors=True)
                    getattr(F[name],'before',lambda d:None)(d)
                    early=getattr(F[name],'early',False); lib.seed(title)
                    if early: row['values']=F[name](d,None); set_values(B,None,row['values'])
                    b=B(data_dir=str(tmp),config=config,version=cls.VERSION)
                    if not early: row['values']=F[name](d,b); set_values(B,b,row['values'])
                    P=lambda x:nest(x,lambda f:str(d/f))
                    ext=str(d) if cls.DL_EXTRACT_RESULT is None else P(cls.DL_EXTRACT_RESULT)
                    dow=ext if cls.DL_DOWNLOAD_RESULT is None else P(cls.DL_DOWNLOAD_RESULT)
                    seq=getattr(cls,'SEQUENTUAL_DL_EXTRACT_RESULT',None)
                    if seq: row['seq']=P(seq)
                    only=P(cls.DL_EXTRACT_ONLY_RESULT) if cls.DL_EXTRACT_ONLY_RESULT else None
                    manual=str(d) if b.MANUAL_DOWNLOAD_INSTRUCTIONS else None
                    row|={'extract_result':ext,'download_result':dow,'only':only,'manual':manual,'dir':str(d)}
                    E=tfds.core.Path
                    up=lambda r: lambda self_or=None,*a: nest(r,E)
                    class PM:
                        pass
                    patches={'download_and_extract':lambda self,u:[] if u==[] else nest(row['seq'][u],E) if seq and isinstance(u,str) and u in row['seq'] else nest(ext,E),'download':lambda self,u:nest(row['seq'][u],E) if seq and isinstance(u,str) and u in row['seq'] else nest(dow,E),'download_kaggle_data':lambda self,competition_or_dataset:nest(dow,E),'download_checksums':lambda self,u:None,'manual_dir':E(manual) if manual else mock.PropertyMock(side_effect=Exception('no manual')),'download_dir':E(d)}
                    if only: patches['extract']=lambda self,u:nest(only,E)
                    extra=getattr(F[name],'patch',None)
                    with mock.patch.multiple('tensorflow_datasets.core.download.DownloadManager',**patches):
                        t0=time.perf_counter()
                        b.download_and_prepare(download_config=tfds.download.DownloadConfig(compute_stats=tfds.download.ComputeStatsMode.SKIP))
                        row['seconds']=time.perf_counter()-t0
                    splits={str(s):[canon(x) for x in tfds.as_numpy(b.as_dataset(split=s))] if b.info.splits[s].num_examples else [] for s in b.info.splits}
                    row['splits']={s:len(v) for s,v in splits.items()}
                    row['keys']=list(b.info.splits)
                    row['paths']={s:[os.path.basename(str(x)) for x in b.info.splits[s].filepaths] for s in b.info.splits if b.info.splits[s].num_examples}
                    row['folder']=str(b.data_dir)
                    pickle.dump(splits,open(OUT/f'{title}.pkl','wb'))
                    row['ok']=True
                    print('ok  ',title,row['splits'],f"{row['seconds']:.1f}s",flush=True)
                except BaseException as e:
                    if isinstance(e,KeyboardInterrupt): raise
                    row['ok']=False; row['error']=f'{type(e).__name__}: {str(e)[:300]}'
                    tb=traceback.extract_tb(e.__traceback__); row['where']=[f'{os.path.basename(f.filename)}:{f.lineno} {f.line}' for f in tb if 'site-packages/tensorflow_datasets/' in f.filename or '/rig/' in f.filename][-3:]
                    print('FAIL',title,row['error'][:200].replace('\n',' '),row['where'][-2:],flush=True)
                done[title]=row
                pf.write_text(json.dumps(list(done.values())))
    (HERE/'skipped.json').write_text(json.dumps(skipped,indent=1))
    ok=[r for r in done.values() if r['ok']]
    print(len(done),'configs',len(ok),'ok;',len({r['name'] for r in ok}),'builders; skipped',len(skipped))
main(set(sys.argv[1:]))
