"""Fake data, part 4: builders of Beam, of archives, of reinforcement learning. A function may return values to set: see `set_values`."""
from fake_files import *
def user_libri_audio(d,b):
    u='UserLibri/audio_data'; m='Split\tUser ID\tNum Audio Examples\tAverage Words Per Example\n'
    for s,us in {'test-clean':('speaker-121-book-1041','speaker-121-book-1989'),'test-other':('speaker-3005-book-76',)}.items():
        for x in us:
            m+=f'{s}\t{x}\t2\t3.5\n'; W(d/u/s/x/'121-12.trans.txt','121-12-0000 HELLO YOU\n121-12-0001 IT IS ME\n')
            for k in '01': W(d/u/s/x/f'121-12-000{k}.flac',flac(300))
    W(d/u/'metadata.tsv',m)
def user_libri_text(d,b):
    u=d/'UserLibri/lm_data'; W(u/'metadata.tsv','Book ID\tNum Text Examples\tAverage Words Per Example\n12345\t4\t3.5\n6789\t3\t2.5\n')
    W(u/'12345_lm_train.txt','A line\n\nAnother é\nThird\nFourth\n'); W(u/'6789_lm_train.txt','One\nTwo\nThree\n')
def xtreme_s(d,b):
    r=d/'fleurs/af_za'
    for s,n in (('train',3),('dev',1),('test',2)):
        W(r/f'{s}.tsv',''.join(f'{i}\t{s}_{i}.wav\tBoot ritte {i}.\tboot ritte\tb o\t{200+i}\t{R.choice(["MALE","FEMALE","OTHER"])}\n' for i in range(n)))
        for i in range(n): W(r/f'audio/{s}/{s}_{i}.wav',wav(200+i))
def yes_no(d,b):
    for n in ('0_1_0_1_1_0_0_1','1_0_0_0_0_0_0_0'): W(d/f'waves_yesno/{n}.wav',wav(300,1,8000))
    W(d/'waves_yesno/README','x')
def abstract_reasoning(d,b):
    k=dict(relation_structure_encoded=NR.randint(0,2,(4,12)),target=np.int64(3),meta_target=NR.randint(0,2,12))
    TAR(d/'neutral.tar.gz',{f'neutral/PGM_neutral_{s}_{i}.npz':npz(image=NR.randint(0,256,16*160*160).astype('float64'),**k) for s in ('train','val','test') for i in range(2)},dirs=('','neutral'))
def asqa(d,b):
    def one(): return {'ambiguous_question':text(),'qa_pairs':[{'question':text(),'short_answers':[word(),text()],'context':R.choice([text(),None]),'wikipage':R.choice([None,text()])} for _ in range(2)],'wikipages':{'a':{'title':text(),'url':'http://a'},'b':{'title':text(),'url':None}},'annotations':[{'long_answer':text(),'knowledge':[{'content':text(),'wikipage':None},{'content':text(),'wikipage':text()}]}]}
    J(d/'ASQA.json',{'train':{str(-7):one(),str(12):one()},'dev':{str(5):one()}})
def assin2(d,b):
    for s in ('train-only','dev','test'): W(d/f'assin2-{s}.xml','<?xml version="1.0" encoding="UTF-8"?><entailment-corpus>'+''.join(f'<pair id="{i}" entailment="{R.choice(["None","Entailment"])}" similarity="{i/3:.2f}"><t>Olá {i} é</t><h>{word()}</h></pair>' for i in range(5))+'</entailment-corpus>')
def beir(d,b):
    r=d/'msmarco'; JL(r/'queries.jsonl',[{'_id':f'q{i}','text':text(),'metadata':{'a':1}} for i in range(3)]); JL(r/'corpus.jsonl',[{'_id':f'd{i}','title':text(),'text':text(),'metadata':{}} for i in range(4)])
    for s in ('train','dev','test'): W(r/f'qrels/{s}.tsv','query-id\tcorpus-id\tscore\nq0\td1\t1\nq1\td3\t2\n')
def big_patent(d,b):
    def row(i): return json.dumps({'publication_number':f'US-{i}','abstract':'An [0001] abstract (fig) of   '+text(12),'description':'\n'.join(f'[000{k}] FIG. 1 is a '+' '.join(f'w{j}' for j in range(14)) for k in range(3))})
    for s in ('train','val','test'): TAR(d/f'bigPatentDataNonTokenized/{s}.tar.gz',{f'{s}/{c}/data-0.txt':''.join(row(f'{c}{i}')+'\n' for i in range(2)) for c in 'ay'},dirs=(s,f'{s}/a',f'{s}/y'))
def bot_adversarial_dialogue(d,b):
    f='text:hi\\nyou there\tlabels:{}\tbot_persona:your persona: I like\\nyour persona: dogs\tspeaker_to_eval:bot\tid:x\tepisode_done:True\n'
    for s in ('train','valid','test'): W(d/f'bot_adversarial_dialogue_datasets_with_persona/{s}.txt',f.format('__ok__')+f.format('__notok__').replace('\\nyou there',''))
    W(d/'human_nonadv_safety_eval/test.txt','text:hey __PIPE__ you\tlabels:__ok__\tepisode_done:False\ntext:b\tlabels:__notok__\tepisode_done:true\n')
def celeb_a(d,b):
    n=[f'00000{i}.jpg' for i in range(1,6)]; ZIP(d/'img_align_celeba.zip',{f'img_align_celeba/{k}':jpg(218,178) for k in n})
    W(d/'list_eval_partition.txt',''.join(f'{k} {i//2}\n' for i,k in enumerate(n)))
    a=list(b.info.features['attributes']); l=list(b.info.features['landmarks'])
    W(d/'list_attr_celeba.txt','5\n'+' '.join(a)+'\n'+''.join(k+' '+' '.join(R.choice(['1','-1']) for _ in a)+'\n' for k in n))
    W(d/'list_landmarks_align_celeba.txt','5\n'+' '.join(l)+'\n'+''.join(k+' '+' '.join(str(R.randint(0,99)) for _ in l)+'\n' for k in n)); W(d/'identity_CelebA.txt',''.join(f'{k} {i}\n' for i,k in enumerate(n)))
def cityscapes(d,b):
    z={}
    def big(c,**o):
        a=np.zeros((1024,2048,3),np.uint8); a[::7,::5]=NR.randint(0,255,3); f=io.BytesIO(); from PIL import Image; Image.fromarray(a if c==3 else a[...,0]).save(f,'PNG'); return f.getvalue()
    for kind,(zf,root) in b.builder_config.zip_root.items():
        e=kind.endswith('/extra'); k=kind.replace('/extra','')
        suf={'images_left':'leftImg8bit','images_right':'rightImg8bit','segmentation_labels':getattr(b.builder_config,'label_suffix',''),'disparity_maps':'disparity'}[k]
        for s in (('train_extra',) if e else ('train','val','test')): z.setdefault(zf,{})[f'{root}/{s}/bonn/bonn_000001_000019_{suf}.png']=big(3 if 'images' in k else 1)
        if not e and 'seg' in k:
            for s in ('train','val'): z[zf][f'{root}/{s}/bonn/bonn_000001_000019_{suf}.png']=big(1)
    for zf,files in z.items(): ZIP(d/zf,files)
def groove(d,b):
    import pretty_midi
    m=pretty_midi.PrettyMIDI(initial_tempo=120); i=pretty_midi.Instrument(0,is_drum=True)
    for t in range(16): i.notes.append(pretty_midi.Note(velocity=100+t,pitch=36,start=t*.5,end=t*.5+.25))
    m.instruments.append(i); f=io.BytesIO(); m.write(f); rs=[]
    for k,s in enumerate(('train','train','test')):
        W(d/f'groove/d{k}.mid',f.getvalue()); W(d/f'groove/d{k}.wav',wav(44100*8,2,44100) if k!=1 else b'')
        rs.append({'drummer':'drummer1','session':'s','id':f'drummer1/é{k}','style':R.choice(['rock','jazz/swing']),'bpm':120,'beat_type':'beat','time_signature':'4-4','midi_filename':f'd{k}.mid','audio_filename':'' if k==1 else f'd{k}.wav','duration':8,'split':s})
    C(d/'groove/info.csv',rs)
def _synsets(n=2):
    return ['n01440764','n01443537','n01484850'][:n]
def _imagenet(d,n=2,h=None):
    inner={}
    for s in _synsets():
        f={f'{s}_{i}.JPEG':jpg(h,h) for i in range(n)}; TAR(d/'_t.tar',f); inner[f'{s}.tar']=(d/'_t.tar').read_bytes(); os.unlink(d/'_t.tar')
    TAR(d/'ILSVRC2012_img_train.tar',inner); TAR(d/'ILSVRC2012_img_val.tar',{f'ILSVRC2012_val_{i:08d}.JPEG':jpg(h,h) for i in range(1,4)})
def imagenet2012_corrupted(d,b):
    _imagenet(d,1,260)
    for i in (1,2,3): W(d/f'frost{i}.png',img(600,800))
    for i in (4,5,6): W(d/f'frost{i}.jpg',jpg(600,800))
def imagenet_pi(d,b):
    _imagenet(d); v=lambda f:','.join(f(i) for i in range(16))
    t=[f'{s}_{i}.JPEG' for s in _synsets() for i in range(2)]; l=[f'ILSVRC2012_val_{i:08d}.JPEG' for i in range(1,4)]
    for n,ks in (('train',t),('validation',l)): W(d/f'labels/{n}.csv',''.join(k+','+v(str)+'\n' for k in ks)); W(d/f'confidences/{n}.csv',''.join(k+','+v(lambda i:f'{i/17:.5f}')+'\n' for k in ks))
def kitti(d,b):
    n=6; ZIP(d/'data_object_image_2.zip',{f'training/image_2/{i:06d}.png':img(30,60) for i in range(n)})
    ZIP(d/'data_object_label_2.zip',{f'training/label_2/{i:06d}.txt':f'Car 0.00 0 -1.57 5.5 6.5 20.25 15.75 1.5 1.6 3.7 1.0 1.7 13.2 -1.6\nDontCare -1 -1 -10 1 2 3 4 -1 -1 -1 -1000 -1000 -1000 -10\nPedestrian 0.1 3 0.21 1.5 2.5 9.25 19 1.8 0.4 1.2 1.8 1.4 8.4 0.01\n' for i in range(n)})
    ZIP(d/'devkit_object.zip',{'mapping/train_rand.txt':','.join(str(i+1) for i in range(n)),'mapping/train_mapping.txt':''.join(f'2011_09_26 v{i//2} 00000{i}\n' for i in range(n))})
def libritts(d,b):
    for s in ('train-clean-100','train-clean-360','train-other-500','test-clean','test-other','dev-clean','dev-other'):
        f={'LibriTTS/speakers.tsv':'READER\tGENDER\tSUBSET\tNAME\n84\tF\tdev\tAnna\n174\tM\tx\n'}
        k=f'LibriTTS/{s}/84/121/84_121'; f[k+'.trans.tsv']=''.join(f'84_121_{i}\tHello {i} é\thello\n' for i in range(2))
        for i in range(2): f[k+f'_{i}.wav']=wav(200+i,1,24000)
        TAR(d/f'{s}.tar.gz',f,dirs=('LibriTTS',))
def lvis(d,b):
    for s,name,i in (('train2017','lvis_v1_train',1),('val2017','lvis_v1_val',2),('test2017','lvis_v1_image_info_test_dev',3)):
        W(d/f'{s}/00{i}.jpg',jpg(20,24)); im={'id':i,'coco_url':f'http://x/{s}/00{i}.jpg','height':20,'width':24,'neg_category_ids':[1,5],'not_exhaustive_category_ids':[7]}
        J(d/f'{name}.json',{'images':[im],'annotations':[] if i==3 else [{'id':10+i+j,'image_id':i,'area':33.0+j,'bbox':[1.5,2,10,12.25],'category_id':3+j,'segmentation':[[1,1,10,1,10,10.5],[2,2,5,2,5,6,3,8]]} for j in range(2)],'categories':[]})
    im['id'],im['coco_url']=2,'http://x/val2017/002.jpg'; J(d/'lvis_v1_minival_inserted_image_name.json',{'images':[im],'annotations':[],'categories':[]})
def natural_questions(d,b):
    def row(i):
        toks=[{'token':t,'html_token':t[0]=='<'} for t in '<P> The café is red . </P>'.split()]
        return {'example_id':10**15+i,'document_title':'Cafe','document_url':'http://x','document_html':'<P>The café is\u00a0red</P> x','document_tokens':toks,'question_text':'what color','question_tokens':['what','color'],'long_answer_candidates':[{'top_level':True,'start_token':0,'end_token':5}],
         'annotations':[{'annotation_id':2**63+i,'long_answer':{'start_token':0,'end_token':6,'start_byte':0,'end_byte':20},'short_answers':[] if i==1 else [{'start_token':2,'end_token':4,'start_byte':7,'end_byte':18}],'yes_no_answer':R.choice(['NONE','YES','NO'])} for _ in range(1+i)]}
    for f,n in (('nq-train-00',2),('nq-train-01',1),('nq-dev-00',2)): JL(d/f'{f}.jsonl.gz',[row(i+n*7) for i in range(n)])
def nsynth(d,b):
    ids=[]
    for s in ('train','test','valid'):
        rs=[]
        for i in range(3):
            k=f'guitar_acoustic_{s}-{i}'; ids.append((k,s))
            rs.append(EX(note_str=k,audio=NR.uniform(-1,1,64000).astype('float32').tolist(),pitch=40+i,velocity=50,instrument_str='guitar_acoustic_001',instrument_family_str='guitar',instrument_source_str='acoustic',qualities=[0,1]*5))
        TFR(d/f'{s}/nsynth-{s}.tfrecord-00000-of-00001',rs)
    W(d/'nsynth-instrument_labels.txt','bass_x\nguitar_acoustic_001\n'+''.join(f'i{k}\n' for k in range(1004))); W(d/'gansynth_splits.csv','id,split\n'+''.join(f'{k},{s}\n' for k,s in ids[::2]))
def open_images_challenge2019_detection(d,b):
    z=[*(f'train_{i:02d}' for i in range(9)),'test','validation']; ids={k:[f'{k}x{j}' for j in range(2)] for k in z}
    for k in z: ZIP(d/f'{k}.zip',{f'{k}/{i}.jpg':jpg(30,40) for i in ids[k]}|{f'{k}/':b''})
    tr=[i for k in z[:9] for i in ids[k]]
    for s,ks in (('challenge-2019-train',tr),('validation',ids['validation'])):
        W(d/f'{s}-detection-human-imagelabels.csv','ImageID,Source,LabelName,Confidence\n'+''.join(f'{k},verification,/m/{j},1\n' for k in ks for j in range(2)))
        W(d/f'{s}-detection-bbox.csv','ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\n'+''.join(f'{k},/m/3,0.25,0.5,0.125,1.0,{int(k[-1])}\n' for k in ks))
    W(d/'challenge-2019-classes-description-500.csv',''.join(f'/m/{i},Name {i}\n' for i in range(6))); J(d/'challenge-2019-label500-hierarchy.json',{'LabelName':'/m/0','Subcategory':[]}); return [('module','_NUM_CLASSES',6)]
def open_images_v4(d,b):
    names=b.info.features['objects']['label'].names; box=b.info.features['bobjects']['label'].names
    def tar(f,ids): TAR(d/f,{f'x/{i}.jpg':jpg(12,16) for i in ids})
    tr=[f'{p}00000000000000{j}' for p in '0123456789abcdef' for j in range(2)]
    for p in '0123456789abcdef': tar(f's3-tar_train_sha1_{p}.tar',[i for i in tr if i[0]==p])
    te=['a000000000000001','b000000000000002']; va=['c000000000000001']; tar('s3-tar_test_sha2.tar',te); tar('s3-tar_validation_sha3.tar',va)
    for s,ids in (('train',tr),('test',te),('validation',va)):
        for k in ('human','machine'): W(d/f'{s}-{k}-labels.csv','ImageID,Source,LabelName,Confidence\n'+''.join(f'{i},{"verification" if k=="human" else "machine"},{R.choice(names)},{R.choice(["0.0","1.0","0.7"])}\n' for i in ids for _ in range(2)))
        W(d/f'{s}-annotations-bbox.csv','h\n'+''.join(f'{i},xclick,{R.choice(box)},1,0.1,0.5,0.25,0.75,0,-1,0,1,0\n' for i in ids))
def paws_wiki(d,b):
    def rows_(n,k='label'): return [{'id':str(i+1),'sentence1':text(),'sentence2':text(),k:R.randint(0,1)} for i in range(n)]
    import csv
    def T(p,r): W(p,'\t'.join(r[0])+'\n'+''.join('\t'.join(str(v).replace('"','') for v in x.values())+'\n' for x in r))
    for s in ('train','dev','test'): T(d/f'final/{s}.tsv',rows_(2))
    T(d/'swap/train.tsv',rows_(2)); T(d/'unlabeled/final/train.tsv',rows_(2,'noisy_label')); T(d/'unlabeled/final/dev.tsv',rows_(1,'noisy_label'))
    w=d/'wiki_raw_and_mapping'; T(w/'input_swap_wiki_50k.tsv',rows_(3)); T(w/'input_backtransl_wiki_with_swap_id.tsv',rows_(2))
    for m in ('labeled_swap_mapping','labeled_final_mapping'): T(w/m/'train.tsv',[{'id':str(i+1),'mapping1':f'{i+1}_1','mapping2':f'{i+1}_2'} for i in range(2)])
def pg19(d,b):
    k=0; m=''
    for s,n in (('train',3),('validation',1),('test',1)):
        for _ in range(n): k+=1; W(d/f'{s}/{k}.txt',f'\ufeffBook {k}\r\n\r\n  é text \n'); m+=f'{k},Title {k},18{k}0,http://x/{k}\n'
    W(d/'metadata.csv',m); return [('module','_DATA_DIR',str(d))]
def qm9(d,b):
    W(d/'atomref.txt','\n'.join(['x']*4+['Element ZPVE U0 U H G CV']+[f'{z} 0.0 -{i}.5 -{i}.25 -{i}.125 -{i}.0625 2.98' for i,z in enumerate('HCNOF')]+['====='])+'\n'); W(d/'uncharacterized.txt','\n'.join(['x']*9+['   3 C1 2.5','===='])+'\n')
    for i in range(1,6): W(d/f'dsgdb9nsd_{i:06d}.xyz','3\ngdb {0}\t157.7 157.7 157.7 0. 13.21 -0.3877 0.1171 0.5048 35.36 0.0447 -40.4 -40.47 -40.4 -40.49 6.469\nC\t-0.01 1.08 0.008\t-0.53\nH\t0.0021 -0.006 2.1\t0.13\nN\t1.01 1.46 0.0002\t0.13\n1341.3 1341.3 3151.7\nC\tC#N\nInChI=1S/CH4/h1H4\tInChI=1S/CH4\n'.format(i))
    return [('module','_SIZE',5),('module','_CHARACTERIZED_SIZE',4)]
def ref_coco(d,b):
    refs=[]; anns={}
    n=0
    for ds,pa in (('refcoco','google'),('refcoco','unc'),('refcoco+','unc'),('refcocog','google'),('refcocog','umd')):
        for sp in ('train','val','test','testA','testB'):
            n+=1; I(d/f'coco_train2014/{n}.jpg',20,30); a={'id':n*10,'area':50.0+n if n%2 else 50,'bbox':[1.5,2,8,9],'category_id':n%80,'segmentation':[[1,1,9,1,9,9,1.5,8]]}; a['area']=int(a['area'])
            anns[str(n)]={'info':{'file_name':f'{n}.jpg','height':20,'width':30},'anns':[{**a,'id':n*10+1},a]}
            refs.append({'dataset':ds,'dataset_partition':pa,'split':sp,'image_id':n,'ref_id':n,'ann':a,'sentences':[{'raw':text(),'sent_id':k} for k in (2,1)]})
    J(d/'refcoco.json',{'ref':refs,'coco_anns':anns})
def _mp4(w=64,h=48,n=6,fps=5,mark=0):
    import subprocess,tempfile
    f=os.path.join(tempfile.mkdtemp(),'a.mp4')
    subprocess.run(['ffmpeg','-y','-loglevel','error','-f','lavfi','-i',f'testsrc=size={w}x{h}:rate={fps}:duration={n/fps}','-pix_fmt','yuv420p','-threads','1',f],check=True); return Path(f).read_bytes()
def robonet(d,b):
    m=np.frombuffer(_mp4(),np.uint8)
    for i in range(2): H5(d/f'hdf5/t{i}.hdf5',{'env/cam0_video/frames':m,'env/state':NR.rand(6,3+i),'policy/actions':NR.rand(5,4)})
def salient_span_wikipedia(d,b):
    def ex(i):
        t='The tower é stands. Paris 1889 is it. None here.'.encode()
        return EX(uid=f'u{i}',title='Tower é',text=t,span_byte_start=[4,22],span_byte_limit=[9,27],span_type=['ORG','LOC'],sentence_byte_start=[0,22,37],sentence_byte_limit=[21,36,len(t)])
    TFR(d/'test_examples.tfrecord.gz',[ex(i) for i in range(2)],'GZIP'); return [('module','_INPUT_FILE_PATTERN',str(d/'test_examples.tfrecord.gz'))]
def smallnorb(d,b):
    def mat_(p,a,m): W(p,np.array([m,a.ndim,*a.shape,*([1]*(3-a.ndim))],'<i4').tobytes()+a.tobytes())
    for s in ('5x46789x9x18x6x2x96x96-training','5x01235x9x18x6x2x96x96-testing'):
        p=f'smallnorb-{s}'; mat_(d/f'{p}-dat.mat',NR.randint(0,256,(5,2,96,96)).astype('u1'),507333717); mat_(d/f'{p}-cat.mat',np.arange(5,dtype='<i4'),507333716)
        mat_(d/f'{p}-info.mat',np.stack([NR.randint(0,n,5)*(2 if k==2 else 1) for k,n in enumerate((10,9,18,6))],1).astype('<i4'),507333716)
def star_cfq(d,b):
    c=b.builder_config; q=[{'questionPatternModEntities':text(),'sparqlPatternModEntities':'SELECT '+text()} for _ in range(6)]
    if c.compound_divergence: J(d/c.split_path,{'trainIdxs':[0,4],'devIdxs':[1],'testIdxs':[5]}); J(d/'u-cfq-for-divergence-splits-1.0-compact-combined/dataset.json',q)
    else:
        J(d/c.split_path,{'train':[{'dataset':'b-CFQ','indices':[{'startIndex':'1','endIndex':'3'}]},{'dataset':'x-CFQ','indices':[{'startIndex':0,'endIndex':1},{'startIndex':4,'endIndex':5}]}],'test':[{'dataset':'b-CFQ','indices':[{'startIndex':3,'endIndex':4}]}]})
        for k in 'bx': J(d/f'{k}-cfq-1.0-compact/dataset_000.json',q)
def sun397(d,b):
    ls=b.info.features['label'].names[:4]; fs=[f'{l}/sun_{c}.jpg' for l in ls for c in 'ab']
    form={0:jpg(20,24),1:jpg(400,500),2:img(12,16),3:img(12,16,c=1),4:img(16,12,fmt='GIF'),5:img(10,10,fmt='BMP')}
    TAR(d/'SUN397.tar.gz',{'SUN397'+f:form.get(i,jpg(20,20)) for i,f in enumerate(fs)}|{'SUN397/README':b'x'})
    W(d/'Partitions/Training_01.txt','\n'.join(fs[:4])+'\n'); W(d/'Partitions/Testing_01.txt','\n'.join(fs[4:7])+'\n')
    for k,v in (('tr',fs[:4]),('te',fs[4:6]),('va',fs[6:])): W(d/f'sun397_tfds_{k}.txt','\n'.join(v)+'\n')
    return [('instance','_tfds_split_files',{k:str(d/f'sun397_tfds_{k}.txt') for k in ('tr','te','va')})]
def tedlium(d,b):
    def sph(n):
        h='NIST_1A\n   1024\nsample_count -i %d\nsample_n_bytes -i 2\nchannel_count -i 1\nsample_byte_format -s2 01\nsample_rate -i 16000\nsample_coding -s3 pcm\nend_head\n'%n
        return h.encode().ljust(1024)+NR.randint(-9000,9000,n).astype('<i2').tobytes()
    for s in ('train','dev','test'):
        W(d/f'TEDLIUM_release1/{s}/stm/talk.stm',''.join(f'talk 1 Speaker{i} {i*.1:.2f} {i*.1+.1:.2f} <o,f0,{"male" if 0 else "F" if i else "M"}> hello you é (Speaker-{i})\n' for i in range(2))); W(d/f'TEDLIUM_release1/{s}/sph/talk.sph',sph(8000))
def trivia_qa(d,b):
    W(d/'evidence/web/a.txt','Web context é\n'); W(d/'evidence/wikipedia/b.txt','Wiki context\n')
    def art(i,a=True):
        r={'Question':f' Q {i}? ','QuestionId':f'q{i}','QuestionSource':'http://x','SearchResults':[{'Description':' d ','Filename':'a.txt','Rank':i,'Title':'t','Url':'u'},{'Description':'n','Filename':'none.txt','Rank':1,'Title':'t','Url':'u'}],'EntityPages':[{'DocSource':'s','Filename':'b.txt','Title':'T'},{'DocSource':'s','Title':'T'}]}
        if a: r['Answer']={'Aliases':['A ','B'],'NormalizedAliases':['a'],'MatchedWikiEntityName':'x','NormalizedValue':'a','Type':'T','Value':'A'}
        return r
    for f,n,a in (('wikipedia-train',2,1),('web-dev',1,1),('web-test-without-answers',1,0)): [W(d/f'{q}/{f}.json',json.dumps({'Data':[art(i,a) for i in range(n)],'Domain':'w'},indent=4)) for q in ('qa','triviaqa-unfiltered')]
def webvid(d,b):
    C(d/'results_10M_train.csv',[{'videoid':f'{i}','contentUrl':'http://x','duration':'PT1S','page_dir':'000001_000050','name':text()} for i in (1,2)]); C(d/'results_10M_val.csv',[{'videoid':'3','contentUrl':'http://x','duration':'PT1S','page_dir':'000001_000050','name':'v'}])
    for i in (1,2,3): W(d/f'videos/000001_000050/{i}.mp4',_mp4())
def cardiotox(d,b):
    def ex(k): return EX(**{'active':[0,1],'atoms':NR.rand(60*27).tolist(),'pairs':NR.rand(60*60*12).tolist(),'atom_mask':NR.rand(60).tolist(),'pair_mask':NR.rand(3600).tolist(),'dist2topk_nbs':[0.5],'molecule_id':k})
    for f,n in (('train_0.tfrecords-00000-of-00002',2),('train_0.tfrecords-00001-of-00002',2),('test_iid.tfrecords',1),('test_ood1.tfrecords',1),('test_ood2.tfrecords',1)): TFR(d/f,[ex(f'{f}{i}') for i in range(n)])
    return [('module','_DATA_URL',str(d))]
def cifar100_n(d,b):
    r=d/'cifar-100-binary'; W(r/'coarse_label_names.txt',''.join(f'c{i}\n' for i in range(20))); W(r/'fine_label_names.txt',''.join(f'f{i}\n' for i in range(100)))
    rec=lambda: bytes([R.randrange(20),R.randrange(100)])+NR.randint(0,256,3072).astype('u1').tobytes()
    W(r/'train.bin',b''.join(rec() for _ in range(10))); W(r/'test.bin',rec()+rec())
    W(d/'CIFAR-100_human_annotations.csv','clean,noise\n'+''.join(f'{i},{i*3}\n' for i in range(10))); W(d/'side_info_cifar100N.csv','b,Worker-id,time\n'+''.join(f'{i},{i+5},{i*1.5}\n' for i in range(2))); W(d/'image_order_c100.npy',npy(NR.permutation(10)))
def _cifar10(d,n):
    r=d/'cifar-10-batches-bin'; W(r/'batches.meta.txt','\n'.join('airplane automobile bird cat deer dog frog horse ship truck'.split())+'\n')
    rec=lambda: bytes([R.randrange(10)])+NR.randint(0,256,3072).astype('u1').tobytes()
    for i in range(1,6): W(r/f'data_batch_{i}.bin',rec()*1+rec())
    W(r/'test_batch.bin',rec()+rec())
def cifar10_h(d,b):
    _cifar10(d,2); C(d/'cifar10h-raw.csv',[{'annotator_id':i,'trial_index':i*2,'is_attn_check':0,'true_category':'cat','chosen_category':'dog','true_label':1,'chosen_label':R.randrange(10),'correct_guess':0,'cifar10_test_test_idx':i%2,'image_filename':'x','reaction_time':1000.5+i,'time_elapsed':5} for i in range(6)])
def cifar10_n(d,b):
    _cifar10(d,2); W(d/'CIFAR-10_human_annotations.csv','clean,aggre,worse,r1,r2,r3\n'+''.join(','.join(str((i+k)%10) for k in range(6))+'\n' for i in range(10)))
    W(d/'side_info_cifar10N.csv','b,w1,t1,w2,t2,w3,t3\n0,1,2.5,3,4.5,5,6.5\n1,1,2,3,4,5,6\n'); W(d/'image_order_c10.npy',npy(NR.permutation(10)))
def controlled_noisy_web_labels(d,b):
    import sys
    syn=sys.modules[type(b).__module__]._IMNET_MINI_SYNSETS[:2]; inner={}
    for s in syn:
        TAR(d/'_t.tar',{f'{s}_{i}.JPEG':jpg(100,90) for i in (30,4,11)}); inner[f'{s}.tar']=(d/'_t.tar').read_bytes(); os.unlink(d/'_t.tar')
    TAR(d/'ILSVRC2012_img_train.tar',inner); TAR(d/'ILSVRC2012_img_val.tar',{f'ILSVRC2012_val_{i:08d}.JPEG':jpg(90,90) for i in (1,2)})
    for f,k in (('train',1),('val',2),('test',3)): W(d/f'{f}.csv','filename,label\n'+''.join(f'{s}{k:08d}.jpg,{s}\n' for s in syn))
    J(d/'dataset_no_images/mini-imagenet-annotations.json',{'data':[[{'image/id':'abc'}]]}); I(d/'noisy_images/abc.jpg',90,100)
    W(d/'dataset_no_images/mini-imagenet/split/clean_validation','ILSVRC2012_val_00000001.jpg 3\n')
    for p in (0,5,10,15,20,30,40,50,60,80):
        for c in ('red','blue'): W(d/f'dataset_no_images/mini-imagenet/split/{c}_noise_nl_{p/100}',f'abc.jpg 1\n{syn[0]}00000001.jpg 0\n{syn[1]}00000002.jpg 0\n')
_rl=lambda d:[('class','_INPUT_FILE_PREFIX',str(d)),('class','_SHARDS',1)]
def _atari(d,b):
    n=5; e=lambda i:EX(**{'clipped_rewards':[1.,0.,-1.,0.,1.],'actions':list(range(n)),'discounts':[1.]*4+[0. if i else 1.],'unclipped_rewards':NR.rand(n).tolist(),'observations':[img(84,84,1) for _ in range(n)],'checkpoint_idx':[i],'episode_idx':[i],'clipped_episode_return':[3.],'unclipped_episode_return':[9.],'episode_return':[1.5],'checkpoint_id':[i],'episode_id':[i+7]})
    g=getattr(b.builder_config,'game'); r=b.builder_config.run
    TFR(d/f'{g}/run_{r}-00000-of-00001',[e(i) for i in range(2)],'GZIP'); return _rl(d)
def rlu_atari(d,b): return _atari(d,b)
def rlu_atari_checkpoints(d,b): return _atari(d,b)
def rlu_atari_checkpoints_ordered(d,b): return _atari(d,b)
def rlu_control_suite(d,b):
    def e(i,n=4): return EX(**{'observation/position':NR.rand(n*3).tolist(),'observation/velocity':NR.rand(n*2).tolist(),'action':NR.rand(n).tolist(),'discount':[1.]*(n-1)+[float(i)],'reward':NR.rand(n).tolist(),'step_type':[0.]*n,'episode_id':i,'timestamp':10**12+i})
    TFR(d/'cartpole_swingup/train-00000-of-00001',[e(0),e(1)],'GZIP'); return _rl(d)
def _dmlab(d,b):
    n=b.builder_config.episode_length; f=img(72,96)
    e=lambda i:EX(episode_id=i,start_idx=0,episode_return=1.5,observations_pixels=[f]*n,observations_reward=NR.rand(n).tolist(),observations_action=np.eye(15)[NR.randint(0,15,n)].ravel().tolist(),actions=NR.randint(0,15,n).tolist(),rewards=NR.rand(n).tolist(),discounted_rewards=NR.rand(n).tolist(),discounts=[1.]*n)
    TFR(d/f'{b.builder_config.task}/{b.builder_config.name}/tfrecord-00000-of-00001',[e(0),e(1)],'GZIP'); return _rl(d)
def rlu_dmlab_explore_object_rewards_few(d,b): return _dmlab(d,b)
def rlu_dmlab_explore_object_rewards_many(d,b): return _dmlab(d,b)
def rlu_dmlab_rooms_select_nonmatching_object(d,b): return _dmlab(d,b)
def rlu_dmlab_rooms_watermaze(d,b): return _dmlab(d,b)
def rlu_dmlab_seekavoid_arena01(d,b): return _dmlab(d,b)
def rlu_locomotion(d,b):
    n=3; s={'joints_vel':56,'sensors_velocimeter':3,'sensors_gyro':3,'joints_pos':56,'world_zaxis':3,'body_height':1,'sensors_accelerometer':3,'end_effectors_pos':12}
    def e(i): return EX(**{f'observation/walker/{k}':NR.rand(n*v).tolist() for k,v in s.items()},**{'observation/walker/egocentric_camera':[NR.randint(0,256,64*64*3).astype('u1').tobytes() for _ in range(n)],'action':NR.rand(n*56).tolist(),'discount':[1.,1.,float(i)],'reward':NR.rand(n).tolist(),'step_type':[0.]*n,'episode_id':i,'timestamp':5+i})
    TFR(d/'humanoid_corridor/train-00000-of-00001',[e(0),e(1)],'GZIP'); return _rl(d)
def rlu_rwrl(d,b):
    n=1001; e=EX(**{'observation:position':NR.rand(n*3).tolist(),'observation:velocity':NR.rand(n*2).tolist(),'action':NR.rand(n).tolist(),'reward':NR.rand(n).tolist(),'discount':[1.]*1000+[0.]})
    TFR(d/'combined_challenge_none/cartpole/swingup/1_percent/episodes.tfrecord-00000-of-00001',[e]); return _rl(d)
rlu_rwrl.early=True
def mt_opt(d,b):
    import sys, tensorflow_datasets as tfds
    m=sys.modules[type(b).__module__]; name=b.builder_config.name; f=m._name_to_features_encode(name); n=2
    pic=lambda h:NR.randint(0,256,(1,1,3)).astype('u1')*np.ones((h,640,1),'u1')
    step=lambda k:{'action':{'close_gripper':True,'open_gripper':False,'target_pose':NR.rand(7).astype('f4'),'terminate':k>0},'is_first':k==0,'is_last':k>0,'is_terminal':k>0,'observation':{'gripper_closed':False,'height_to_bottom':1.5,'image':pic(512),'state_dense':NR.rand(7).astype('f4')}}
    for s in ('train','test'):
        rs=[{'episode_id':f'e{i}','skill':i,'task_code':f't{i}','steps':[step(0),step(1)]} if name=='rlds' else {'image_0':pic(512),'image_1':pic(480),'image_2':pic(480),'success':True,'task_code':f't{i}'} for i in range(n)]
        from tensorflow_datasets.core import example_serializer as z
        ser=z.ExampleSerializer(f.get_serialized_info()); TFR(d/f'mt_opt_{name}/1.0.0/mt_opt_{name}-{s}.tfrecord-00000-of-00001',[ser.serialize_example(f.encode_example(r)) for r in rs])
    return [('class','_INPUT_FILE_PREFIX',str(d)),('module','_NAME_TO_SPLITS',{'sd':{'train':1,'test':1},'rlds':{'train':1}})]
def mock_rds_dataset(d,b):
    import tensorflow_datasets as tfds
    class Bridge(tfds.core.GeneratorBasedBuilder,skip_registration=True):
        name='bridge'; VERSION=tfds.core.Version('1.0.0')
        def _info(self): return tfds.core.DatasetInfo(builder=self,features=tfds.features.FeaturesDict({'episode_id':np.str_,'steps':tfds.features.Dataset({'action':tfds.features.Tensor(shape=(2,),dtype=np.float32),'image':tfds.features.Image(shape=(6,8,3)),'is_first':np.bool_})}))
        def _split_generators(self,m): return {'train':self._generate_examples()}
        def _generate_examples(self):
            for i in range(2): yield i,{'episode_id':f'e{i}','steps':[{'action':[i,k],'image':NR.randint(0,256,(6,8,3)).astype('u1'),'is_first':k==0} for k in range(3)]}
    Bridge(data_dir=str(d)).download_and_prepare(); return [('class','_GCS_BUCKET',str(d))]
mock_rds_dataset.early=True
def covid19(d,b):
    s=b.info.features; rs=[{k:(text(1).strip('"').replace(',','').replace(';','') if v.dtype in ('string',str,object) or str(v.dtype).endswith("string'>") else round(R.random(),3)) for k,v in s.items()} for _ in range(3)]
    for k in list(s)[10:20]: rs[1][k]=''
    C(d/'_c.csv',rs); W(d/'covid19.csv.gz',gzip.compress((d/'_c.csv').read_bytes())); os.unlink(d/'_c.csv'); return [('module','_N_RECORDS',3),('module','_BATCH_SIZE',2)]
def web_graph(d,b):
    s=d/b.builder_config.subfolder
    for n in ('train','train.transpose','test'): TFR(s/f'{n}.tfr-00000-of-00001',[EX(row_tag=i*7,col_tag=[1,2,i],gt_tag=[5,i]) for i in range(10)])
    return [('class','WEB_GRAPH_HOMEPAGE',str(d)),('class','SHARDS',1)]
def doc_nli(d,b):
    for s in ('train','dev','test'): J(d/f'DocNLI_dataset/{s}.json',[{'premise':text(),'hypothesis':text(),'label':R.choice(['entailment','not_entailment'])} for _ in range(3)])
def gem(d,b):
    n=b.builder_config.name
    if n=='dart':
        for s in ('train','dev','test'): J(d/f'dart/dart-v1.1.1-full-{s}.json',[{'tripleset':[['a','b',word()],['c','d','e']],'subtree_was_extended':True,'annotations':[{'source':word(),'text':text()} for _ in range(2)]} for _ in range(2)])
    elif n=='common_gen':
        for s in ('train','dev','test_noref'): JL(d/f'common_gen/commongen.{s}.jsonl',[{'concept_set':'a#b#c','scene':[text(),text()]} for _ in range(3)])
        for f in ('train_common_gen_RandomSample500','validation_common_gen_RandomSample500','test_common_gen_ScrambleInputStructure500'): J(d/f'challenge_sets/common_gen/{f}.json',[{'concept_set_id':1,'concepts':['a','b'],'target':text(),'references':[text()],'gem_id':'g','gem_parent_id':'p'}])
    else: raise NotImplementedError('plain JSON as the others')
def mrqa(d,b):
    def row(i): return {'id':f'c{i}','context':' '+text(),'context_tokens':[['a',0],['b',2]],'qas':[{'qid':f'q{i}{k}','question':text(),'question_tokens':[['x',0]],'detected_answers':[{'text':' t','char_spans':[[0,3],[5,6]],'token_spans':[[1,1]]}],'answers':[text()]} for k in range(2)]}
    for s in ('train','validation','test'): JL(d/f'{b.builder_config.name}/{s}.jsonl',[{'header':{'dataset':b.builder_config.name,'split':s}},row(1),row(2)])
def q_re_c_c(d,b):
    for s in ('train','test'): J(d/f'qrecc_{s}.json',[{'Context':[text()]*i,'Question':text(),'Rewrite':text(),'Answer':text(),'Answer_URL':'u','Conversation_no':i,'Turn_no':2,'Conversation_source':'quac'} for i in range(3)])
def unified_qa(d,b):
    for s in ('train','dev','test'): W(d/f'{b.builder_config.name}/{s}.tsv',('input\toutput\n' if b.builder_config.header else '')+''.join(f' q{i} \\n (A) é?\tans {i} \n' for i in range(3)))
def wiki_auto(d,b):
    n=b.builder_config.name
    for s in ('train','dev','test'): W(d/f'manual/1.0.0/{s}.tsv',''.join(f'{R.choice(["notAligned","aligned","partialAligned"])}\ts{i}\tn{i}\t{word()}\t{word()}\t0.{i}5\n' for i in range(5)))
    art=lambda k:{'id':'%d'%R.randint(1,99),'title':text(),'url':'u','content':{f'{k}-0-0':text(),f'{k}-0-1':text()}}
    for p in (1,2): J(d/f'auto/1.0.0/wiki-auto-part-{p}-data.json',{f'e{p}':{'normal':art('n'),'simple':art('s'),'paragraph_alignment':[['a','b'],['c','d']],'sentence_alignment':[['x','y']]}})
    for f in ('auto_acl','auto_full_no_split','auto_full_with_split'):
        for e in ('dst','src'): W(d/f'{f}/1.0.0/train.{e}',''.join(text()+'\n' for _ in range(5)))
def _wmt(d,b,l):
    W(d/f'sentences.{l}-en.tmx','<?xml version="1.0" encoding="UTF-8"?><tmx version="1.4"><body>'+''.join(f'<tu><tuv xml:lang="{l}"><seg>satz {i} é</seg></tuv><tuv xml:lang="en"><seg>line {i}</seg></tuv></tu>' for i in range(3))+'</body></tmx>')
    W(d/f'sentences.{l}-en.tsv',''.join(f'é {i}\tline {i}\n' for i in range(3))+'bad\n')
    for e in (l,'en'):
        W(d/f'commoncrawl/commoncrawl.{l}-en.{e}',''.join(f'c {e} {i}\n' for i in range(3)))
        for g in (f'rapid_2019/rapid2019.{l}-en.{e}',): W(d/g,''.join(f'r {e} {i}\n' for i in range(2)))
        for y in ('newstest2018',f'newstest2014'):
            for a,z in ((l,'en'),('en',l)):
                for k,q in (('src',a),('ref',z)): W(d/f'validation/dev/{y}-{a}{z}-{k}.{q}.sgm',''.join(f'<seg id="{i}">v {q} {i}</seg>\n' for i in range(2)))
    W(d/'czeng/convert_czeng16_to_17.pl','my %bad = map { $_ => 1 } qw{12 34};\n')
    for i in (98,99): W(d/f'czeng/data.plaintext-format/{i}train.gz',gzip.compress(''.join(f'subtitles-b{k}-00train-f000001-s1\t0.9\tčeská {k}\tczech {k}\n' for k in (11,12)).encode()))
def ucf101(d,b):
    for i in (1,2,3): W(d/f'videos/UCF101/v_ApplyEyeMakeup_g01_c0{i}.avi',_mp4())
    for k in (1,2): W(d/f'splits/ucfTrainTestlist/trainlist0{k}.txt','ApplyEyeMakeup/v_ApplyEyeMakeup_g01_c01.avi 1\nApplyEyeMakeup/v_ApplyEyeMakeup_g01_c02.avi 1\n'); W(d/f'splits/ucfTrainTestlist/testlist0{k}.txt','ApplyEyeMakeup/v_ApplyEyeMakeup_g01_c03.avi\n')
def laion400m(d,b):
    import pandas as pd
    n=3; df=pd.DataFrame({'caption':[text() for _ in range(n)],'NSFW':['UNLIKELY','ODD','NSFW'],'similarity':[.3,float('nan'),.25],'LICENSE':['?',None,'cc'],'url':['u']*n,'original_width':[10,20,30],'original_height':[5,6,7]})
    df.to_parquet(d/'00000.parquet'); df.to_parquet(d/'metadata_0.parquet'); TAR(d/'00000.tar',{**{f'0000{i}.jpg':jpg(10+i,12) for i in range(n)},'00000.json':b'{}','00000.txt':b'x'})
    for k in ('img','text'): W(d/f'{k}_emb_0.npy',npy(NR.rand(n,512).astype('float16')))
    return [('config','num_shards',1)]
def wit_kaggle(d,b):
    import base64
    n=b.builder_config.name; t='train' if n.startswith('train') else 'test'; r=d/f'wit_kaggle/{t}'; us=['http://a/1.jpg','http://a/2.jpg']
    f=b.builder_config.split_specific_features
    C(r/f'ZIP.unzipped_{t}/x.tsv',[{**{k:('true' if getattr(v,'np_dtype',None)==np.bool_ else '7' if np.dtype(getattr(v,'np_dtype',object)).kind in 'iu' else text()) for k,v in f.items()},'image_url':u} for u in us],'\t',q=csv.QUOTE_ALL)
    W(r/f'image_data_{t}/image_pixels/p.csv',f'{us[0]}\t{base64.b64encode(img(8,9)).decode()}\thttp://m\n'); W(r/f'image_data_{t}/resnet_embeddings/e.csv',f'{us[0]}\t'+','.join(f'{i/7:.4f}' for i in range(2048))+'\n')
def _mp3(n=8000,rate=16000):
    import subprocess
    return subprocess.run(['ffmpeg','-loglevel','error','-f','wav','-i','-','-f','mp3','-'],input=wav(n,1,rate),stdout=subprocess.PIPE,check=True).stdout
def common_voice(d,b):
    h='client_id\tpath\tsentence\tup_votes\tdown_votes\tage\tgender\taccent\tlocale\tsegment\n'; r='cv-corpus-6.1-2020-12-11/fy-NL/'
    f={r+n+'.tsv':h+''.join(f'c{i}\t{n}{i}.mp3\tIt is é {i}\t2\t\ttwenties\t{g}\t\tfy\t\n' for i,g in enumerate(('male',''))) for n in ('validated','dev')}
    TAR(d/'fy-NL.tar.gz',f|{r+f'clips/{n}{i}.mp3':_mp3() for n in ('validated','dev') for i in range(2)},dirs=(r[:-1],))
def crema_d(d,b):
    n=['1000_AA_HAP_XX','1001_AA_HAP_XX','1002_AA_ANG_XX','1003_AA_FEA_XX']; W(d/'summary_table.csv','"","FileName","V"\n'+''.join(f'"{i}","{k}","A"\n' for i,k in enumerate(n)))
    for k in n: W(d/f'{k}.wav',wav(300))
def dementiabank(d,b):
    for k,c in (('Control',3),('Dementia',4)):
        for i in range(c): W(d/f'dementia/English/Pitt/{k}/cookie/{k[0]}{i}-0.mp3',_mp3())
def voxforge(d,b):
    u=[f'de/Trunk/Audio/Main/16kHz_16bit/sp{i}-2010.tgz' for i in range(4)]; W(d/'urls_list.txt',''.join(f'"{x}"\n' for x in u))
    for x in u: TAR(d/x,{'a/wav/w1.wav':wav(200),'a/etc/README':'x'},dirs=('a',))
def caltech_birds2010(d,b):
    n=[f'{k:03d}.Bird_name/Bird_name_{k}{i}.jpg' for k in (1,2) for i in range(2)]; W(d/'Lists.tgz/lists/train.txt','\n'.join(n[:2])); W(d/'Lists.tgz/lists/test.txt','\n'.join(n[2:]))
    TAR(d/'Images.tar.gz',{'images/'+x:jpg(20,30) for x in n}|{'images/._x':b''},dirs=('images',))
    for x in n: W(d/('Annotations.tgz/annotations-mat/'+x[:-4]+'.mat'),mat({'bbox':{'left':2,'top':3,'right':31,'bottom':15},'seg':NR.randint(0,2,(20,30)).astype('u1')}))
def caltech_birds2011(d,b):
    n=[f'{k:03d}.Bird_name/Bird_name_{k}{i}.jpg' for k in (1,2) for i in range(2)]; r=d/'extracted/TAR_GZ.CUB_200_2011.tar.gz/CUB_200_2011'
    W(r/'images.txt',''.join(f'{i+1} {x}\n' for i,x in enumerate(n))); W(r/'train_test_split.txt',''.join(f'{i+1} {i%2}\n' for i,x in enumerate(n))); W(r/'bounding_boxes.txt',''.join(f'{i+1} 2.0 3.0 {10+i}.0 9.0\n' for i in range(4)))
    for x in n: W(d/('extracted/segmentations.tgz/segmentations/'+x[:-4]+'.png'),img(20,30,1))
    TAR(d/'CUB_200_2011.tar.gz',{'CUB_200_2011/images/'+x:jpg(20,30) for x in n})
def _mnist(d,b):
    for k,n in (('train',10),('test',2)): W(d/f'{k}-image',b'0'*16+NR.randint(0,256,n*784).astype('u1').tobytes()); W(d/f'{k}-label',b'0'*8+NR.randint(0,10,n).astype('u1').tobytes())
    return [('module','_TRAIN_EXAMPLES',10),('module','_TEST_EXAMPLES',2)]
def mnist(d,b): return _mnist(d,b)
def fashion_mnist(d,b): return _mnist(d,b)
def kmnist(d,b): return _mnist(d,b)
def visual_domain_decathlon(d,b):
    n=b.builder_config.name; a=d/'decathlon-1.0/annotations'
    for s in ('train','val'): J(a/f'{n}_{s}.json',{'categories':[{'id':7},{'id':3}],'images':[{'id':i,'file_name':f'data/{n}/{s}/{i}.jpg'} for i in range(2)],'annotations':[{'image_id':i,'category_id':(7,3)[i]} for i in range(2)]})
    J(a/f'{n}_test_stripped.json',{'images':[{'id':9,'file_name':f'data/{n}/test/9.jpg'}]}); TAR(d/f'{n}.tar',{f'{n}/{s}/{i}.jpg':jpg(20,30) for s,i in (('train',0),('train',1),('val',0),('val',1),('test',9))},dirs=('',n))
def diabetic_retinopathy_detection(d,b):
    for i in range(2): I(d/f'sample/{i}_left.jpeg',80,90); I(d/f'train/{i}_left.jpeg',80,90)
    for i in range(4): I(d/f'test/{i}_right.jpeg',80,90)
    W(d/'trainLabels.csv','image,level\n'+''.join(f'{i}_left,{i+2}\n' for i in range(2))); W(d/'retinopathy_solution.csv','image,level,Usage\n'+''.join(f'{i}_right,{i},{("Public","Private")[i%2]}\n' for i in range(4)))
def _coco(d,b):
    cats=[{'id':1,'name':'person'},{'id':3,'name':'cat é'},*({'id':k+10,'name':f'c{k}'} for k in range(78))]
    for s in b.builder_config.splits:
        n=s.name if s.name!='validation' else 'val'; im=[{'id':i,'file_name':f'{s.images}_{i}.jpg','height':20,'width':30} for i in (3,1)]
        for x in im: I(d/f'{n}_images/{s.images}/{x["file_name"]}',20,30)
        k=str(s.annotation_type).lower(); an='trainval_annotations' if n in('train','val') else f'{n}_annotations'
        a=[{'id':10*i+j,'image_id':i,'area':55.0 if not j else 12,'bbox':[1.5,2,20,10],'category_id':(1,3)[j],'iscrowd':j} for i in (1,) for j in range(2)]
        for z in a: z['area']=int(z['area'])
        if 'panoptic' in b.builder_config.name:
            r=d/'panoptic_annotations_trainval2017/annotations'; J(r/f'panoptic_{s.images}.json',{'images':im,'categories':[*cats,*({'id':200+q,'name':f'x{q}'} for q in range(53))],'annotations':[{'image_id':x['id'],'file_name':x['file_name'][:-4]+'.png','segments_info':[{'id':5,'area':7,'bbox':[1,2,5,6],'category_id':3,'iscrowd':0}]} for x in im]})
            ZIP(r/f'panoptic_{s.images}.zip',{f'panoptic_{s.images}/{x["file_name"][:-4]}.png':img(20,30) for x in im})
        elif n in('train','val'): J(d/f'{an}/annotations/instances_{s.images}.json',{'images':im,'categories':cats,'annotations':a})
        else: J(d/f'{an}/annotations/image_info_{s.images}.json',{'images':im,'categories':cats})
def coco(d,b): _coco(d,b)
def coco_captions(d,b):
    _coco(d,b); tr=[s for s in b.builder_config.splits if s.name=='train'][0].images; va=[s for s in b.builder_config.splits if s.name=='validation'][0].images
    J(d/'karpathy_and_li_splits/dataset_coco.json',{'images':[{'split':sp,'filename':f'{i}_{k}.jpg','sentences':[{'sentid':k,'raw':text()}]} for sp,i,k in (('train',tr,1),('train',tr,3),('val',va,1),('test',va,3),('restval',va,1))]})
def wider_face(d,b):
    for s in ('train','val','test'):
        for i in range(2): I(d/f'wider_{s}/WIDER_{s}/images/0--Parade/{s}_{i}.jpg',40,50)
        if s!='test': W(d/f'wider_annot/wider_face_split/wider_face_{s}_bbx_gt.txt',f'0--Parade/{s}_0.jpg\n2\n4 5 60 10 0 0 0 0 0 0 \n1 2 3 4 1 1 1 1 2 1 \n0--Parade/{s}_1.jpg\n0\n0 0 0 0 0 0 0 0 0 0 \n')
    W(d/'wider_annot/wider_face_split/wider_face_test_filelist.txt','0--Parade/test_0.jpg\n0--Parade/test_1.jpg\n')
def wiki_bio(d,b):
    for s in ('train','valid','test'):
        r=d/f'wikipedia-biography-dataset/{s}/{s}'
        for e,t in (('id','11\n12\n'),('box','name_1:walter\tname_2:é\timage:<none>\tage_1:5\nname_1:x\tb_c_1:y\n'),('nb','2\n1\n'),('sent','one .\ntwo é .\nthree\n'),('title','walter é\nx\n')): W(f'{r}.{e}',t)
def cnn_dailymail(d,b):
    import hashlib
    for s in ('train','val','test'):
        u=[f'http://x/{s}{i}' for i in range(3)]; W(d/f'all_{s}.txt','\n'.join(u)+'\n')
        for i,x in enumerate(u): W(d/(('cnn','dailymail')[i%2])/'stories'/(hashlib.sha1(x.encode()).hexdigest()+'.story'),'An article é\n\nMore .\n\n@highlight\n\nHigh one\n\n@highlight\n\nTwo!\n')
def civil_comments(d,b):
    import sys
    m=sys.modules[type(b).__module__]; L=m._labels('covert')+['contextual_toxicity']
    C(d/'civil_comments.csv',[{'id':str(i),'comment_text':text(),'parent_text':text(),'publication_id':'5','created_date':'2017','parent_id':('' if i%2 else '7.0'),'article_id':'9','split':s,'spans':'[1, 2]','spans_split':s,**{l:(f'{R.random():.3f}' if i else '') for l in L}} for s in ('train','test_public','test_private') for i in range(3)])
def glue(d,b):
    n=b.builder_config.name; c=b.builder_config
    if n=='mrpc':
        for s,f in (('train','msr_paraphrase_train'),('test','msr_paraphrase_test')): W(d/f'MRPC/{f}.txt','\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n'+''.join(f'{i%2}\t{i}\t{i+50}\tA "é {i}\tb\n' for i in range(4)))
        W(d/'MRPC/mrpc_dev_ids.tsv','1\t51\n'); return
    def T(p,s):
        if n=='cola' and s!='test': W(p,''.join(f'gj04\t{i%2}\t*\tThe é {i}\n' for i in range(3))); return
        cols=list(dict.fromkeys(['index',*c.text_features.values(),c.label_column])); lab=(lambda i:(c.label_classes or ['3.5'])[i%len(c.label_classes or [1])]) if n not in('sst2','qqp','wnli') else (lambda i:str(i%2))
        if s=='test': cols=[x for x in cols if x!=c.label_column]
        W(p,'\t'.join(cols)+'\n'+''.join('\t'.join(lab(i) if x==c.label_column else f'{x} "é{i}' for x in cols)+'\n' for i in range(3)))
    r=d/(c.data_dir or '')
    if n=='ax': T(d/'AX/ax.tsv','dev')
    elif n=='mnli':
        T(r/'train.tsv','train')
        for s in ('dev','test'):
            for m in ('matched','mismatched'): T(r/f'{s}_{m}.tsv',s)
    else:
        for s in ('train','dev','test'): T(r/f'{s}.tsv',s)
def super_glue(d,b):
    import sys
    n=b.builder_config.name; task=sys.modules[type(b).__module__]._get_task_name_from_data_url(b.builder_config.data_url); r=d/task
    def row(i,s):
        o={'idx':i}
        if n=='multirc': return o|{'passage':{'text':text(),'questions':[{'question':text(),'idx':k,'answers':[{'text':text(),'idx':q,**({} if s=='test' else {'label':q})} for q in range(2)]} for k in range(2)]}}
        if n=='record': return o|{'passage':{'text':'Anna saw Bob é.','entities':[{'start':9,'end':11},{'start':0,'end':3}]},'qas':[{'idx':i*10+k,'query':text(),**({} if s=='test' else {'answers':[{'text':'Bob'},{'text':'Anna'}]})} for k in range(2)]}
        if n.startswith('wsc'): o|={'text':'Mark told pete many lies','target':{'span1_index':0,'span1_text':'Mark','span2_index':2,'span2_text':'Pete.' if n=='wsc.fixed' else 'pete'}}
        else: o|={f:(3 if f in('start1','end1','start2','end2') else text()) for f in b.builder_config.features}
        if s!='test' or n in('axb','axg'): o['label']=(i%2==0) if n in('boolq','wic','wsc','wsc.fixed') else (i%2 if n=='copa' else b.builder_config.label_classes[i%2] if n in('cb','rte','axb','axg') else i%2)
        return o
    for s in ('train','val','test'): JL(r/f'{s}.jsonl',[row(i,s) for i in range(3)])
    if n in('axb','axg'): JL(r/f'{task}.jsonl',[row(i,'x') for i in range(3)])
def wikipedia(d,b):
    J(d/'dumpstatus.json',{'jobs':{'articlesmultistreamdump':{'status':'done','files':{'a.xml-1.bz2':{'size':5},'i.txt':{'size':1}}}}})
    page=lambda i,t,ns=0:f'<page><title>Title_{i} é</title><ns>{ns}</ns><id>{i}</id><revision><id>{i}</id><timestamp>2020-01-01T00:00:00Z</timestamp><contributor><username>u</username><id>1</id></contributor><model>wikitext</model><format>text/x-wiki</format><text xml:space="preserve">{t}</text><sha1>x</sha1></revision></page>'
    for k,f in enumerate(('enwiki_fake','enwiki_fake2')): W(d/f'{f}.xml.bz2',bz2.compress(('<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10" xml:lang="en"><siteinfo><sitename>W</sitename><dbname>enwiki</dbname><namespaces><namespace key="0" case="first-letter"/></namespaces></siteinfo>'+page(k*10+1,"'''Bold''' [[link|text]] [[File:x.jpg|thumb]] &lt;ref&gt;r&lt;/ref&gt;\n== Head ==\nMore é {{reflist}}")+page(k*10+2,'#REDIRECT [[x]]')+page(k*10+3,'t',1)+'</mediawiki>').encode()))
def wiki40b(d,b):
    for s,n in (('train',3),('dev',2),('test',1)): TFR(d/f'{s}/en_examples-00000-of-00001',[EX(wikidata_id=f'Q{i}',text=f'\n_START_ARTICLE_\né {i}',version_id=f'{i}5') for i in range(n)])
    return [('module','_DATA_DIRECTORY',str(d))]
def cats_vs_dogs(d,b):
    ZIP(d/'cats_vs_dogs.zip',{f'PetImages/{k}/{i}.jpg':(jpg(20,30) if i else b'bad') for k in ('Cat','Dog') for i in range(3)}); return [('module','_NUM_CORRUPT_IMAGES',2)]
def q_re_cc(d,b): return q_re_c_c(d,b)
