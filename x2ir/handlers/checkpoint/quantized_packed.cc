// Matrices of integers of few bits, packed into int32 words: GPTQ, AWQ and compressed-tensors;
// mxfp4.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "x2ir/handlers/checkpoint/quantized_forms.h"
#include "x2ir/handlers/checkpoint/quantized_parts.h"

namespace x2ir::checkpoint {
namespace {

uint32_t WordAt(const Tensor& words, int64_t i) {
  uint32_t word;
  std::memcpy(&word, words.bytes().data() + i * 4, 4);
  return word;
}

// Number i of a run of words, word k of which is at `first + k * step`: the bits of the numbers
// follow each other, across the ends of words, too.
uint32_t NumberAt(const Tensor& words, int64_t first, int64_t step, int64_t i, int bits) {
  const int64_t at = i * bits, k = at / 32;
  const int shift = static_cast<int>(at % 32);
  uint64_t both = WordAt(words, first + k * step);
  if (shift + bits > 32) both |= uint64_t{WordAt(words, first + (k + 1) * step)} << 32;
  return static_cast<uint32_t>(both >> shift) & ((1u << bits) - 1);
}

// The inputs, group by group, where `index` says which group each is in; nothing where they are in
// that order already.
std::vector<int64_t> OrderOf(const StoredParts& parts, std::string_view part, const Tensor& index,
                             int64_t width, int64_t groups) {
  if (!IsInteger(index.dtype())) parts.Wrong(part, "group numbers of ", Name(index.dtype()));
  parts.Expect(part, index, {width});
  const int64_t group = width / groups;
  std::vector<std::vector<int64_t>> members(static_cast<size_t>(groups));
  bool in_order = true;
  for (int64_t i = 0; i < width; ++i) {
    const int64_t number = index.AsInt(i);
    if (number < 0 || number >= groups) {
      parts.Wrong(part, "input ", i, " is in group ", number, " of ", groups);
    }
    members[number].push_back(i);
    in_order &= number == i / group;
  }
  std::vector<int64_t> order;
  for (const auto& of_group : members) {
    if (static_cast<int64_t>(of_group.size()) != group) {
      Refuse("weight '", parts.prefix(), part, "': groups of several sizes, ", group, " and ",
             of_group.size());
    }
    order.insert(order.end(), of_group.begin(), of_group.end());
  }
  if (in_order) order.clear();
  return order;
}

QuantizedWeight Made(const StoredParts& parts, IntegerMatrix matrix,
                     std::vector<int64_t> order = {}) {
  QuantizedWeight weight{{matrix.rows, matrix.width}, parts.names(), std::move(order), {}};
  const auto shared = std::make_shared<const IntegerMatrix>(std::move(matrix));
  weight.make = [shared](Builder& b, std::string_view name) {
    return IntegersAsIr(b, *shared, name);
  };
  return weight;
}

// Of `width` inputs; refused where they do not divide them.
int64_t GroupSize(const StoredParts& parts, const Tensor& scales, int64_t width) {
  const int64_t groups = scales.dim(0);
  if (groups < 1 || width < 1 || width % groups != 0) {
    parts.Wrong("scales", groups, " groups of ", width, " inputs");
  }
  return width / groups;
}

void CheckGroup(const StoredParts& parts, const Packing& packing, int64_t group, int64_t width) {
  const int64_t expected = packing.group < 0 ? width : packing.group;
  if (!packing.by_layer && group != expected) {
    parts.Wrong("scales", "groups of ", group, " inputs; by the configuration they are of ",
                expected);
  }
}

std::function<float(int64_t, int64_t)> ByColumn(const Tensor& scales) {
  return [scales](int64_t row, int64_t group) {
    return static_cast<float>(scales.AsDouble(group * scales.dim(1) + row));
  };
}

}  // namespace

QuantizedWeight GptqMatrix(StoredParts& parts, const Packing& packing) {
  const Tensor words = parts.Words("qweight"), scales = parts.Scales("scales"),
               zeros = parts.Words("qzeros");
  const Tensor* index = parts.Find("g_idx");
  const int64_t rows = words.dim(1), stored_bits = words.dim(0) * 32;
  const int64_t width = index ? index->num_elements() : stored_bits / packing.bits;
  if (width < 1 || stored_bits % width != 0) {
    parts.Wrong("qweight", stored_bits, " bits of ", width, " inputs");
  }
  const int64_t bits = stored_bits / width;
  if ((bits != 2 && bits != 3 && bits != 4 && bits != 8) ||
      (!packing.by_layer && bits != packing.bits)) {
    parts.Wrong("qweight", bits, " bits for each input; by the configuration they are ",
                packing.bits);
  }
  parts.Expect("scales", scales, {-1, rows});
  const int64_t group = GroupSize(parts, scales, width), groups = width / group;
  if (rows * bits % 32 != 0) parts.Wrong("qzeros", rows, " numbers of ", bits, " bits");
  parts.Expect("qzeros", zeros, {groups, rows * bits / 32});
  CheckGroup(parts, packing, group, width);
  std::vector<int64_t> order;
  if (index) order = OrderOf(parts, "g_idx", *index, width, groups);
  IntegerMatrix m{.rows = rows, .width = width, .group = group, .bits = static_cast<int>(bits)};
  m.codes = [=](int64_t begin, int64_t end, uint8_t* to) {
    for (int64_t k = 0; k < width; ++k) {
      const int64_t i = order.empty() ? k : order[k];
      for (int64_t row = begin; row < end; ++row) {
        to[(row - begin) * width + k] =
            static_cast<uint8_t>(NumberAt(words, row, rows, i, static_cast<int>(bits)));
      }
    }
  };
  m.scale = ByColumn(scales);
  const int64_t one = packing.zero_less_one ? 1 : 0;
  m.zero = [=](int64_t row, int64_t g) {
    return one + NumberAt(zeros, g * zeros.dim(1), 1, row, static_cast<int>(bits));
  };
  m.read = {words};
  return Made(parts, std::move(m), order);
}

QuantizedWeight AwqMatrix(StoredParts& parts, const Packing& packing) {
  const Tensor words = parts.Words("qweight"), scales = parts.Scales("scales"),
               zeros = parts.Words("qzeros");
  const int64_t width = words.dim(0), across = words.dim(1), rows = across * 8;
  parts.Expect("scales", scales, {-1, rows});
  const int64_t group = GroupSize(parts, scales, width);
  parts.Expect("qzeros", zeros, {width / group, across});
  CheckGroup(parts, packing, group, width);
  // Eight outputs are in a word in the order 0, 2, 4, 6, 1, 3, 5, 7.
  const auto number = [across](const Tensor& of, int64_t i, int64_t row) {
    constexpr int kShift[] = {0, 16, 4, 20, 8, 24, 12, 28};
    return WordAt(of, i * across + row / 8) >> kShift[row % 8] & 15;
  };
  IntegerMatrix m{.rows = rows, .width = width, .group = group};
  m.codes = [=](int64_t begin, int64_t end, uint8_t* to) {
    for (int64_t i = 0; i < width; ++i) {
      for (int64_t row = begin; row < end; ++row) {
        to[(row - begin) * width + i] = static_cast<uint8_t>(number(words, i, row));
      }
    }
  };
  m.scale = ByColumn(scales);
  m.zero = [=](int64_t row, int64_t g) { return int64_t{number(zeros, g, row)}; };
  m.read = {words};
  return Made(parts, std::move(m));
}

// Floats of four bits, two to a byte, the first in the lower half; a power of two scales 32.
std::vector<QuantizedWeight> Mxfp4Matrices(StoredParts& parts, const std::string& name) {
  const std::string blocks_name = StrCat(name, "_blocks"), scales_name = StrCat(name, "_scales");
  const Tensor blocks = parts.At(blocks_name), scales = parts.At(scales_name);
  for (const Tensor* tensor : {&blocks, &scales}) {
    if (tensor->dtype() != DType::kUInt8) parts.Wrong(name, "bytes of ", Name(tensor->dtype()));
  }
  parts.Expect(blocks_name, blocks, {-1, -1, -1, 16});
  const int64_t experts = blocks.dim(0), rows = blocks.dim(1), groups = blocks.dim(2);
  parts.Expect(scales_name, scales, {experts, rows, groups});
  if (experts > 65536 || rows < 1 || groups < 1) {
    parts.Wrong(blocks_name, experts, " experts of [", rows, ",", groups, "] groups");
  }
  std::vector<QuantizedWeight> all;
  for (int64_t expert = 0; expert < experts; ++expert) {
    IntegerMatrix m{.rows = rows, .width = groups * 32, .group = 32, .bits = 8};
    const auto* from =
        reinterpret_cast<const uint8_t*>(blocks.bytes().data()) + expert * rows * groups * 16;
    m.codes = [=](int64_t begin, int64_t end, uint8_t* to) {
      // Twice the numbers, which are whole then.
      constexpr int kTwice[] = {0, 1, 2, 3, 4, 6, 8, 12};
      const auto code = [&](int bits) {
        return static_cast<uint8_t>(128 + (bits & 8 ? -kTwice[bits & 7] : kTwice[bits & 7]));
      };
      for (int64_t i = begin * groups * 16; i < end * groups * 16; ++i) {
        *to++ = code(from[i] & 15);
        *to++ = code(from[i] >> 4);
      }
    };
    const int64_t first = expert * rows * groups;
    m.scale = [=](int64_t row, int64_t g) {
      return std::ldexp(1.0F, static_cast<int>(scales.AsInt(first + row * groups + g)) - 128);
    };
    m.read = {blocks};
    all.push_back(Made(parts, std::move(m)));
  }
  return all;
}

// --- compressed-tensors --------------------------------------------------------------------------

namespace {

// Words that hold numbers of so many bits; what is left of each word is not used.
int64_t WordsFor(int64_t numbers, int bits) {
  const int64_t in_word = 32 / bits;
  return (numbers + in_word - 1) / in_word;
}

uint32_t NumberOfWord(const Tensor& words, int64_t first, int64_t step, int64_t i, int bits) {
  const int64_t in_word = 32 / bits;
  return WordAt(words, first + i / in_word * step) >> (i % in_word * bits) & ((1u << bits) - 1);
}

bool FitsScheme(const Scheme& scheme, int64_t rows, int64_t width, const Tensor& scales) {
  const int64_t count = scales.num_elements();
  switch (scheme.kind) {
    case Scheme::kTensor: return count == 1;
    case Scheme::kChannel: return scales.rank() > 0 && scales.dim(0) == rows && count == rows;
    case Scheme::kGroup:
      return scales.rank() == 2 && scales.dim(0) == rows && width % scheme.group == 0 &&
             scales.dim(1) == width / scheme.group;
    case Scheme::kBlock:
      return scales.rank() == 2 &&
             scales.dim(0) == (rows + scheme.block_rows - 1) / scheme.block_rows &&
             scales.dim(1) == (width + scheme.block_columns - 1) / scheme.block_columns;
  }
  return false;
}

// The scheme that the stored sizes are of.
const Scheme& SchemeOf(const StoredParts& parts, const std::vector<Scheme>& schemes, int64_t rows,
                       int64_t width, const Tensor& scales, bool is_float, int64_t words) {
  const Scheme* found = nullptr;
  for (const Scheme& scheme : schemes) {
    if (scheme.is_float != is_float || !FitsScheme(scheme, rows, width, scales)) continue;
    if (words >= 0 && words != WordsFor(width, scheme.bits)) continue;
    if (found && found->bits != scheme.bits) {
      parts.Wrong("weight_scale", "the sizes are those of ", found->bits, " and of ", scheme.bits,
                  " bits");
    }
    if (!found) found = &scheme;
  }
  if (!found) {
    parts.Wrong("weight_scale",
                "no group of the configuration has matrices and scales of these "
                "sizes");
  }
  return *found;
}

// Of `rows` by `groups` zero points, as signed numbers.
std::function<int64_t(int64_t, int64_t)> SignedZeros(StoredParts& parts, int64_t rows,
                                                     int64_t groups, int bits) {
  const Tensor* found = parts.Find("weight_zero_point");
  if (!found) return nullptr;
  const Tensor zeros = *found;
  if (zeros.dtype() == DType::kInt32) {
    parts.Expect("weight_zero_point", zeros, {WordsFor(rows, bits), groups});
    return [=](int64_t row, int64_t g) {
      return int64_t{NumberOfWord(zeros, g, groups, row, bits)} - (1 << (bits - 1));
    };
  }
  if (zeros.dtype() != DType::kInt8) {
    parts.Wrong("weight_zero_point", "zero points of ", Name(zeros.dtype()));
  }
  const int64_t count = zeros.num_elements(), middle = int64_t{1} << (bits - 1);
  if (count != rows * groups && !(count == 1 && groups == 1)) {
    parts.Wrong("weight_zero_point", count, " zero points for ", rows, " rows of ", groups,
                " groups");
  }
  for (int64_t i = 0; i < count; ++i) {
    if (zeros.AsInt(i) < -middle || zeros.AsInt(i) >= middle) {
      parts.Wrong("weight_zero_point", zeros.AsInt(i), " is not of ", bits, " bits");
    }
  }
  return [=](int64_t row, int64_t g) { return zeros.AsInt(count == 1 ? 0 : row * groups + g); };
}

}  // namespace

QuantizedWeight CompressedMatrix(StoredParts& parts, const std::vector<Scheme>& schemes) {
  const Tensor* packed = parts.Find("weight_packed");
  const Tensor scales = parts.Scales("weight_scale");
  int64_t rows = 0, width = 0;
  Tensor stored;
  if (packed) {
    stored = parts.Words("weight_packed");
    const Tensor& shape = parts.At("weight_shape");
    if (!IsInteger(shape.dtype())) parts.Wrong("weight_shape", "of ", Name(shape.dtype()));
    parts.Expect("weight_shape", shape, {2});
    rows = shape.AsInt(0);
    width = shape.AsInt(1);
    if (rows != stored.dim(0) || width < 1 || width / 16 > stored.dim(1)) {
      parts.Wrong("weight_shape", "[", rows, ",", width, "] of ", stored.dim(0), " rows of ",
                  stored.dim(1), " words");
    }
  } else {
    stored = parts.At("weight");
    parts.Expect("weight", stored, {-1, -1});
    rows = stored.dim(0);
    width = stored.dim(1);
  }
  if (rows < 1 || width < 1) parts.Wrong("weight", "[", rows, ",", width, "]");
  const bool is_float = IsFloating(stored.dtype());
  if (!is_float && !packed && stored.dtype() != DType::kInt8) {
    parts.Wrong("weight", "numbers of ", Name(stored.dtype()));
  }
  const Scheme& scheme =
      SchemeOf(parts, schemes, rows, width, scales, is_float, packed ? stored.dim(1) : -1);
  if (is_float) {
    if (const Tensor* zeros = parts.Find("weight_zero_point")) {
      for (int64_t i = 0; i < zeros->num_elements(); ++i) {
        if (!IsNumeric(zeros->dtype()) || zeros->AsDouble(i) != 0) {
          parts.Wrong("weight_zero_point", "floats with zero points");
        }
      }
    }
    if (scheme.kind != Scheme::kGroup) {
      return Float8Matrix(parts, scheme.block_rows, scheme.block_columns);
    }
    return Float8Matrix(parts, 1, scheme.group);
  }
  if (scheme.kind == Scheme::kBlock) {
    Refuse("weight '", parts.prefix(), "weight': integers in blocks of rows and columns");
  }
  const int64_t group = scheme.kind == Scheme::kGroup ? scheme.group : width,
                groups = width / group;
  const int bits = packed ? scheme.bits : 8;
  std::vector<int64_t> order;
  if (const Tensor* index = parts.Find("weight_g_idx")) {
    // All -1: there is no such order.
    if (index->num_elements() < 1 || !IsInteger(index->dtype()) || index->AsInt(0) != -1) {
      order = OrderOf(parts, "weight_g_idx", *index, width, groups);
    }
  }
  IntegerMatrix m{.rows = rows, .width = width, .group = group, .bits = bits};
  const bool as_bytes = !packed;
  m.codes = [=](int64_t begin, int64_t end, uint8_t* to) {
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t k = 0; k < width; ++k) {
        const int64_t i = order.empty() ? k : order[k];
        *to++ = as_bytes
                    ? static_cast<uint8_t>(stored.AsInt(row * width + i) + 128)
                    : static_cast<uint8_t>(NumberOfWord(stored, row * stored.dim(1), 1, i, bits));
      }
    }
  };
  if (as_bytes && order.empty()) m.as_int8 = stored;
  const bool is_single = scales.num_elements() == 1;
  m.scale = [=](int64_t row, int64_t g) {
    return static_cast<float>(scales.AsDouble(is_single ? 0 : row * groups + g));
  };
  if (const auto zero = SignedZeros(parts, rows, groups, bits)) {
    m.zero = [=](int64_t row, int64_t g) { return zero(row, g) + (int64_t{1} << (bits - 1)); };
  }
  m.read = {stored};
  return Made(parts, std::move(m), order);
}

}  // namespace x2ir::checkpoint
