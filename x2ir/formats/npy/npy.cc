// Layout: magic, version, header size, the header (a Python dict literal padded to 64
// bytes), the elements.
#include "x2ir/formats/npy/npy.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "x2ir/formats/io/atomic_file.h"
#include "x2ir/formats/io/zip.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
// Elements of '<U0' take no bytes: only this bounds how many a header may ask for.
constexpr int64_t kMaxEmptyStrings = 1 << 16;

struct Row {
  std::string_view descr;  // without byte order
  DType dtype;
  int word;  // what byte order applies to: bytes of a number, of half a complex one
};
constexpr Row kRows[] = {
    {"b1", DType::kBool, 1},      {"i1", DType::kInt8, 1},        {"i2", DType::kInt16, 2},
    {"i4", DType::kInt32, 4},     {"i8", DType::kInt64, 8},       {"u1", DType::kUInt8, 1},
    {"u2", DType::kUInt16, 2},    {"u4", DType::kUInt32, 4},      {"u8", DType::kUInt64, 8},
    {"f2", DType::kFloat16, 2},   {"f4", DType::kFloat32, 4},     {"f8", DType::kFloat64, 8},
    {"c8", DType::kComplex64, 4}, {"c16", DType::kComplex128, 8},
};

struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<int64_t> dims;
};

// The dict literal: three known keys with a string, a bool and a tuple of integers.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  absl::StatusOr<Header> Parse() {
    Header header;
    bool descr = false, fortran = false, shape = false;
    if (!Take('{')) return Bad("expected '{'");
    while (!Take('}')) {
      const std::optional<std::string_view> key = Quoted();
      if (!key || !Take(':')) return Bad("expected a key");
      bool* seen = *key == "descr" ? &descr : *key == "shape" ? &shape : &fortran;
      if (*seen) return Bad("a key occurs twice");
      *seen = true;
      if (*key == "descr") {
        if (Next() == '[') return Unimplemented("arrays of records are not supported");
        const std::optional<std::string_view> value = Quoted();
        if (!value) return Bad("expected a string for descr");
        header.descr = *value;
      } else if (*key == "fortran_order") {
        header.fortran = Word("True");
        if (!header.fortran && !Word("False")) return Bad("expected True or False");
      } else if (*key == "shape") {
        if (!Tuple(&header.dims)) return Bad("expected a tuple of sizes for shape");
      } else {
        return Bad(StrCat("unknown key '", *key, "'"));
      }
      if (!Take(',') && Next() != '}') return Bad("expected ',' or '}'");
    }
    if (Next() != '\0') return Bad("text after the dict");
    if (!descr || !fortran || !shape) return Bad("expected descr, fortran_order and shape");
    return header;
  }

 private:
  absl::Status Bad(std::string_view what) const {
    return DataLoss("bad header at byte ", at_, ": ", what);
  }
  char Next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char c) {
    if (Next() != c) return false;
    ++at_;
    return true;
  }
  bool Word(std::string_view word) {
    Next();
    if (text_.substr(std::min(at_, text_.size()), word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  std::optional<std::string_view> Quoted() {
    const char quote = Next();
    if (quote != '\'' && quote != '"') return std::nullopt;
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return value;
  }
  bool Tuple(std::vector<int64_t>* dims) {
    if (!Take('(')) return false;
    while (!Take(')')) {
      Next();
      const char* end = text_.data() + text_.size();
      int64_t dim = 0;
      const auto result = std::from_chars(text_.data() + at_, end, dim);
      if (result.ec != std::errc() || dim < 0) return false;
      at_ = static_cast<size_t>(result.ptr - text_.data());
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2's long
      dims->push_back(dim);
      if (!Take(',') && Next() != ')') return false;
    }
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

// Calls f(to, from) for each element: its index in C order and in Fortran order.
template <typename F>
void ForEachFortran(absl::Span<const int64_t> dims, int64_t count, F f) {
  if (count == 0) return;  // then the other dims may be too large for strides
  std::vector<int64_t> stride(dims.size()), index(dims.size(), 0);
  int64_t step = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    stride[i] = step;
    step *= dims[i];
  }
  int64_t from = 0;
  for (int64_t to = 0; to < count; ++to) {
    f(to, from);
    for (size_t d = dims.size(); d-- > 0;) {
      from += stride[d];
      if (++index[d] < dims[d]) break;
      from -= stride[d] * dims[d];
      index[d] = 0;
    }
  }
}

// One element of an '<U' array: UCS-4 units up to the trailing NULs.
absl::StatusOr<std::string> DecodeUcs4(std::string_view bytes, bool big_endian) {
  std::vector<uint32_t> units(bytes.size() / 4);
  for (size_t i = 0; i < units.size(); ++i) {
    std::memcpy(&units[i], bytes.data() + 4 * i, 4);
    if (big_endian) units[i] = __builtin_bswap32(units[i]);
  }
  while (!units.empty() && units.back() == 0) units.pop_back();
  std::string text;
  for (const uint32_t c : units) {
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
      return DataLoss("U+", absl::Hex(c), " is not a valid character");
    }
    AppendUtf8(&text, c);
  }
  return text;
}

std::u32string EncodeUcs4(std::string_view text) {
  std::u32string units;
  for (size_t i = 0; i < text.size();) {
    const auto byte = [&](size_t k) { return static_cast<unsigned char>(text[i + k]); };
    const int length = byte(0) < 0x80 ? 1 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
    static constexpr unsigned char kLeadMask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    char32_t c = byte(0) & kLeadMask[length];
    for (int k = 1; k < length; ++k) c = c << 6 | (byte(static_cast<size_t>(k)) & 0x3f);
    units.push_back(c);
    i += static_cast<size_t>(length);
  }
  return units;
}

absl::StatusOr<Tensor> ReadStrings(const Header& header, std::string_view data, int64_t count) {
  const bool unicode = header.descr[1] == 'U';
  const bool big_endian = header.descr[0] == '>';
  uint64_t width = 0;
  const char* end = header.descr.data() + header.descr.size();
  const auto result = std::from_chars(header.descr.data() + 2, end, width);
  if (result.ec != std::errc() || result.ptr != end || width > data.size()) {
    if (result.ec != std::errc() || result.ptr != end || count != 0) {
      return DataLoss("element type '", header.descr, "' in ", data.size(), " bytes of data");
    }
  }
  if (unicode) width *= 4;
  if (width == 0
          ? count > kMaxEmptyStrings || !data.empty()
          : data.size() % width != 0 || data.size() / width != static_cast<uint64_t>(count)) {
    return DataLoss("shape (", Shape::FromInts(header.dims).ToString(), ") of '", header.descr,
                    "' does not fit ", data.size(), " bytes of data");
  }
  std::vector<std::string> values(static_cast<size_t>(count));
  absl::Status status;
  const auto decode = [&](int64_t to, int64_t from) {
    const std::string_view bytes = data.substr(static_cast<uint64_t>(from) * width, width);
    std::string& value = values[static_cast<size_t>(to)];
    if (!unicode) {
      value = bytes.substr(0, bytes.find_last_not_of('\0') + 1);
      return;
    }
    absl::StatusOr<std::string> text = DecodeUcs4(bytes, big_endian);
    if (text.ok()) {
      value = *std::move(text);
    } else {
      status.Update(Annotate(text.status(), StrCat("element ", to)));
    }
  };
  if (header.fortran) {
    ForEachFortran(header.dims, count, decode);
  } else {
    for (int64_t i = 0; i < count; ++i) decode(i, i);
  }
  X2IR_RETURN_IF_ERROR(status);
  return Tensor::Strings(header.dims, std::move(values));
}

// Numbers in another byte or element order than that of tensors.
Tensor Convert(const Header& header, const Row& row, std::string_view data) {
  Tensor tensor = Tensor::Zeros(row.dtype, header.dims);
  const int64_t count = tensor.num_elements();
  auto* out = reinterpret_cast<char*>(tensor.mutable_bytes().data());
  const size_t size = static_cast<size_t>(BitWidth(row.dtype)) / 8;
  const size_t word = static_cast<size_t>(row.word);
  const bool swap = header.descr[0] == '>' && word > 1;
  const auto move = [&](int64_t to, int64_t from) {
    char* target = out + static_cast<size_t>(to) * size;
    std::memcpy(target, data.data() + static_cast<size_t>(from) * size, size);
    if (!swap) return;
    for (size_t at = 0; at < size; at += word) std::reverse(target + at, target + at + word);
  };
  if (header.fortran) {
    ForEachFortran(header.dims, count, move);
  } else {
    for (int64_t i = 0; i < count; ++i) move(i, i);
  }
  return tensor;
}

absl::StatusOr<Tensor> Parse(const BlobPtr& file, uint64_t offset, uint64_t size) {
  const std::string_view bytes = file->view().substr(offset, size);
  if (bytes.substr(0, kMagic.size()) != kMagic || bytes.size() < 10) {
    return DataLoss("not an .npy file");
  }
  const int version = bytes[6];
  if (version < 1 || version > 3 || bytes[7] != 0) {
    return Unimplemented(".npy version ", version, ".", static_cast<int>(bytes[7]),
                         " is not known");
  }
  const size_t size_bytes = version == 1 ? 2 : 4;
  const size_t header_start = 8 + size_bytes;
  uint32_t header_size = 0;
  if (bytes.size() >= header_start) std::memcpy(&header_size, bytes.data() + 8, size_bytes);
  if (bytes.size() < header_start || header_size > bytes.size() - header_start) {
    return DataLoss("the file ends within its header");
  }
  X2IR_ASSIGN_OR_RETURN(Header header,
                        HeaderParser(bytes.substr(header_start, header_size)).Parse());
  const size_t data_start = header_start + header_size;
  const std::string_view data = bytes.substr(data_start);

  if (header.descr.size() < 2) return DataLoss("bad element type '", header.descr, "'");
  if (std::string_view("<>|=").find(header.descr[0]) == std::string_view::npos) {
    header.descr.insert(0, "=");  // a type without byte order is the host's
  }
  const std::optional<int64_t> count = CheckedProduct(header.dims);
  if (!count) return DataLoss("the shape is too large");
  const char kind = header.descr[1];
  if (kind == 'O') return Unimplemented("arrays of Python objects are not supported");
  if (kind == 'U' || kind == 'S') return ReadStrings(header, data, *count);

  const Row* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) {
    return std::string_view(header.descr).substr(1) == r.descr;
  });
  if (row == std::end(kRows)) {
    return Unimplemented("element type '", header.descr, "' is not supported");
  }
  const std::optional<int64_t> want = ByteSize(row->dtype, *count);
  if (!want || static_cast<uint64_t>(*want) != data.size()) {
    return DataLoss("shape (", Shape::FromInts(header.dims).ToString(), ") of '", header.descr,
                    "' does not fit ", data.size(), " bytes of data");
  }
  // With at most one dim that is not 1 the two orders are the same.
  if (std::count_if(header.dims.begin(), header.dims.end(), [](int64_t d) { return d != 1; }) < 2) {
    header.fortran = false;
  }
  if (header.fortran || (header.descr[0] == '>' && row->word > 1)) {
    return Convert(header, *row, data);
  }
  return TensorOf(row->dtype, header.dims, file, data.empty() ? 0 : offset + data_start,
                  data.size());
}

// The header of an array in C order, with magic and version, padded.
absl::StatusOr<std::string> MakeHeader(std::string_view descr, const Tensor& tensor) {
  std::string dict = StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (");
  for (int64_t i = 0; i < tensor.rank(); ++i) {
    StrAppend(&dict, i == 0 ? "" : " ", tensor.dim(i), ",");
  }
  // (3,) needs its comma, (2, 3) has none at the end.
  if (tensor.rank() > 1) dict.pop_back();
  dict += "), }";
  const size_t total = (10 + dict.size() + 1 + 63) / 64 * 64;
  dict.resize(total - 10 - 1, ' ');
  dict.push_back('\n');
  if (dict.size() > 0xffff) return CannotExpress("a rank of ", tensor.rank(), " is too high");
  const uint16_t size = static_cast<uint16_t>(dict.size());
  std::string header(kMagic);
  header.append({'\x01', '\0', static_cast<char>(size & 0xff), static_cast<char>(size >> 8)});
  return header + dict;
}

absl::Status AppendStrings(AtomicFile& file, const Tensor& tensor) {
  bool unicode = true;
  for (const std::string& value : tensor.strings()) {
    if (!value.empty() && value.back() == '\0') {
      return CannotExpress(file.path(), ": .npy cannot hold a string that ends in NUL");
    }
    unicode = unicode && IsValidUtf8(value);
  }
  std::vector<std::u32string> units;
  size_t width = 1;
  for (const std::string& value : tensor.strings()) {
    if (unicode) units.push_back(EncodeUcs4(value));
    width = std::max(width, unicode ? units.back().size() : value.size());
  }
  X2IR_ASSIGN_OR_RETURN(const std::string header,
                        MakeHeader(StrCat(unicode ? "<U" : "|S", width), tensor));
  X2IR_RETURN_IF_ERROR(file.Append(header));
  std::string cell;
  for (size_t i = 0; i < tensor.strings().size(); ++i) {
    if (unicode) {
      units[i].resize(width, U'\0');
      cell.assign(reinterpret_cast<const char*>(units[i].data()), 4 * width);
      units[i] = {};
    } else {
      cell = tensor.strings()[i];
      cell.resize(width, '\0');
    }
    X2IR_RETURN_IF_ERROR(file.Append(cell));
  }
  return absl::OkStatus();
}

absl::Status AppendNumbers(AtomicFile& file, const Tensor& tensor) {
  const Row* row = std::find_if(std::begin(kRows), std::end(kRows),
                                [&](const Row& r) { return r.dtype == tensor.dtype(); });
  if (row == std::end(kRows) || tensor.is_sparse()) {
    return CannotExpress(file.path(), ": .npy has no ", tensor.is_sparse() ? "sparse " : "",
                         Name(tensor.dtype()), "; use safetensors");
  }
  const bool bytes = row->word == 1;  // byte order means nothing
  X2IR_ASSIGN_OR_RETURN(const std::string header,
                        MakeHeader(StrCat(bytes ? "|" : "<", row->descr), tensor));
  X2IR_RETURN_IF_ERROR(file.Append(header));
  return file.Append(tensor);
}

}  // namespace

absl::StatusOr<Tensor> ReadNpy(const std::string& path) {
  X2IR_ASSIGN_OR_RETURN(const BlobPtr file, Blob::Open(path));
  absl::StatusOr<Tensor> tensor = Parse(file, 0, file->size());
  if (!tensor.ok()) return Annotate(tensor.status(), path);
  return tensor;
}

absl::StatusOr<std::vector<NamedTensor>> ReadNpz(BlobPtr file) {
  X2IR_ASSIGN_OR_RETURN(ZipArchive archive, ZipArchive::Open(std::move(file)));
  constexpr std::string_view kEnding = ".npy";
  std::vector<NamedTensor> all;
  for (const ZipEntry& entry : archive.entries()) {
    if (!entry.name.ends_with(kEnding)) continue;
    const std::string name(entry.name.substr(0, entry.name.size() - kEnding.size()));
    absl::StatusOr<Tensor> tensor;
    if (entry.stored()) {
      tensor = Parse(archive.file(), entry.offset, entry.size);
    } else {
      X2IR_ASSIGN_OR_RETURN(const ZipArchive::Bytes bytes, archive.Read(entry));
      const auto* data = reinterpret_cast<const std::byte*>(bytes.view.data());
      const BlobPtr unpacked =
          Blob::InMemory({data, bytes.view.size()}, bytes.owner, archive.file()->path());
      tensor = Parse(unpacked, 0, unpacked->size());
    }
    if (!tensor.ok()) return Annotate(tensor.status(), StrCat("array '", name, "'"));
    all.push_back({name, *std::move(tensor)});
  }
  return all;
}

absl::Status WriteNpy(const std::string& path, const Tensor& tensor) {
  X2IR_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  X2IR_RETURN_IF_ERROR(tensor.is_string() ? AppendStrings(file, tensor)
                                          : AppendNumbers(file, tensor));
  return file.Commit();
}

}  // namespace x2ir
