# The programs of tests/data/cases/torch-programs.tar.xz: what is not among PyTorch's own samples of its
# operators. Run by hand with PyTorch 2.14, torchvision and transformers:
#
#   python3 programs.py OUT [FILTER]      OUT/NAME/{model.pt2,io.safetensors}
import torch, torchvision, sys, os, math, warnings
warnings.filterwarnings('ignore')
import torch.nn.functional as F
from safetensors.torch import save_file
out=sys.argv[1]; flt=sys.argv[2] if len(sys.argv)>2 else ''
class M(torch.nn.Module):
    def __init__(s,f): super().__init__(); s.f=f
    def forward(s,*a): return s.f(*a)
def case(name,f,*ins,dyn=None,decomp=False):
    if flt and flt not in name: return
    torch.manual_seed(0)
    try:
        m=f if isinstance(f,torch.nn.Module) else M(f)
        m.eval()
        with torch.no_grad():
            ep=torch.export.export(m,ins,dynamic_shapes=dyn)
            if decomp: ep=ep.run_decompositions()
            o=m(*[i.clone() if isinstance(i,torch.Tensor) else i for i in ins])
    except Exception as e:
        print('NOEXPORT',name,str(e).split('\n')[0][:200]); return
    d=f'{out}/{name}'; os.makedirs(d,exist_ok=True)
    torch.export.save(ep,d+'/model.pt2')
    o=o if isinstance(o,(tuple,list)) else [o]
    t={f'in_{i}':x.contiguous().clone() for i,x in enumerate(x for x in ins if isinstance(x,torch.Tensor))}
    t.update({f'out_{i}':x.detach().contiguous().clone() for i,x in enumerate(o)})
    save_file(t,d+'/io.safetensors')
tv=torch.ops.torchvision
g=torch.Generator().manual_seed(1)
R=lambda *s: torch.randn(*s,generator=g)
U=lambda *s: torch.rand(*s,generator=g)
def boxes(n,size,inv=False):
    a=U(n,2)*size; b=a+U(n,2)*size*0.6
    r=torch.cat([a,b],1)
    if inv: r[::4]=r[::4][:,[2,1,0,3]]; r[1::5]=r[1::5][:,[2,3,0,1]]; r[2::7]=r[2::7][:,[0,1,0,1]]
    return r
for thr in (0.0,0.3,0.7,1.0,1.5):
    case(f'nms_{thr}',lambda b,s,thr=thr: torchvision.ops.nms(b,s,thr),boxes(40,20),U(40))
case('nms_inv',lambda b,s: torchvision.ops.nms(b,s,0.2),boxes(60,20,True),R(60))
case('nms_ties',lambda b,s: torchvision.ops.nms(b,s,0.4),boxes(60,20),torch.randint(0,4,(60,),generator=g).float())
case('nms_same',lambda b,s: torchvision.ops.nms(b,s,0.99),torch.ones(5,4)*torch.tensor([1.,1,3,3]),U(5))
case('nms_empty',lambda b,s: torchvision.ops.nms(b,s,0.5),torch.zeros(0,4),torch.zeros(0))
case('batched_nms_vanilla',lambda b,s,i: torchvision.ops.boxes._batched_nms_coordinate_trick(b,s,i,0.3),boxes(30,20),U(30),torch.randint(0,3,(30,),generator=g))
x=R(2,8,13,11); r=torch.cat([torch.randint(0,2,(9,1),generator=g).float(),boxes(9,14)-2],1); r[3,3:]=r[3,1:3]; r[4,3]=r[4,1]+0.1; r[5,[1,3]]=r[5,[3,1]]; r[6]=torch.tensor([1,-30,-30,-20,-20.]); r[7]=torch.tensor([0,-5,-5,40,40.]); r[8]=torch.tensor([1,2.5,1.5,6.5,4.5])
for sc in (1.0,0.5,0.25,0.3):
  for sr in (-1,0,2,3):
    for al in (False,True):
        case(f'roi_align_{sc}_{sr}_{al}',lambda x,r,a=(sc,3,2,sr,al): tv.roi_align(x,r,*a),x,r)
    case(f'ps_roi_align_{sc}_{sr}',lambda x,r,a=(sc,2,2,sr): tv.ps_roi_align(x,r,*a)[0],x,r)
  case(f'roi_pool_{sc}',lambda x,r,a=(sc,3,2): tv.roi_pool(x,r,*a)[0],x,r)
  case(f'ps_roi_pool_{sc}',lambda x,r,a=(sc,2,4): tv.ps_roi_pool(x,r,*a)[0],x,r)
case('ps_roi_pool_map',lambda x,r: tv.ps_roi_pool(x,r,.5,2,4),x,r)
case('roi_align_f64',lambda x,r: tv.roi_align(x,r,0.5,2,2,2,True),x.double(),r.double())
dc=torchvision.ops.deform_conv2d
case('deform_mask',lambda x,o,w,m: dc(x,o,w,padding=1,mask=m),R(2,4,7,6),R(2,18,7,6),R(6,4,3,3),U(2,9,7,6))
case('deform_groups',lambda x,o,w,m,b: dc(x,o,w,b,stride=(2,1),padding=(1,2),dilation=(1,2),mask=m),R(2,4,9,9),R(2,36,5,9)*2,R(6,2,3,3),U(2,18,5,9),R(6))
case('deform_nomask',lambda x,o,w: dc(x,o,w,padding=1),R(1,3,5,5),R(1,18,5,5)*3,R(2,3,3,3))
# parts that nobody wants
y=R(6,8)
for i in range(2):
    case(f'chunk_{i}',lambda x,i=i: x.chunk(2,1)[i]+1,y)
    case(f'split_{i}',lambda x,i=i: x.split(4,1)[i]+1,y)
    case(f'std_mean_{i}',lambda x,i=i: torch.std_mean(x,1)[i],y)
    case(f'var_mean_{i}',lambda x,i=i: torch.var_mean(x,1,keepdim=True)[i],y)
    case(f'max_dim_{i}',lambda x,i=i: x.max(1)[i],y)
    case(f'sort_{i}',lambda x,i=i: x.sort(1)[i],y)
    case(f'topk_{i}',lambda x,i=i: x.topk(3,1)[i],y)
    case(f'aminmax_{i}',lambda x,i=i: torch.aminmax(x,dim=1)[i],y)
    case(f'kthvalue_{i}',lambda x,i=i: x.kthvalue(3,1)[i],y)
    case(f'median_{i}',lambda x,i=i: x.median(1)[i],y)
    case(f'mode_{i}',lambda x,i=i: x.mode(1)[i],y.round())
    case(f'cummax_{i}',lambda x,i=i: x.cummax(1)[i],y)
    case(f'frexp_{i}',lambda x,i=i: torch.frexp(x)[i],y)
    case(f'maxpool_{i}',lambda x,i=i: F.max_pool2d(x[None,None],2,return_indices=True)[i],y)
    case(f'qr_{i}',lambda x,i=i: torch.linalg.qr(x)[i].abs(),y)
    case(f'slogdet_{i}',lambda x,i=i: torch.slogdet(x@x.T+torch.eye(6))[i],y)
    case(f'nms_maxu_{i}',lambda x,i=i: torch.unique(x.round(),return_inverse=True)[i],y)
for i in range(3):
    case(f'sws_{i}',lambda x,i=i: x.split([1,5,2],1)[i]*2,y)
    case(f'tensor_split_{i}',lambda x,i=i: torch.tensor_split(x,3,1)[i]*2,y)
    case(f'tensor_split_ind_{i}',lambda x,i=i: torch.tensor_split(x,(2,3),1)[i]*2,y)
    case(f'unbind_{i}',lambda x,i=i: x[:3].unbind(0)[i]*2,y)
    case(f'layer_norm_{i}',lambda x,i=i: torch.ops.aten.native_layer_norm(x,[8],None,None,1e-5)[i],y)
    case(f'group_norm_{i}',lambda x,i=i: torch.ops.aten.native_group_norm(x,None,None,6,8,1,2,1e-5)[i],y)
    case(f'batch_norm_{i}',lambda x,i=i: torch.ops.aten._native_batch_norm_legit.no_stats(x,None,None,True,0.1,1e-5)[i],y)
    case(f'svd_{i}',lambda x,i=i: torch.linalg.svd(x,full_matrices=False)[i].abs(),y)
    case(f'hsplit_{i}',lambda x,i=i: torch.hsplit(x,[2,5])[i],y)
class MV(torch.nn.Module):
    def forward(s,x): return torch.broadcast_tensors(x,x[:1])[1]+torch.meshgrid(x[:,0],x[0],indexing='ij')[1]
case('broadcast_tensors_1',MV(),y)
D=torch.export.Dim
case('chunk_dyn',lambda x: x.chunk(2,1)[0]+1,R(6,8),dyn={'args':({0:D('b')},)} if False else ({0:D('b',min=2)},) and None)
# in place
def ip(f):
    return lambda *a: f(*[x.clone() for x in a])
m=torch.randint(0,2,(4,5),generator=g).bool(); m2=torch.randint(0,2,(4,5),generator=g).bool()
k=torch.randint(-9,9,(4,5),generator=g); k2=torch.randint(1,5,(4,5),generator=g)
def _ior(a,b): a|=b; return a
def _iand(a,b): a&=b; return a
def _ixor(a,b): a^=b; return a
def _ils(a,b): a<<=b; return a
def _irs(a,b): a>>=b; return a
def _ifd(a,b): a//=b; return a
def _iors(a,b): a[0]|=b[1]; return a
def _ifds(a): a//=3; return a
def _imod(a,b): a%=b; return a
def _ipow(a): a**=2; return a
for n,f in dict(ior=_ior,iand=_iand,ixor=_ixor,iors=_iors).items(): case(n,ip(f),m,m2); case(n+'_i',ip(f),k,k2)
for n,f in dict(ils=_ils,irs=_irs,ifd=_ifd,imod=_imod).items(): case(n,ip(f),k,k2)
case('ifd_f',ip(_ifd),R(4,5),R(4,5)); case('ifds',ip(_ifds),k); case('ipow',ip(_ipow),k); case('ifd_s',ip(_ifds),R(4,5))
case('type_as',lambda a,b: a.type_as(b)+b,k,R(4,5)); case('type_as_same',lambda a,b: a.type_as(b)+b,R(4,5),R(4,5))
def ta(a,b):
    c=a.clone(); d=c.type_as(b); d+=1; return c,d
case('type_as_alias',ta,R(4,5),R(4,5)); case('type_as_copy',ta,k,R(4,5))
def tt(a):
    c=a.clone(); d=c.to(torch.float32); d*=2; e=c.to(torch.float32,copy=True); e+=5; return c,d,e
case('to_alias',tt,R(4,5))
def pc(a):
    c=a.clone(); d=c.permute(1,0).contiguous(); d+=1; return c,d
case('permute_contiguous',pc,R(4,5))
def pc2(a):
    c=a.clone(); d=c.contiguous(); d+=1; return c,d
case('contiguous_alias',pc2,R(4,5))
def pc3(a):
    c=a.clone(); d=c.unsqueeze(1).permute(1,0,2).contiguous(); d+=1; return c,d
case('permute1_contiguous',pc3,R(4,5))
def rs(a):
    c=a.clone(); d=c.reshape(5,4); d+=1; e=c.t().reshape(4,5); e+=1; f=c[:,:4].reshape(2,8); f-=3; h=c[:2].reshape(-1); h*=2; return c,d,e,f,h
case('reshape_alias',rs,R(4,5))
def rs2(a):
    c=a.clone(); d=c.view(2,2,5)[:,:,1:3].reshape(4,2); d+=1; return c,d
case('reshape_view_noncontig',rs2,R(4,5))
def fl(a):
    c=a.clone(); d=c.flatten(); d+=1; e=c.t().flatten(); e+=1; h=c.ravel(); h-=2; q=c.t().ravel(); q*=2; return c,d,e,h,q
case('flatten_alias',fl,R(4,5))
def dr(a):
    c=a.clone(); d=F.dropout(c,0.5,False); d+=1; return c,d
case('dropout_alias',dr,R(4,5))
case('as_strided_t',lambda a: a.t().as_strided((2,3),(1,2),1),R(4,5))
case('as_strided_cl',lambda a: torch.as_strided(a.to(memory_format=torch.channels_last)*1,(2,3,4,5),(60,1,15,3)),R(2,3,4,5))
case('as_strided_clone_t',lambda a: a.t().clone().as_strided((5,),(2,),1),R(4,5))
case('as_strided_slice',lambda a: (a*1)[1:].as_strided((2,3),(5,1),5),R(4,5))
case('as_strided_off',lambda a: (a*1)[1:].as_strided((2,3),(5,1)),R(4,5))
case('as_strided_scatter_t',lambda a,b: torch.as_strided_scatter(a.t(),b,(2,3),(1,2),1),R(4,5),R(2,3))
case('swin_pool_decomp',lambda a: F.adaptive_avg_pool2d(a.permute(0,3,1,2),1).flatten(1),R(2,4,5,6),decomp=True)
# others
i1,i2,w=R(3,4),R(3,5),R(6,4,5)
case('bilinear',lambda a,b,w: F.bilinear(a,b,w),i1,i2,w); case('bilinear_dec',lambda a,b,w,bb: F.bilinear(a,b,w,bb),i1,i2,w,R(6),decomp=True)
case('trilinear',lambda a,b,c: torch._trilinear(a,b,c,[1],[0],[0],[2,1]),R(3,4),R(3,3,4),R(3,3,4))
case('trilinear2',lambda a,b,c: torch._trilinear(a,b,c,[1,3],[0],[1,2],[2,3]),R(3,4),R(6,4,5),R(3,5))
case('arange_f',lambda a: torch.arange(0.5,a.shape[0],0.25),R(4,5))
case('arange_item',lambda a: torch.arange(a.sum().item()*0+0.5,4.0,0.5)[:2],R(4,5))
for cm in (False,True):
    case(f'avg_pool_big_{cm}',lambda a,cm=cm: F.avg_pool2d(a,3,2,ceil_mode=True,count_include_pad=cm),R(1,2,2,2))
    case(f'avg_pool_big1_{cm}',lambda a,cm=cm: F.avg_pool2d(a,4,4,padding=1,ceil_mode=True,count_include_pad=cm),R(1,2,3,2))
    case(f'avg_pool_ceil_{cm}',lambda a,cm=cm: F.avg_pool2d(a,3,2,padding=1,ceil_mode=True,count_include_pad=cm),R(1,2,6,6))
    case(f'avg_pool1_big_{cm}',lambda a,cm=cm: F.avg_pool1d(a,5,5,ceil_mode=True,count_include_pad=cm),R(1,2,3))
case('max_pool_big',lambda a: F.max_pool2d(a,3,2,ceil_mode=True),R(1,2,2,2))
case('gmm2d3d',lambda a,b,o: torch._grouped_mm(a,b,o),R(16,16).bfloat16(),R(4,16,16).bfloat16(),torch.tensor([3,3,10,16],dtype=torch.int32))
case('gmm3d2d',lambda a,b,o: torch._grouped_mm(a,b,o),R(4,16,16).bfloat16(),R(16,16).bfloat16(),torch.tensor([3,3,10,16],dtype=torch.int32))
case('gmm3d3d',lambda a,b: torch._grouped_mm(a,b),R(4,16,16).bfloat16(),R(4,16,16).bfloat16())
case('gmm2d2d',lambda a,b,o: torch._grouped_mm(a,b,o),R(16,16).bfloat16(),R(16,16).bfloat16(),torch.tensor([8,8,16,16],dtype=torch.int32))
import transformers.integrations.moe
case('gmmfb_tail',lambda a,b,o: torch.ops.transformers.grouped_mm_fallback(a,b,o),R(10,3),R(4,3,5),torch.tensor([2,2,5,8],dtype=torch.int32))
case('gmmfb_dyn',lambda a,b,o: torch.ops.transformers.grouped_mm_fallback(a,b,o),R(10,3),R(4,3,5),torch.tensor([0,2,5,10],dtype=torch.int64),dyn=(({0:D.DYNAMIC},{},{}),))
case('is_all_true',lambda a: torch._is_all_true(a>-9)|torch._is_any_true(a>9),y)
case('vmap_add',lambda a,b: torch.vmap(lambda x,y: x*2+y,in_dims=(0,None))(a,b),R(3,4),R(4))
case('vmap_mm',lambda a,b: torch.vmap(lambda x,y: x@y,in_dims=(1,0),out_dims=1)(a,b),R(3,5,4),R(5,4,2))
case('vmap_index',lambda a,i: torch.vmap(lambda x,j: x[j],in_dims=(0,0))(a,i),R(3,5),torch.tensor([1,0,4]))
case('vmap_nest',lambda a,b: torch.vmap(torch.vmap(lambda x,y: (x>y)&(x!=0),(0,None)),(None,0))(a,b),R(3),R(4))
case('randn_inside',lambda a: a*0+torch.randn(4,5)*0,R(4,5))
case('vmap_index_dec',lambda a,i: torch.vmap(lambda x,j: x[j],in_dims=(0,0))(a,i),R(3,5),torch.tensor([1,0,4]),decomp=True)
case('vmap_mask',lambda m,a: torch.vmap(torch.vmap(torch.vmap(lambda b,q,k: (k<=q)&m[b,k],(None,None,0)),(None,0,None)),(0,None,None))(torch.arange(2),torch.arange(3),torch.arange(3))&(a>0),torch.tensor([[True,False,True],[True,True,False]]),R(3,3))
case('vmap_outdim',lambda a,b: torch.vmap(lambda x,y: x*2+y,in_dims=(1,None),out_dims=1)(a,b),R(4,3),R(4))
case('vmap_lowrank',lambda a,b: torch.vmap(lambda x,y: x+y,in_dims=(0,None))(a,b),R(3),R(5,4))
case('vmap_const',lambda a: torch.vmap(lambda x: torch.ones(2)*3)(a),R(3))
def vin(a):
    c=a.clone(); c[:,:2]+=1; c[0]*=2; return c
case('write_views',vin,R(4,5))
case('trilinear1',lambda a,b,c: torch._trilinear(a,b,c,[1,3],[0],[1,2],[2,3]),R(1,4),R(6,4,5),R(3,5))
def aaf(a,s,mode):
    h,w=s[0].item(),s[1].item(); torch._check(h>0); torch._check(w>0)
    return F.interpolate(a,size=(h,w),mode=mode,antialias=True)
for mode in ('bilinear','bicubic'):
  for sz in ((3,7),(9,4),(5,5)):
    case(f'aa_{mode}_{sz[0]}',lambda a,s,mode=mode: aaf(a,s,mode),R(1,2,6,5),torch.tensor(sz))
case('arange_computed',lambda a: torch.arange(0.5*a.shape[0],4.0*a.shape[0],0.75),R(3,4),dyn=(({0:D.DYNAMIC},),))
case('arange_int_cut',lambda a: torch.arange(0.1,3.9,dtype=torch.int64)+a,torch.tensor([1]))
for n,(a,b,c) in dict(up=(0.3,3.9,1),down=(4.5,-1.2,-2),frac=(-2.5,2.5,1.5)).items():
    case(f'arange_int_{n}',lambda x,a=a,b=b,c=c: torch.arange(a*x.shape[0],b*x.shape[0],c,dtype=torch.int64),R(3,4),dyn=(({0:D.DYNAMIC},),))
# pools whose windows reach beyond the end, by as much as they like
for n,k,s,p,size in (('far',2560,None,0,(1,4,7,6)),('other',9,None,0,(2,3,7,5)),('one_axis',(3,50),(2,50),0,(1,2,8,7)),('pads',(12,3),(12,2),(2,1),(2,2,7,9))):
    for cm in (False,True):
        case(f'avg_pool_{n}_{cm}',lambda a,k=k,s=s,p=p,cm=cm: F.avg_pool2d(a,k,s,p,ceil_mode=True,count_include_pad=cm),R(*size))
    case(f'max_pool_{n}',lambda a,k=k,s=s,p=p: F.max_pool2d(a,k if k!=2560 else 40,s,p,ceil_mode=True),R(*size))
    case(f'max_pool_{n}_indices',lambda a,k=k,s=s,p=p: F.max_pool2d(a,k if k!=2560 else 40,s,p,ceil_mode=True,return_indices=True),R(*size))
case('max_pool_dilated_far',lambda a: F.max_pool2d(a,5,9,1,2,ceil_mode=True),R(1,2,4,6))
case('avg_pool_far_batch',lambda a: F.avg_pool2d(a,2560,ceil_mode=True),R(2,4,7,7),dyn=(({0:D.DYNAMIC},),))
# keys that heads share, of any ranks
for i,(q,k,v) in enumerate((((8,5,4),(2,6,4),(2,6,4)),((3,2,8,5,4),(3,2,2,6,4),(3,2,2,6,4)),((3,2,8,5,4),(2,2,6,4),(2,2,6,4)),((2,8,5,4),(2,6,4),(2,6,4)),((8,5,4),(3,2,6,4),(3,2,6,7)),((8,5,4),(2,6,4),(4,6,4)))):
    case(f'gqa_{i}',lambda a,b,c: F.scaled_dot_product_attention(a,b,c,enable_gqa=True),R(*q),R(*k),R(*v))
    case(f'gqa_causal_{i}',lambda a,b,c: F.scaled_dot_product_attention(a,b,c,enable_gqa=True,is_causal=True),R(*q),R(*k),R(*v))
    case(f'gqa_mask_{i}',lambda a,b,c,m: F.scaled_dot_product_attention(a,b,c,attn_mask=m,enable_gqa=True),R(*q),R(*k),R(*v),R(5,6))
case('gqa_dyn',lambda a,b,c: F.scaled_dot_product_attention(a,b,c,enable_gqa=True),R(3,2,8,5,4),R(3,2,2,6,4),R(3,2,2,6,4),dyn=(({3:D.DYNAMIC},{3:D.DYNAMIC},{3:D.DYNAMIC}),))
# parts of several tensors
for n in (1,2,3,8): case(f'chunk_cat_{n}',lambda a,b,c,n=n: torch._chunk_cat([a,b,c],0,n),R(5,4),R(3,4),R(7,4))
case('chunk_cat_inner',lambda a,b: torch._chunk_cat([a,b],1,3),R(2,5,3),R(2,4,3))
case('chunk_cat_ranks',lambda a,b: torch._chunk_cat([a,b],0,4),R(5,2,3),R(2,7))
case('chunk_cat_dyn',lambda a,b: torch._chunk_cat([a,b],0,2),R(5,3),R(4,3),dyn=(({0:D.DYNAMIC},{0:D.DYNAMIC}),))
# windows where samples say
for n,size,k,o in (('2',(2,3,9,8),2,(4,3)),('2_plain',(3,9,8),(3,2),(4,3)),('2_all',(1,2,7,7),1,(7,7)),('2_one',(1,2,7,7),3,(5,1)),('3',(2,3,9,8,7),2,(4,3,2)),('3_plain',(3,9,8,7),(2,3,1),(3,2,6))):
    rank=len(o); f=F.fractional_max_pool2d if rank==2 else F.fractional_max_pool3d
    sample=U(size[0] if len(size)==rank+2 else 1,size[-rank-1],rank)
    case(f'fractional_{n}',lambda a,b,f=f,k=k,o=o: f(a,k,o,_random_samples=b,return_indices=True),R(*size),sample)
    case(f'fractional_fixed_{n}',lambda a,f=f,k=k,o=o,b=sample: f(a,k,o,_random_samples=b),R(*size))
# float8
f8=lambda *s: R(*s).to(torch.float8_e4m3fn)
for n,t in (('32',torch.float32),('16',torch.float16),('b16',torch.bfloat16),('8',None)):
    case(f'scaled_mm_{n}',lambda a,b,s,u,t=t: torch._scaled_mm(a,b.t(),s,u,out_dtype=t),f8(16,32),f8(16,32),torch.tensor(.5),torch.tensor(.25))
case('scaled_mm_bias',lambda a,b,s,u,c: torch._scaled_mm(a,b.t(),s,u,bias=c,out_dtype=torch.float32),f8(16,32),f8(16,32),torch.tensor(.5),torch.tensor(2.),R(16))
case('scaled_mm_rows',lambda a,b,s,u: torch._scaled_mm(a,b.t(),s,u,out_dtype=torch.bfloat16),f8(16,32),f8(16,32),U(16,1),U(1,16))
