"""Fake data, part 5: builders whose tests make configs, set constants of modules, or read prepared data. `configs` are (class, arguments)."""
from fake_files import *
def genomics_ood(d,b):
    L=b.info.features['label'].names
    for n in ('before_2011_in_tr','between_2011-2016_in_val','after_2016_in_test','between_2011-2016_ood_val','after_2016_ood_test'):
        C(d/f'z/{n}.txt',[{'seq':''.join(R.choice('ACGT') for _ in range(250)),'label':R.choice(L),'seq_info':text(),'domain':R.choice(['in','ood'])} for _ in range(5)],'\t')
    z={p.name:p.read_bytes() for p in (d/'z').iterdir()}; ZIP(d/'genomics_ood.zip',z); return [('module','_DATA_URL',str(d/'genomics_ood.zip'))]
def _squad(n=2):
    def qa(i): return {'id':f'q{i}-{R.randrange(10**9)}','question':text(),'answers':[{'text':word(),'answer_start':R.randrange(9)} for _ in range(R.randint(1,3))]}
    return {'data':[{'title':text(),'paragraphs':[{'context':text(20),'qas':[qa(i) for i in range(n)]}]},{'paragraphs':[{'context':text(9),'qas':[qa(9)]}]}]}
def tydi_qa(d,b):
    L={'ar':'arabic','bn':'bengali','en':'english','fi':'finnish','id':'indonesian','ko':'korean','ru':'russian','sw':'swahili','te':'telugu'}
    for f in ('train','dev'): J(d/f'{f}-v1.1.json',_squad())
    for i,n in L.items(): J(d/f'tydiqa-goldp-v1.1-dev/tydiqa-goldp-dev-{n}.json',_squad(1)); J(d/f'tydiqa.translate.train.en-{i}.json',_squad(1))
def opus(d,b):
    for n in b.builder_config.subsets:
        a,z=b.builder_config.language_pair
        for l in (a,z): W(d/f'{n}.{a}-{z}.{l}',''.join(f'{text()} {l} {i}\n' if i!=3 else '\n' for i in range(9)))
opus.configs=[('OpusConfig',{'version':'0.1.0','language_pair':('de','en'),'subsets':['Tanzil','EMEA']})]
def qa4mre(d,b):
    q='<q q_id="{0}"><q_str>Why é{0}?</q_str><answer a_id="1">one</answer><answer a_id="2" correct="Yes">two &amp; three</answer></q>'
    W(d/f'{b.builder_config.name}.xml','<?xml version="1.0" encoding="UTF-8"?><t>'+''.join(f'<topic t_id="{t}" t_name="Topic {t}"><reading-test r_id="{r}"><doc d_id="d{r}">Long text\nof {text()}</doc>{q.format(1)}{q.format(2)}</reading-test></topic>' for t in '12' for r in '1')+'</t>')
def i_naturalist2021(d,b):
    lib=d/'labels'; cats=[{'name':f'Genus species {i}','supercategory':s} for i,s in enumerate(('Birds','Plants'))]
    for s in ('train','train_mini','val','public_test'):
        ims=[{'id':i,'file_name':f'{s}/x/{s}{i}.jpg'} for i in range(3)]
        r={'images':ims,'categories':cats}
        if s!='public_test': r['annotations']=[{'image_id':i,'category_id':i%2} for i in range(3)]
        J(d/f'{s}/{s}.json',r); TAR(d/f'{s}.tar.gz',{x['file_name']:jpg() for x in ims},dirs=(s,))
def _labels2021(d):
    import tensorflow_datasets as tfds; p=Path(tfds.core.tfds_path('image_classification/i_naturalist2021/i_naturalist2021_labels_ordered_by_json_id.txt'))
    if not p.exists(): p.write_text('genus_species_0\ngenus_species_1\n')  # the package lacks it
i_naturalist2021.before=_labels2021
def dolphin_number_word(d,b):
    for s in ('dev','test'): J(d/f'number_word_std.{s}.json',[{'text':text(),'sources':[text(),text()],'index':i,'ans':text(),'ans_simple':[1],'equations':[text(),text()],'id':f'i{i}'} | ({} if i else {'sources':[]}) for i in range(3)])
def covr(d,b):
    for s in ('train','val','test'): JL(d/f'covr/{s}.jsonl',[{'qid':f'{s}{i}','utterance':text(),'scenes':['a','b','c'][:i+1],'properties':['p',text()],'pattern_name':'n','program':[{'op':'x','n':i}],'answer':[i,'yes'][i%2]} for i in range(3)])
    for p in ('vg1/VG_100K_2/a.jpg','vg2/VG/b.jpg','imsitu/of500_images/x/c.jpg'): I(d/p,14,18)
def stanford_dogs(d,b):
    n={f'n{i:08d}-Dog_{i}':[f'n{i:08d}_{k}' for k in (1,2)] for i in range(120)}
    TAR(d/'Images.tar',{f'Images/{k}/{x}.jpg':jpg(20,30) for k,v in n.items() for x in v},dirs=('Images',))
    for k,v in n.items():
        for x in v: W(d/f'Annotation.tar/Annotation/{k}/{x}','<annotation><size><width>30</width><height>20</height></size>'+'<object><bndbox><xmin>2</xmin><ymin>3</ymin><xmax>31</xmax><ymax>15</ymax></bndbox></object>'*R.randint(1,2)+'</annotation>')
    for s,q in (('train',0),('test',1)):
        fl=np.empty((120,1),object); fl[:,0]=[f'{k}/{v[q]}.jpg' for k,v in n.items()]; W(d/f'list.tar/{s}_list.mat',mat({'file_list':fl}))
def movielens(d,b):
    c=b.builder_config; r=d/f'ml-{c.format_version}'; G=b.info.features['movie_genres'].feature.names; v=c.format_version
    if v in ('100k','1m'):
        e=lambda s: s.encode('latin-1')
        if v=='1m':
            W(r/'movies.dat',e('1::Toy é Story (1995)::Animation|Children\'s|Comedy\n2::Heat (1995)::Action\n')); W(r/'users.dat',e('1::F::1::10::48067\n2::M::56::16::70072\n')); W(r/'ratings.dat',e('1::1::5::978300760\n1::2::3::978302109\n2::2::4::978301968\n'))
        else:
            g=lambda *k:'|'.join('1' if i in k else '0' for i in range(19))
            W(r/'u.item',e(f'1|Toy é Story (1995)|01-Jan-1995||http://x|{g(3,4)}\n2|Heat|01-Jan-1995||http://y|{g(1)}\n')); W(r/'u.user',e('1|24|M|technician|85711\n2|53|F|other|94043\n')); W(r/'u.data',e('1\t1\t5\t881250949\n2\t2\t3\t891717742\n'))
    else:
        C(r/'movies.csv',[{'movieId':i,'title':text()+f' ({1990+i})','genres':'|'.join(R.sample(G[:-2],2)) if i else '(no genres listed)'} for i in range(4)])
        C(r/'ratings.csv',[{'userId':R.randrange(9),'movieId':R.randrange(4),'rating':R.choice([.5,3.0,4.5]),'timestamp':1147880044+i} for i in range(8)])
movielens.names=['25m-ratings','latest-small-movies','100k-ratings','100k-movies','1m-ratings','1m-movies','20m-ratings']
def covid19sum(d,b):
    cols=['cord_uid','sha','source_x','title','doi','pmcid','pubmed_id','license','abstract','publish_time','authors','journal','Microsoft Academic Paper ID','WHO #Covidence','has_pdf_parse','has_pmc_xml_parse','full_text_file','url']
    import sys; cols=sys.modules[type(b).__module__]._ALL_COLUMNS
    def row(i): return {c:{'sha':f'sha{i}','abstract':['An abstract é','Unknown','','Other'][i],'has_full_text':'True' if i!=9 else 'False','full_text_file':'biorxiv'}.get(c,text() if R.random()<.8 else '') for c in cols}
    rs=[row(i) for i in range(4)]; C(d/'m.csv',rs); z={'metadata.csv':(d/'m.csv').read_bytes()}
    for i in range(4): z[f'biorxiv/biorxiv/sha{i}.json']=json.dumps({'body_text':[{'section':text(),'text':text(),'cite':[]} for _ in range(2)]}).encode()
    ZIP(d/'CORD-19-research-challenge.zip',z)
def imagenet2012_fewshot(d,b):
    inner={}
    for s in ('n01440764','n01443537','n01484850'): TAR(d/'_t.tar',{f'{s}_{i}.JPEG':jpg() for i in (7,8)}); inner[f'{s}.tar']=(d/'_t.tar').read_bytes(); os.unlink(d/'_t.tar')
    TAR(d/'ILSVRC2012_img_train.tar',inner); TAR(d/'ILSVRC2012_img_val.tar',{f'ILSVRC2012_val_{i:08d}.JPEG':jpg() for i in range(1,4)})
    W(d/'shot.txt','n01440764_7.JPEG\nn01484850_8.JPEG\n'); W(d/'tune.txt','n01443537_7.JPEG\n')
    return [('path','SUBSET2FILES',{k:str(d/'shot.txt') for k in ('1shot','5shot','10shot')}),('path','TUNE_FILE',str(d/'tune.txt'))]
def youtube_vis(d,b):
    h,w=20,30
    def ann(v,k): return {'id':k,'video_id':v,'category_id':3+k,'iscrowd':k%2,'bboxes':[[1,2,10,8],None,[4,5,6,7]],'areas':[80,None,42],'segmentations':[{'counts':[100,50,450],'size':[h,w]},None,[[1,2,11,2,11,10,1,10]]]}
    for s in ('train','valid','test'):
        vids=[{'id':i,'height':h,'width':w,'file_names':[f'{s}vid{i}/{k:05d}.jpg' for k in (0,5,10)]} for i in (1,2)]
        r={'videos':vids}
        if s=='train': r['annotations']=[ann(1,1),ann(1,2),ann(2,3)]
        J(d/f'{s}.json',r); ZIP(d/f'{s}_all_frames.zip',{f'{s}_all_frames/JPEGImages/{s}vid{i}/{k:05d}.jpg':jpg(h,w) for i in (1,2) for k in range(0,11,5)})
youtube_vis.configs=[('YoutubeVisConfig',{'name':'test_config','description':'x','height':28,'width':42}),('YoutubeVisConfig',{'name':'test_config_custom_split','description':'y','height':28,'width':42,'split_train_data_range':(0,1),'split_val_data_range':(0,1),'split_test_data_range':(0,1)}),('YoutubeVisConfig',{'name':'labels','description':'z','only_frames_with_labels':True})]
def tao(d,b):
    cat={'id':1,'name':'cat','synset':'cat.n.01'}
    def ann(i,s,test=False):
        v={'id':i,'name':f'{s}/x/vid{i}','height':20,'width':30,'neg_category_ids':[1,77],'not_exhaustive_category_ids':[],'metadata':{'dataset':'YFCC100M'}}
        for k in range(3): I(d/f'frames/{s}/x/vid{i}/frame{k:04d}.jpg',20,30)
        ims=[{'id':i*10+k,'video_id':i,'video':f'{s}/x/vid{i}','frame_index':k+5,'file_name':f'{s}/x/vid{i}/frame{k:04d}.jpg','width':30,'height':20} for k in range(3)]
        r={'videos':[v],'images':ims,'categories':[cat],'tracks':[],'annotations':[]}
        if not test: r|={'tracks':[{'id':i,'category_id':1,'video_id':i}],'annotations':[{'id':i*100+k,'image_id':i*10+k,'track_id':i,'category_id':1,'bbox':[1,2,10,8],'iscrowd':0,'area':80,'scale_category':'moving-object','segmentation':[[1,2,11,2,11,10,1,10]]} for k in range(2)]}
        return r
    for i,f,s in ((1,'train','train'),(2,'validation','val')): J(d/f'annotations-1.2/{f}.json',ann(i,s))
    J(d/'annotations-1.2/test_without_annotations.json',ann(3,'test',True))
tao.configs=[('TaoConfig',{'name':'test_config','description':'x','height':28,'width':42})]
def wmt_translate(d,b):
    W(d/'sentences.cs-en.tmx','<?xml version="1.0" encoding="UTF-8"?><tmx version="1.4"><body>'+''.join(f'<tu><tuv xml:lang="cs"><seg>věta {i} é</seg></tuv><tuv xml:lang="en"><seg>line {i}</seg></tuv></tu>' for i in range(3))+'</body></tmx>')
    for y in (2009,2010):
        for l in ('cs','en'): W(d/f'validation/dev/newstest{y}.{l}',''.join(f'v {l} {y} {i} {text()}\n' for i in range(3)))
wmt_translate.configs=[('WmtConfig',{'name':'small','language_pair':('cs','en'),'description':'x','subsets':{'train':['paracrawl_v3'],'validation':['newstest2009','newstest2010']},'version':'1.0.0'})]
def wmt19_translate(d,b):
    l=b.builder_config.language_pair[0]
    if l=='cs': raise NotImplementedError('its corpus czeng17 is given by hand')
    import importlib.util; s=importlib.util.spec_from_file_location('_f4',Path(__file__).parent/'fakes_4.py'); m=importlib.util.module_from_spec(s); s.loader.exec_module(m); m._wmt(d,b,l)
def ble_wind_field(d,b):
    import zarr
    z=zarr.open_array(str(d/'array.zarr'),mode='w',shape=(4,21,21,10,9,2),chunks=(2,21,21,10,9,2),dtype='float32'); z[:]=NR.randn(4,21,21,10,9,2).astype('float32')
    return [('class','GCS_URL',str(d)),('class','GCS_FILENAME','array.zarr'),('store','','')]
def smart_buildings(d,b):
    from tensorflow_datasets.proto import smart_control_building_generated_pb2 as B, smart_control_reward_generated_pb2 as W_
    import datetime
    for y in range(19,25):
        r=d/f'dataset/SB1/{y}'
        for day,hour in ((1,3),(2,0)):
            t=int(datetime.datetime(2000+y,1,day,hour,tzinfo=datetime.timezone.utc).timestamp()); o,a,w=[],[],[]
            for k in range(2):
                m=B.ObservationResponse(); m.timestamp.seconds=t+300*k; m.request.timestamp.seconds=t
                for i in range(2):
                    q=m.request.single_observation_requests.add(); q.device_id=f'dev{i}'; q.measurement_name='temp'
                    p=m.single_observation_responses.add(); p.single_observation_request.CopyFrom(q)
                    if i: p.continuous_value=R.uniform(0,9); p.observation_valid=True; p.timestamp.seconds=t
                o.append(m); m=B.ActionResponse(); m.timestamp.seconds=t; m.request.timestamp.seconds=t
                q=m.request.single_action_requests.add(); q.device_id='d'; q.setpoint_name='s'; q.continuous_value=1.5
                p=m.single_action_responses.add(); p.request.CopyFrom(q); p.response_type=1; p.additional_info='ok'; a.append(m)
                m=W_.RewardResponse(); m.agent_reward_value=R.uniform(-1,1); m.start_timestamp.seconds=t; m.end_timestamp.seconds=t+300; m.productivity_weight=.5; m.energy_cost_weight=.25; m.carbon_emission_weight=.25; m.reward_scale=1.5; w.append(m)
            for n,ms in (('observation_response',o),('action_response',a),('reward_response',w)):
                W(r/f'{n}_20{y}.01.{day:02d}.{hour:02d}',b''.join(len(x).to_bytes(4,'little')+x for x in (m.SerializeToString() for m in ms)))
def waymo_open_dataset(d,b):
    from tensorflow_datasets.proto import waymo_dataset_pb2 as P
    for s in ('training','validation'):
        f=P.Frame(); f.context.name=f'{s}ctx'; f.timestamp_micros=15121+len(s)
        for c in range(1,6):
            k=f.context.camera_calibrations.add(); k.name=c; k.width,k.height=1920,1280 if c<4 else 886
            i=f.images.add(); i.name=c; a=np.zeros((k.height,1920,3),np.uint8); a[::9,::7]=NR.randint(0,255,3); o=io.BytesIO(); from PIL import Image; Image.fromarray(a).save(o,'JPEG'); i.image=o.getvalue()
            l=f.camera_labels.add(); l.name=c
            for n in range(c%3):
                x=l.labels.add(); x.type=1+n; x.box.center_x,x.box.center_y,x.box.length,x.box.width=900.,500.,R.uniform(9,99),R.uniform(9,99)
        TFR(d/f'{s}/segment-1_with_camera_labels.tfrecord',[f.SerializeToString()])
    return [('config','cloud_bucket',str(d))]
def c4(d,b):
    if b.builder_config.name!='en.noclean': raise NotImplementedError('needs nltk data of the network, or gcld3')
    from tensorflow_datasets.text import c4_utils as U; import hashlib
    special=[u for u in (f'http://held.com/{i}' for i in range(9000)) if int(hashlib.md5(U.normalize_url(u).encode()).hexdigest(),16)%1000==0][:2]
    W(d/'wet_urls.txt','cc_0.warc.wet.gz\ncc_1.warc.wet.gz\n'); s='This is a plain English sentence about the weather and the people of this town. '
    for i in (0,1):
        pages='WARC/1.0\r\nWARC-Type: warcinfo\r\n\r\nx\r\n\r\n'+''.join(f'WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: {special[i] if k==5 else f"http://www.site{i}.com/p{k%39}"}\r\nWARC-Date: 2019-04-{1+k%20:02d}T00:00:00Z\r\nContent-Type: text/plain\r\nContent-Length: {200+k}\r\n\r\n{s*3}Page {k}.\r\n{s}\r\n\r\n' for k in range(40))
        W(d/f'c4_wet_files/cc_{i}.warc.wet.gz',gzip.compress(pages.encode()))
def _suffix(b):
    n=b.builder_config.name; v,_,k=n.partition('-'); return k,v
def _adroit(name):
    def fake(d,b):
        import importlib.util; s=importlib.util.spec_from_file_location('_f3',Path(__file__).parent/'fakes_3.py'); m=importlib.util.module_from_spec(s); s.loader.exec_module(m)
        k,v=_suffix(b); H5(d/(f'{name}-{k}-v0.hdf5' if v=='v0' else f'{name}{m._suffix(b)}.hdf5'),m._d4rl(d,b))
    fake.__module__='fakes_5'; return fake
d4rl_adroit_pen,d4rl_adroit_door,d4rl_adroit_hammer,d4rl_adroit_relocate=map(_adroit,('pen','door','hammer','relocate'))
