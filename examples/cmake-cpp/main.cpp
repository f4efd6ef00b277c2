// attention DEVICE: causal attention of one sequence of 8 query and 2 key heads in bf16, compared with a plain loop.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "fmha.h"

namespace {

constexpr int heads_q = 8, heads_k = 2, tokens = 77, dim = 64;

void need(fmha_status status) {
    if (status != FMHA_OK)
        throw std::runtime_error(std::string(fmha_status_name(status)) + ": " + fmha_last_error());
}

struct CloseDevice {
    void operator()(fmha_device *device) const { fmha_device_close(device); }
};
using Device = std::unique_ptr<fmha_device, CloseDevice>; // its memory goes with it

// bf16 is the upper half of a float.
double value(std::uint16_t bits) {
    std::uint32_t wide = std::uint32_t(bits) << 16;
    float number;
    std::memcpy(&number, &wide, sizeof number);
    return number;
}

// A tensor [heads][tokens][dim], here and on the device.
class Tensor {
  public:
    explicit Tensor(int heads) : host(std::size_t(heads) * tokens * dim) {}

    // Numbers from -1 to 1 that bf16 holds exactly.
    void fill(unsigned state) {
        for (auto &bits : host) {
            state = state * 1664525 + 1013904223;
            float number = float(int(state >> 26) - 32) / 32;
            std::uint32_t wide;
            std::memcpy(&wide, &number, sizeof wide);
            bits = std::uint16_t(wide >> 16);
        }
    }

    fmha_tensor upload(fmha_device *device, const char *label) {
        need(fmha_memory_alloc(device, host.size() * 2, label, &address));
        need(fmha_memory_write(device, address, host.data(), host.size() * 2));
        return {address, 0, std::int64_t(tokens) * dim, dim};
    }

    void download(fmha_device *device) { need(fmha_memory_read(device, host.data(), address, host.size() * 2)); }

    double at(int head, int token, int d) const { return value(host[(std::size_t(head) * tokens + token) * dim + d]); }

  private:
    std::vector<std::uint16_t> host;
    void *address = nullptr;
};

std::vector<double> reference(const Tensor &q, const Tensor &k, const Tensor &v, int head, int row) {
    std::vector<double> out(dim);
    double sum = 0;
    int head_k = head / (heads_q / heads_k);
    for (int j = 0; j <= row; j++) {
        double score = 0;
        for (int d = 0; d < dim; d++)
            score += q.at(head, row, d) * k.at(head_k, j, d);
        double weight = std::exp(score / std::sqrt(dim));
        sum += weight;
        for (int d = 0; d < dim; d++)
            out[d] += weight * v.at(head_k, j, d);
    }
    for (double &number : out)
        number /= sum;
    return out;
}

int run(const char *name) {
    fmha_device *opened = nullptr;
    need(fmha_device_open(name, &opened));
    Device device(opened);
    fmha_device_info info;
    need(fmha_device_get_info(device.get(), &info));

    Tensor q(heads_q), k(heads_k), v(heads_k), o(heads_q);
    q.fill(1);
    k.fill(2);
    v.fill(3);
    fmha_forward_problem problem = FMHA_FORWARD_PROBLEM_INIT;
    problem.dtype = FMHA_DTYPE_BF16;
    problem.mask = FMHA_MASK_CAUSAL_BOTTOM_RIGHT;
    problem.head_dim = dim;
    problem.scale = 1 / std::sqrt(float(dim));
    problem.batch = 1;
    problem.heads_q = heads_q;
    problem.heads_k = heads_k;
    problem.seqlen_q = problem.seqlen_k = tokens;
    problem.q = q.upload(device.get(), "q");
    problem.k = k.upload(device.get(), "k");
    problem.v = v.upload(device.get(), "v");
    problem.o = o.upload(device.get(), "o");
    need(fmha_forward(device.get(), &problem));
    need(fmha_device_synchronize(device.get(), nullptr));
    o.download(device.get());

    // Weights and O are rounded to bf16, each by at most 2^-9 of numbers up to 1; the rest is float32.
    double largest = 0, bound = 1.1 * std::pow(2, -8);
    int wrong = 0;
    for (int head = 0; head < heads_q; head++)
        for (int row = 0; row < tokens; row++) {
            std::vector<double> expected = reference(q, k, v, head, row);
            for (int d = 0; d < dim; d++) {
                double error = std::fabs(o.at(head, row, d) - expected[d]);
                largest = std::max(largest, error);
                wrong += !(error <= bound); // NaN is wrong, too
            }
        }
    std::printf("%s: largest error %.2g, %.2g allowed, %d elements wrong\n", info.name, largest, bound, wrong);
    return wrong ? 1 : 0;
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: attention DEVICE (hip, hip:1, emu:gfx1151)\n");
        return 2;
    }
    try {
        return run(argv[1]);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "attention: %s\n", error.what());
        return 1;
    }
}
