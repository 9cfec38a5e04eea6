"""Fake data of builders: a function for each, which gets the folder and the builder of TensorFlow Datasets."""
from fake_files import *
import fake_files as lib
def conll2003(d,b):
    for f in 'train valid test'.split(): W(d/f'{f}.txt','-DOCSTART- -X- -X- O\n\nEU NNP B-NP B-ORG\nrejects VBZ B-VP O\n. . O O\n\nPeter NNP B-NP B-PER\n\n')
def howell(d,b): C(d/'howell.csv',rows(b,4,True),';')
def rock_you(d,b): W(d/'rockyou.txt',b'123456\npass w\n\xff\xe9x\n\nabc \n')
def mslr_web(d,b):
    for s in 'train vali test'.split(): W(d/f'Fold1/{s}.txt',''.join(f"{R.randint(0,4)} qid:{q} "+' '.join(f'{i}:{R.random():.4f}' for i in range(1,137))+'\n' for q in (1,1,2,3,3)))
def databricks_dolly(d,b): JL(d/'databricks-dolly-15k.jsonl',rows(b,3))
def efron_morris75(d,b): C(d/'efron-morris-75-data.tsv',rows(b,4,True),'\t')
def cherry_blossoms(d,b): C(d/'cherry_blossoms.csv',[{k:(v if k in('year','doy') or R.random()<.6 else 'NA') for k,v in r.items()} for r in rows(b,5,True)],';')
def iris(d,b): W(d/'iris/iris.data',''.join('%s,Iris-%s\n'%(','.join(f'{R.random()*5:.1f}' for _ in range(4)),R.choice(['setosa','versicolor','virginica'])) for _ in range(9))+'\n')
def librispeech_lm(d,b): W(d/'librispeech-lm-norm.txt.gz',gzip.compress('A B C\nDÉJÀ VU\n\n LAST \n'.encode()))
def unnatural_instructions(d,b):
    rs=[]
    for _ in range(4):
        r={'instruction':text(),'instances':[{'instruction_with_input':text(),'input':text(),'constraints':text(),'output':text()} for _ in range(2)]}
        if R.random()<.5: r['reformulations']=[{'instruction':text(),'instruction_with_input':text(),'input':text(),'output':text()}]
        rs.append(r)
    JL(d/'full_data.jsonl',rs)
def tf_flowers(d,b): TAR(d/'flower_photos.tgz',{f'flower_photos/{l}/{i}.jpg':jpg(30,40) for l in ('daisy','roses') for i in range(3)}|{'flower_photos/LICENSE.txt':b'x'},dirs=['flower_photos'])
def samsum(d,b):
    for s in 'train val test'.split(): J(d/f'{s}.json',rows(b,2))
def german_credit_numeric(d,b): W(d/'german.data-numeric',''.join(' '.join(str(R.randint(0,9)) for _ in range(24))+f'   {R.randint(1,2)} \n' for _ in range(4)))
def cosmos_qa(d,b):
    for s in 'train valid'.split(): C(d/f'{s}.csv',[r|{'id':f'i{i}','label':str(i%4)} for i,r in enumerate(rows(b,3,True))])
    JL(d/'test.jsonl',[{k:v for k,v in r.items() if k!='label'}|{'id':f't{i}'} for i,r in enumerate(rows(b,2))])
def criteo(d,b): C(d/'fake_data.txt',[r|{'conversion':0,'visit':1,'exposure':1} for r in rows(b,5,True)])
def lambada(d,b):
    for s in 'development test'.split(): W(d/f'lambada_{s}_plain_text.txt',text()+'\n'+text()+' \r\n'+text())
def imagenet_sketch(d,b): ZIP(d/'ImageNet-Sketch.zip',{f'sketch/{l}/{l}_{i}.JPEG':jpg() for l in ('n01440764','n01443537') for i in range(3)})
def yesno(d,b): W(d/'waves_yesno/0_1_0_1_1_0_1_0.wav',wav(300,1,8000)); W(d/'waves_yesno/1_1_0_1_1_0_1_1.wav',wav(200,1,8000))
def mctaco(d,b):
    for f in ('dev_3783.tsv','test_9942.tsv'): C(d/f,[[text(),text(),text(),R.choice(['yes','no']),R.choice(b.info.features['category'].names)] for _ in range(4)],'\t',False)
def celeb_a_hq(d,b): TAR(d/b.builder_config.file_name,{f'imgHQ{i:05d}.png':img(512,512) for i in range(2)})
def qrecc(d,b):
    for s in 'train test'.split(): J(d/f'qrecc_{s}.json',[{'Context':[text(),text()][:i],'Question':text(),'Rewrite':text(),'Answer':text(),'Answer_URL':'http://x','Conversation_no':i,'Turn_no':i+1,'Conversation_source':R.choice(['trec','quac','nq'])} for i in range(3)])
def natural_questions_open(d,b):
    for s in 'train dev'.split(): JL(d/f'NQ-open.{s}.jsonl',[{'question':text(),'answer':[text() for _ in range(R.randint(1,3))]} for _ in range(3)])
def plant_leaves(d,b): ZIP(d/'Alstonia Scholaris (P2).zip',{f'{n}/{s}/0001_{s}{i}.JPG':jpg(60,40) for n,s in (('Alstonia Scholaris (P2)','diseased'),('Alstonia Scholaris (P2)','healthy')) for i in range(2)})
def docnli(d,b):
    for s in 'train dev test'.split(): J(d/f'DocNLI_dataset/{s}.json',[{'premise':text(),'hypothesis':text(),'label':R.choice(b.info.features['label'].names)} for _ in range(3)])
def yelp_polarity_reviews(d,b):
    for s in 'train test'.split(): W(d/f'yelp_review_polarity_csv/{s}.csv','"1","bad é"\n"2","good one"\n')
def gtzan(d,b): W(d/'genres/blues/blues.00000.wav',wav(500,1,22050)); W(d/'genres/rock/rock.00003.wav',wav(300,1,22050))
def reddit(d,b): JL(d/'corpus-webis-tldr-17.json',[{'author':'a','body':text(),'normalizedBody':text(),'content':text(),'summary':text(),'id':f't{i}'} for i in range(3)]+[{'author':'no'}])
def hillstrom(d,b): C(d/'fake_data.txt',rows(b,4,True))
def resisc45(d,b):
    for l in ('airport','beach'):
        for i in range(2): I(d/f'NWPU-RESISC45/{l}/{l}_{i}.jpg',256,256)
def universal_dependencies(d,b):
    s='''# sent_id = VIT-%s
# text = Le infrastrutture non
1\tLe\til\tDET\tRD\tDefinite=Def|Gender=Fem\t2\tdet\t2:det\t_
2-3\tdella\t_\t_\t_\t_\t_\t_\t_\t_
2\tdi\tdi\tADP\tE\t_\t1\tcase\t1:case\t_
3\tla\til\tDET\tRD\t_\t2\tdet\t_\tSpaceAfter=No

'''
    for p in 'train dev test'.split(): W(d/f'it_vit-ud-{p}.conllu',s%(p+'1')+s%(p+'2'))
def bee_dataset(d,b):
    J(d/'data.json',{f'{i}.png':{'varroa':i%2==0,'pollen':True,'wasps':False,'cooling':i==1} for i in range(3)})
    c=b.builder_config
    for i in range(3): I(d/f'images_{c.height}/{i}.png',c.height,c.width)
def web_questions(d,b):
    for s in 'train test'.split(): J(d/f'{s}.json',[{'url':'http://u','utterance':text(),'targetValue':'(list (description "Jazz music") (description Jazz))'} for _ in range(2)])
def citrus_leaves(d,b):
    for l in ('Black_spot','canker','greening','healthy'): I(d/f'Citrus/Leaves/{l}/a{l}.png',256,256)
def gsm8k(d,b):
    for s in ['train','test','train_socratic','test_socratic']: JL(d/f'{s}.jsonl',[{'question':text(),'answer':text()+' <<1+1=2>>2\n#### 2'} for _ in range(2)])
def corr2cause(d,b):
    for s in 'train dev test'.split(): C(d/f'{s}.csv',rows(b,3,True))
def binary_alpha_digits(d,b):
    dat=np.empty((2,3),object); lab=np.empty((1,2),object)
    for i in range(2):
        lab[0,i]='AB'[i]
        for j in range(3): dat[i,j]=lib.NR.randint(0,2,(20,16)).astype(np.uint8)
    W(d/'binaryalphadigs.mat',mat({'dat':dat,'classlabels':lab}))
def spoken_digit(d,b):
    for i in range(2): W(d/f'free-spoken-digit-dataset-1.0.9/recordings/{i}_jackson_{i}.wav',wav(200,1,8000))
def plant_village(d,b):
    for i,l in enumerate(b.info.features['label'].names[:5]): I(d/f"Plant_leave_diseases_dataset_without_augmentation/{l.replace(' ','_').replace(',','_')}/{i} x.{'JPG' if i%2 else 'jpg'}",20,20)
def istella(d,b):
    for s in 'train test vali'.split(): W(d/f'{b.builder_config.subdirectory or ""}/{s}.txt',''.join(f"{R.randint(0,4)} qid:{q} "+' '.join(f'{i}:{R.random():.4f}' for i in range(1,221))+'\n' for q in (1,1,2)))
def gpt3(d,b):
    n=b.builder_config.name; JL(d/f'gpt-3-master/data/{n}.jsonl'+('.gz' if 'word' in n else '') if 0 else d/('gpt-3-master/data/'+n+'.jsonl'+('.gz' if 'word' in n else '')),rows(b,2))
def coil100(d,b):
    for i in (1,2): I(d/f'coil-100/obj{i}__{i*5}.png'.replace('__','_x_') if 0 else d/f'coil-100/obj{i}__{i*5}.png',128,128)
def ljspeech(d,b):
    W(d/'LJSpeech-1.1/metadata.csv','LJ001|Hello é|hello\nLJ002|A|b\n')
    for k in ('LJ001','LJ002'): W(d/f'LJSpeech-1.1/wavs/{k}.wav',wav(300,1,22050))
def amazon_us_reviews(d,b):
    f=b.info.features['data']; C(d/'test.tsv',[{k:v.replace('"','') if isinstance(v,str) else v for k,v in value(f,True).items()} for _ in range(3)],'\t')
def simpte(d,b):
    for s in 'train test'.split(): C(d/f'sim_pte_{s}.csv',rows(b,3,True))
def malaria(d,b):
    for l in ('Parasitized','Uninfected'):
        for i in range(2): I(d/f'cell_images/{l}/c{i}.png')
        W(d/f'cell_images/{l}/Thumbs.db',b'x')
def scrolls(d,b):
    t=b.builder_config.data_url.split('/')[-1].split('.')[0]
    for s in 'train validation test'.split(): JL(d/f'{t}/{s}.jsonl',[r|{'pid':f'p{i}','output':None if i else 'o'} for i,r in enumerate(rows(b,2))])
def sci_tail(d,b):
    for s in 'train dev test'.split(): C(d/f'SciTailV1.1/tsv_format/scitail_1.0_{s}.tsv',[[text(),text(),R.choice(['entails','neutral'])] for _ in range(3)],'\t',False)
def opinion_abstracts(d,b):
    c=b.builder_config; J(d/f'opinion_abstracts/{c.filename}',[{c.opinions_key:{'k1':text(),'k2':text()},c.name_key:text(),c.id_key:f'i{i}',c.summary_key:text()} for i in range(3)])
def mtnt(d,b):
    for s in 'train test valid'.split(): W(d/f'MTNT/{s}/{s}.en-fr.tsv',f'1\ta é{s}\tb\n2\tc\td\nshort\n')
def uc_merced(d,b):
    for l in ('beach','forest'):
        for i in range(2): I(d/f'UCMerced_LandUse/Images/{l}/{l}{i}.tif',256,256)
def imagenet_a(d,b):
    for l in ('n01498041','n01531178'): I(d/f'imagenet-a.tar/imagenet-a/{l}/{l}a.jpg')
    W(d/'imagenet-a.tar/imagenet-a/README.txt','x')
def sentiment140(d,b):
    for f in ('training.1600000.processed.noemoticon.csv','testdata.manual.2009.06.14.csv'): W(d/f,'"0","14","Mon May","NO_QUERY","u","caf\xe9, ok"\n"4","15","Mon","Q","v","b"\n'.encode('latin1'))
def race(d,b):
    for s in 'train dev test'.split():
        for i in range(2): J(d/f'RACE/{s}/high/{i}.txt',{'id':f'high{i}.txt','article':text(),'questions':[text(),text()],'answers':['A','B'],'options':[[text() for _ in range(4)] for _ in range(2)]})
def yahoo_ltrc(d,b):
    n=b.builder_config.num_features; W(d/'ltrc_yahoo.tar.bz2','x')
    for s in 'train valid test'.split(): W(d/f'extracted/{b.builder_config.prefix}.{s}.txt',''.join(f"{R.randint(0,4)} qid:{q} "+' '.join(f'{i}:{R.random():.4f}' for i in sorted(R.sample(range(1,n+1),9)))+'\n' for q in (1,1,2)))
def higgs(d,b): C(d/'test.csv',[[f'{R.uniform(-2,2):.8e}' for _ in range(29)] for _ in range(4)],',',False)
def nyu_depth_v2(d,b):
    for s in ('train','val'): H5(d/f'nyudepthv2/{s}/bath_0/0000{1}.h5',{'rgb':lib.NR.randint(0,255,(3,480,640)).astype(np.uint8),'depth':lib.NR.rand(480,640).astype(np.float32)})
def mlqa(d,b):
    for s in ('test','dev'): J(d/f'MLQA_V1/{s}/{s}-context-en-question-en.json',_sq())
def _sq(n=2): return {'version':'1','data':[{'title':'T','paragraphs':[{'context':'abc defg hij','qas':[{'id':f'q{i}','question':text(),'answers':[{'text':'abc','answer_start':0},{'text':'hij','answer_start':9}]} for i in range(n)]}]}]}
def downsampled_imagenet(d,b):
    for s in 'train valid'.split(): TAR(d/f'{s}_32x32.tar',{f'{s}/{i}.png':img(32,32) for i in range(3)})
def imagenet_r(d,b):
    for l in ('n01443537','n01484850'): I(d/f'imagenet-r.tar/imagenet-r/{l}/art_0.jpg')
def gtzan_music_speech(d,b): W(d/'music_speech/music_wav/bagpipe.wav',wav(300,1,22050)); W(d/'music_speech/speech_wav/allison.wav',wav(200,1,22050))
def lfw(d,b):
    for p in ('Ann_B','Cy_D'): I(d/f'lfw/{p}/{p}_0001.jpg',250,250)
def trec(d,b): W(d/'train_5500.label',b'DESC:manner How did\xf0 serfdom ?\nENTY:cremat What films ?\n'); W(d/'TREC_10.label',b'NUM:dist How far ?\n')
def _mnli(d,names):
    for n in names: W(d/f'multinli_1.0/multinli_1.0_{n}.txt','gold_label\ta\n'+''.join('\t'.join([l,'x','y','z','w',text(),text(),'q'])+'\n' for l in ('neutral','entailment','-' if 'x' in n else 'contradiction')))
def multi_nli_mismatch(d,b): _mnli(d,['train','dev_mismatched'])
def multi_nli(d,b): _mnli(d,['train','dev_matched','dev_mismatched'])
def ag_news_subset(d,b):
    for s in 'train test'.split(): W(d/f'ag_news_csv/{s}.csv',''.join(f'"{i+1}","t{i} ""q""","d é"\n' for i in range(4)))
def billsum(d,b):
    for p,k in (('us_train','bill_id'),('us_test','bill_id'),('ca_test','external_id')): JL(d/f'{p}_data_final_OFFICIAL.jsonl',[{k:f'{p}{i}','text':text(),'summary':text(),'title':text()} for i in range(2)])
def siscore(d,b):
    v={'size':'area','rotation':'rotation','location':'location20_area02_min0pc'}[b.builder_config.variant]
    for i,l in enumerate(('Granny Smith','ambulance')): 
        from tensorflow_datasets.datasets.siscore import labels
        l=sorted(labels.IMAGENET_LABELS)[i*3]
        I(d/f'{v}/{l}/{i}7.jpg')
def xtreme_pawsx(d,b): W(d/'en-es.translated.tsv','a\tb\tc é\td\t1\ne\tf\tg\th\t0\nx\ty\tz\tw\tlabel\n')
def newsroom(d,b):
    for s in 'train dev test'.split(): JL(d/f'{s}.jsonl',rows(b,2))
def dtd(d,b):
    for s in 'train1 test1 val1'.split(): W(d/f'dtd/labels/{s}.txt',f'banded/b_{s}.jpg\n'); I(d/f'dtd/images/banded/b_{s}.jpg')
def snli(d,b):
    for s in 'train dev test'.split(): W(d/f'snli_1.0/snli_1.0_{s}.txt','gold_label\tsentence1\tsentence2\nneutral\tA "q" é\tB\n-\tC\tD\n')
def bool_q(d,b):
    for s in 'train dev'.split(): JL(d/f'{s}.jsonl',rows(b,2))
def _ann(d,n): H5(d/'dummy.hdf5',{'train':lib.NR.rand(4,n).astype(np.float32),'test':lib.NR.rand(2,n).astype(np.float32),'neighbors':lib.NR.randint(0,4,(2,100)).astype(np.int32),'distances':lib.NR.rand(2,100).astype(np.float32)})
def deep1b(d,b): _ann(d,96)
def sift1m(d,b): _ann(d,128)
def glove100_angular(d,b): _ann(d,100)
def real_toxicity_prompts(d,b): JL(d/'realtoxicityprompts-data/prompts.jsonl',rows(b,3))
def horses_or_humans(d,b):
    for s in 'train test'.split(): ZIP(d/f'hoh_{s}.zip',{f'{l}/{l}1-{i}.png':img(300,300,4) for i,l in enumerate(('horses','humans'))}|{'junk.txt':b'x'})
def accentdb(d,b): W(d/'data/welsh/speaker_01/a_s1.wav',wav(200,1,22050)); W(d/'data/odiya/speaker_01/b.wav',wav(300,1,22050))
def cassava(d,b):
    for s in 'train test validation'.split():
        for l in ('cbb','healthy'): I(d/f'cassavaleafdata/{s}/{l}/{s}-{l}-1.jpg')
def pneumonia_mnist(d,b): W(d/'pneumoniamnist.npz',npz(**{f'{s}_{k}':(lib.NR.randint(0,255,(2,28,28)).astype(np.uint8) if k=='images' else lib.NR.randint(0,2,(2,1)).astype(np.uint8)) for s in ('train','val','test') for k in ('images','labels')}))
def rock_paper_scissors(d,b):
    for s,r in (('train','rps'),('test','rps-test-set')): ZIP(d/f'rps_{s}.zip',{f'{r}/{l}/{l}01-{i}.png':img(300,300,4) for i,l in enumerate(('rock','paper','scissors'))})
def natural_instructions(d,b): J(d/'natural_instructions_train.json',{'Source':['s1'],'Definition':['D'],'Instances':[{'id':f'i{i}','input':text(),'output':[text()]} for i in range(3)]})
def schema_guided_dialogue(d,b):
    for s in 'train dev test'.split():
        J(d/f'dstc8-schema-guided-dialogue-master/{s}/dialogues_001.json',[{'dialogue_id':f'1_{i}','services':['A_1','B_2'][:i+1],'turns':[{'speaker':'USER','utterance':text()},{'speaker':'SYSTEM','utterance':text()}]} for i in range(2)]); J(d/f'dstc8-schema-guided-dialogue-master/{s}/schema.json',[])
def scientific_papers(d,b):
    for s in 'train val test'.split(): JL(d/f'{b.builder_config.name}-dataset/{s}.txt',[{'article_id':f'{s}{i}','abstract_text':['<S> a </S>','<S> b </S>'],'article_text':[text(),text()],'section_names':['i','c']} for i in range(2)])
def aflw2k3d(d,b):
    for i in (1,2): I(d/f'AFLW2000/image0000{i}.jpg',450,450); W(d/f'AFLW2000/image0000{i}.mat',mat({'pt3d_68':lib.NR.rand(3,68)*400}))
def story_cloze(d,b):
    p={'2016':'spring2016','2018':'winter2018'}[b.builder_config.name]
    for s in ('val','test'): C(d/f'cloze_test_{s}__{p}.csv',[{'InputStoryid':f'{s}{i}'}|{f'InputSentence{j}':text() for j in (1,2,3,4)}|{'RandomFifthSentenceQuiz1':text(),'RandomFifthSentenceQuiz2':text()}|({'AnswerRightEnding':'1'} if s=='val' else {}) for i in range(2)])
def cifar10_1(d,b): W(d/'cifar10.1_v4_data.npy',npy(lib.NR.randint(0,255,(4,32,32,3)).astype(np.uint8))); W(d/'cifar10.1_v4_labels.npy',npy(lib.NR.randint(0,10,4).astype(np.int32)))
def forest_fires(d,b): C(d/'forestfires.csv',[value(b.info.features['features'],True)|{'area':'1.5'} for _ in range(3)])
def deep_weeds(d,b):
    C(d/'labels.csv',[{'Filename':f'f{i}.jpg','Label':i,'Species':f'Sp {"cabdefghi"[i]}'} for i in range(9)])
    for i in range(3): I(d/f'images/f{i}.jpg',256,256)
def _conll(d,n,p):
    for s in ('train','testa','testb'): W(d/f'{n}.{s}',p)
def conll2002(d,b): _conll(d,'esp','Melbourne NP B-LOC\n( Fpa O\nAustralia NP I-PER\n\n- Fg O\n\n'); _conll(d,'ned','De Art O\ntekst N B-ORG\n\n. Punc O\n\n')
def diamonds(d,b): C(d/'dummy.csv',[{'price':i+300}|value(b.info.features['features'],True) for i in range(4)])
def wine_quality(d,b): C(d/f'winequality-{b.builder_config.name}.csv',[{'quality':'5'}|value(b.info.features['features'],True) for _ in range(3)],';')
def anli(d,b):
    for s in 'train dev test'.split(): JL(d/f'anli_v0.1/R3/{s}.jsonl',[{'uid':f'{s}{i}','context':text(),'hypothesis':text(),'label':'enc'[i]} for i in range(3)])
def food101(d,b):
    for s in ('train','test'):
        J(d/f'food-101/meta/{s}.json',{'apple_pie':[f'apple_pie/{s}1'],'waffles':[f'waffles/{s}2']}); I(d/f'food-101/images/apple_pie/{s}1.jpg'); I(d/f'food-101/images/waffles/{s}2.jpg')
def xnli(d,b):
    ls='ar bg de el en es fr hi ru sw th tr ur vi zh'.split()
    for s in ('test','dev'): W(d/f'XNLI-1.0/xnli.{s}.tsv','language\tgold_label\tsentence1\tsentence2\tpairID\n'+''.join(f'{l}\tneutral\tp{l} "é\th{l}\t{i}\n' for i in (1,2) for l in ls))
def quac(d,b):
    for s in ('train','val'): J(d/f'{s}_v0.2.json',{'data':[{'section_title':'S','background':'B','title':'T','paragraphs':[{'context':'ctx','qas':[{'id':f'{s}{i}','followup':R.choice('ynm'),'yesno':R.choice('xyn'),'question':text(),'answers':[{'text':text(),'answer_start':3}]*(i+1),'orig_answer':{'text':text(),'answer_start':1}} for i in range(3)]}]}]})
def definite_pronoun_resolution(d,b):
    for s in ('train','test'): W(d/f'{s}.c.txt','The bee landed on it.\nit\nbee,flower\nflower\n\nHe was é.\nhe\nA,B\nA\n\n')
def arc(d,b):
    n=b.builder_config.name; import re
    h=re.search(r'ARC-\w+',str(list((d).glob('x')) or b.builder_config.download_url.split('/')[-1]))
    g=lambda:[{'input':lib.NR.randint(0,9,(2,3)).tolist(),'output':lib.NR.randint(0,9,(3,R.randint(1,4))).tolist()} for _ in range(2)]
    for s in ('training','evaluation'):
        for i in range(2): J(d/f'fchollet-ARC-0123456/data/{s}/a{i}.json',{'train':g(),'test':g()})
def imagenette(d,b):
    for s in ('train','val'):
        for l in ('n01440764','n02102040'): I(d/f'{b.builder_config.dirname}/{s}/{l}/{l}_{s}.JPEG'.replace('.JPEG','.JPEG'))
def stanford_online_products(d,b):
    for s in ('Ebay_train','Ebay_test'): W(d/f'Stanford_Online_Products/{s}.txt',f'image_id class_id super_class_id path\n1 1 1 bicycle_final/{s}1.JPG\n2 2 3 chair_final/{s}2.JPG\n'); I(d/f'Stanford_Online_Products/bicycle_final/{s}1.JPG'.replace('.JPG','.JPG')); W(d/f'Stanford_Online_Products/chair_final/{s}2.JPG',jpg())
    for s in ('Ebay_train','Ebay_test'): W(d/f'Stanford_Online_Products/bicycle_final/{s}1.JPG',jpg())
def ted_multi_translate(d,b):
    ls=b.info.features['translations'].languages
    for s in 'train dev test'.split(): W(d/f'all_talks_{s}.tsv','\t'.join(['talk_name']+list(ls))+'\n'+''.join('\t'.join([f't{i}']+[R.choice(['x é','__NULL__','',f'{l} txt']) for l in ls])+'\n' for i in range(3)))
def piqa(d,b):
    for s in ('train','dev'): JL(d/f'physicaliqa-train-dev/{s}.jsonl',[{'id':str(i),'goal':text(),'sol1':text(),'sol2':text()} for i in range(2)] if 0 else [{'id':str(i),'goal':text(),'sol1':text(),'sol2':text()} for i in range(2)]); W(d/f'physicaliqa-train-dev/{s}-labels.lst','0\n1\n')
def tiny_shakespeare(d,b): W(d/'input.txt','First Citizen:\nBefore we proceed, é. '*9)
def kddcup99(d,b):
    for s in ('train','test'):
        rs=[]
        for r in rows(b,6,True): rs.append({k:('0' if v=='False' else '1' if v=='True' else v) for k,v in r.items()}|{'label':R.choice(b.info.features['label'].names)+'.'})
        W(d/f'dummy_{s}.csv.gz',gzip.compress('\n'.join(','.join(map(str,r.values())) for r in rs).encode()+b'\n'))
def imagenet_v2(d,b):
    from tensorflow_datasets.datasets.imagenet_v2 import imagenet_v2_dataset_builder as m
    for c in ('0','17'): I(d/f'{m._TAR_TOPDIR[b.builder_config.variant]}/{c}/im{c}.jpeg')
def smartwatch_gestures(d,b):
    for i in (1,2): W(d/f'gestures-dataset/U0{i}/0{i}/0{i}.txt',''.join(f'{100+j} {200+j} {300+j} {R.random():.3f} {R.random():.3f} {R.random():.3f}\n' for j in range(4)))
def scene_parse150(d,b):
    for s in ('training','validation'):
        for i in range(2): I(d/f'images/images/{s}/ADE_{i}.jpg',20,30); W(d/f'annotations/annotations_instance/{s}/ADE_{i}.png',img(20,30,3,high=99))
def quickdraw_bitmap(d,b):
    for l in ('airplane','ambulance','angel'): W(d/f'{l}.npy',npy(lib.NR.randint(0,255,(3,784)).astype(np.uint8)))
def beans(d,b):
    for s in 'train validation test'.split(): ZIP(d/f'beans_{s}.zip',{f'{s}/{l}/{s}_{l}.{0}.jpg':jpg(500,500) for l in ('angular_leaf_spot','healthy')})
def cmaterdb(d,b):
    for s in ('training','testing'): W(d/f'{s}-images.npz',npz(images=lib.NR.randint(0,255,(4,32,32,3)).astype(np.uint8),labels=lib.NR.randint(0,10,4)))
def dart(d,b):
    for s in 'train dev test'.split(): J(d/f'dart-master/data/v1.1.1/dart-v1.1.1-full-{s}.json',[{'tripleset':[[text(),text(),text()] for _ in range(2)],'annotations':[{'source':'s','text':text()},{'source':'s','text':text()}]}])
def dsprites(d,b): H5(d/'dsprites_ndarray_co1sh3sc6or40x32y32_64x64.hdf5',{'imgs':lib.NR.randint(0,2,(3,64,64)).astype(np.uint8),'latents/classes':lib.NR.randint(0,3,(3,6)).astype(np.int64),'latents/values':lib.NR.rand(3,6)})
def opinosis(d,b):
    for t in ('acc_garmin','bath'): W(d/f'topics/{t}.txt.data',text()+'\n'); W(d/f'summaries-gold/{t}/{t}.1.gold',text()); W(d/f'summaries-gold/{t}/{t}.2.gold',text()+' ')
def domainnet(d,b):
    W(d/'real_train.txt','real/a/1.jpg 0\nreal/b/2.jpg 1\n'); W(d/'real_test.txt','real/a/3.jpg 0\n')
    for p in ('a/1','b/2','a/3'): I(d/f'img/real/{p}.jpg')
def esnli(d,b):
    for i,f in enumerate(('train_1','train_2','test','dev')): C(d/f'esnli_{f}.csv',[{'pairID':f'{f}{j}','gold_label':'neutral','Sentence1':text(),'Sentence2':text(),'Explanation_1':text()}|({} if 'train' in f else {'Explanation_2':text(),'Explanation_3':text()}) for j in range(2)])
def eurosat(d,b):
    c=b.builder_config
    for l in ('Forest','River'):
        p=d/c.subdir/l/f'{l}_1.{"jpg" if c.selection=="rgb" else "tif"}'
        if c.selection=='rgb': I(p,64,64)
        else:
            import tifffile; p.parent.mkdir(parents=True,exist_ok=True); tifffile.imwrite(p,lib.NR.randint(0,4000,(64,64,13)).astype(np.uint16))
def _passcsv(d): pass
def pass_(d,b):
    for i in range(2): TAR(d/f'pass_dataset/dummy.{i}.tar',{f'./{h}.jpg':jpg() for h in (f'aa{i}',f'bb{i}')},dirs=['./'])
    W(d/'dummy_meta.csv','hash,unickname,latitude,longitude,datetaken\n'+''.join(f'{h},u{h},1.5,{i}.25,{"2010-01-01" if i else ""}\n' for i,h in enumerate(('aa0','bb0','aa1','bb1'))))
def dolma(d,b): W(d/'urls.txt','http://a\n'); JL(d/'texts.json.gz',[{'id':f'i{i}','text':text(),'source':'s'} for i in range(3)])
def wiki_dialog(d,b):
    for f in ('data_train.jsonl-00000-of-00001.gz','data_validation.jsonl.gz'): JL(d/f,rows(b,3))

