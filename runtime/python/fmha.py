"""Attention of libfmha on PyTorch's tensors, on their device and on its current stream. One file, no build step.

    import fmha
    o = fmha.attention(q, k, v, causal=True)                    # [batch, heads, length, head_dim], as torch's own
    o, lse = fmha.attention(q, k, v, window=(1024, 0), softcap=30.0, return_lse=True)
    o = fmha.decode(q, k_cache, v_cache, seqlens_k=lengths)     # a query or a few against a long cache

Strides are whatever they are: q.transpose(1, 2) of a tensor [batch, length, heads, head_dim] costs nothing. There is no
gradient. libfmha.so is $FMHA_LIBRARY, or what stands beside this file or in the folder above, or what the loader finds;
where its kernels come from is said in docs/libfmha.md.
"""

import ctypes
import glob
import os
import threading

__all__ = ["attention", "decode", "merge", "Error", "version"]

_i32, _i64, _u32, _u64 = ctypes.c_int32, ctypes.c_int64, ctypes.c_uint32, ctypes.c_uint64
_f32, _size, _address = ctypes.c_float, ctypes.c_size_t, ctypes.c_void_p


class _Tensor(ctypes.Structure):
    _fields_ = [("data", _address), ("stride_batch", _i64), ("stride_head", _i64), ("stride_row", _i64)]


def _fields(kind, names):
    return [(name, kind) for name in names.split()]


class _Forward(ctypes.Structure):
    """fmha_forward_problem of fmha.h."""

    _fields_ = (
        [("struct_bytes", _size)]
        + _fields(_i32, "dtype mask v_layout head_dim head_dim_v")
        + [("scale", _f32)]
        + _fields(_i64, "batch heads_q heads_k seqlen_q seqlen_k")
        + _fields(_Tensor, "q k v o")
        + [("lse", _address), ("workspace", _address), ("workspace_bytes", _size), ("stream", _address)]
        + _fields(_i32, "window window_left window_right sink_keys")
        + _fields(_f32, "softcap dropout")
        + _fields(_i32, "varlen page_size block_mask_q block_mask_k bias_dtype")
        + [("modifier", _u32)]
        + _fields(_address, "prefix_lengths alibi_slopes sink head_scale")
        + _fields(_address, "cu_seqlens_q cu_seqlens_k seqlens_q seqlens_k block_table")
        + _fields(_Tensor, "bias attn_mask block_mask")
        + _fields(_i64, "stride_alibi_batch stride_block_table tokens_q")
        + _fields(_u64, "dropout_seed dropout_offset")
        + [("modifier_values", _f32 * 8), ("modifier_buffers", _address * 4)]
        + _fields(_i32, "kv_dtype kv_scale")
        + _fields(_Tensor, "k_scale v_scale")
    )


class _Decode(ctypes.Structure):
    """fmha_decode_problem of fmha.h."""

    _fields_ = (
        [("struct_bytes", _size)]
        + _fields(_i32, "dtype mask v_layout head_dim head_dim_v")
        + [("scale", _f32)]
        + _fields(_i64, "batch heads_q heads_k seqlen_q seqlen_k splits")
        + _fields(_Tensor, "q k v o")
        + [("lse", _address), ("workspace", _address), ("workspace_bytes", _size), ("stream", _address)]
        + _fields(_i32, "window window_left window_right sink_keys")
        + [("softcap", _f32)]
        + _fields(_i32, "varlen page_size bias_dtype kv_dtype kv_scale")
        + [("modifier", _u32)]
        + _fields(_address, "prefix_lengths alibi_slopes sink head_scale")
        + _fields(_address, "cu_seqlens_q cu_seqlens_k seqlens_q seqlens_k block_table")
        + _fields(_Tensor, "bias attn_mask")
        + _fields(_i64, "stride_alibi_batch stride_block_table tokens_q")
        + [("modifier_values", _f32 * 8), ("modifier_buffers", _address * 4)]
        + _fields(_Tensor, "k_scale v_scale")
    )


class _Merge(ctypes.Structure):
    """fmha_merge_problem of fmha.h."""

    _fields_ = (
        [("struct_bytes", _size)]
        + _fields(_i32, "dtype partial_dtype")
        + _fields(_i64, "splits batch heads_q seqlen_q head_dim_v")
        + [("o_partial", _Tensor), ("stride_o_partial_split", _i64), ("lse_partial", _address), ("o", _Tensor)]
        + _fields(_address, "lse stream")
    )


class Error(RuntimeError):
    """What libfmha refused, with its text; `status` is its name, "FMHA_ERROR_NO_INSTANCE"."""

    def __init__(self, status, text):
        super().__init__(f"{status}: {text}")
        self.status = status


# ---- The library and its devices -----------------------------------------------------------------------------------

_lock = threading.RLock()
_loaded = None
_devices = {}


def _find_library():
    chosen = os.environ.get("FMHA_LIBRARY")
    if chosen:
        return chosen
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in (here, os.path.dirname(here)):
        found = sorted(glob.glob(os.path.join(folder, "libfmha.so*")))
        if found:
            return found[0]
    return "libfmha.so"


def _library():
    global _loaded
    with _lock:
        if _loaded is None:
            path = _find_library()
            try:
                library = ctypes.CDLL(path)
            except OSError as why:
                raise Error(
                    "FMHA_ERROR_IO", f"{path}: {why}; install libfmha, or let FMHA_LIBRARY name libfmha.so"
                ) from None
            library.fmha_last_error.restype = ctypes.c_char_p
            library.fmha_status_name.restype = ctypes.c_char_p
            library.fmha_version.restype = ctypes.c_char_p
            _loaded = library
        return _loaded


def version():
    """That of libfmha."""
    return _library().fmha_version().decode()


def _check(status):
    if status:
        library = _library()
        raise Error(library.fmha_status_name(status).decode(), library.fmha_last_error().decode(errors="replace"))


def _torch():
    import torch

    return torch


def _name_of(device):
    """Of a tensor's device: "cuda:1", or "hip:1" where PyTorch was built for ROCm."""
    torch = _torch()
    if device.type != "cuda":
        raise Error("FMHA_ERROR_ARGUMENT", f"expected tensors on a GPU, got one on {device}; move it with .cuda()")
    ordinal = device.index if device.index is not None else torch.cuda.current_device()
    return f"{'hip' if getattr(torch.version, 'hip', None) else 'cuda'}:{ordinal}"


def _load_nvrtc():
    """PyTorch brings NVRTC in a folder where no loader looks; libfmha takes one that is loaded."""
    site = os.path.dirname(os.path.dirname(os.path.abspath(_torch().__file__)))
    for path in sorted(glob.glob(os.path.join(site, "nvidia", "*", "lib", "libnvrtc.so.*")), reverse=True):
        try:
            ctypes.CDLL(path)
            return
        except OSError:
            continue


def _device(tensor):
    name = _name_of(tensor.device)
    library = _library()
    with _lock:
        if name not in _devices:
            if name.startswith("cuda") and not os.environ.get("FMHA_NVRTC_LIBRARY"):
                _load_nvrtc()
            opened = _address()
            _check(library.fmha_device_open(name.encode(), ctypes.byref(opened)))
            _devices[name] = opened
        return _devices[name]


# ---- Tensors -------------------------------------------------------------------------------------------------------


def _refuse(text):
    raise Error("FMHA_ERROR_ARGUMENT", text)


def _dtype_of(name, tensor):
    torch = _torch()
    if tensor.dtype == torch.float16:
        return 1
    if tensor.dtype == torch.bfloat16:
        return 2
    return _refuse(f"{name}: expected torch.float16 or torch.bfloat16, got {tensor.dtype}; convert it with .half()")


def _check_like(first, tensors):
    """Whether all are where `first` is, a pair of a name and a tensor, and want no gradient."""
    torch = _torch()
    device = first[1].device
    for name, tensor in tensors.items():
        if tensor.device != device:
            _refuse(f"{name}: expected a tensor on {device} as {first[0]}, got one on {tensor.device}")
        if torch.is_grad_enabled() and tensor.requires_grad:
            _refuse(f"{name}: expected a tensor without gradient, got one that requires it; use torch.no_grad()")


def _tensors(options):
    return {name: value for name, value in options.items() if hasattr(value, "data_ptr")}


def _dense(name, tensor, dimensions=4):
    """[batch, heads, rows, columns]; packed [tokens, heads, columns], whose batches have no stride."""
    if tensor.dim() != dimensions:
        shape = "[batch, heads, length, head_dim]" if dimensions == 4 else "[tokens, heads, head_dim]"
        _refuse(f"{name}: expected {shape}, got the shape {tuple(tensor.shape)}")
    if tensor.shape[-1] > 1 and tensor.stride(-1) != 1:
        _refuse(f"{name}: expected contiguous rows, got a stride of {tensor.stride(-1)} elements; use .contiguous()")
    strides = tensor.stride()
    if dimensions == 3:
        return _Tensor(tensor.data_ptr(), 0, strides[1], strides[0])
    return _Tensor(tensor.data_ptr(), strides[0], strides[1], strides[2])


def _list(name, tensor, dtype, count=None):
    """The address of a contiguous tensor of that type, NULL for None."""
    if tensor is None:
        return None
    if tensor.dtype != dtype or not tensor.is_contiguous():
        _refuse(f"{name}: expected a contiguous tensor of {dtype}, got {tensor.dtype}")
    if count is not None and tensor.numel() != count:
        _refuse(f"{name}: expected {count} elements, got {tensor.numel()}")
    return tensor.data_ptr()


def _spread(name, tensor, shape):
    """A bias or mask that torch would broadcast to `shape`."""
    tensor = tensor.expand(shape)
    return _dense(name, tensor if tensor.stride(-1) == 1 or shape[-1] <= 1 else tensor.contiguous()), tensor


def _check_shape(name, tensor, shape):
    if tuple(tensor.shape) != tuple(shape):
        _refuse(f"{name}: expected the shape {tuple(shape)}, got {tuple(tensor.shape)}")


_masks = {False: 0, None: 0, True: 1, "bottom-right": 1, "top-left": 2}


def _fill(problem, q, k, v, o, lse, causal, scale, window, options):
    """What attention and decoding have in common. Returns what must live until the launch."""
    torch = _torch()
    packed = options.get("cu_seqlens_q") is not None
    paged = options.get("block_table") is not None
    batch = options["cu_seqlens_q"].numel() - 1 if packed else q.shape[0]
    heads_q, head_dim = q.shape[1], q.shape[-1]
    kept = []
    if causal not in _masks:
        _refuse(f"causal: expected True, False, 'bottom-right' or 'top-left', got {causal!r}")
    problem.struct_bytes = ctypes.sizeof(problem)
    problem.dtype = _dtype_of("q", q)
    for name, tensor in (("k", k), ("v", v)):
        if tensor.dtype != q.dtype:
            _refuse(f"{name}: expected {q.dtype} as q, got {tensor.dtype}")
    problem.mask = _masks[causal]
    problem.head_dim, problem.head_dim_v = head_dim, v.shape[-1]
    problem.scale = head_dim**-0.5 if scale is None else scale
    problem.batch, problem.heads_q, problem.heads_k = batch, heads_q, k.shape[1]
    dimensions = 3 if packed else 4
    problem.q, problem.o = _dense("q", q, dimensions), _dense("o", o, dimensions)
    cache_dimensions = 3 if packed and not paged else 4
    problem.k, problem.v = _dense("k", k, cache_dimensions), _dense("v", v, cache_dimensions)
    _check_shape("k", k, (*((batch,) if cache_dimensions == 4 and not paged else k.shape[:1]), *k.shape[1:-1], head_dim))
    _check_shape("v", v, (*k.shape[:-1], v.shape[-1]))
    if packed:
        problem.varlen, problem.tokens_q = 1, q.shape[0]
        problem.seqlen_q = options["max_seqlen_q"]
        problem.cu_seqlens_q = _list("cu_seqlens_q", options["cu_seqlens_q"], torch.int32, batch + 1)
    else:
        problem.seqlen_q = q.shape[2]
        problem.seqlens_q = _list("seqlens_q", options.get("seqlens_q"), torch.int32, batch)
    problem.seqlens_k = _list("seqlens_k", options.get("seqlens_k"), torch.int32, batch)
    if paged:
        table = options["block_table"]
        if table.dim() != 2 or table.shape[0] != batch or table.dtype != torch.int32 or table.stride(1) != 1:
            _refuse(f"block_table: expected int32 [{batch}, pages], got {table.dtype} {tuple(table.shape)}")
        problem.page_size = k.shape[2]
        problem.block_table, problem.stride_block_table = table.data_ptr(), table.stride(0)
        problem.seqlen_k = table.shape[1] * k.shape[2]
        if problem.seqlens_k is None:
            _refuse("seqlens_k: expected the lengths of the keys beside a block_table, got none")
    elif packed:
        problem.seqlen_k = options["max_seqlen_k"]
        problem.cu_seqlens_k = _list("cu_seqlens_k", options["cu_seqlens_k"], torch.int32, batch + 1)
    else:
        problem.seqlen_k = k.shape[2]
    if not packed and (problem.seqlens_q is not None or (problem.seqlens_k is not None and not paged)):
        problem.varlen = 2
        for name, length in (("seqlens_q", problem.seqlen_q), ("seqlens_k", problem.seqlen_k)):
            if getattr(problem, name) is None:  # all are as long as the tensor
                kept.append(torch.full((batch,), length, dtype=torch.int32, device=q.device))
                setattr(problem, name, kept[-1].data_ptr())
    problem.lse = lse.data_ptr() if lse is not None else None
    if window is not None and tuple(window) != (-1, -1):
        problem.window, problem.window_left, problem.window_right = 1, window[0], window[1]
    problem.sink_keys = options.get("sink_keys") or 0
    problem.softcap = options.get("softcap") or 0.0
    problem.sink = _list("sink", options.get("sink"), torch.float32, heads_q)
    problem.head_scale = _list("head_scale", options.get("head_scale"), torch.float32, heads_q)
    problem.prefix_lengths = _list("prefix_lengths", options.get("prefix_lengths"), torch.int32, batch)
    slopes = options.get("alibi_slopes")
    if slopes is not None:
        problem.alibi_slopes = _list("alibi_slopes", slopes, torch.float32, heads_q * (batch if slopes.dim() == 2 else 1))
        problem.stride_alibi_batch = heads_q if slopes.dim() == 2 else 0
    rows = (batch, heads_q, problem.seqlen_q, problem.seqlen_k)
    bias, mask = options.get("bias"), options.get("attn_mask")
    if bias is not None:
        problem.bias_dtype = 3 if bias.dtype == torch.float32 else _dtype_of("bias", bias)
        problem.bias, held = _spread("bias", bias, rows)
        kept.append(held)
    if mask is not None:
        if mask.dtype not in (torch.bool, torch.uint8):
            _refuse(f"attn_mask: expected torch.bool or torch.uint8, got {mask.dtype}; a bias is added by bias=")
        problem.attn_mask, held = _spread("attn_mask", mask, rows)
        kept.append(held)
    problem.stream = _stream(q)
    return kept


def _stream(tensor):
    return _torch().cuda.current_stream(tensor.device).cuda_stream


def _outputs(q, v, out, return_lse):
    torch = _torch()
    shape = tuple(q.shape[:-1]) + (v.shape[-1],)
    if out is None:
        out = torch.empty(shape, dtype=q.dtype, device=q.device)
    elif tuple(out.shape) != shape or out.dtype != q.dtype or out.device != q.device:
        _refuse(f"out: expected {q.dtype} {shape} on {q.device}, got {out.dtype} {tuple(out.shape)} on {out.device}")
    if not return_lse:
        return out, None
    lse_shape = tuple(q.shape[:3]) if q.dim() == 4 else (q.shape[1], q.shape[0])
    return out, torch.empty(lse_shape, dtype=torch.float32, device=q.device)


# ---- What callers call ---------------------------------------------------------------------------------------------


def attention(q, k, v, causal=False, scale=None, window=None, *, out=None, return_lse=False, dropout=0.0,
              dropout_seed=0, dropout_offset=0, **options):
    """softmax(scale Q K^T) V, with scale 1 / sqrt(head_dim) unless given.

    q is [batch, heads_q, length_q, head_dim], k and v [batch, heads_k, length_k, …], float16 or bfloat16; heads_k
    divides heads_q. `causal`: True and 'bottom-right' (the last query sees the last key) or 'top-left'. `window`: (left,
    right) keys beside the diagonal, -1 for no bound.

    Options: softcap, sink_keys; alibi_slopes ([heads_q] or [batch, heads_q]), sink and head_scale ([heads_q]), float32;
    prefix_lengths ([batch], int32); bias (added) and attn_mask (bool; False hides), broadcast to [batch, heads_q,
    length_q, length_k]. Lengths that differ: seqlens_q and seqlens_k ([batch], int32) of a padded batch; or a packed one,
    q [tokens, heads_q, head_dim], with cu_seqlens_q, cu_seqlens_k ([batch + 1], int32), max_seqlen_q, max_seqlen_k. Pages:
    k and v [pages, heads_k, page_size, …], with block_table ([batch, pages of a sequence], int32) and seqlens_k.

    Gives O, with return_lse also LSE ([batch, heads_q, length_q], float32; packed [heads_q, tokens])."""
    _check_like(("q", q), {"q": q, "k": k, "v": v, **_tensors(options)})
    _check_options(options)
    out, lse = _outputs(q, v, out, return_lse)
    problem = _Forward()
    kept = _fill(problem, q, k, v, out, lse, causal, scale, window, options)
    problem.dropout, problem.dropout_seed, problem.dropout_offset = dropout, dropout_seed, dropout_offset
    _check(_library().fmha_forward(_device(q), ctypes.byref(problem)))
    del kept
    return (out, lse) if return_lse else out


def decode(q, k, v, causal=True, scale=None, window=None, *, splits=0, out=None, return_lse=False, **options):
    """As `attention`, for one query or a few of each sequence over a long cache, whose keys several workgroups share:
    `splits` of them, 0: as many as suit the chip."""
    _check_like(("q", q), {"q": q, "k": k, "v": v, **_tensors(options)})
    _check_options(options)
    torch = _torch()
    out, lse = _outputs(q, v, out, return_lse)
    problem = _Decode()
    kept = _fill(problem, q, k, v, out, lse, causal, scale, window, options)
    problem.splits = splits
    library, device, needed = _library(), _device(q), _size()
    _check(library.fmha_decode_workspace_bytes(device, ctypes.byref(problem), ctypes.byref(needed)))
    if needed.value:
        kept.append(torch.empty(needed.value, dtype=torch.uint8, device=q.device))
        problem.workspace, problem.workspace_bytes = kept[-1].data_ptr(), needed.value
    _check(library.fmha_decode(device, ctypes.byref(problem)))
    del kept
    return (out, lse) if return_lse else out


def merge(o_partial, lse_partial, dtype, *, return_lse=False):
    """Puts together what attention gave over parts of the keys: o_partial [parts, batch, heads, length, head_dim] of
    float32 or `dtype`, lse_partial [parts, batch, heads, length] of float32, contiguous."""
    torch = _torch()
    _check_like(("o_partial", o_partial), {"o_partial": o_partial, "lse_partial": lse_partial})
    if o_partial.dim() != 5 or not o_partial.is_contiguous():
        _refuse(f"o_partial: expected a contiguous [parts, batch, heads, length, head_dim], got {tuple(o_partial.shape)}")
    parts, batch, heads, rows, columns = o_partial.shape
    o = torch.empty((batch, heads, rows, columns), dtype=dtype, device=o_partial.device)
    lse = torch.empty((batch, heads, rows), dtype=torch.float32, device=o_partial.device) if return_lse else None
    problem = _Merge(struct_bytes=ctypes.sizeof(_Merge), dtype=_dtype_of("dtype", o))
    problem.partial_dtype = 3 if o_partial.dtype == torch.float32 else _dtype_of("o_partial", o_partial)
    problem.splits, problem.batch, problem.heads_q, problem.seqlen_q = parts, batch, heads, rows
    problem.head_dim_v = columns
    strides = o_partial.stride()
    problem.stride_o_partial_split = strides[0]
    problem.o_partial = _Tensor(o_partial.data_ptr(), *strides[1:4])
    problem.lse_partial = _list("lse_partial", lse_partial, torch.float32, parts * batch * heads * rows)
    problem.o = _dense("o", o)
    problem.lse = lse.data_ptr() if return_lse else None
    problem.stream = _stream(o_partial)
    _check(_library().fmha_merge(_device(o_partial), ctypes.byref(problem)))
    return (o, lse) if return_lse else o


_known = set(
    "softcap sink_keys alibi_slopes sink head_scale prefix_lengths bias attn_mask seqlens_q seqlens_k cu_seqlens_q "
    "cu_seqlens_k max_seqlen_q max_seqlen_k block_table".split()
)
_packed = ("cu_seqlens_q", "cu_seqlens_k", "max_seqlen_q", "max_seqlen_k")


def _check_options(options):
    for name in options:
        if name not in _known:
            raise TypeError(f"expected one of {', '.join(sorted(_known))}, got '{name}'")
    if options.get("cu_seqlens_q") is not None:
        needed = _packed[::2] if options.get("block_table") is not None else _packed
        for name in needed:
            if options.get(name) is None:
                _refuse(f"{name}: expected beside cu_seqlens_q, got none")
    for name in _packed:
        if options.get("cu_seqlens_q") is None and options.get(name) is not None:
            _refuse(f"{name}: expected with cu_seqlens_q alone, got it without")
