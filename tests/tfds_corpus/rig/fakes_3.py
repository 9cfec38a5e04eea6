"""Fake data of builders: a function for each, which gets the folder and the builder of TensorFlow Datasets."""
from fake_files import *
import fake_files as lib
from fakes_1 import _sq as SQ
def wordnet(d,b):
    W(d/'wordnet-mlj12/wordnet-mlj12-definitions.txt','001\t__dog_NN_1\ta dog é\n002\t__cat_NN_1\ta cat\n')
    for s in ('train','valid','test'):
        W(d/f'wordnet-mlj12/wordnet-mlj12-{s}.txt','001\t_hypernym\t002\n002\t_also_see\t001\n'); W(d/f'{s}.txt','001\t_hypernym\t002\n'); W(d/f'WN18RR/original/{s}.txt','001\t_hypernym\t002\n'); W(d/f'WN18RR/{s}.txt','001\t_hypernym\t002\n')
def voxceleb(d,b):
    W(d/'iden_split.txt','1 id10001/abc/00001.wav\n1 id10002/x/00002.wav\n2 id10001/abc/00003.wav\n3 id10003/q/00001.wav\n3 id10009/q/00009.wav\n')
    ZIP(d/'vox_dev_wav.zip',{f'wav/{p}':wav(200) for p in ('id10001/abc/00001.wav','id10002/x/00002.wav','id10001/abc/00003.wav','id10003/q/00001.wav')})
def bair_robot_pushing_small(d,b):
    import tensorflow as tf
    for s in ('train','test'):
        rs=[]
        for _ in range(2):
            f={}
            for i in range(30):
                for k in ('image_main','image_aux1'): f[f'{i}/{k}/encoded']=tf.train.Feature(bytes_list=tf.train.BytesList(value=[lib.NR.randint(0,255,64*64*3).astype(np.uint8).tobytes()]))
                f[f'{i}/endeffector_pos']=tf.train.Feature(float_list=tf.train.FloatList(value=lib.NR.rand(3))); f[f'{i}/action']=tf.train.Feature(float_list=tf.train.FloatList(value=lib.NR.rand(4)))
            rs.append(tf.train.SequenceExample(context=tf.train.Features(feature=f)).SerializeToString())
        TFR(d/f'softmotion30_44k/{s}/traj_0.tfrecords',rs)
def patch_camelyon(d,b):
    for s in ('train','test','valid'): H5(d/f'camelyonpatch_level_2_split_{s}_x.h5',{'x':lib.NR.randint(0,255,(3,96,96,3)).astype(np.uint8)}); H5(d/f'camelyonpatch_level_2_split_{s}_y.h5',{'y':lib.NR.randint(0,2,(3,1,1,1)).astype(np.uint8)})
def xtreme_xnli(d,b):
    for l in 'ar bg de el es fr hi ru sw th tr ur vi zh'.split(): W(d/f'en-{l}.translated.tsv',f'a "x\tb\t{l}é\t{l}2\tcontradictory\nc\td\t{l}3\t{l}4\tneutral\n')
def wikipedia_toxicity_subtypes(d,b):
    p='wikidata_multilingual_' if b.builder_config.multilingual else 'wikidata_'
    for s in ('train','test','validation'): C(d/f'{p}{s}.csv',[{'comment_text':text(),'id':f'{s}{i}','lang':'en'}|{k:R.choice(['0','1.0']) for k in ('toxic','severe_toxic','obscene','threat','insult','identity_hate')} for i in range(3)])
def protein_net(d,b):
    def e(n):
        k=R.randint(3,6); f=lambda m:'\t'.join(f'{R.random():.3f}' for _ in range(m))
        return '\n'.join(['[ID]',n,'[PRIMARY]',''.join(R.choice('ACDEFGHIKLMNPQRSTVWY') for _ in range(k)),'[EVOLUTIONARY]']+[f(k) for _ in range(21)]+['[TERTIARY]']+[f(3*k) for _ in range(3)]+['[MASK]',''.join(R.choice('+-') for _ in range(k)),''])+'\n'
    for s in ('validation','testing','training_30','training_50','training_70','training_90','training_95','training_100'): W(d/f'{b.builder_config.name}/{s}',e(s+'1')+e(s+'2'))
def _in(d,n=3):
    ls=('n01440764','n02105855')
    TAR(d/'ILSVRC2012_img_train.tar',{f'{l}.tar':_tarb({f'{l}_{i}.JPEG':jpg() for i in range(5,5+n)}) for l in ls})
    TAR(d/'ILSVRC2012_img_val.tar',{f'ILSVRC2012_val_{i+1:08}.JPEG':jpg() for i in range(4)}); TAR(d/'ILSVRC2012_img_test.tar',{f'ILSVRC2012_test_{i+1:08}.JPEG':jpg() for i in range(3)})
def _tarb(files):
    f=io.BytesIO()
    with tarfile.open(fileobj=f,mode='w') as t:
        for k,v in files.items(): i=tarfile.TarInfo(k); i.size=len(v); t.addfile(i,io.BytesIO(v))
    return f.getvalue()
def imagenet2012(d,b): _in(d)
def imagenet2012_subset(d,b): _in(d); W(d/'1percent.txt','n01440764_5.JPEG\nn02105855_6.JPEG\n')
def imagenet_lt(d,b): _in(d); W(d/'train.txt','train/n01440764/n01440764_5.JPEG 0\n'); W(d/'validation.txt','train/n02105855/n02105855_6.JPEG 3\n')
def imagenet2012_multilabel(d,b):
    _in(d); J(d/'human_accuracy_fixed.json',{'initial_annots':{f'ILSVRC2012_val_{i+1:08}.JPEG':{'correct':['n01440764'],'wrong':['n02105855','n01440764']} if i else {'unclear':['n01440764']} for i in range(3)},'problematic_images':{'ILSVRC2012_val_00000002.JPEG':1},'imagenet_m':['ILSVRC2012_val_00000001.JPEG']})
def clic(d,b):
    for s in ('train','valid','test'): I(d/f'{s}/a/{s}1.png'); I(d/f'{s}/{s}2.png')
    (d/'skip').mkdir(exist_ok=True); W(d/'skip/x.txt','x')
def booksum(d,b):
    g=b.builder_config.granularity
    from tensorflow_datasets.datasets.booksum import booksum_dataset_builder as m
    for s in ('train','validation','test'):
        JL(d/f'booksum/alignments/{g}-level-summary-alignments'/m._SPLIT_FILENAMES[g][s],[{f'{g}_path':f't/{s}.txt','summary_path':f'{s}.json'},{f'{g}_path':'none','summary_path':'no'}])
        W(d/f't/{s}.txt',text()+'\n'); J(d/f'booksum/scripts/{s}.json',{'summary':[text(),text()]})
def davis(d,b):
    r='Full-Resolution' if b.builder_config.full_resolution else '480p'
    for s in ('train','val'):
        W(d/f'DAVIS/ImageSets/2017/{s}.txt',f'v{s}\n')
        for i in range(3): I(d/f'DAVIS/JPEGImages/{r}/v{s}/{i:05d}.jpg',20,30); W(d/f'DAVIS/Annotations/{r}/v{s}/{i:05d}.png',img(20,30,1,high=5))
def imagenet_resized(d,b):
    for s in ('train','val'): ZIP(d/f'Imagenet8_{s}_npz.zip',{f'{s}_data.npz':npz(data=lib.NR.randint(0,255,(3,192)).astype(np.uint8),labels=lib.NR.randint(1,1000,3))})
def wiki_table_questions(d,b):
    for s in [f'random-split-{i}-{k}' for i in (1,2,3) for k in ('train','dev')]+['training','pristine-unseen-tables']:
        W(d/f'WikiTableQuestions-master/data/{s}.tsv',f'id\tutterance\tcontext\ttargetValue\nnt-{s}\twhat é\tcsv/1.csv\tx\n')
    W(d/'WikiTableQuestions-master/csv/1.csv','"Year","Name"\n"2001","A \\"q\\""\n"2002","B"\n')
def fuss(d,b):
    from tensorflow_datasets.audio import fuss as m
    u,n=m._DL_METADATA[b.builder_config.name]
    for s in ('train','validation','eval'):
        W(d/f'{n}/{s}_example_list.txt',f'{s}/e1.wav\t{s}/e1_sources/background0_sound.wav\t{s}/e1_sources/foreground0_sound.wav\n')
        for p in ('e1.wav','e1_sources/background0_sound.wav','e1_sources/foreground0_sound.wav'): W(d/f'{n}/{s}/{p}',wav(160000))
        W(d/f'{n}/{s}/e1.jams','{"a":1}')
        if s!='eval': W(d/f'{n}/{s}/e1.txt','0.5\t1.25\tforeground0_sound\nbad\n0.0 2.0 background0_sound\n')
def math_dataset(d,b):
    n=b.builder_config.name
    for s in ('train-easy','train-medium','train-hard','interpolate'): W(d/f'mathematics_dataset-v1.0/{s}/{n}.txt',f'Solve {s}\n3\nWhat é\n-4\n')
def scan(d,b):
    for s in ('train','test'): W(d/f'SCAN-master/{b.builder_config.directory}/tasks_{s}_simple.txt','IN: jump OUT: I_JUMP\nbad\nIN: run twice OUT: I_RUN I_RUN\n')
def geirhos_conflict_stimuli(d,b):
    n=b.info.features['shape_imagenet_labels'].feature.names
    W(d/'mapping.txt',f'airplane = [{n[0]}, {n[3]}]\nbear = [{n[2]},\n  {n[7]}]\ncar = [x1, {n[9]}]\n')
    p='texture-vs-shape-1b69c6a445c3348927139edb30a5134521fd4b03/stimuli/style-transfer-preprocessed-512'
    for a,c in (('airplane','bear'),('bear','car')): I(d/f'texture_vs_shape/{p}/{a}/{a}1-{c}2.png',224,224)
def flic(d,b):
    n=b.builder_config.dir; ex=np.zeros(3,dtype=[('poselet_hit_idx',object),('moviename',object),('coords',object),('filepath',object),('imgdims',object),('currframe',object),('torsobox',object),('istrain',object),('istest',object)])
    for i in range(3): ex[i]=(np.arange(1,4,dtype=np.uint16)+i,'movie é'.replace('é','e'),lib.NR.rand(2,29)*100,f'f{i}.jpg',np.array([480,720,3],np.uint16),np.int32(5+i),np.array([10.,20.,30.,40.]),np.uint8(i!=1),np.uint8(i==1))
    W(d/f'{n}/examples.mat',mat({'examples':ex}))
    for i in range(3): I(d/f'{n}/images/f{i}.jpg',480,720)
def colorectal_histology(d,b):
    for i,c in enumerate(('tumor','stroma','complex','lympho','debris','mucosa','adipose','empty')):
        W(d/f'Kather_texture_2016_image_tiles_5000/{i+1:02d}_{c.upper()}/{c}1.tif',img(150,150,3,'TIFF'))
def colorectal_histology_large(d,b): W(d/'Kather_texture_2016_larger_images_10/a.tif',img(5000,5000,3,'TIFF',compression='tiff_lzw'))
def reddit_tifu(d,b):
    JL(d/'data.jsonl',[{'selftext_without_tldr':text(),'trimmed_title':text(),'tldr':text() if i else None,'id':f'i{i}','ups':1.0*i,'num_comments':2.0,'score':3.0,'upvote_ratio':.9} for i in range(4)]); J(d/'split.json',{'train':['i1'],'test':['i2'],'validation':['i3']})
def clevr(d,b):
    for s in ('train','val','test'):
        for i in range(2): I(d/f'CLEVR_v1.0/images/{s}/CLEVR_{s}_{i}.png')
        J(d/f'CLEVR_v1.0/questions/CLEVR_{s}_questions.json',{'questions':[{'image_filename':f'CLEVR_{s}_{i}.png','question':text()}|({'answer':'yes'} if s!='test' else {}) for i in (0,0,1)]})
        if s!='test': J(d/f'CLEVR_v1.0/scenes/CLEVR_{s}_scenes.json',{'scenes':[{'objects':[{'color':'red','material':'metal','shape':'cube','size':'large','rotation':1.5,'pixel_coords':[1.,2.,3.5],'3d_coords':[.5,1.,2.]}]*i} for i in (2,1)]})
def the300w_lp(d,b):
    for i in (1,2):
        p=f'300W_LP/AFW/AFW_{i}'; I(d/f'{p}.jpg',450,450)
        W(d/f'{p}.mat',mat({'pt2d':lib.NR.rand(2,68)*400,'roi':lib.NR.randint(0,400,(1,4)),'Illum_Para':lib.NR.rand(1,10),'Color_Para':lib.NR.rand(1,7),'Tex_Para':lib.NR.rand(199,1),'Shape_Para':lib.NR.rand(199,1),'Exp_Para':lib.NR.rand(29,1),'Pose_Para':lib.NR.rand(1,7)}))
        W(d/f'300W_LP/landmarks/AFW/AFW_{i}_pts.mat',mat({'pts_2d':lib.NR.rand(68,2)*400,'pts_3d':lib.NR.rand(68,2)*400}))
def segment_anything(d,b):
    W(d/'segment_anything_links.txt','file_name\tcdn_link\nsa_000020\thttp://x\n')
    I(d/'sa_000020/sa_1.jpg',20,30); J(d/'sa_000020/sa_1.json',{'image':{'image_id':1,'width':30,'height':20,'file_name':'sa_1.jpg'},'annotations':[{'bbox':[1.,2.,10.,8.],'crop_box':[0.,0.,30.,20.],'area':5,'predicted_iou':.9,'stability_score':.8,'id':7,'point_coords':[[1.5,2.5]],'segmentation':{'size':[20,30],'counts':'abc'}}]})
def lost_and_found(d,b):
    f=b.builder_config; 
    from tensorflow_datasets.datasets.lost_and_found import lost_and_found_dataset_builder as m
    for zn,suf,k in ((f.left_image_string,f.left_image_string,3),(f.right_image_string,f.right_image_string,3),('gtCoarse','gtCoarse_labelIds',1),('disparity','disparity',1)):
        fs={}
        for s in ('train','test'):
            for i in range(2):
                fs[f'{zn}/{s}/01_A/01_A_{i}_{suf}.png']=img(1024,2048,k,high=9)
                if zn=='gtCoarse': fs[f'{zn}/{s}/01_A/01_A_{i}_gtCoarse_instanceIds.png']=img(1024,2048,1,high=9)
        ZIP(d/({f.left_image_string:'leftImg8bit.zip',f.right_image_string:'rightImg8bit.zip'}.get(zn,zn+'.zip')),fs)
def reddit_disentanglement(d,b):
    for s in ('train','val','test'): C(d/f'{s}.csv',[{'id':f'm{i}','body':text(),'created_utc':str(i),'author':'a' if i!=1 else '[deleted]','link_id':f'l{i%2}','parent_id':'p'} for i in range(4)])
def wikihow(d,b):
    for s in ('train','test','validation'): W(d/f'all_{s}.txt',f'Titleof{s}\n')
    n=b.builder_config.filename
    if b.builder_config.name=='all': C(d/n,[{'headline':'\nDo it.,\n','title':f'Title of {s}','text':text(40)+'..\n,x'} for s in ('train','test','validation')])
    else: C(d/n,[{'overview':'o','headline':'\nDo it.','text':text(30),'sectionLabel':'S','title':f'Title of {s}'} for s in ('train','test','validation')])
def duke_ultrasound(d,b):
    k='filename target timestamp_id f0 v focus_cm axial_samples lateral_samples initial_radius final_radius initial_angle final_angle probe scanner harm'.split()
    for s,t in (('train','phantom'),('test','phantom'),('validation','phantom'),('mark','mark')):
        f=f'{s}.mat'; W(d/f'data/{f}',mat({'iq':lib.NR.rand(4,5)+1j*lib.NR.rand(4,5)+.1,'dtce':lib.NR.rand(4,5)}))
        C(d/f'{s}.csv',[dict(zip(k,[f,t,'20180101120000','5000000','50.5','3.5','4','5','.1','.2','-.5','.5','c52v','verasonics','False']))])
def cfq(d,b):
    W(d/'cfq/dataset.json',json.dumps([{'x':1,'questionPatternModEntities':f'Q{i} é','zz':2,'sparqlPatternModEntities':f'S{i}'} for i in range(4)],indent=1,ensure_ascii=False)); J(d/'cfq'/b.builder_config.split_file,{'trainIdxs':[0,2],'devIdxs':[1],'testIdxs':[3]})
def bigearthnet(d,b):
    fs={}
    for p in ('S2A_1','S2B_2'):
        for k in ('01','02','03','04','05','06','07','08','8A','09','11','12'):
            n=120 if k in('02','03','04','08') else 20 if k in ('01','09') else 60
            from PIL import Image; f=io.BytesIO(); Image.fromarray(lib.NR.randint(0,3000,(n,n)).astype(np.uint16)).save(f,'TIFF'); fs[f'BigEarthNet-v1.0/{p}/{p}_B{k}.tif']=f.getvalue()
        fs[f'BigEarthNet-v1.0/{p}/{p}_labels_metadata.json']=json.dumps({'labels':['Sea and ocean'],'coordinates':{'ulx':1,'uly':2,'lrx':3,'lry':4},'projection':'P','tile_source':'t','acquisition_date':'2017'})
    TAR(d/'BigEarthNet-v1.0.tar.gz',fs)
def places365_small(d,b):
    TAR(d/'data_256.tar',{f'data_256/a/airfield/{i}.jpg':jpg(256,256) for i in range(2)}); TAR(d/'test_256.tar',{f'test_256/t{i}.jpg':jpg(256,256) for i in range(2)}); TAR(d/'val_256.tar',{f'val_256/v{i}.jpg':jpg(256,256) for i in range(2)})
    W(d/'annotation/places365_train_standard.txt','/a/airfield/0.jpg 0\n/a/airfield/1.jpg 4\n'); W(d/'annotation/places365_test.txt','t0.jpg\nt1.jpg\n'); W(d/'annotation/places365_val.txt','v0.jpg 3\nv1.jpg 2\n')
def _inat(d,cats,names=('train2017.json','val2017.json')):
    pass
def i_naturalist2017(d,b):
    l=b.info.features['label'].names; s=b.info.features['supercategory'].names
    for k in ('train','val'): J(d/f'train_val2017/{k}2017.json',{'images':[{'file_name':f'x/{k}{i}.jpg'} for i in range(2)],'annotations':[{'category_id':i} for i in range(2)],'categories':[{'name':l[i],'supercategory':s[0]} for i in range(2)]})
    TAR(d/'train_val_images.tar.gz',{f'tv/{k}{i}.jpg':jpg() for k in ('train','val') for i in range(2)}); TAR(d/'test2017.tar.gz',{f't/{i}.jpg':jpg() for i in range(2)})
def wsc273(d,b):
    s=lambda a,c:f'<schema><text><txt1>The city councilmen  refused\n</txt1><pron>{a}</pron><txt2>{c}</txt2></text><quote><quote1/><pron>x</pron><quote2>y</quote2></quote><answers><answer> The city </answer><answer>the demonstrators</answer></answers><correctAnswer>A.</correctAnswer><source>x</source></schema>'
    W(d/'wsc273.xml','<collection>'+s('they','feared é violence.')+s('He','.')+'</collection>')
def titanic(d,b): C(d/'test.csv',[{'pclass':'1','survived':str(i%2),'name':'A, "B"','sex':'male','age':'29.5' if i else '?','sibsp':'0','parch':'1','ticket':'t','fare':'211.3375','cabin':'?','embarked':'S','boat':'2','body':'?','home.dest':'St é'} for i in range(3)])
def web_nlg(d,b):
    x=lambda k:f'<benchmark><entries><entry category="Food" eid="Id1" size="1"><originaltripleset><otriple>a | b | c</otriple></originaltripleset><modifiedtripleset><mtriple>{k} é | is | c</mtriple><mtriple>x | y | z</mtriple></modifiedtripleset><lex comment="g" lid="1">One {k}.</lex><lex lid="2">Two.</lex></entry></entries></benchmark>'
    p='webnlg-dataset-master/webnlg_challenge_2017'
    for f in ('train/1t/a.xml','train/2t/b.xml','dev/1t/c.xml','test/testdata_unseen_with_lex.xml','test/testdata_with_lex.xml'): W(d/f'{p}/{f}',x(f))
def bucc(d,b):
    for s in ('test-gold','training-gold'):
        p=f'{s}/bucc2018/fr-en/fr-en.x'; W(d/f'{p}.fr','fr-1\tun é\nfr-2\tdeux\n'); W(d/f'{p}.en','en-1\tone\nen-2\ttwo\n'); W(d/f'{p}.gold','fr-2\ten-1\nfr-1\ten-2\n')
def cos_e(d,b):
    for s in ('train','dev'):
        JL(d/f'cos_e_{s}.jsonl',[{'id':f'{s}{i}','explanation':{'open-ended':text(),'selected':text()}} for i in range(2)])
    for s in ('train','dev','test'): JL(d/f'cqa_{s}.jsonl',[{'id':f'{s}{i}','answerKey':'B','question':{'stem':text(),'choices':[{'label':l,'text':text()} for l in 'ABCDE']}} for i in range(2)])
def librispeech(d,b):
    for s in ('train-clean-100','train-clean-360','train-other-500','test-clean','test-other','dev-clean','dev-other'):
        W(d/f'{s}/LibriSpeech/SPEAKERS.TXT',';c\n14 | F | x | 25.0 | Kristin\n'); W(d/f'{s}/LibriSpeech/CHAPTERS.TXT',';c\n208 |14|4.1|x|12|1|T|P\n')
        W(d/f'{s}/LibriSpeech/{s}/14/208/14-208.trans.txt','14-208-0000 HELLO YOU\n14-208-0001 BYE\n')
        for i in (0,1): W(d/f'{s}/LibriSpeech/{s}/14/208/14-208-000{i}.flac',flac(200))
def grounded_scan(d,b):
    o={'vector':'101 ','position':{'row':'1','column':'2'},'object':{'shape':'circle','color':'red','size':'2'}}
    ex=lambda:{'command':'walk,to','target_commands':'turn left,walk','meaning':'a,b','manner':'','verb_in_command':'walk','referred_target':'red circle','situation':{'grid_size':6,'agent_direction':0,'direction_to_target':'n','agent_position':{'row':'0','column':'1'},'target_object':o,'placed_objects':{'0':o,'1':o}}}
    J(d/b.builder_config.name/'dataset.txt',{'examples':{s:[ex(),ex()] for s in b.builder_config.splits_names}})
def gref(d,b):
    cats=[{'id':i+1,'name':f'c{i}'} for i in range(80)]
    for s in ('train','val'):
        I(d/f'coco_train2014/{s}1.jpg',40,50)
        J(d/f'google_refexp_{s}_201511_coco_aligned_catg.json',{'categories':cats,'images':{'5':{'image_id':5,'file_name':f'{s}1.jpg','height':40,'width':50}},'annotations':{'9':{'annotation_id':9,'image_id':5,'area':100.5,'bbox':[1.5,2.,10.,12.],'category_id':3,'refexp_ids':[2,1]}},'refexps':{str(k):{'refexp_id':k,'raw':text(),'tokens':['a','b'],'parse':{'referent':{'word':'x'} if k==1 else {}}} for k in (1,2)}})
def wit(d,b):
    ks='language page_url image_url page_title section_title hierarchical_section_title caption_reference_description caption_attribution_description caption_alt_text_description mime_type original_height original_width is_main_image attribution_passes_lang_id page_changed_recently context_page_description context_section_description'.split()
    for f in ('train-00000-of-00009','val-00000-of-00005','test-00000-of-00005'): C(d/f'{f}.tsv',[{k:text() for k in ks}|{'original_height':5,'original_width':6,'is_main_image':'true'} for _ in range(2)],'\t')
def cars196(d,b):
    for s in ('train','test'):
        a=np.zeros((1,2),dtype=[('bbox_x1',object),('bbox_y1',object),('bbox_x2',object),('bbox_y2',object),('class',object),('fname',object)])
        for i in range(2): a[0,i]=(np.array([[3]],np.uint8),np.array([[2]],np.uint8),np.array([[15]],np.uint8),np.array([[18]],np.uint8),np.array([[i+5]],np.uint8),np.array([f'0000{i}.jpg'])); I(d/f'{s}/cars_{s}/0000{i}.jpg',20,20)
        W(d/('extra/devkit/cars_train_annos.mat' if s=='train' else 'cars_test_annos_withlabels.mat'),mat({'annotations':a}))
def squad(d,b):
    v=b.builder_config.name
    for s in ('train','dev'):
        q=SQ(2)
        if v=='v2.0':
            for p in q['data'][0]['paragraphs']:
                for i,a in enumerate(p['qas']):
                    a['is_impossible']=bool(i)
                    if i: a['plausible_answers']=a.pop('answers'); a['answers']=[]
        J(d/f'{s}-{v}.json',q)
def _cifar(d,p,files,n,metas):
    for f in files: W(d/p/f,b''.join(bytes([i%10]*n)+lib.NR.randint(0,255,3072).astype(np.uint8).tobytes() for i in range(3)))
    for f,k in metas: W(d/p/f,'\n'.join(f'l{i}' for i in range(k))+'\n\n')
def cifar10(d,b): _cifar(d,'cifar-10-batches-bin',[f'data_batch_{i}.bin' for i in range(1,6)]+['test_batch.bin'],1,[('batches.meta.txt',10)])
def cifar100(d,b): _cifar(d,'cifar-100-binary',['train.bin','test.bin'],2,[('fine_label_names.txt',100),('coarse_label_names.txt',20)])
def wikiann(d,b): TAR(d/'panx/en.tar.gz',{s:'en:EU\tB-ORG\nen:rejects\tO\nen:a:b\n\nen:Peter\tB-PER\nen:X\tI-PER\n' for s in ('dev','test','train')})
def i_naturalist2018(d,b):
    l=b.info.features['label'].names; s=b.info.features['supercategory'].names
    for k,f in (('train','train_annos'),('val','val_annos')): J(d/f'{f}/{k}2018.json',{'images':[{'file_name':f'x/{k}{i}.jpg'} for i in range(2)],'annotations':[{'category_id':i} for i in range(2)],'categories':[{'name':'x','supercategory':s[0]} for i in range(2)]})
    J(d/'categories/categories.json',[{'name':l[i]} for i in range(2)])
    TAR(d/'train_val2018.tar.gz',{f'tv/{k}{i}.jpg':jpg() for k in ('train','val') for i in range(2)}); TAR(d/'test2018.tar.gz',{f't/{i}.jpg':jpg() for i in range(2)})
def summscreen(d,b):
    c=b.builder_config.recap_source; n={'fd':'ForeverDreaming','tms':'TVMegaSite'}[c]
    for s in ('train','dev','test'):
        JL(d/f'tokenized/SummScreen/{n}/{c}_{s}.json',[{'filename':f'{s}.json'}])
        J(d/f'untokenized/SummScreen_raw/{c}/{s}.json',{'Transcript':[text(),text()],'Recap':[text()],'Episode Number':'1','Episode Title':'e','Show Title':'s','Transcript Author':'a','Recap Author':'r','Episode Summary':[text()]})
def gov_report(d,b):
    c=b.builder_config; sec=lambda n:{'section_title':text(2),'paragraphs':[text(),text()],'subsections':[sec(n-1)] if n else []}
    for s in ('train','valid','test'):
        W(d/f'gov-report/split_ids/{c.subset}_{s}.ids',f'{s}1\n')
        J(d/f'gov-report/{c.subset}/{s}1.json',{'id':f'{s}1','title':text(),'released_date':'d','url':'u','published_date':'p','fastfact':['f','g'],'reports':sec(1),'summary':[text()],'report':[sec(1),sec(0)],'highlight':[{'section_title':'h','paragraphs':[text()]}]})
def starcraft_video(d,b):
    import tensorflow as tf
    n=b.builder_config.resolution; p='128_' if n==128 else ''
    for f in ('valid','test','train_0','train_1'):
        ex=tf.train.SequenceExample(); F=ex.context.feature
        F['game_duration_loops'].int64_list.value.append(1); F['game_duration_seconds'].float_list.value.append(1.); F['n_steps'].int64_list.value.append(20); F['screen_size'].int64_list.value.extend([n,n])
        for _ in range(20): ex.feature_lists.feature_list['rgb_screen'].feature.add().bytes_list.value.append(img(n,n))
        TFR(d/f'{p}{f}.tfrecords',[ex.SerializeToString()])
def hellaswag(d,b):
    for f in ('train','test','val'): JL(d/f'hellaswag_{f}.jsonl',[{'ctx':text(),'endings':[text() for _ in range(4)],'activity_label':text(2),'split_type':t,'source_id':f'{a}~x'}|({'label':1} if f!='test' else {}) for t in ('indomain','zeroshot') for a in ('activitynet','wikihow')])
def ogbg_molpcba(d,b):
    g=lambda rs:gzip.compress('\n'.join(','.join(str(x) for x in r) for r in rs).encode()+b'\n')
    p=d/'pcba/raw'; nn=[3,2,4]; ne=[4,2,3]
    W(p/'edge.csv.gz',g(lib.NR.randint(0,2,(9,2)))); W(p/'num-node-list.csv.gz',g([[x] for x in nn])); W(p/'num-edge-list.csv.gz',g([[x] for x in ne])); W(p/'node-feat.csv.gz',g(lib.NR.randint(0,9,(9,9)))); W(p/'edge-feat.csv.gz',g(lib.NR.randint(0,5,(9,3))))
    W(p/'graph-label.csv.gz',g([[R.choice(['','0','1.0']) for _ in range(128)] for _ in range(3)]))
    for i,s in enumerate(('train','valid','test')): W(d/f'pcba/split/scaffold/{s}.csv.gz',g([[i]]))
def wake_vision(d,b):
    for s,f in (('train-dummy-1','a'),('train-dummy-2','b'),('validation-dummy','c'),('test-dummy','d')): TAR(d/f'wake-vision-{s}.tar.gz',{f'./{f}{i}.jpg':jpg() for i in range(2)},dirs=['./'])
    full=[k for k in b.info.features if k not in('image','filename')]
    for s,fs in (('train_large','a0 a1 b0'),('train_quality','a1'),('validation','c0 c1'),('test','d0 d1')): C(d/f'wake_vision_{s}.csv',[{'filename':f'{f}.jpg'}|{k:R.randint(0,1) for k in (full if s[0]!='t' or s=='test' else ['person'])} for f in fs.split()])
def oxford_iiit_pet(d,b):
    for s,ns in (('trainval',('Abyssinian_34','Bengal_1')),('test',('beagle_2',))):
        W(d/f'annotations/{s}.txt',''.join(f'{n} {i+1} {i%2+1} 1\n' for i,n in enumerate(ns)))
        for i,n in enumerate(ns):
            W(d/f'images/{n}.jpg',img(30,40,4) if '34' in n else jpg(30,40)); W(d/f'annotations/trimaps/{n}.png',img(30,40,1,high=3))
            if i==0: W(d/f'annotations/xmls/{n}.xml','<annotation><size><width>40</width><height>30</height></size><object><bndbox><xmin>4</xmin><ymin>3</ymin><xmax>20</xmax><ymax>15</ymax></bndbox></object></annotation>')
def savee(d,b): ZIP(d/'AudioData.zip',{f'AudioData/{s}/{l}0{i}.wav':wav(200,1,44100) for s in ('DC','JE','JK','KL') for l in ('a','sa') for i in (1,2)})
def radon(d,b):
    W(d/'srrs2.dat','idnum, state, state2, stfips, zip, region, typebldg, floor, room, basement, windoor, rep, stratum, wave, starttm, stoptm, startdt, stopdt, activity, pcterr, adjwt, dupflag, zipflag, cntyfips, county\n'+''.join(f'{i}, AZ, AZ, 4, 85920, 1, 1, 1, 2, N, , 2, 4, {"41" if i else "."}, 930, 930, 112987, 120287, 0.3, 0.0, 136.06, 0, 0, 1, APACHE\n' for i in range(3)))
    W(d/'cty.dat','stfips, ctfips, st, cty, lon, lat, Uppm\n4, 1, AZ, APACHE, -109.4, 35.5, 1.25\n')
def irc_disentanglement(d,b):
    p='jkkummerfeld-irc-disentanglement-fd379e9/data'
    for s in ('train','dev','test'): W(d/f'{p}/{s}/2004-12-25.raw.txt','[02:15] <a> hi é\n=== join\n[01:01] <b> x\n'); W(d/f'{p}/{s}/2004-12-25.annotation.txt','0 0 -\n0 2 -\n')
def voc(d,b):
    y=b.builder_config.year; p=f'VOCdevkit/VOC{y}'
    for s in ('train','val','test'):
        W(d/f'{p}/ImageSets/Main/{s}.txt',f'{s}1\n'); I(d/f'{p}/JPEGImages/{s}1.jpg',40,50)
        W(d/f'{p}/Annotations/{s}1.xml','<annotation><size><width>50</width><height>40</height></size>'+''.join(f'<object><name>{n}</name><pose>Left</pose><truncated>1</truncated><difficult>{k}</difficult><bndbox><xmin>5</xmin><ymin>4</ymin><xmax>20</xmax><ymax>30</ymax></bndbox></object>' for k,n in enumerate(('cat','dog')))+'</annotation>')
def speech_commands(d,b):
    TAR(d/'train.tar.gz',{f'./{w}/{i}.wav':wav(16000) for w in ('down','cat') for i in (1,2)}|{'./_background_noise_/running_tap.wav':wav(40000),'./testing_list.txt':'down/1.wav\n','./validation_list.txt':'cat/1.wav\n'},dirs=['./'])
    TAR(d/'test.tar.gz',{'./_silence_/a.wav':wav(16000),'./go/b.wav':wav(15000),'./_unknown_/c.wav':wav(16000)},dirs=['./'])
def squad_question_generation(d,b):
    for s in ('train','dev','test'): J(d/f'split_du/{s}.json',SQ(2)['data'])
    for s in ('train','dev'): J(d/f'split_zhou/{s}-v1.1.json',SQ(2))
    for m,s in (('train.txt','train'),('dev.txt.shuffle.dev','dev'),('dev.txt.shuffle.test','dev')): W(d/f'split_zhou/qas_id_in_squad/{m}.id','q0\nq1\n'); W(d/f'split_zhou/redistribute/raw/{m}','\t'.join('abcdefghij')+'\n'+'\t'.join('0123456789')+'\n')
def bccd(d,b):
    p='BCCD_Dataset-1.0/BCCD'
    for s in ('train','test','val'):
        W(d/f'{p}/ImageSets/Main/{s}.txt',f'{s}1\n{s}2\n')
        for i in (1,2): I(d/f'{p}/JPEGImages/{s}{i}.jpg',480,640); W(d/f'{p}/Annotations/{s}{i}.xml','<annotation><size><width>640</width><height>480</height></size>'+'<object><name>RBC</name><bndbox><xmin>5</xmin><ymin>4</ymin><xmax>641</xmax><ymax>30</ymax></bndbox></object>'*2+'</annotation>')
def _d4rl(d,b):
    f=b.info.features; st=f['steps'].feature; n=9; t={}
    def arr(x,lead=(n,)):
        k=ND(x); return lib.NR.randn(*lead,*x.shape).astype(k) if k.kind=='f' else lib.NR.randint(0,2,(*lead,*x.shape)).astype(k)
    t['observations']=arr(st['observation']); t['actions']=arr(st['action']); t['rewards']=arr(st['reward']); t['terminals']=np.array([0,0,0,0,1,0,0,0,0],bool); t['timeouts']=np.array([0,0,0,0,0,0,0,0,1],bool)
    def walk(x,p,lead):
        for k,v in x.items():
            if hasattr(v,'items') : walk(v,f'{p}/{k}',lead)
            elif ND(v).kind in 'OSU': t[f'{p}/{k}']=b'SAC'
            else: t[f'{p}/{k}']=arr(v,lead)
    if 'infos' in st: walk(st['infos'],'infos',(n,))
    walk({k:v for k,v in f.items() if k!='steps'},'metadata',())
    return t
def _writer(name):
    def w(d,b):
        import inspect
        for p in PATHS[name](b): H5(d/p,_d4rl(d,b))
    return w
def _suffix(b): return b.builder_config.file_suffix
def d4rl_mujoco_ant(d,b): H5(d/f'ant{_suffix(b)}.hdf5',_d4rl(d,b))
def d4rl_mujoco_hopper(d,b): H5(d/f'hopper{_suffix(b)}.hdf5',_d4rl(d,b))
def d4rl_mujoco_walker2d(d,b): H5(d/f'walker2d{_suffix(b)}.hdf5',_d4rl(d,b))
def d4rl_mujoco_halfcheetah(d,b): H5(d/f'halfcheetah{_suffix(b)}.hdf5',_d4rl(d,b))
def d4rl_antmaze(d,b): H5(d/f'antmaze-{b.builder_config.name}.hdf5',_d4rl(d,b))
def _robo(d,b,p):
    st=b.info.features['steps'].feature; t={}
    A=lambda f,n:lib.NR.randn(n,*f.shape) if ND(f).kind=='f' else lib.NR.randint(0,255,(n,*f.shape)).astype(ND(f))
    eps=[]
    for e in range(2):
        n=4+e; q=f'data/demo_{e}'; eps.append(f'demo_{e}'.encode())
        for k,f in st['observation'].items(): t[f'{q}/obs/{k}']=A(f,n); t[f'{q}/next_obs/{k}']=A(f,n)
        t[f'{q}/actions']=A(st['action'],n); t[f'{q}/dones']=np.array([0]*(n-1)+[1]); t[f'{q}/rewards']=lib.NR.rand(n); t[f'{q}/states']=A(st['states'],n)
    for k in b.info.features:
        if k not in ('steps','horizon','episode_id'): t[f'mask/{k}']=np.array(eps[:1])
    H5(d/p,t)
def robomimic_ph(d,b): _robo(d,b,'lift_low_dim.hdf5')
def robomimic_mg(d,b): _robo(d,b,'can_low_dim.hdf5'); _robo(d,b,'mg/can_low_dim.hdf5')
def robomimic_mh(d,b): _robo(d,b,'lift_image.hdf5'); _robo(d,b,'mh/lift_image.hdf5')
