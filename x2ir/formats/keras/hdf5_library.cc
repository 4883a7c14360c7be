// The HDF5 library, for files that are in forms which hdf5.cc does not know. It is loaded when the
// first such file comes: it may bring thirty libraries with it, and every start of a program would
// take several times as long.
#include <dlfcn.h>
#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "x2ir/formats/keras/hdf5_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::keras {
namespace {

constexpr uint64_t kMaxTexts = 1 << 20;
// Deflate packs no more than 1032 bytes into one.
constexpr uint64_t kMaxPerByte = 1032;
constexpr uint64_t kMaxUnpacked = uint64_t{1} << 32;

// Distributions build the library without locks of its own.
std::mutex& LibraryLock() {
  static auto& lock = *new std::mutex;
  return lock;
}

#define X2IR_HDF5_FUNCTIONS(X)    \
  X(H5Aclose)                     \
  X(H5Aexists)                    \
  X(H5Aget_space)                 \
  X(H5Aget_type)                  \
  X(H5Aopen)                      \
  X(H5Aread)                      \
  X(H5Dget_create_plist)          \
  X(H5Dget_offset)                \
  X(H5Dget_space)                 \
  X(H5Dget_storage_size)          \
  X(H5Dget_type)                  \
  X(H5Dread)                      \
  X(H5Dvlen_reclaim)              \
  X(H5Eset_auto2)                 \
  X(H5Fclose)                     \
  X(H5Fopen)                      \
  X(H5Iget_type)                  \
  X(H5Lget_info)                  \
  X(H5Literate)                   \
  X(H5Oclose)                     \
  X(H5Oopen)                      \
  X(H5PLset_loading_state)        \
  X(H5Pclose)                     \
  X(H5Pcreate)                    \
  X(H5Pget_external_count)        \
  X(H5Pget_layout)                \
  X(H5Pset_fapl_core)             \
  X(H5Pset_file_image)            \
  X(H5Pset_file_image_callbacks)  \
  X(H5Sclose)                     \
  X(H5Sget_simple_extent_dims)    \
  X(H5Sget_simple_extent_ndims)   \
  X(H5Sget_simple_extent_npoints) \
  X(H5Sget_simple_extent_type)    \
  X(H5Tclose)                     \
  X(H5Tequal)                     \
  X(H5Tget_class)                 \
  X(H5Tget_fields)                \
  X(H5Tget_native_type)           \
  X(H5Tget_order)                 \
  X(H5Tget_sign)                  \
  X(H5Tget_size)                  \
  X(H5Tget_strpad)                \
  X(H5Tis_variable_str)           \
  X(H5open)
#define X2IR_HDF5_VARIABLES(X) \
  X(H5P_CLS_FILE_ACCESS_ID_g)  \
  X(H5T_IEEE_F32LE_g)          \
  X(H5T_IEEE_F64LE_g)          \
  X(H5T_STD_I16LE_g)           \
  X(H5T_STD_I32LE_g)           \
  X(H5T_STD_I64LE_g)           \
  X(H5T_STD_I8LE_g)            \
  X(H5T_STD_U16LE_g)           \
  X(H5T_STD_U32LE_g)           \
  X(H5T_STD_U64LE_g)           \
  X(H5T_STD_U8LE_g)

struct Hdf5Api {
#define X2IR_HDF5_MEMBER(name) decltype(&::name) name = nullptr;
  X2IR_HDF5_FUNCTIONS(X2IR_HDF5_MEMBER)
  X2IR_HDF5_VARIABLES(X2IR_HDF5_MEMBER)
#undef X2IR_HDF5_MEMBER
};

// Null where it is not there.
const Hdf5Api* LoadHdf5() {
  static const Hdf5Api* library = []() -> const Hdf5Api* {
    void* handle = dlopen(X2IR_HDF5_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return nullptr;
    auto* api = new Hdf5Api;
    bool all = true;
    const auto find = [&](auto& member, const char* name) {
      member = reinterpret_cast<std::decay_t<decltype(member)>>(dlsym(handle, name));
      all = all && member;
    };
    // Some names are those of newer functions.
#define X2IR_HDF5_TEXT(name) #name
#define X2IR_HDF5_FIND(name) find(api->name, X2IR_HDF5_TEXT(name));
    X2IR_HDF5_FUNCTIONS(X2IR_HDF5_FIND)
    X2IR_HDF5_VARIABLES(X2IR_HDF5_FIND)
#undef X2IR_HDF5_FIND
#undef X2IR_HDF5_TEXT
    return all && api->H5open() >= 0 ? api : nullptr;
  }();
  return library;
}
const Hdf5Api& Api() { return *LoadHdf5(); }

constexpr unsigned kReadOnly = 0;

// An identifier of the library's, closed by its function.
class Id {
 public:
  using Close = herr_t (*)(hid_t);
  Id(hid_t id, Close close) : id_(id), close_(close) {}
  Id(Id&& o) noexcept : id_(std::exchange(o.id_, H5I_INVALID_HID)), close_(o.close_) {}
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  ~Id() {
    if (id_ >= 0) close_(id_);
  }
  hid_t get() const { return id_; }
  bool ok() const { return id_ >= 0; }

 private:
  hid_t id_;
  Close close_;
};

// --- Types of elements ---------------------------------------------------------------------------

struct Hdf5Type {
  DType dtype;
  hid_t (*native)();
};

// What a type of the file is, and the library's own type of the same elements. nullopt: none.
std::optional<Hdf5Type> TypeOfElements(hid_t type) {
  const H5T_class_t kind = Api().H5Tget_class(type);
  const size_t size = Api().H5Tget_size(type);
  if (kind == H5T_FLOAT) {
    if (size == 4) return Hdf5Type{DType::kFloat32, [] { return *Api().H5T_IEEE_F32LE_g; }};
    if (size == 8) return Hdf5Type{DType::kFloat64, [] { return *Api().H5T_IEEE_F64LE_g; }};
    // Halves: five bits of exponent, ten of fraction.
    size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
    if (size == 2 && Api().H5Tget_order(type) == H5T_ORDER_LE &&
        Api().H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >=
            0) {
      if (sign == 15 && exponent == 10 && exponent_bits == 5 && mantissa == 0) {
        return Hdf5Type{DType::kFloat16, nullptr};
      }
      if (sign == 15 && exponent == 7 && exponent_bits == 8 && mantissa == 0) {
        return Hdf5Type{DType::kBFloat16, nullptr};
      }
    }
    return std::nullopt;
  }
  if (kind == H5T_ENUM && size == 1) return Hdf5Type{DType::kBool, nullptr};  // as h5py has bools
  if (kind == H5T_OPAQUE && size == 2) return Hdf5Type{DType::kBFloat16, nullptr};
  if (kind != H5T_INTEGER) return std::nullopt;
  const bool is_signed = Api().H5Tget_sign(type) == H5T_SGN_2;
  switch (size) {
    case 1:
      return is_signed ? Hdf5Type{DType::kInt8, [] { return *Api().H5T_STD_I8LE_g; }}
                       : Hdf5Type{DType::kUInt8, [] { return *Api().H5T_STD_U8LE_g; }};
    case 2:
      return is_signed ? Hdf5Type{DType::kInt16, [] { return *Api().H5T_STD_I16LE_g; }}
                       : Hdf5Type{DType::kUInt16, [] { return *Api().H5T_STD_U16LE_g; }};
    case 4:
      return is_signed ? Hdf5Type{DType::kInt32, [] { return *Api().H5T_STD_I32LE_g; }}
                       : Hdf5Type{DType::kUInt32, [] { return *Api().H5T_STD_U32LE_g; }};
    case 8:
      return is_signed ? Hdf5Type{DType::kInt64, [] { return *Api().H5T_STD_I64LE_g; }}
                       : Hdf5Type{DType::kUInt64, [] { return *Api().H5T_STD_U64LE_g; }};
    default: return std::nullopt;
  }
}

// --- A file in memory ----------------------------------------------------------------------------

// The library wants a file in memory as a copy of its own. Here each copy is the bytes themselves,
// which are never written to: the file is opened to be read.
struct Image {
  void* bytes;
  size_t size;
};
void* ImageMalloc(size_t size, H5FD_file_image_op_t, void* udata) {
  const Image& image = *static_cast<Image*>(udata);
  return size == image.size ? image.bytes : nullptr;
}
void* ImageMemcpy(void* to, const void* from, size_t, H5FD_file_image_op_t, void*) {
  return to == from ? to : nullptr;
}
void* ImageRealloc(void*, size_t, H5FD_file_image_op_t, void*) { return nullptr; }
herr_t ImageFree(void*, H5FD_file_image_op_t, void*) { return 0; }
void* ImageCopyData(void* udata) { return udata; }
herr_t ImageFreeData(void*) { return 0; }

hid_t OpenImage(Image* image) {
  const Id access(Api().H5Pcreate(*Api().H5P_CLS_FILE_ACCESS_ID_g), Api().H5Pclose);
  H5FD_file_image_callbacks_t calls = {ImageMalloc,   ImageMemcpy,   ImageRealloc, ImageFree,
                                       ImageCopyData, ImageFreeData, image};
  if (!access.ok() || Api().H5Pset_fapl_core(access.get(), 1 << 16, false) < 0 ||
      Api().H5Pset_file_image_callbacks(access.get(), &calls) < 0 ||
      Api().H5Pset_file_image(access.get(), image->bytes, image->size) < 0) {
    return H5I_INVALID_HID;
  }
  return Api().H5Fopen("model", kReadOnly, access.get());
}

// --- The file ------------------------------------------------------------------------------------

class Hdf5Library : public Hdf5File {
 public:
  Hdf5Library(BlobPtr blob, uint64_t offset, uint64_t size, std::unique_ptr<Image> image,
              hid_t file)
      : blob_(std::move(blob)),
        offset_(offset),
        size_(size),
        image_(std::move(image)),
        file_(file) {}
  ~Hdf5Library() override {
    const std::lock_guard<std::mutex> lock(LibraryLock());
    Api().H5Fclose(file_);
  }

  bool IsGroup(const std::string& path) override {
    const std::lock_guard<std::mutex> lock(LibraryLock());
    const Id object = Object(path);
    return object.ok() && Api().H5Iget_type(object.get()) == H5I_GROUP;
  }
  bool IsDataset(const std::string& path) override {
    const std::lock_guard<std::mutex> lock(LibraryLock());
    const Id object = Object(path);
    return object.ok() && Api().H5Iget_type(object.get()) == H5I_DATASET;
  }

  std::vector<std::string> Names(const std::string& group) override {
    const std::lock_guard<std::mutex> lock(LibraryLock());
    std::vector<std::string> names;
    const Id object = Object(group);
    if (!object.ok() || Api().H5Iget_type(object.get()) != H5I_GROUP) return names;
    struct Into {
      std::vector<std::string>* names;
      uint64_t left;
    } into = {&names, size_};  // the file holds each name
    const auto add = [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
      Into& into = *static_cast<Into*>(to);
      const size_t length = std::strlen(name) + 1;
      if (length > into.left) return -1;
      into.left -= length;
      into.names->emplace_back(name);
      return 0;
    };
    if (Api().H5Literate(object.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &into) < 0) {
      names.clear();
    }
    return names;
  }

  absl::StatusOr<std::optional<std::vector<std::string>>> Texts(
      const std::string& path, const std::string& attribute) override {
    const std::lock_guard<std::mutex> lock(LibraryLock());
    const auto wrong = [&] {
      return DataLoss("attribute '", attribute, "' of '", path, "' is not a list of strings");
    };
    const Id object = Object(path);
    if (!object.ok()) return std::optional<std::vector<std::string>>();
    if (Api().H5Aexists(object.get(), attribute.c_str()) <= 0) {
      return std::optional<std::vector<std::string>>();
    }
    const Id attr(Api().H5Aopen(object.get(), attribute.c_str(), H5P_DEFAULT), Api().H5Aclose);
    const Id type(attr.ok() ? Api().H5Aget_type(attr.get()) : -1, Api().H5Tclose);
    const Id space(attr.ok() ? Api().H5Aget_space(attr.get()) : -1, Api().H5Sclose);
    if (!type.ok() || !space.ok()) return wrong();
    const hssize_t points = Api().H5Sget_simple_extent_npoints(space.get());
    std::vector<std::string> texts;
    if (points == 0 || Api().H5Sget_simple_extent_type(space.get()) == H5S_NULL) return {texts};
    if (points < 0 || static_cast<uint64_t>(points) > kMaxTexts) return wrong();
    if (Api().H5Tget_class(type.get()) != H5T_STRING) return wrong();
    const auto count = static_cast<size_t>(points);
    if (Api().H5Tis_variable_str(type.get()) > 0) {
      if (count > size_ / 16) return wrong();  // each is a reference in the file
      std::vector<char*> raw(count, nullptr);
      const Id memory(Api().H5Tget_native_type(type.get(), H5T_DIR_DEFAULT), Api().H5Tclose);
      if (!memory.ok() || Api().H5Aread(attr.get(), memory.get(), raw.data()) < 0) return wrong();
      uint64_t total = 0;
      bool fits = true;
      for (const char* text : raw) {
        if (fits) texts.emplace_back(text ? text : "");
        total += texts.back().size();
        fits = fits && total <= size_;
      }
      Api().H5Dvlen_reclaim(memory.get(), space.get(), H5P_DEFAULT, raw.data());
      if (!fits) return wrong();
      return {texts};
    }
    const size_t width = Api().H5Tget_size(type.get());
    if (width == 0 || width > size_ || count > size_ / width) return wrong();
    std::string bytes(width * count, '\0');
    if (Api().H5Aread(attr.get(), type.get(), bytes.data()) < 0) return wrong();
    const bool spaces = Api().H5Tget_strpad(type.get()) == H5T_STR_SPACEPAD;
    for (size_t i = 0; i < count; ++i) {
      std::string text = bytes.substr(i * width, width);
      text.resize(std::min(text.size(), std::strlen(text.c_str())));
      while (spaces && text.ends_with(' ')) text.pop_back();
      texts.push_back(std::move(text));
    }
    return {texts};
  }

  absl::StatusOr<Tensor> Dataset(const std::string& path) override {
    const std::lock_guard<std::mutex> lock(LibraryLock());
    absl::StatusOr<Tensor> tensor = ReadDataset(path);
    if (!tensor.ok()) return Annotate(tensor.status(), StrCat("dataset '", path, "'"));
    return tensor;
  }

 private:
  // Link by link: one that leads to another place, or out of the file, is none.
  Id Object(const std::string& path) const {
    std::string so_far;
    for (size_t begin = 0; begin < path.size();) {
      const size_t end = std::min(path.find('/', begin), path.size());
      if (end > begin) {
        const std::string part = path.substr(begin, end - begin);
        if (part == ".") return {H5I_INVALID_HID, Api().H5Oclose};
        if (!so_far.empty()) so_far += '/';
        so_far += part;
        H5L_info_t info;
        if (Api().H5Lget_info(file_, so_far.c_str(), &info, H5P_DEFAULT) < 0 ||
            info.type != H5L_TYPE_HARD) {
          return {H5I_INVALID_HID, Api().H5Oclose};
        }
      }
      begin = end + 1;
    }
    return {Api().H5Oopen(file_, so_far.empty() ? "/" : so_far.c_str(), H5P_DEFAULT),
            Api().H5Oclose};
  }

  absl::StatusOr<Tensor> ReadDataset(const std::string& path) const {
    const Id set = Object(path);
    if (!set.ok() || Api().H5Iget_type(set.get()) != H5I_DATASET) return DataLoss("there is none");
    const Id type(Api().H5Dget_type(set.get()), Api().H5Tclose);
    const Id space(Api().H5Dget_space(set.get()), Api().H5Sclose);
    const Id how(Api().H5Dget_create_plist(set.get()), Api().H5Pclose);
    if (!type.ok() || !space.ok() || !how.ok()) return DataLoss("it cannot be read");
    const auto element = TypeOfElements(type.get());
    if (!element) return Unimplemented("elements of a type that tensors do not have");
    const int rank = Api().H5Sget_simple_extent_ndims(space.get());
    if (rank < 0 || Api().H5Sget_simple_extent_type(space.get()) == H5S_NULL) {
      return DataLoss("it has no shape");
    }
    std::vector<hsize_t> sizes(static_cast<size_t>(rank));
    if (rank > 0 && Api().H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr) != rank) {
      return DataLoss("it has no shape");
    }
    std::vector<int64_t> dims;
    int64_t count = 1;
    for (const hsize_t size : sizes) {
      dims.push_back(static_cast<int64_t>(size));
      if (dims.back() < 0 || __builtin_mul_overflow(count, dims.back(), &count)) {
        return DataLoss("an impossible shape");
      }
    }
    const auto nbytes = ByteSize(element->dtype, count);
    if (!nbytes) return DataLoss("an impossible shape");
    const auto size = static_cast<uint64_t>(*nbytes);
    if (size == 0) return Tensor::Zeros(element->dtype, dims);
    if (Api().H5Pget_external_count(how.get()) != 0) {
      return Unimplemented("its elements are stored in another file");
    }
    const H5D_layout_t layout = Api().H5Pget_layout(how.get());
    if (layout == H5D_VIRTUAL) return Unimplemented("its elements are stored in another file");
    const bool plain = !element->native || Api().H5Tequal(type.get(), element->native()) > 0;
    if (layout == H5D_CONTIGUOUS && plain) {
      const haddr_t address = Api().H5Dget_offset(set.get());
      // A data set that was never written has its fill value: it is read.
      if (address != HADDR_UNDEF) {
        if (address > size_ || size > size_ - address) return DataLoss("it ends past the file");
        return TensorOf(element->dtype, std::move(dims), blob_, offset_ + address, size);
      }
    }
    const uint64_t stored = Api().H5Dget_storage_size(set.get());
    if (stored > size_ || size / kMaxPerByte > stored + 64 || size > kMaxUnpacked) {
      return DataLoss("its stated size is larger than the file can hold");
    }
    Tensor tensor = Tensor::Zeros(element->dtype, std::move(dims));
    const hid_t memory = element->native ? element->native() : type.get();
    if (Api().H5Dread(set.get(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                      tensor.mutable_bytes().data()) < 0) {
      return DataLoss("it cannot be read");
    }
    return tensor;
  }

  BlobPtr blob_;
  uint64_t offset_, size_;
  std::unique_ptr<Image> image_;
  hid_t file_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Hdf5File>> Hdf5File::OpenByLibrary(BlobPtr blob, uint64_t offset,
                                                                  uint64_t size) {
  if (!LoadHdf5()) {
    return Unimplemented("the HDF5 library (", X2IR_HDF5_SONAME, ") is not installed");
  }
  const std::lock_guard<std::mutex> lock(LibraryLock());
  Api().H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  Api().H5PLset_loading_state(0);  // no filters from elsewhere
  auto image = std::make_unique<Image>(
      Image{const_cast<std::byte*>(blob->data() + offset), static_cast<size_t>(size)});
  const hid_t file = OpenImage(image.get());
  if (file < 0) return DataLoss("it is a broken HDF5 file");
  return std::make_unique<Hdf5Library>(std::move(blob), offset, size, std::move(image), file);
}

}  // namespace x2ir::keras
