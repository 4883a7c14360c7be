# Scripted functions and modules for tests/data/cases/torchscript-cases.tar.xz: control flow over data,
# containers, writes in place, classes. Run by hand with PyTorch 2.14, in the folder of this file:
#
#   python3 script_programs.py OUT      OUT/own__NAME/{model.pt,io.safetensors}
import torch, os, sys, enum
from typing import *
from torch import Tensor, nn
import torch.nn.functional as F
from safetensors.torch import save_file
torch.manual_seed(1)
out=sys.argv[1]
CASES=[]
def case(*inputs):
    def deco(f): CASES.append((f.__name__ if not isinstance(f,nn.Module) else type(f).__name__,f,inputs)); return f
    return deco
r=torch.randn
@case([r(4,5)],[r(2,5)])
def early_return(x: Tensor)->Tensor:
    if x.size(0)>3: return x*2
    return x+1
@case([r(4,5)],[-r(4,5).abs()],[r(4,5).abs()])
def early_return_data(x: Tensor)->Tensor:
    if x.sum()>0: return x*2
    y=x-1
    return y*y
@case([r(6)])
def for_break(x: Tensor)->Tensor:
    s=torch.zeros(1)
    for i in range(6):
        if i==4: break
        s=s+x[i]
    return s
@case([r(6)],[r(6)])
def for_break_data(x: Tensor)->Tensor:
    s=torch.zeros(1)
    for i in range(6):
        if bool(x[i]>1.0): break
        s=s+x[i]
    return s
@case([r(6)],[r(6)])
def for_continue_data(x: Tensor)->Tensor:
    s=torch.zeros(1)
    for i in range(6):
        if bool(x[i]<0): continue
        s=s+x[i]*i
    return s
@case([r(3,4)])
def list_comp(x: Tensor)->Tensor:
    ys=[x*i for i in range(4) ]
    return torch.stack(ys).sum(0)
@case([r(3,4)])
def dict_ops(x: Tensor)->Dict[str,Tensor]:
    d: Dict[str,Tensor]={}
    for i,k in enumerate(['a','b','c']):
        d[k]=x+i
    d['b']=d['b']*2
    del d['a']
    if 'c' in d: d['z']=d['c']-1
    return d
@case([r(3,4)])
def nested_tuple(x: Tensor)->Tuple[Tensor,Tuple[Tensor,int],List[Tensor]]:
    a,(b,c)=x,(x+1,3)
    return a,(b,c),[x,x*2]
class Color(enum.Enum):
    RED=1
    BLUE=2
@case([r(3)])
def enum_use(x: Tensor)->Tensor:
    c=Color.BLUE
    if c==Color.RED: return x
    return x*c.value
class Pt(NamedTuple):
    a: Tensor
    b: int
@case([r(3)])
def named(x: Tensor)->Tensor:
    p=Pt(x,2)
    return p.a*p.b+p[0]
@case([r(3,4)],[r(3,4)])
def inplace_branch(x: Tensor)->Tensor:
    y=x.clone()
    if x.sum()>0:
        y[0]=1.0
        y.mul_(2)
    else:
        y[:,1].zero_()
    return y
@case([r(5,3)])
def inplace_loop(x: Tensor)->Tensor:
    y=torch.zeros(5,3)
    for i in range(x.size(0)):
        y[i]=x[i]+i
        if i>0: y[i]+=y[i-1]
    return y
@case([r(3,4)],[10*r(3,4)])
def while_data(x: Tensor)->Tuple[Tensor,int]:
    n=0
    while bool(x.abs().max()>0.5) and n<20:
        x=x*0.7
        n+=1
    return x,n
@case([r(3,4)],[10*r(3,4)])
def while_inplace(x: Tensor)->Tensor:
    y=x.clone()
    v=y[0]
    while bool(y.abs().max()>0.5):
        y.mul_(0.5)
        v.add_(0.01)
    return y+v
@case([r(3,4),torch.tensor(3)],[r(3,4),torch.tensor(0)])
def loop_lists(x: Tensor,n:Tensor)->Tensor:
    outs: List[Tensor]=[x]
    for i in range(int(n)):
        outs.append(x*i)
    return torch.cat(outs,0)
@case([r(3,4)])
def fstrings(x: Tensor)->Tensor:
    s='{} and {}'.format(x.size(0),'b')
    if s=='3 and b': return x+len(s)
    return x
@case([r(2,3,4)])
def shapes(x: Tensor)->Tensor:
    b,c,h=x.shape
    y=x.view(b*c,h).t().reshape(-1)
    assert y.numel()==b*c*h
    return y.unflatten(0,(h,b*c))
@case([r(3,4),None])
def opt_args(x: Tensor, m: Optional[Tensor]=None)->Tensor:
    if m is not None: x=x*m
    if m is None: m=torch.ones_like(x)
    return x+m
@case([r(4,4)])
def triangles(x: Tensor)->Tensor:
    m=torch.triu(torch.full((4,4),float('-inf')),diagonal=1)
    return F.softmax(x+m,dim=-1)
@case([r(5)])
def sorting(x: Tensor)->Tuple[Tensor,Tensor,int]:
    v,i=x.sort(descending=True)
    k=int(i[0])
    return v,i,k
@case([r(7)],[r(7)])
def count_positive(x: Tensor)->int:
    n=0
    for i in range(x.size(0)):
        if bool(x[i]>0): n+=1
    return n
@case([r(3,3)])
def views(x: Tensor)->Tensor:
    y=x.clone()
    d=y.diagonal()
    d.fill_(5.)
    z=y.view(9)
    z[0:3]+=1
    w=y.transpose(0,1)
    w[1]*=2
    return y
@case([r(3,3)])
def views2(x: Tensor)->Tuple[Tensor,Tensor]:
    y=x.clone()
    a,b=y.chunk(2,0) if False else (y[0:2],y[2:3])
    a.add_(1); b.sub_(1)
    u=y.unsqueeze(0).squeeze(0)
    u[1,1]=7
    return y,a
@case([r(6,2)])
def splits(x: Tensor)->Tensor:
    a,b,c=x.split(2,0)
    p,q=torch.chunk(x,2,1)
    xs=x.unbind(0)
    return a*b-c+p[:2]+q[:2]+xs[0]
@case([r(4)])
def aug(x: Tensor)->Tensor:
    y=x.clone()
    y+=1; y*=2; y-=x; y/=3
    n=5
    n=n//2; n+=1
    return y+n
@case([r(4)])
def ternary(x: Tensor)->Tensor:
    k=1 if x.size(0)>3 else 2
    return x*k if bool(x[0]>-100) else x
@case([r(4)],[-r(4).abs()])
def ternary_data(x: Tensor)->Tensor:
    return x*2 if bool(x.sum()>0) else x-5
@case([r(4)],[-r(4).abs()])
def merge_ints(x: Tensor)->Tensor:
    k=3
    f=1.5
    if bool(x.sum()>0):
        k=7; f=2.5
    return x*k+f
@case([r(4)],[-r(4).abs()])
def merge_lists(x: Tensor)->Tensor:
    xs=[x]
    if bool(x.sum()>0):
        xs.append(x*2)
    return torch.stack(xs).sum(0)
@case([r(4)],[-r(4).abs()])
def merge_optional(x: Tensor)->Tensor:
    m: Optional[Tensor]=None
    if bool(x.sum()>0):
        m=x*3
    if m is not None:
        x=x+m
    return x
class Counter:
    def __init__(self,n:int):
        self.n=n
        self.acc: List[int]=[]
    def step(self,k:int)->int:
        self.n+=k
        self.acc.append(self.n)
        return self.n
Counter=torch.jit.script(Counter)
@case([r(4)])
def cls_use(x: Tensor)->Tensor:
    c=Counter(2)
    for i in range(3): c.step(i)
    return x*c.n+len(c.acc)+sum(c.acc)
@case([r(2,3)])
def math_things(x: Tensor)->Tensor:
    a=7//2; b=-7//2; c=-7%3; d=2**3; e=7/2; f=abs(-3); g=min(2,5)+max(1.5,2.5); h=round(2.5); 
    return x*a+b+c+d+e+f+g+h+int(3.9)+float(2)
@case([torch.randint(0,5,(3,4))])
def int_math(x: Tensor)->Tuple[Tensor,Tensor,Tensor]:
    return x//2, x%3, x/2
@case([r(3,4),torch.tensor([0,2])])
def indexing(x: Tensor,i:Tensor)->Tuple[Tensor,Tensor,Tensor,Tensor,Tensor]:
    return x[i], x[:,i], x[-1], x[1:,::2], x[x>0]
@case([r(3,4)])
def index_put(x: Tensor)->Tensor:
    y=x.clone()
    y[y<0]=0.
    y[torch.tensor([0,1]),torch.tensor([1,2])]=9.
    y[2,1:3]=torch.tensor([4.,5.])
    y[...,0]=3.
    y[None]
    return y
@case([r(3)])
def strings(x: Tensor)->Tensor:
    s=' Hello,World '.strip().lower()
    parts=s.split(',')
    n=0
    for p in parts:
        n+=len(p)
        if p.startswith('w'): n+=10
    if 'lo' in s: n+=100
    return x+n+ord('a')
@case([r(3)])
def sortlist(x: Tensor)->Tensor:
    l=[3,1,2]
    l.sort()
    l.reverse()
    m=sorted([5,4])
    l.extend(m)
    l.insert(0,9)
    l.pop()
    return x*torch.tensor(l[:3])+sum(l)
@case([r(2,5)],[r(2,5)])
def nested_if(x: Tensor)->Tensor:
    if bool(x[0,0]>0):
        if bool(x[0,1]>0): y=x*2
        else: y=x*3
        y=y+1
    else:
        y=x-1
        if bool(x[0,2]>0): y=y*5
    return y
@case([r(4,3)],[r(4,3)])
def loop_if(x: Tensor)->Tensor:
    h=torch.zeros(3)
    for t in range(x.size(0)):
        if bool(h.sum()>x[t].sum()): h=h*0.5
        else: h=h+x[t]
    return h
@case([r(2,3),torch.tensor(2)],[r(2,3),torch.tensor(4)])
def dyn_view(x: Tensor,n:Tensor)->Tensor:
    k=int(n)
    return x.repeat(k,1).view(k*2,3)*k
@case([r(5)],[r(5)])
def while_break(x: Tensor)->Tensor:
    i=0
    s=x[0]*0
    while True:
        s=s+x[i]
        i+=1
        if i>=5: break
        if bool(s>2): break
    return s
@case([r(3,4)])
def zipenum(x: Tensor)->Tensor:
    s=x*0
    for a,b in zip([1,2,3],[4,5,6]): s=s+a*b
    for i,row in enumerate([x,x*2]): s=s+row*i
    return s
@case([r(3,4)])
def isinst(x: Union[Tensor,int])->Tensor:
    if isinstance(x,Tensor): return x+1
    else: return torch.tensor(x)
@case([r(3,4).double()],[r(3,4).double()])
def dtypes(x: Tensor)->Tuple[Tensor,Tensor,Tensor,Tensor]:
    if x.dtype==torch.float64: y=x.float()
    else: y=x
    return y, x.to(torch.int32), x.long(), x>0
@case([r(3,4)])
def try_assert(x: Tensor)->Tensor:
    assert x.dim()==2, 'bad'
    if x.size(1)!=4: raise ValueError('no')
    return x
class Sub(nn.Module):
    def __init__(self):
        super().__init__(); self.lin=nn.Linear(4,4); self.register_buffer('b',torch.ones(4))
    def forward(self,x:Tensor,scale:float=2.0)->Tensor: return self.lin(x)*scale+self.b
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.subs=nn.ModuleList([Sub() for _ in range(3)]); self.d=nn.ModuleDict({'a':Sub(),'b':nn.ReLU()}); self.k=3; self.seq=nn.Sequential(nn.Linear(4,4),nn.Tanh()); self.names=['p','q']; self.t=torch.tensor([1.,2.,3.,4.])
    def helper(self,x:Tensor,n:int=2)->Tensor:
        for _ in range(n): x=x+1
        return x
    @torch.jit.export
    def other(self,x:Tensor)->Tensor: return x-100
    def forward(self,x:Tensor)->Tensor:
        for i,s in enumerate(self.subs): x=s(x,float(i))
        x=self.d['a'](x); x=self.d['b'](x)
        return self.helper(self.seq(x),self.k)*len(self.names)+self.t
CASES.append(('net_modules',Net().eval(),([r(2,4)],[r(5,4)])))
class Stateful(nn.Module):
    def __init__(self):
        super().__init__(); self.register_buffer('c',torch.zeros(3)); self.n=0
    def forward(self,x:Tensor)->Tensor:
        self.c.add_(x.sum(0)); self.n+=1
        return self.c*self.n
CASES.append(('stateful',Stateful(),([r(2,3)],)))
class LSTMCellLoop(nn.Module):
    def __init__(self):
        super().__init__(); self.cell=nn.LSTMCell(3,4)
    def forward(self,x:Tensor)->Tensor:
        h=torch.zeros(x.size(1),4); c=torch.zeros(x.size(1),4); outs=torch.jit.annotate(List[Tensor],[])
        for t in range(x.size(0)):
            h,c=self.cell(x[t],(h,c)); outs+=[h]
        return torch.stack(outs)
CASES.append(('lstm_cell_loop',LSTMCellLoop(),([r(5,2,3)],[r(3,2,3)])))
class GRUNet(nn.Module):
    def __init__(self):
        super().__init__(); self.g=nn.GRU(3,4,2,batch_first=True,bidirectional=True); self.e=nn.Embedding(10,3)
    def forward(self,i:Tensor)->Tensor:
        y,h=self.g(self.e(i)); return y.mean(1)+h[0].repeat(1,2)
CASES.append(('gru_net',GRUNet().eval(),([torch.randint(0,10,(2,5))],)))
class PackNet(nn.Module):
    def __init__(self):
        super().__init__(); self.l=nn.LSTM(3,4,batch_first=True,bidirectional=True)
    def forward(self,x:Tensor,n:Tensor)->Tuple[Tensor,Tensor,Tensor]:
        p=nn.utils.rnn.pack_padded_sequence(x,n,batch_first=True,enforce_sorted=False)
        y,(h,c)=self.l(p)
        z,m=nn.utils.rnn.pad_packed_sequence(y,batch_first=True)
        return z,m,h
CASES.append(('pack_net',PackNet().eval(),([r(3,6,3),torch.tensor([2,6,4])],[r(3,6,3),torch.tensor([1,3,5])])))
class Attn(nn.Module):
    def __init__(self):
        super().__init__(); self.m=nn.MultiheadAttention(8,2,batch_first=True); self.t=nn.TransformerEncoderLayer(8,2,16,batch_first=True)
    def forward(self,x:Tensor,mask:Tensor)->Tensor:
        y,w=self.m(x,x,x,key_padding_mask=mask)
        return self.t(y,src_key_padding_mask=mask)
CASES.append(('attn',Attn().eval(),([r(2,5,8),torch.tensor([[False]*5,[False,False,True,True,True]])],)))
class BNTrain(nn.Module):
    def __init__(self):
        super().__init__(); self.c=nn.Conv2d(3,4,3); self.b=nn.BatchNorm2d(4); self.i=nn.InstanceNorm2d(4,affine=True)
    def forward(self,x:Tensor)->Tensor: return self.i(self.b(self.c(x)))
CASES.append(('bn_eval',BNTrain().eval(),([r(2,3,8,8)],)))
CASES.append(('bn_train',BNTrain().train(),([r(2,3,8,8)],)))
@torch.jit.interface
class Iface(nn.Module):
    def forward(self,x:Tensor)->Tensor: pass
class IA(nn.Module):
    def forward(self,x:Tensor)->Tensor: return x+1
class IB(nn.Module):
    i: Iface
    def __init__(self): 
        super().__init__(); self.i=IA()
    def forward(self,x:Tensor)->Tensor: return self.i.forward(x)*2
CASES.append(('interface',IB(),([r(3)],)))
class Interp(nn.Module):
    def forward(self,x:Tensor)->Tuple[Tensor,Tensor,Tensor]:
        return F.interpolate(x,scale_factor=2.0,mode='nearest'), F.interpolate(x,size=(5,7),mode='bilinear',align_corners=True), F.interpolate(x,scale_factor=1.7,mode='bicubic',align_corners=False)
CASES.append(('interp',Interp(),([r(1,2,4,6)],)))
class ListIn(nn.Module):
    def forward(self,xs:List[Tensor])->Tensor: return xs[0]+len(xs)
CASES.append(('list_in',ListIn(),([[r(3)]],)))
class TupIn(nn.Module):
    def forward(self,xs:Tuple[Tensor,Tensor],k:int=2)->Tensor: return xs[0]*xs[1]+k
CASES.append(('tuple_in',TupIn(),([(r(3),r(3))],)))
@case([r(3,4)],[r(3,4)])
def global_clip(x: Tensor)->Tensor:
    n=torch.norm(x)
    if n>1.0: x=x/n
    return x
@case([torch.randint(0,9,(6,))],[torch.randint(0,9,(6,))])
def dedupe(x: Tensor)->Tensor:
    prev=-1
    outv: List[int]=[]
    for i in range(x.numel()):
        v=int(x[i])
        if v!=prev: outv.append(v)
        prev=v
    return torch.tensor(outv)
@case([r(4,4)])
def complex_slices(x: Tensor)->Tensor:
    y=torch.zeros(6,6)
    y[1:5,1:5]=x
    y[::2]+=1
    return y[1:-1,1:-1].contiguous().flatten()
@case([r(2,3)])
def multi_assign(x: Tensor)->Tensor:
    a=b=x
    a,b=b+1,a*2
    return a-b
@case([r(3,4)])
def nested_fn(x: Tensor)->Tensor:
    return global_clip(x)+early_return(x)
@case([r(8)],[r(8)])
def argmax_loop(x: Tensor)->Tensor:
    best=x[0]; bi=0
    for i in range(1,8):
        if bool(x[i]>best):
            best=x[i]; bi=i
    return torch.stack([best,torch.tensor(float(bi))])
@case([r(3,5)])
def kwargs_fn(x: Tensor)->Tensor:
    return torch.sum(input=x,dim=[1],keepdim=True)+torch.clamp(x,min=-0.5,max=0.5)
@case([r(2,3,4,5)])
def permutes(x: Tensor)->Tensor:
    return x.permute(0,2,3,1).contiguous().view(2,-1,3).transpose(1,2).flatten(1)
@case([r(4,6)])
def as_strided_fn(x: Tensor)->Tensor:
    return torch.as_strided(x,(3,3),(6,2))+x.unfold(1,2,2).sum()
@case([r(10)],[r(20)])
def dyn_size(x: Tensor)->Tensor:
    n=x.size(0)
    if n>15: x=x[:15]
    m=x.size(0)//2
    return torch.cat([x[:m],torch.zeros(m)],0)
@case([torch.tensor(5)],[torch.tensor(0)])
def fib(n: Tensor)->int:
    a,b=0,1
    for _ in range(int(n)): a,b=b,a+b
    return a
@case([r(3,3)])
def matrix_stuff(x: Tensor)->Tuple[Tensor,Tensor]:
    return torch.linalg.inv(x@x.t()+torch.eye(3)), torch.einsum('ij,kj->ik',x,x)
def to_list(a):
    o=[]
    for x in a:
        if isinstance(x,(list,tuple)): o+=to_list(x)
        else: o.append(x)
    return o
def flat(x):
    if isinstance(x,Tensor): return [x]
    if isinstance(x,dict): return [t for v in x.values() for t in flat(v)]
    if isinstance(x,(list,tuple)): return [t for v in x for t in flat(v)]
    if isinstance(x,(int,float,bool)): return [torch.tensor(x)]
    return []
for name,f,inputs in CASES:
    d=f'{out}/own__{name}'; os.makedirs(d,exist_ok=True)
    torch.jit.script(f).save(f'{d}/model.pt')
    io={}
    for k,inp in enumerate(inputs):
        l=torch.jit.load(f'{d}/model.pt')  # again: a fresh state
        p=f'case{k}.' if len(inputs)>1 else ''
        for i,t in enumerate(to_list(inp)):
            if t is not None: io[f'{p}in_{i}']=t.clone().contiguous()
        for i,t in enumerate(flat(l(*[t.clone() if isinstance(t,Tensor) else t for t in inp]))):
            io[f'{p}out_{i}']=t.detach().clone().contiguous()
    save_file(io,f'{d}/io.safetensors')
print(len(CASES),'cases')
