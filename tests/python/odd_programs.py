# The models of tests/data/cases/odd-programs.tar.xz, but for those that random graphs found and for
# speech_of_two_rates (torch.onnx.export of a scripted module): names that Python, PyTorch or nobody has, sizes
# and ranks of all kinds. Run by hand with onnx and ONNX Runtime, whose outputs they hold:
#
#   python3 odd_programs.py OUT      OUT/NAME/{model.onnx,io.safetensors}
import onnx, numpy as np, os, sys
from onnx import helper as H, TensorProto as T, numpy_helper as N
import onnxruntime as ort
from safetensors.numpy import save_file
out=sys.argv[1]
rng=np.random.default_rng(0)
NP={T.FLOAT:np.float32,T.INT64:np.int64,T.BOOL:np.bool_,T.INT32:np.int32,T.DOUBLE:np.float64,T.FLOAT16:np.float16,T.INT8:np.int8,T.UINT8:np.uint8}
def r(*s): return rng.standard_normal(s).astype(np.float32)
def save(name,nodes,ins,outs,inits=(),opset=17,feeds=None,dims=None,ir=8,functions=()):
    g=H.make_graph(nodes,'g',[H.make_tensor_value_info(n,t,(dims or {}).get(n,s)) for n,t,s in ins],[H.make_tensor_value_info(n,t,s) for n,t,s in outs],[N.from_array(np.asarray(a),n) for n,a in inits])
    m=H.make_model(g,opset_imports=[H.make_opsetid('',opset)],ir_version=ir)
    os.makedirs(f'{out}/{name}',exist_ok=True); onnx.save(m,f'{out}/{name}/model.onnx')
    f={}
    for n,t,s in ins:
        if feeds and n in feeds: f[n]=feeds[n]; continue
        sh=[x if isinstance(x,int) else 3 for x in (s or ())]
        f[n]=r(*sh).astype(NP[t]) if t in(T.FLOAT,T.DOUBLE,T.FLOAT16) else (rng.integers(0,2,sh).astype(NP[t]))
    so=ort.SessionOptions(); so.graph_optimization_level=ort.GraphOptimizationLevel.ORT_DISABLE_ALL; so.log_severity_level=4
    try: res=ort.InferenceSession(f'{out}/{name}/model.onnx',so,providers=['CPUExecutionProvider']).run(None,f)
    except Exception as e:
        print('ORT',name,str(e)[:200]); return
    d={f'in_{i}':np.array(f[n]) for i,(n,t,s) in enumerate(ins)}
    d.update({f'out_{i}':np.array(v) for i,v in enumerate(res)})
    save_file(d,f'{out}/{name}/io.safetensors')
n=H.make_node
F=T.FLOAT; I=T.INT64
names=['class','None','True','lambda','self','__x','__init__','__class__','_parameters','_modules','_buffers','_x','training','forward','parameters','type','print','match','case','exec','float','int','len','max','torch','nn','F','Model','Outputs','load','state_dict','größe','数','a.b','a.b.c','a/b','0','1a','a b','a-b','a_b','a"b',"a'b",'a\\b','a\nb','x'*300,'weight','bias','def','async','await','T_destination','example_inputs','device','inf','nan','NoneType','math','operator','output','pytree','graph','code','meta','recompile','_','__','___','.','/','a.','.a','a..b','0.weight','layers.0.weight','layers.0.0','layers.1','layers','layer.self.weight','self.self','list','cat','topk','rms_norm','Path','load_file','json','mmap','INPUTS','OUTPUTS','NamedTuple','count','index','_fields','ValueError','sorted','zip','cls','path','model','weights','module','leaf','name','missing','_guards_fn','_in_spec','_out_spec','_codegen','_graph','super','tuple','object','str','abs','sum','range','x','x_2','size','scaled_dot_product_attention','Affine','\u00b2','ﬁ','ſ','\U0001d4b3','_x_','x__','dump_patches','apply','eval','half','double','bfloat16','register_buffer','_apply','_call_impl','_version','__dict__','__call__','__getattr__','__setattr__','__module__','__doc__','__annotations__','__slots__']
names=[x for x in names if x not in('x','y') and len(x)<100]+['n'*70]
prev='x';nodes=[]
for k,a in enumerate(names):
    nodes.append(n('Add',[prev,a],[f't{k}'])); prev=f't{k}'
save('names_of_weights',nodes+[n('Relu',[prev],['y'])],[('x',F,[2,2])],[('y',F,[2,2])],[(a,r(2)) for a in names])
save('names_of_inputs',[n('Sum',names,['yy'])],[(a,F,[2]) for a in names],[('yy',F,[2])])
save('names_of_outputs',[n('Add',['xx','c'],[a]) if k%2 else n('Mul',['xx','c'],[a]) for k,a in enumerate(names)],[('xx',F,[2])],[(a,F,[2]) for a in names],[('c',r(2))])
prev='im';nodes=[];inits=[]
for k,a in enumerate(names):
    nodes+= [n('Gemm',[prev,f'{a}.weight',f'{a}.bias'],[f'c{k}'],transB=1),n('Mul',[f'c{k}',f'{a}.scale'],[f'{a}_out'],name=f'/{a}/Mul')]; prev=f'{a}_out'
    inits+=[(f'{a}.weight',np.eye(2,dtype=np.float32)),(f'{a}.bias',r(2)*.1),(f'{a}.scale',np.ones(1,np.float32)*.9)]
inits=list(dict(inits).items())
save('names_of_modules',nodes+[n('Relu',[prev],['yy'])],[('im',F,[1,2])],[('yy',F,[1,2])],inits)
# a call whose lowering needs constants, in a scope of its own; numbers that only a module around uses
save('constants_of_a_scope',[n('MaxPool',['x'],['p','i'],kernel_shape=[2,2],pads=[0,0,1,0],name='tf.math/MaxPool'),n('Conv',['p','k'],['c'],name='decoder/conv'),n('Gather',['c','idx'],['g'],axis=1,name='decoder/Gather'),n('Where',['m','g','z'],['w'],name='decoder/Where')],[('x',F,[1,2,5,5])],[('w',F,[1,2,3,3]),('i',I,[1,2,5,4])],[('k',r(3,2,3,2)),('idx',np.array([2,0])),('m',np.array([[True,False,True]])),('z',np.float32(3))])
# norms of one element
save('norms_of_one_element',[n('InstanceNormalization',['x','s','b'],['y1']),n('GroupNormalization',['x','s','b'],['y2'],num_groups=4),n('InstanceNormalization',['x','xs','xs'],['y3'])],[('x',F,[1,4,1]),('xs',F,[4])],[('y1',F,[1,4,1]),('y2',F,[1,4,1]),('y3',F,[1,4,1])],[('s',r(4)),('b',r(4))],opset=21,ir=10)
save('results_left_out',[n('LayerNormalization',['x','s','b'],['y','','d']),n('MaxPool',['x4'],['p',''],kernel_shape=[2,2]),n('TopK',['x','k'],['v','j'])],[('x',F,[2,3]),('x4',F,[1,1,3,3])],[('y',F,[2,3]),('d',F,[2,1]),('p',F,[1,1,2,2]),('v',F,[2,2])],[('s',r(3)),('b',r(3)),('k',np.array([2]))])
R=r(2,2,3,3,3)
save('pads_of_rank_5',[n('Pad',['x','p1'],['a'],mode='edge'),n('Pad',['x','p2'],['b'],mode='reflect'),n('Pad',['x','p3'],['c'],mode='wrap'),n('Pad',['x','p4'],['d'],mode='edge')],[('x',F,[2,2,3,3,3])],[(o,F,[None]*5) for o in 'abcd'],[('p1',np.array([0,0,0,0,1,0,0,0,0,2])),('p2',np.array([0,0,1,0,0,0,0,0,2,0])),('p3',np.array([0,0,0,1,1,0,0,0,0,1])),('p4',np.array([1,0,0,0,1,0,1,0,0,0]))],opset=19,ir=9)
E6=r(1,1,1,1,1,1)
save('squeezes',[n('Squeeze',['x','a'],['y1']),n('Squeeze',['x','b'],['y2']),n('Squeeze',['x','c'],['y3']),n('Unsqueeze',['y1','d'],['y4'])],[('x',F,[1]*6)],[('y1',F,[]),('y2',F,[1]*3),('y3',F,[1]*4),('y4',F,[1,1])],[('a',np.array([-1,0,-2,1,2,3])),('b',np.array([0,-1,2])),('c',np.array([-6,5])),('d',np.array([0,-1]))])
save('reshapes_by_inputs',[n('Reshape',['x','s'],['y1']),n('Reshape',['x','t'],['y2']),n('ReduceSum',['x','a'],['y3'],keepdims=0),n('ReduceMean',['x','a'],['y4'],keepdims=1),n('ReduceLogSumExp',['x','a1'],['y5'],keepdims=1)],[('x',F,['b',3,4]),('s',I,[4]),('t',I,[2]),('a',I,[2]),('a1',I,[1])],[('y1',F,[None]*4),('y2',F,[None]*2),('y3',F,[None]),('y4',F,[None]*3),('y5',F,[None]*3)],opset=18,feeds={'x':r(2,3,4),'s':np.array([0,0,2,2]),'t':np.array([0,-1]),'a':np.array([0,-1]),'a1':np.array([1])})
save('empty',[n('Relu',['x'],['y1']),n('ReduceSum',['x','a'],['y2'],keepdims=0),n('Concat',['x','x'],['y3'],axis=1),n('MatMul',['x','w'],['y4']),n('Shape',['x'],['y5']),n('Transpose',['x'],['y6'],perm=[1,0])],[('x',F,['b',3])],[('y1',F,[None,3]),('y2',F,[None]),('y3',F,[None,6]),('y4',F,[None,2]),('y5',I,[2]),('y6',F,[3,None])],[('a',np.array([1])),('w',r(3,2))],feeds={'x':r(0,3)})
# if around recurrent layers, branches of unknown rank
def branch(nm,h,back=False):
    return H.make_graph([n('LSTM',['x',f'W{nm}',f'R{nm}',f'B{nm}','','h0','c0'],['',f'yh{nm}',f'yc{nm}'],hidden_size=h),n('GRU',['x',f'gW{nm}',f'gR{nm}',f'gB{nm}'],[f'gy{nm}'],hidden_size=h,linear_before_reset=1),n('Squeeze',[f'gy{nm}','sq'],[f'gs{nm}']),n('Shape',['x'],[f'sh{nm}']),n('Reshape',[f'gs{nm}',f'rs'],[f'o{nm}'])],nm,[],[H.make_tensor_value_info(f'o{nm}',F,None),H.make_tensor_value_info(f'yh{nm}',F,None),H.make_tensor_value_info(f'yc{nm}',F,None)])
inner=H.make_graph([n('Identity',['x'],['ix']),n('If',['c2'],['i1','i2','i3'],then_branch=branch('A',4),else_branch=branch('B',4))],'inner',[],[H.make_tensor_value_info(f'i{k}',F,None) for k in(1,2,3)])
inits=[('sq',np.array([1])),('rs',np.array([0,-1])),('k16',np.array(16000))]
for nm in 'ABC': inits+=[(f'W{nm}',r(1,16,3)),(f'R{nm}',r(1,16,4)),(f'B{nm}',r(1,32)),(f'gW{nm}',r(1,12,3)),(f'gR{nm}',r(1,12,4)),(f'gB{nm}',r(1,24))]
for sr,c2 in ((16000,True),(16000,False),(8000,True)):
    save(f'if_around_layers_{sr}_{int(c2)}',[n('Equal',['sr','k16'],['is16']),n('If',['is16'],['y','h1','c1'],then_branch=inner,else_branch=branch('C',4))],[('x',F,['t','b',3]),('sr',I,[]),('c2',T.BOOL,[]),('h0',F,[1,'b',4]),('c0',F,[1,'b',4])],[('y',F,None),('h1',F,None),('c1',F,None)],inits,opset=16,feeds={'x':r(5,2,3),'h0':r(1,2,4),'c0':r(1,2,4),'sr':np.array(sr),'c2':np.array(c2)})
# sizes that windows take something off, and differences
save('long_windows',[n('Conv',['x','k'],['c'],strides=[16]),n('Relu',['c'],['d']),n('Conv',['d','k2'],['e']),n('GlobalAveragePool',['e'],['y']),n('Slice',['e','s0','s1','s2'],['z'])],[('x',F,['b',1,'n'])],[('y',F,['b',2,1]),('z',F,['b',2,None])],[('k',r(4,1,256)),('k2',r(2,4,9)),('s0',np.array([1])),('s1',np.array([-1])),('s2',np.array([2]))],feeds={'x':r(2,1,700)})
save('differences_of_sizes',[n('Shape',['x'],['s']),n('ConstantOfShape',['s'],['z']),n('Add',['x','z'],['y']),n('Slice',['y','o','e'],['w'])],[('x',F,['past - cur','cur'])],[('y',F,[None,None]),('w',F,[None,None])],[('o',np.array([1])),('e',np.array([1000]))],feeds={'x':r(3,2)})
g1=H.make_graph([n('Conv',['x','k'],['tc'],strides=[16]),n('Conv',['tc','k2'],['to'])],'t',[],[H.make_tensor_value_info('to',F,None)])
g2=H.make_graph([n('Conv',['x','k3'],['eo'],strides=[16])],'e',[],[H.make_tensor_value_info('eo',F,None)])
save('long_windows_in_branches',[n('If',['c'],['y'],then_branch=g1,else_branch=g2),n('NonZero',['x'],['nz']),n('Cast',['nz'],['nf'],to=F),n('Slice',['nf','s0','s1','s2'],['z'])],[('x',F,['b',1,'n']),('c',T.BOOL,[])],[('y',F,None),('z',F,[3,None])],[('k',r(4,1,256)),('k2',r(2,4,9)),('k3',r(2,1,128)),('s0',np.array([3])),('s1',np.array([-2])),('s2',np.array([1]))],feeds={'x':r(2,1,700),'c':np.array(True)})
