"""Fake data of builders: a function for each, which gets the folder and the builder of TensorFlow Datasets."""
from fake_files import *
import fake_files as lib
from fakes_1 import _sq as squad_
def gap(d,b):
    for s in 'development validation test'.split(): C(d/f'gap-{s}.tsv',[{k:('TRUE' if i%2 else 'false') if 'coref' in k else v for k,v in r.items()} for i,r in enumerate(rows(b,3,True))],'\t')
def cycle_gan(d,b):
    for s in ('trainA','testA','trainB','testB'):
        for i in range(2): I(d/f'horse2zebra/{s}/n{i}.jpg')
def _real(d):
    W(d/'real.json',json.dumps([[1,2],[],[5]]+[[0]]*49997))
def _val(d,n=4): TAR(d/'ILSVRC2012_img_val.tar',{f'ILSVRC2012_val_{i+1:08}.JPEG':jpg() for i in range(n)})
def imagenet2012_real(d,b): _real(d); _val(d)
def winogrande(d,b):
    for f in ('train_xs','train_s','train_m','train_l','train_xl','test','dev'): JL(d/f'winogrande_1.1/{f}.jsonl',[{'qID':f'{f}{i}','sentence':text(),'option1':'a','option2':'b'}|({} if f=='test' else {'answer':'1'}) for i in range(2)])
def drop(d,b):
    for s in ('train','dev'): J(d/f'drop_dataset/drop_dataset_{s}.json',{'p1':{'passage':text(),'qa_pairs':[{'query_id':f'q{s}','question':text(),'answer':{'number':'3'},'validated_answers':[{'spans':['a']}]},{'query_id':f'r{s}','question':text(),'answer':{'number':'','date':{'day':'3','month':'May','year':'1999'}}},{'query_id':'z'+s,'question':'?','answer':{}}]}})
def movie_rationales(d,b):
    for s in ('train','val','test'): JL(d/f'movies/{s}.jsonl',[{'annotation_id':f'{s}{i}.txt','classification':'POS','evidences':[[{'text':text()}],[{'text':text()},{'text':text()}]]} for i in range(2)]); W(d/f'movies/docs/{s}0.txt',text()); W(d/f'movies/docs/{s}1.txt',text()+'\n')
def coqa(d,b):
    for s in ('train','dev'): J(d/f'coqa-{s}-v1.0.json',{'data':[{'id':f'{s}{i}','source':b.info.features['source'].names[0] if hasattr(b.info.features['source'],'names') else 'wikipedia','story':text(),'questions':[{'input_text':text()} for _ in range(3)],'answers':[{'input_text':text(),'span_start':1,'span_end':4} for _ in range(3)]} for i in range(2)]})
def eraser_multi_rc(d,b):
    for s in ('train','val','test'): JL(d/f'multirc/{s}.jsonl',[{'annotation_id':f'{s}:{i}','evidences':[[{'docid':f'{s}.txt','text':text()},{'docid':f'{s}.txt','text':text()}]],'query':text(),'classification':'True'} for i in range(2)]); W(d/f'multirc/docs/{s}.txt',text())
def aeslc(d,b):
    for s in ('train','dev','test'): W(d/f'AESLC-master/enron_subject_line/{s}/a_{s}.subject','line one\nline é\n\n@subject\nHello there\n\n@ann0\nx\n')
def symmetric_solids(d,b):
    for s in ('train','test'):
        for n in ('tet','cube','sphereX'):
            for i in range(2): I(d/f'{s}/images/{n}_{i}.png',224,224)
        W(d/f'{s}/rotations.npz',npz(tet=lib.NR.rand(2,12,3,3),cube=lib.NR.rand(2,24,3,3),sphereX=lib.NR.rand(2,1,3,3)))
def gigaword(d,b):
    for s in ('train','dev','test'):
        for k in ('src','tgt'): W(d/f'org_data/{s}.{k}.txt','a <unk> b\nc é d \n')
def media_sum(d,b):
    rs=[r|{'id':f'N-{i}'} for i,r in enumerate(rows(b,5))]; rs[1].pop('summary',None)
    J(d/'news_dialogue.json',rs); J(d/'train_val_test_split.json',{'train':['N-0','N-1','N-2'],'val':['N-3'],'test':['N-4']})
def blimp(d,b): JL(d/'tough_vs_raising_1.jsonl',[{k if k!='pair_id' else 'pairID':v for k,v in r.items()}|{'pairID':str(i)} for i,r in enumerate(rows(b,4))])
def lm1b(d,b):
    t='1-billion-word-language-modeling-benchmark-r13output'
    for i in (1,2): W(d/f'{t}/training-monolingual.tokenized.shuffled/news.en-0000{i}-of-00100',f'{text()}\n{text()} \n'); W(d/f'{t}/heldout-monolingual.tokenized.shuffled/news.en.heldout-0000{i}-of-00050',f'{text()}\n')
def svhn_cropped(d,b):
    for s in ('train','test','extra'): W(d/f'{s}_32x32.mat',mat({'X':lib.NR.randint(0,255,(32,32,3,4)).astype(np.uint8),'y':np.array([[1],[10],[3],[2]],np.uint8)}))
def clinc_oos(d,b):
    for s in ('train','test','val','train_ood','test_ood','val_ood'): C(d/f'{s}.csv',rows(b,2,True))
def tatoeba(d,b): W(d/'tatoeba.afr-eng.afr','Dié een\nTwee\n'); W(d/'tatoeba.afr-eng.eng','This\nTwo\n')
def so2sat(d,b):
    for s in ('training','validation'): H5(d/f'{s}.h5',{'sen1':lib.NR.randn(3,32,32,8),'sen2':lib.NR.rand(3,32,32,10)*.4,'label':np.eye(17)[[1,5,3]]})
def multi_news(d,b):
    for s in ('train','val','test'): W(d/f'{s}.src.cleaned','a NEWLINE_CHAR b é\nc\n'); W(d/f'{s}.tgt','– sum \n x\n')
def binarized_mnist(d,b):
    for s in ('train','valid','test'): W(d/f'binarized_mnist_{s}.amat','\n'.join(' '.join(str(R.randint(0,1)) for _ in range(784)) for _ in range(3))+'\n')
def math_qa(d,b):
    for s in ('train','dev','test'): J(d/f'{s}.json',[{'Problem':text(),'Rationale':text(),'options':'a ) 38 , b ) 27.675 , c ) 30 , d ) data inadequate , e ) none','correct':'bd'[i],'annotated_formula':'add(1,2)','linear_formula':'x|','category':'gain'} for i in range(2)])
def xquad(d,b):
    for s in ('translate-train','translate-dev','translate-test','test'): J(d/f'{s}.json',squad_(2))
def openbookqa(d,b):
    for s in ('train','dev','test'): JL(d/f'OpenBookQA-V1-Sep2018/Data/Additional/{s}_complete.jsonl',[{'id':f'{s}{i}','question':{'stem':text(),'choices':[{'text':text(),'label':l} for l in 'ABCD']},'fact1':text(),'humanScore':'0.75','clarity':'1.60','turkIdAnonymized':'x','answerKey':'A'} for i in range(2)])
def imdb_reviews(d,b): TAR(d/'aclImdb_v1.tar.gz',{f'aclImdb/{s}/{l}/{i}_7.txt':text()+' ' for s in ('train','test') for l in ('neg','pos') for i in range(2)}|{f'aclImdb/train/unsup/{i}_0.txt':text() for i in range(3)}|{'aclImdb/imdb.vocab':b'a'})
def shapes3d(d,b): H5(d/'3dshapes.h5',{'images':lib.NR.randint(0,255,(4,64,64,3)).astype(np.uint8),'labels':lib.NR.choice([0.,.5,1.],(4,6))})
def paws_x_wiki(d,b):
    for f in ('translated_train','test_2k','dev_2k'): W(d/f'x-final/{b.builder_config.language}/{f}.tsv','id\tsentence1\tsentence2\tlabel\n1\ta é\tb\t1\n2\tc\td\t0\n3\tNS\te\t2\n')
def placesfull(d,b):
    TAR(d/'Images256.tar',{f'Images256/a/abbey/{i}.jpg':jpg(256,256) for i in range(2)}|{'Images256/b/bar/1.jpg':jpg(256,256,1)},dirs=['Images256/'] if 0 else ())
    W(d/'filelist_placesfull/filelist_placesfull/imagelist_placesfull.txt','/a/abbey/0.jpg 0\n/a/abbey/1.jpg 0\n/b/bar/1.jpg 5\n')
def ai2_arc(d,b):
    n=b.builder_config.name
    for s in ('Train','Dev','Test'): JL(d/f'ARC-V1-Feb2018-2/{n}/{n}-{s}.jsonl',[{'id':f'{s}{i}','answerKey':'1C'[i],'question':{'stem':text(),'choices':[{'text':text(),'label':l} for l in ('1234' if i==0 else 'ABCDE')]}} for i in range(2)])
def ai2_arc_with_ir(d,b):
    for s in ('train','dev','test'): JL(d/f'ARC-IR10V8/{s}.jsonl',[{'id':f'{p}{s}{i}','answerKey':'1','para':text(),'question':{'stem':text(),'choices':[{'text':text(),'label':l} for l in '1234']}} for p in ('ARCCH_','ARCEZ_') for i in range(2)])
def chexpert(d,b):
    lab=['No Finding','Enlarged Cardiomediastinum','Cardiomegaly','Lung Opacity','Lung Lesion','Edema','Consolidation','Pneumonia','Atelectasis','Pneumothorax','Pleural Effusion','Pleural Other','Fracture','Support Devices']
    for s in ('train','valid'):
        rs=[]
        for i in range(2):
            p=f'CheXpert-v1.0-small/{s}/patient{i}/view1_frontal.jpg'; I(d/p,30,20,1); rs.append({'Path':p,'Sex':'F','Age':60,'Frontal/Lateral':'Frontal','AP/PA':'AP'}|{l:R.choice(['','1.0','0.0','-1.0']) for l in lab})
        C(d/f'CheXpert-v1.0-small/{s}.csv',rs)
def wiki_table_text(d,b):
    for s in ('train','dev','test'): W(d/f'MSRA_NLC.Table2Text.{s}','1\ta_$$_b_||_c\td é_||_e_$$_f\tx_$$_y .\n2\tq\tr\ts\n')
def oxford_flowers102(d,b):
    for i in range(1,7): I(d/f'images/jpg/image_{i:05d}.jpg')
    W(d/'imagelabels.mat',mat({'labels':np.array([[77,1,2,3,102,5]],np.uint8)})); W(d/'setid.mat',mat({'trnid':np.array([[1,3]],np.uint16),'tstid':np.array([[2,4]],np.uint16),'valid':np.array([[5,6]],np.uint16)}))
CONLLU='''# sent_id = 1
# text = a b
1\tกลุ่ม\tกลุ่ม\tNOUN\tNN\t_\t2\tnsubj\t_\t_
2\tb\tb\tVERB\tVV\tA=B\t0\troot\t_\t_

# sent_id = 2
1\tc\tc\tPUNCT\t.\t_\t0\troot\t_\t_

'''
def xtreme_pos(d,b): W(d/'ud-treebanks-v2.5/UD_Thai-PUD/th_pud-ud-test.conllu',CONLLU); W(d/'ud-treebanks-v2.5/UD_Thai-PUD/README.md','x')
def para_crawl(d,b): W(d/'en-hu.bicleaner07.txt','a b\tá é\nc\td \n')
def qasc(d,b):
    for s in ('train','dev','test'): JL(d/f'QASC_Dataset/{s}.jsonl',[{'id':f'{s}{i}','question':{'stem':text(),'choices':[{'text':text(),'label':l} for l in 'ABCDEFGH']}}|({'answerKey':'F','fact1':text(),'fact2':text(),'combinedfact':text(),'formatted_question':text()} if s!='test' else {}) for i in range(2)])
def e2e_cleaned(d,b):
    for s in ('train','dev','test'): C(d/f'{s}.csv',[{'mr':'name[The Eagle], food[French é]','ref':text()} for _ in range(2)])
def quality(d,b):
    n='QuALITY.v0.9.htmlstripped' if b.builder_config.stripped else 'QuALITY.v0.9'
    for s in ('train','test','dev'): JL(d/f'{n}.{s}',[{k:text() for k in ('article','article_id','writer_id','source','title','topic','url')}|{'set_unique_id':f'{s}{i}','questions':[{'question':text(),'question_unique_id':text(),'difficult':j%2,'options':[text() for _ in range(4)]}|({'gold_label':1.0+j,'writer_label':2} if s!='test' else {}) for j in range(2)]} for i in range(2)])
def plantae_k(d,b):
    for l in ['apple_d','apple_h','apricot_d','apricot_h','cherry_d','cherry_h','cranberry_d','cranberry_h','grapes_d','grapes_h','peach_d','peach_h','pear_d','pear_h','walnut_d','walnut_h','walnut-h']: W(d/f'{l}1.JPG',jpg())
def xsum(d,b):
    J(d/'XSum-TRAINING-DEV-TEST-SPLIT-90-5-5.json',{'train':['1','9'],'validation':['2'],'test':['3']})
    TAR(d/'xsum-extracts-from-downloads.tar.gz',{f'xsum-extracts-from-downloads/{i}.data':'[XSUM]URL[XSUM]\nu\n\n[XSUM]INTRODUCTION[XSUM]\nsum é\n\n[XSUM]RESTBODY[XSUM]\nbody\nShare this with\nmore\n' for i in '123'})
def s3o4d(d,b):
    for l in ('bunny','dragon'):
        for s in ('train','test'):
            ZIP(d/f'{l}/{s}_images.zip',{f'{s}_images/{i:05d}.jpg':jpg(256,256) for i in range(3)})
            W(d/f'{l}/{s}_latents.npz',npz(illumination=lib.NR.rand(3,3),pose_mat=lib.NR.rand(3,3,3),pose_quat=lib.NR.rand(3,4)))
def answer_equivalence(d,b):
    for f in ('dummy_data_train','dummy_data_ae_dev','dummy_data_ae_test','dev_by_system/dummy_data_dev_xlnet','dev_by_system/dummy_data_dev_luke','dev_by_system/dummy_data_dev_bidaf'):
        JL(d/f'{f}.jsonl',[{'qid':f'q{i}','gold_index':i,'context':text(),'question':text(),'reference':text(),'candidate':text(),'score':.5,'raw_rating':[b.info.features['question_1'].names[0]]*4 if hasattr(b.info.features['question_1'],'names') else [1,2,3,4]} for i in range(2)])
def div2k(d,b):
    n=b.builder_config.name; k=n.split('_')[0]
    for s,i in (('train','0001'),('valid','0801')): I(d/f'DIV2K_{s}_HR/{i}.png',20,24); I(d/f'DIV2K_{s}_LR_{k}_X2/DIV2K_{s}_LR_{k}/X2/{i}x2.png',10,12)
def cs_restaurants(d,b):
    for s in ('train','dev','test'): J(d/f'{s}.json',[{'da':"inform(area=Smíchov,name='BarBar')",'delex_da':"?request(area)",'text':text(),'delex_text':text()} for _ in range(2)])
def penguins(d,b):
    n=b.builder_config.name
    if n=='processed': C(d/'processed.csv',[{'species':'012'[i],'a':.5,'b':-.25,'c':1.5,'d':i} for i in range(3)])
    else: C(d/f'{n}.csv',[{k:('NA' if R.random()<.3 else v) for k,v in r.items()} if n=='simple' and 0 else r for r in rows(b,4,True)])
def goemotions(d,b):
    for s in ('train','dev','test'): W(d/f'{s}.tsv',f'nice é\t2,27\tid{s}\nbad\t14\tie{s}\n')
def scicite(d,b):
    for s in ('train','dev','test'): JL(d/f'scicite/{s}.jsonl',[{'unique_id':f'{i%3}','string':text(),'label':'method','sectionName':'Intro','citingPaperId':'a','citedPaperId':'b','excerpt_index':2,'isKeyCitation':True,'citeEnd':5 if i else 'nan'*1,'citeStart':3 if i else 'x','source':'explicit','id':f'a>{i}'}|({'label2':'supportive','label2_confidence':.5,'label_confidence':.9} if i else {}) for i in range(4)])
def caltech101(d,b):
    TAR(d/'caltech-101/101_ObjectCategories.tar.gz',{f'101_ObjectCategories/{l}/image_{i:04d}.jpg':jpg(12,12) for l in ('airplanes','Leopards') for i in range(33)})
def dmlab(d,b):
    for s in ('train','test','validation'): TFR(d/f'dmlab-{s}.tfrecord-00000',[EX(image=jpg(360,480),filename=f'{s}{i}',label=i) for i in range(2)])
def cifar10_corrupted(d,b):
    W(d/'CIFAR-10-C/labels.npy',npy(lib.NR.randint(0,10,10))); 
    from tensorflow_datasets.image_classification import cifar10_corrupted as m
    W(d/'CIFAR-10-C'/m._CORRUPTIONS_TO_FILENAMES[b.builder_config.corruption_type if hasattr(b.builder_config,'corruption_type') else b.builder_config.corruption],npy(lib.NR.randint(0,255,(10,32,32,3)).astype(np.uint8)))
def stl10(d,b):
    for s in ('train','test'): W(d/f'stl10_binary/{s}_X.bin',lib.NR.randint(0,255,3*96*96*2).astype(np.uint8).tobytes()); W(d/f'stl10_binary/{s}_y.bin',bytes([1,10]))
    W(d/'stl10_binary/unlabeled_X.bin',lib.NR.randint(0,255,3*96*96*2).astype(np.uint8).tobytes()); W(d/'stl10_binary/class_names.txt','airplane\nbird\ncar\ncat\ndeer\ndog\nhorse\nmonkey\nship\ntruck\n')
def mnist_corrupted(d,b):
    for s in ('train','test'): W(d/f'mnist_c/dotted_line/{s}_images.npy',npy(lib.NR.randint(0,255,(2,28,28,1)).astype(np.uint8))); W(d/f'mnist_c/dotted_line/{s}_labels.npy',npy(lib.NR.randint(0,10,2)))
def ted_hrlr_translate(d,b):
    s,t=b.builder_config.language_pair
    for k in ('train','dev','test'): W(d/f'datasets/{s}_to_{t}/{s.replace("_","-") if k=="train" else s.split("_")[0]}.{k}','a é\nb\n'); W(d/f'datasets/{s}_to_{t}/{t}.{k}','c\nd\n')
def asset(d,b):
    if b.builder_config.name=='ratings': C(d/'ratings/1.0.0/human_ratings.csv',[{'original_sentence_id':0,'worker_id':i,'rating':50+i,'original':text(),'simplification':text(),'aspect':R.choice(['meaning','fluency','simplicity'])} if 1 else 0 for i in range(3)])
    else:
        for s in ('valid','test'):
            W(d/f'simplification/1.0.0/asset.{s}.orig','a é\nb\n')
            for i in range(10): W(d/f'simplification/1.0.0/asset.{s}.simp.{i}',f's{i}\nt{i}\n')
def imagewang(d,b):
    n={'full-size':'imagewang','320px':'imagewang-320','160px':'imagewang-160'}[b.builder_config.size]
    for s in ('train','val'):
        for l in ('n01440764','n02102040'): W(d/f'{n}/{s}/{l}/{l}_{s}.JPEG',jpg())
def pet_finder(d,b):
    a=b.info.features['attributes']
    for s in ('train','test'):
        C(d/f'{s}.csv',[value(a,True)|{'PetID':f'{s}{i}'}|({'AdoptionSpeed':i} if s=='train' else {}) for i in range(2)])
        for i in range(2): I(d/f'{s}_images/{s}{i}-1.jpg')
def vctk(d,b):
    W(d/'speaker-info.txt','ID  AGE  GENDER  ACCENTS  REGION COMMENTS\np225  23  F    English    Southern  England\np226 22 M English Surrey\n')
    for s in ('p225','p226'): W(d/f'wav48_silence_trimmed/{s}/{s}_001_{b.builder_config.name}.flac',flac(300,48000))
    W(d/'txt/p225/p225_001.txt',' Please call. \n')
def dices(d,b):
    rs=[]
    f=b.info.features
    for i in range(3):
        r=value(f,True); r={k:(v if not isinstance(v,list) else ','.join(map(str,v))) for k,v in r.items()}
        if 'safety_gold_reason' in r: r['safety_gold_reason']='["Misinformation", Toxic"]' if i else '["Toxic"]'
        if i==0: r['degree_of_harm']=''
        rs.append(r)
    C(d/f'diverse_safety_adversarial_dialog_{b.builder_config.name}.csv',rs)
