"""runtime/python/fmha.py: its structs against the header, and its results on the emulated device, through a stand-in for
PyTorch whose tensors lie in that device's memory. test_python.py LIBFMHA HEADER-FOLDER CC"""

import ctypes
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import types

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "runtime", "python"))
os.environ["FMHA_LIBRARY"] = sys.argv[1]
import fmha  # noqa: E402

# ---- A PyTorch of a few lines --------------------------------------------------------------------------------------

torch = types.ModuleType("torch")
torch.__file__ = "/nowhere/torch/__init__.py"
torch.float16, torch.bfloat16, torch.float32, torch.float64 = "float16", "bfloat16", "float32", "float64"
torch.int32, torch.uint8, torch.bool = "int32", "uint8", "bool"
codes = {"float16": "e", "float32": "f", "int32": "i", "uint8": "B", "bool": "B"}
sizes = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "int32": 4, "uint8": 1, "bool": 1}
torch.version = types.SimpleNamespace(hip=None)
torch.is_grad_enabled = lambda: True
torch.cuda = types.SimpleNamespace(current_stream=lambda device: types.SimpleNamespace(cuda_stream=0),
                                   current_device=lambda: 0)
sys.modules["torch"] = torch


class Device(str):
    type, index = "cuda", 0


gpu = Device("cuda:0")


class Tensor:
    requires_grad = False
    device = gpu

    def __init__(self, shape, dtype, strides=None, base=None, values=None):
        self.shape, self.dtype = tuple(shape), dtype
        if strides is None:
            strides, step = [], 1
            for size in reversed(self.shape):
                strides.insert(0, step)
                step *= size
        self.strides, self.base = tuple(strides), base
        if base is None:
            address = ctypes.c_void_p()
            count = max(1, math.prod(self.shape)) * sizes[dtype]
            fmha._check(library.fmha_memory_alloc(device, ctypes.c_size_t(count), b"tensor", ctypes.byref(address)))
            self.address = address.value
            raw = b"\xff" * count if values is None else struct.pack(f"{len(values)}{codes[dtype]}", *values)
            fmha._check(library.fmha_memory_write(device, address, raw, ctypes.c_size_t(count)))
        else:
            self.address = base.address

    def dim(self):
        return len(self.shape)

    def stride(self, axis=None):
        return self.strides if axis is None else self.strides[axis]

    def numel(self):
        return math.prod(self.shape)

    def data_ptr(self):
        return self.address

    def is_contiguous(self):
        return self.strides == Tensor(self.shape, self.dtype, base=self).strides

    def transpose(self, a, b):
        shape, strides = list(self.shape), list(self.strides)
        shape[a], shape[b], strides[a], strides[b] = shape[b], shape[a], strides[b], strides[a]
        return Tensor(shape, self.dtype, strides, self)

    def expand(self, shape):
        lead = len(shape) - self.dim()
        strides = [0] * lead + [0 if s == 1 and t != 1 else d for s, t, d in
                                zip(self.shape, shape[lead:], self.strides)]
        return Tensor(shape, self.dtype, strides, self)

    def values(self):
        top = self.base or self
        count = top.numel()
        raw = ctypes.create_string_buffer(max(1, count * sizes[self.dtype]))
        fmha._check(library.fmha_memory_read(device, raw, ctypes.c_void_p(self.address),
                                             ctypes.c_size_t(count * sizes[self.dtype])))
        return struct.unpack_from(f"{count}{codes[self.dtype]}", raw)

    def at(self):
        """A function from indices to values, whatever the strides."""
        values = self.values()
        return lambda *index: values[sum(i * s for i, s in zip(index, self.strides))]


torch.empty = lambda shape, dtype, device: Tensor([shape] if isinstance(shape, int) else shape, dtype)
torch.full = lambda shape, value, dtype, device: Tensor(shape, dtype, values=[value] * math.prod(shape))

library = fmha._library()
device = ctypes.c_void_p()
fmha._check(library.fmha_device_open(b"emu:gfx1151", ctypes.byref(device)))
fmha._devices["cuda:0"] = device


def random_tensor(*shape):
    return Tensor(shape, "float16", values=[random.uniform(-1, 1) for _ in range(math.prod(shape))])


# ---- Checks --------------------------------------------------------------------------------------------------------

failures = 0


def check(condition, text):
    global failures
    if not condition:
        failures += 1
        print(f"FAILED: {text}")


def expect(text, call):
    try:
        call()
    except (fmha.Error, TypeError) as error:
        check(str(error) == text, f"expected the error '{text}', got '{error}'")
    else:
        check(False, f"expected the error '{text}', got none")


def expect_rows(what, q_rows, key_of, value_of, seen, o_of, lse_of, scale):
    """One head: row by row against what it should be. f16 inputs and results, so 2^-9 of values up to 1."""
    for i, q in enumerate(q_rows):
        scores = [sum(a * b for a, b in zip(q, key_of(j))) * scale for j in seen(i)]
        most = max(scores, default=0)
        weights = [math.exp(s - most) for s in scores]
        total = sum(weights)
        columns = len(value_of(0))
        for c in range(columns):
            o = sum(w * value_of(j)[c] for w, j in zip(weights, seen(i))) / total if scores else 0
            check(abs(o - o_of(i, c)) < 2**-9, f"{what}: O[{i}][{c}]: expected {o}, got {o_of(i, c)}")
        if lse_of:
            lse = most + math.log(total) if scores else -math.inf
            check(lse == lse_of(i) or abs(lse - lse_of(i)) < 1e-3, f"{what}: LSE[{i}]: expected {lse}, got {lse_of(i)}")


def layout():
    names = {"fmha_forward_problem": fmha._Forward, "fmha_decode_problem": fmha._Decode, "fmha_merge_problem": fmha._Merge}
    lines, expected = [], []
    for name, kind in names.items():
        lines.append(f'printf("%zu\\n", sizeof({name}));')
        expected.append(ctypes.sizeof(kind))
        for field, *_ in kind._fields_:
            lines.append(f'printf("%zu\\n", offsetof({name}, {field}));')
            expected.append(getattr(kind, field).offset)
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
        with open(source, "w") as file:
            file.write("#include <stddef.h>\n#include <stdio.h>\n#include <fmha.h>\nint main(void) {\n" +
                       "\n".join(lines) + "\n}\n")
        subprocess.run([*sys.argv[3:], "-I", sys.argv[2], source, "-o", program], check=True)
        got = [int(n) for n in subprocess.run([program], check=True, stdout=subprocess.PIPE).stdout.split()]
    check(got == expected, f"the structs of fmha.h: expected {got}, got {expected}")


def dense():
    batch, heads, heads_k, rows, keys, dim = 2, 2, 1, 5, 9, 64
    q = random_tensor(batch, rows, heads, dim).transpose(1, 2)
    k, v = random_tensor(batch, heads_k, keys, dim), random_tensor(batch, heads_k, keys, dim)
    o, lse = fmha.attention(q, k, v, causal=True, return_lse=True)
    check(o.shape == (batch, heads, rows, dim) and lse.shape == (batch, heads, rows), "the shapes of what is made")
    qs, ks, vs, os_, ls = (t.at() for t in (q, k, v, o, lse))
    for b in range(batch):
        for h in range(heads):
            expect_rows("causal", [[qs(b, h, i, c) for c in range(dim)] for i in range(rows)],
                        lambda j: [ks(b, 0, j, c) for c in range(dim)], lambda j: [vs(b, 0, j, c) for c in range(dim)],
                        lambda i: range(i + keys - rows + 1), lambda i, c: os_(b, h, i, c), lambda i: ls(b, h, i),
                        dim**-0.5)
    mask = Tensor((1, 1, 1, keys), "bool", values=[j % 2 for j in range(keys)])
    o = fmha.attention(q, k, v, scale=0.5, attn_mask=mask, seqlens_k=Tensor((2,), "int32", values=[keys, 4]))
    os_ = o.at()
    for b in range(batch):
        expect_rows("masked and padded", [[qs(b, 1, i, c) for c in range(dim)] for i in range(rows)],
                    lambda j: [ks(b, 0, j, c) for c in range(dim)], lambda j: [vs(b, 0, j, c) for c in range(dim)],
                    lambda i: range(1, (keys, 4)[b], 2), lambda i, c: os_(b, 1, i, c), None, 0.5)


def packed():
    dim, tokens = 64, (0, 3, 3, 8)
    q, k, v = (random_tensor(tokens[-1], 2, dim) for _ in range(3))
    starts = Tensor((4,), "int32", values=tokens)
    o, lse = fmha.attention(q, k, v, cu_seqlens_q=starts, cu_seqlens_k=starts, max_seqlen_q=5, max_seqlen_k=5,
                            return_lse=True)
    qs, ks, vs, os_, ls = (t.at() for t in (q, k, v, o, lse))
    for first, last in zip(tokens, tokens[1:]):
        expect_rows("packed", [[qs(first + i, 1, c) for c in range(dim)] for i in range(last - first)],
                    lambda j: [ks(first + j, 1, c) for c in range(dim)], lambda j: [vs(first + j, 1, c) for c in range(dim)],
                    lambda i: range(last - first), lambda i, c: os_(first + i, 1, c), lambda i: ls(1, first + i), dim**-0.5)


def pages():
    dim, page, length = 64, 16, 40
    q = random_tensor(1, 4, 1, dim)
    k, v = random_tensor(5, 2, page, dim), random_tensor(5, 2, page, dim)
    table, lengths = Tensor((1, 3), "int32", values=[4, 0, 2]), Tensor((1,), "int32", values=[length])
    o, lse = fmha.decode(q, k, v, block_table=table, seqlens_k=lengths, splits=2, return_lse=True)
    qs, ks, vs, os_, ls = (t.at() for t in (q, k, v, o, lse))
    of = [4, 0, 2]
    for h in range(4):
        expect_rows("pages", [[qs(0, h, 0, c) for c in range(dim)]],
                    lambda j: [ks(of[j // page], h // 2, j % page, c) for c in range(dim)],
                    lambda j: [vs(of[j // page], h // 2, j % page, c) for c in range(dim)], lambda i: range(length),
                    lambda i, c: os_(0, h, 0, c), lambda i: ls(0, h, 0), dim**-0.5)


def merging():
    parts = Tensor((2, 1, 1, 1, 8), "float32", values=[1.0] * 8 + [3.0] * 8)
    o, lse = fmha.merge(parts, Tensor((2, 1, 1, 1), "float32", values=[0.0, 0.0]), "float16", return_lse=True)
    check(o.values() == (2.0,) * 8, f"merge: expected 2, got {o.values()}")
    check(abs(lse.values()[0] - math.log(2)) < 1e-6, f"merge: LSE {lse.values()}")


def errors():
    q = random_tensor(1, 2, 4, 64)
    wide, flat, other = Tensor(q.shape, "float64"), random_tensor(2, 4, 64), random_tensor(1, 2, 4, 64)
    prefix = "FMHA_ERROR_ARGUMENT: "
    expect(prefix + "q: expected torch.float16 or torch.bfloat16, got float64; convert it with .half()",
           lambda: fmha.attention(wide, wide, wide))
    expect(prefix + "k: expected float16 as q, got float64", lambda: fmha.attention(q, wide, wide))
    expect(prefix + "q: expected [batch, heads, length, head_dim], got the shape (2, 4, 64)",
           lambda: fmha.attention(flat, flat, flat))
    expect(prefix + "v: expected contiguous rows, got a stride of 4 elements; use .contiguous()",
           lambda: fmha.attention(q, q, random_tensor(1, 2, 64, 4).transpose(2, 3)))
    expect(prefix + "causal: expected True, False, 'bottom-right' or 'top-left', got 'yes'",
           lambda: fmha.attention(q, q, q, causal="yes"))
    expect(prefix + "sink: expected 2 elements, got 3",
           lambda: fmha.attention(q, q, q, sink=Tensor((3,), "float32", values=[0.0] * 3)))
    expect(prefix + "attn_mask: expected torch.bool or torch.uint8, got float32; a bias is added by bias=",
           lambda: fmha.attention(q, q, q, attn_mask=Tensor((1, 1, 4, 4), "float32")))
    expect(prefix + "k: expected the shape (1, 2, 4, 64), got (1, 2, 4, 32)",
           lambda: fmha.attention(q, random_tensor(1, 2, 4, 32), q))
    expect(prefix + "k: expected the shape (1, 2, 4, 64), got (2, 2, 4, 64)",
           lambda: fmha.decode(q, random_tensor(2, 2, 4, 64), q))
    expect(prefix + "v: expected the shape (1, 2, 4, 64), got (1, 2, 3, 64)",
           lambda: fmha.attention(q, q, random_tensor(1, 2, 3, 64)))
    expect(prefix + "alibi_slopes: expected 2 elements, got 4",
           lambda: fmha.attention(q, q, q, alibi_slopes=Tensor((1, 4), "float32", values=[0.0] * 4)))
    expect(prefix + "max_seqlen_k: expected with cu_seqlens_q alone, got it without",
           lambda: fmha.attention(q, q, q, max_seqlen_k=4))
    parts = Tensor((2, 1, 1, 2, 8), "float32")
    expect(prefix + "o_partial: expected a contiguous [parts, batch, heads, length, head_dim], got (2, 1, 1, 8, 2)",
           lambda: fmha.merge(parts.transpose(3, 4), Tensor((2, 1, 1, 8), "float32"), "float16"))
    expect(prefix + "out: expected float16 (1, 2, 4, 64) on cuda:0, got float32 (1, 2, 4, 64) on cuda:0",
           lambda: fmha.attention(q, q, q, out=Tensor(q.shape, "float32")))
    expect(prefix + "max_seqlen_q: expected beside cu_seqlens_q, got none",
           lambda: fmha.attention(flat, flat, flat, cu_seqlens_q=Tensor((2,), "int32"), cu_seqlens_k=Tensor((2,), "int32")))
    expect(prefix + "seqlens_k: expected the lengths of the keys beside a block_table, got none",
           lambda: fmha.decode(q, q, q, block_table=Tensor((1, 1), "int32")))
    expect("expected one of alibi_slopes, attn_mask, bias, block_table, cu_seqlens_k, cu_seqlens_q, head_scale, "
           "max_seqlen_k, max_seqlen_q, prefix_lengths, seqlens_k, seqlens_q, sink, sink_keys, softcap, got 'soft_cap'",
           lambda: fmha.attention(q, q, q, soft_cap=3.0))
    other.requires_grad = True
    expect(prefix + "k: expected a tensor without gradient, got one that requires it; use torch.no_grad()",
           lambda: fmha.attention(q, other, q))
    other.requires_grad, other.device = False, Device("cuda:1")
    expect(prefix + "v: expected a tensor on cuda:0 as q, got one on cuda:1", lambda: fmha.attention(q, q, other))
    cpu = random_tensor(1, 2, 4, 64)
    cpu.device = Device("cpu")
    cpu.device.type = "cpu"
    expect(prefix + "expected tensors on a GPU, got one on cpu; move it with .cuda()",
           lambda: fmha.attention(cpu, cpu, cpu))
    expect(prefix + "fmha_forward: scale: expected a number, got NaN; set it, usually to 1/sqrt(head_dim)",
           lambda: fmha.attention(q, q, q, scale=math.nan))
    fmha._loaded = None
    os.environ["FMHA_LIBRARY"] = "/nowhere/libfmha.so"
    expect("FMHA_ERROR_IO: /nowhere/libfmha.so: /nowhere/libfmha.so: cannot open shared object file: No such file or "
           "directory; install libfmha, or let FMHA_LIBRARY name libfmha.so", fmha.version)


random.seed(7)
for test in (layout, dense, packed, pages, merging, errors):
    test()
print(f"{failures} failures")
sys.exit(1 if failures else 0)
