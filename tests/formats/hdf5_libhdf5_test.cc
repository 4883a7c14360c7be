// The reader of HDF5 beside the HDF5 library: files that the library writes in each of its versions
// are listed by both, with every element and every text of an attribute.
//
// X2IR_UPDATE_GOLDEN=1 writes the small files that tests/formats/hdf5_test.cc reads where there is
// no library (tests/data/hdf5), and their lists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/hdf5_listing_util.h"
#include "x2ir/formats/keras/keras.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using Dims = std::vector<hsize_t>;

void Check(int64_t result, const char* what) {
  if (result < 0) ADD_FAILURE() << "the HDF5 library: " << what;
}
#define H5_OK(call) Check(static_cast<int64_t>(call), #call)

// --- What the library sees -----------------------------------------------------------------------

// The type in memory, little endian, and the dtype; nullopt for texts.
struct Plain {
  DType dtype;
  hid_t memory;
};
Plain PlainOf(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  const size_t size = H5Tget_size(type);
  if (kind == H5T_FLOAT) {
    if (size == 4) return {DType::kFloat32, H5T_IEEE_F32LE};
    if (size == 8) return {DType::kFloat64, H5T_IEEE_F64LE};
    size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
    H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits);
    const hid_t memory = H5Tcopy(type);
    H5Tset_order(memory, H5T_ORDER_LE);
    return {exponent_bits == 5 ? DType::kFloat16 : DType::kBFloat16, memory};
  }
  if (kind == H5T_ENUM) return {DType::kBool, type};
  if (kind == H5T_OPAQUE) return {DType::kBFloat16, type};
  const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
  switch (size) {
    case 1:
      return is_signed ? Plain{DType::kInt8, H5T_STD_I8LE} : Plain{DType::kUInt8, H5T_STD_U8LE};
    case 2:
      return is_signed ? Plain{DType::kInt16, H5T_STD_I16LE} : Plain{DType::kUInt16, H5T_STD_U16LE};
    case 4:
      return is_signed ? Plain{DType::kInt32, H5T_STD_I32LE} : Plain{DType::kUInt32, H5T_STD_U32LE};
    default:
      return is_signed ? Plain{DType::kInt64, H5T_STD_I64LE} : Plain{DType::kUInt64, H5T_STD_U64LE};
  }
}

std::vector<std::string> TextsFrom(hid_t type, hssize_t count,
                                   const std::function<herr_t(hid_t type, void* to)>& read) {
  std::vector<std::string> texts;
  const auto n = static_cast<size_t>(count);
  if (n == 0) return texts;
  if (H5Tis_variable_str(type) > 0) {
    const hid_t memory = H5Tcopy(H5T_C_S1);
    H5Tset_size(memory, H5T_VARIABLE);
    H5Tset_cset(memory, H5Tget_cset(type));
    std::vector<char*> pointers(n);
    H5_OK(read(memory, pointers.data()));
    for (const char* pointer : pointers) texts.emplace_back(pointer ? pointer : "");
    return texts;
  }
  const size_t width = H5Tget_size(type);
  std::string bytes(n * width, '\0');
  H5_OK(read(type, bytes.data()));
  for (size_t i = 0; i < n; ++i) {
    std::string text = bytes.substr(i * width, width);
    text.resize(std::min(text.size(), std::string_view(text).find('\0')));
    while (H5Tget_strpad(type) == H5T_STR_SPACEPAD && text.ends_with(' ')) text.pop_back();
    texts.push_back(text);
  }
  return texts;
}

class LibraryLister {
 public:
  std::vector<std::string> List(hid_t file) {
    ListObject(file, "");
    return lines_;
  }

 private:
  void ListObject(hid_t file, const std::string& path) {
    H5O_info_t info;
    const char* name = path.empty() ? "/" : path.c_str();
    if (!path.empty() && H5Oexists_by_name(file, name, H5P_DEFAULT) <= 0) {
      return lines_.push_back(NothingLine(path));
    }
    H5_OK(H5Oget_info_by_name(file, name, &info, H5P_DEFAULT));
    for (const haddr_t around : around_) {
      if (around == info.addr) return lines_.push_back(CycleLine(path));
    }
    const hid_t object = H5Oopen(file, name, H5P_DEFAULT);
    if (info.type == H5O_TYPE_DATASET) {
      ListDataset(object, path);
    } else {
      lines_.push_back(info.type == H5O_TYPE_GROUP ? GroupLine(path) : StrCat("other /", path));
    }
    ListAttributes(object, path);
    if (info.type == H5O_TYPE_GROUP) {
      std::vector<std::string> names;
      H5_OK(H5Literate(
          object, H5_INDEX_NAME, H5_ITER_INC, nullptr,
          [](hid_t, const char* member, const H5L_info_t*, void* to) -> herr_t {
            static_cast<std::vector<std::string>*>(to)->push_back(member);
            return 0;
          },
          &names));
      around_.push_back(info.addr);
      for (const std::string& member : names) {
        ListObject(file, path.empty() ? member : path + "/" + member);
      }
      around_.pop_back();
    }
    H5Oclose(object);
  }

  void ListDataset(hid_t set, const std::string& path) {
    const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    if (H5Sget_simple_extent_type(space) == H5S_NULL) {
      return lines_.push_back(StrCat("error /", path, " dataset '", path, "': it has no shape"));
    }
    const int rank = H5Sget_simple_extent_ndims(space);
    H5_OK(rank);
    Dims sizes(static_cast<size_t>(std::max(rank, 0)));
    H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
    const std::vector<int64_t> dims(sizes.begin(), sizes.end());
    const auto read = [&](hid_t memory, void* to) {
      return H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, to);
    };
    if (H5Tget_class(type) == H5T_STRING) {
      lines_.push_back(DatasetLine(
          path, Tensor::Strings(dims, TextsFrom(type, H5Sget_simple_extent_npoints(space), read))));
      return;
    }
    const Plain plain = PlainOf(type);
    Tensor tensor = Tensor::Zeros(plain.dtype, dims);
    if (tensor.nbytes() != 0) H5_OK(read(plain.memory, tensor.mutable_bytes().data()));
    lines_.push_back(DatasetLine(path, tensor));
  }

  void ListAttributes(hid_t object, const std::string& path) {
    std::vector<std::string> names;
    hsize_t at = 0;
    H5_OK(H5Aiterate2(
        object, H5_INDEX_NAME, H5_ITER_INC, &at,
        [](hid_t, const char* name, const H5A_info_t*, void* to) -> herr_t {
          static_cast<std::vector<std::string>*>(to)->push_back(name);
          return 0;
        },
        &names));
    for (const std::string& name : names) {
      const hid_t attribute = H5Aopen(object, name.c_str(), H5P_DEFAULT);
      const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
      const hssize_t count = H5Sget_simple_extent_npoints(space);
      if (H5Tget_class(type) == H5T_STRING || count == 0) {
        lines_.push_back(AttributeLine(path, name, TextsFrom(type, count, [&](hid_t t, void* to) {
                                         return H5Aread(attribute, t, to);
                                       })));
      } else {
        lines_.push_back(OtherAttributeLine(path, name));
      }
      H5Aclose(attribute);
    }
  }

  std::vector<haddr_t> around_;
  std::vector<std::string> lines_;
};

// --- What is written -----------------------------------------------------------------------------

hid_t Space(const Dims& dims, const Dims& most = {}) {
  if (dims.empty()) return H5Screate(H5S_SCALAR);
  return H5Screate_simple(static_cast<int>(dims.size()), dims.data(),
                          most.empty() ? nullptr : most.data());
}
hid_t FixedText(size_t size, H5T_str_t pad = H5T_STR_NULLPAD) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, size);
  H5Tset_strpad(type, pad);
  return type;
}
hid_t LongText() {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}
hid_t Group(hid_t at, const std::string& name) {
  return H5Gcreate2(at, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}
void AddTexts(hid_t at, const std::string& name, const std::vector<std::string>& texts,
              size_t width = 0, H5T_str_t pad = H5T_STR_NULLPAD) {
  const hid_t type = width ? FixedText(width, pad) : LongText();
  const hid_t space = texts.size() == 1 ? Space({}) : Space({texts.size()});
  const hid_t attribute = H5Acreate2(at, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5_OK(attribute);
  std::vector<const char*> pointers;
  std::string bytes;
  for (const std::string& text : texts) {
    pointers.push_back(text.c_str());
    std::string one = text;
    one.resize(width, pad == H5T_STR_SPACEPAD ? ' ' : '\0');
    bytes += one;
  }
  if (!texts.empty()) {
    H5_OK(H5Awrite(attribute, type,
                   width ? static_cast<const void*>(bytes.data())
                         : static_cast<const void*>(pointers.data())));
  }
  H5Aclose(attribute);
}

struct Made {
  Dims dims{}, most{}, chunk{};
  hid_t type = H5T_IEEE_F32LE;
  bool shuffle = false, deflate = false, fletcher = false, plain_edges = false;
  double fill = 0;
  bool write = true, early = false, compact = false;
  // A part that is written in place of all; and what the dataset is resized to then.
  Dims start{}, count{}, resized{};
};
void Add(hid_t at, const std::string& name, const Made& made) {
  const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
  H5_OK(H5Pset_obj_track_times(how, false));
  if (!made.chunk.empty()) {
    H5_OK(H5Pset_chunk(how, static_cast<int>(made.chunk.size()), made.chunk.data()));
  }
  if (made.plain_edges) H5_OK(H5Pset_chunk_opts(how, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS));
  if (made.shuffle) H5_OK(H5Pset_shuffle(how));
  if (made.deflate) H5_OK(H5Pset_deflate(how, 6));
  if (made.fletcher) H5_OK(H5Pset_fletcher32(how));
  if (made.fill != 0) H5_OK(H5Pset_fill_value(how, H5T_NATIVE_DOUBLE, &made.fill));
  if (made.early) H5_OK(H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY));
  if (made.compact) H5_OK(H5Pset_layout(how, H5D_COMPACT));
  const hid_t set = H5Dcreate2(at, name.c_str(), made.type, Space(made.dims, made.most),
                               H5P_DEFAULT, how, H5P_DEFAULT);
  H5_OK(set);
  const Dims part = made.count.empty() ? made.dims : made.count;
  const size_t n = std::accumulate(part.begin(), part.end(), size_t{1}, std::multiplies<>());
  if (made.write && n != 0) {
    std::vector<double> values(n);
    for (size_t i = 0; i < n; ++i) values[i] = static_cast<double>(i * 2654435761u % 199) - 60;
    hid_t memory = H5S_ALL, file = H5S_ALL;
    if (!made.count.empty()) {
      memory = Space(part);
      file = Space(made.dims, made.most);
      H5_OK(H5Sselect_hyperslab(file, H5S_SELECT_SET, made.start.data(), nullptr, part.data(),
                                nullptr));
    }
    H5_OK(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, file, H5P_DEFAULT, values.data()));
  }
  if (!made.resized.empty()) H5_OK(H5Dset_extent(set, made.resized.data()));
  H5Dclose(set);
}

constexpr hsize_t kEndless = H5S_UNLIMITED;

void Groups(hid_t file, int count) {
  const hid_t group = Group(file, "g");
  for (int i = 0; i < count; ++i) {
    if (i % 3 == 0) {
      Add(group, StrCat("set_with_a_long_name_", i), {.dims = {2}});
    } else {
      Group(group, StrCat("m", i));
    }
  }
}

void Types(hid_t file) {
  const struct {
    const char* name;
    hid_t type;
  } types[] = {
      {"f32", H5T_IEEE_F32LE},  {"f32b", H5T_IEEE_F32BE}, {"f64", H5T_IEEE_F64LE},
      {"f64b", H5T_IEEE_F64BE}, {"i8", H5T_STD_I8LE},     {"u8", H5T_STD_U8BE},
      {"i16", H5T_STD_I16LE},   {"i16b", H5T_STD_I16BE},  {"u16", H5T_STD_U16LE},
      {"u16b", H5T_STD_U16BE},  {"i32", H5T_STD_I32LE},   {"i32b", H5T_STD_I32BE},
      {"u32", H5T_STD_U32LE},   {"u32b", H5T_STD_U32BE},  {"i64", H5T_STD_I64LE},
      {"i64b", H5T_STD_I64BE},  {"u64", H5T_STD_U64LE},   {"u64b", H5T_STD_U64BE},
  };
  for (const auto& [name, type] : types) {
    Add(file, name, {.dims = {3, 5}, .type = type});
    Add(file, StrCat(name, "_chunks"),
        {.dims = {7, 5}, .chunk = {4, 3}, .type = type, .shuffle = true, .deflate = true});
    Add(file, StrCat(name, "_filled"), {.dims = {3}, .type = type, .fill = 7, .write = false});
  }
  for (const auto& [name, base] : {std::pair{"half", H5T_IEEE_F32LE}, {"half_b", H5T_IEEE_F32BE}}) {
    for (const size_t exponent : {size_t{5}, size_t{8}}) {
      const size_t mantissa = 15 - exponent;
      const hid_t type = H5Tcopy(base);
      H5_OK(H5Tset_fields(type, 15, mantissa, exponent, 0, mantissa));
      H5_OK(H5Tset_size(type, 2));
      H5_OK(H5Tset_ebias(type, (size_t{1} << (exponent - 1)) - 1));
      Add(file, StrCat(name, exponent), {.dims = {3, 4}, .type = type});
    }
  }
  const hid_t boolean = H5Tenum_create(H5T_STD_I8LE);
  const signed char no = 0, yes = 1, values[] = {1, 0, 1, 1};
  H5Tenum_insert(boolean, "FALSE", &no);
  H5Tenum_insert(boolean, "TRUE", &yes);
  hid_t set = H5Dcreate2(file, "bool", boolean, Space({4}), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5_OK(H5Dwrite(set, boolean, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  const hid_t opaque = H5Tcreate(H5T_OPAQUE, 2);
  set = H5Dcreate2(file, "opaque", opaque, Space({2}), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5_OK(H5Dwrite(set, opaque, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  // A type that is an object of its own, of a dataset and of an attribute.
  const hid_t own = H5Tcopy(H5T_STD_I16BE);
  H5_OK(H5Tcommit2(file, "type", own, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  Add(file, "of_type", {.dims = {6}, .type = own});
  const hid_t text = FixedText(4);
  H5_OK(H5Tcommit2(file, "text", text, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5_OK(H5Awrite(H5Acreate2(file, "of_type", text, Space({}), H5P_DEFAULT, H5P_DEFAULT), text,
                 "abcd"));
}

void Texts(hid_t file) {
  std::vector<std::string> many;
  for (int i = 0; i < 30; ++i) many.push_back(StrCat("layer_", i, std::string(i % 7, 'x')));
  AddTexts(file, "one", {"a text"});
  AddTexts(file, "one_fixed", {"a text"}, 9);
  AddTexts(file, "spaces", {"a ", " b", ""}, 5, H5T_STR_SPACEPAD);
  AddTexts(file, "ended", {"abcd", "b"}, 5, H5T_STR_NULLTERM);
  AddTexts(file, "none", {});
  AddTexts(file, "none_fixed", {}, 3);
  AddTexts(file, "many", many);
  AddTexts(file, "many_fixed", many, 20);
  AddTexts(file, "long", {std::string(3000, 'l')});
  AddTexts(file, "empty", {""});
  AddTexts(file, "\xc3\xa4", {"\xe2\x82\xac"});
  const double number = 1;
  H5_OK(H5Awrite(H5Acreate2(file, "number", H5T_IEEE_F64LE, Space({}), H5P_DEFAULT, H5P_DEFAULT),
                 H5T_NATIVE_DOUBLE, &number));
  H5Acreate2(file, "null", H5T_IEEE_F64LE, H5Screate(H5S_NULL), H5P_DEFAULT, H5P_DEFAULT);
  std::vector<const char*> pointers;
  std::string bytes;
  for (int i = 0; i < 12; ++i) {
    pointers.push_back(many[static_cast<size_t>(i)].c_str());
    bytes += StrCat("word", 10 + i);
  }
  for (const bool chunks : {false, true}) {
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk[] = {2, 3};
    if (chunks) {
      H5Pset_chunk(how, 2, chunk);
      H5Pset_deflate(how, 1);
    }
    for (const bool fixed : {false, true}) {
      const hid_t type = fixed ? FixedText(6) : LongText();
      const hid_t set = H5Dcreate2(file, StrCat("set", chunks, fixed).c_str(), type, Space({3, 4}),
                                   H5P_DEFAULT, how, H5P_DEFAULT);
      H5_OK(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                     fixed ? static_cast<const void*>(bytes.data())
                           : static_cast<const void*>(pointers.data())));
    }
  }
}

void ManyAttributes(hid_t file) {
  const hid_t group = Group(file, "g");
  for (int i = 0; i < 300; ++i) {
    AddTexts(group, StrCat("attribute_", i), {StrCat("value ", i)}, i % 2 ? 0 : 12);
  }
  Add(file, "d", {.dims = {2}});
  const hid_t set = H5Dopen2(file, "d", H5P_DEFAULT);
  for (int i = 0; i < 20; ++i) AddTexts(set, StrCat("a", i), {std::string(i * 90, 'v'), "w"}, 2000);
}
void LargeAttributes(hid_t file) {
  AddTexts(file, "large", {std::string(70000, 'a')}, 70000);
  AddTexts(file, "larger", {std::string(150000, 'b'), "c"}, 150000);
  for (int i = 0; i < 12; ++i) AddTexts(file, StrCat("middle", i), {std::string(3000, 'm')}, 3000);
}

void Shapes(hid_t file) {
  Add(file, "scalar", {});
  Add(file, "empty", {.dims = {0}});
  Add(file, "empty2", {.dims = {3, 0, 2}});
  Add(file, "empty_chunks", {.dims = {0, 3}, .most = {kEndless, 3}, .chunk = {2, 3}});
  Add(file, "compact", {.dims = {5, 3}, .compact = true});
  Add(file, "compact_b", {.dims = {5, 3}, .type = H5T_STD_I32BE, .compact = true});
  Add(file, "never", {.dims = {4, 3}, .write = false});
  Add(file, "never_chunks", {.dims = {4, 3}, .chunk = {2, 2}, .fill = -3, .write = false});
  H5Dcreate2(file, "null", H5T_IEEE_F32LE, H5Screate(H5S_NULL), H5P_DEFAULT, H5P_DEFAULT,
             H5P_DEFAULT);
  Add(file, "rank8", {.dims = {2, 1, 3, 1, 2, 2, 1, 3}});
}

// Each index of chunks, with and without filters; `edges`: chunks at edges without them.
void Chunks(hid_t file, bool edges) {
  const struct {
    const char* name;
    Made made;
  } rows[] = {
      {"single", {.dims = {5, 7}, .chunk = {5, 7}}},
      {"single_larger", {.dims = {5, 7}, .most = {6, 9}, .chunk = {6, 9}}},
      {"fixed", {.dims = {9, 11}, .chunk = {4, 3}}},
      {"fixed_most", {.dims = {9, 11}, .most = {20, 31}, .chunk = {4, 3}}},
      {"fixed_pages", {.dims = {97, 71}, .chunk = {2, 3}}},
      {"fixed_part",
       {.dims = {97, 71}, .chunk = {2, 3}, .fill = 5, .start = {60, 30}, .count = {20, 9}}},
      {"endless", {.dims = {23, 5}, .most = {kEndless, 5}, .chunk = {4, 3}}},
      {"endless_second", {.dims = {23, 5, 4}, .most = {30, kEndless, 8}, .chunk = {4, 3, 3}}},
      {"endless_long", {.dims = {2500}, .most = {kEndless}, .chunk = {2}}},
      {"endless_two", {.dims = {23, 31}, .most = {kEndless, kEndless}, .chunk = {4, 3}}},
      {"endless_many", {.dims = {70, 90}, .most = {kEndless, kEndless}, .chunk = {1, 2}}},
      {"smaller",
       {.dims = {23, 31}, .most = {kEndless, kEndless}, .chunk = {4, 3}, .resized = {11, 8}}},
      {"larger",
       {.dims = {11, 8}, .most = {40, 31}, .chunk = {4, 3}, .fill = 2, .resized = {23, 31}}},
      {"early", {.dims = {9, 11}, .most = {13, 11}, .chunk = {4, 3}, .early = true}},
      {"wide", {.dims = {3, 400}, .chunk = {2, 100}}},
      {"cubes", {.dims = {7, 8, 9}, .chunk = {3, 3, 4}}},
  };
  for (const auto& [name, made] : rows) {
    for (int filters = 0; filters < 8; ++filters) {
      Made one = made;
      one.shuffle = (filters & 1) != 0;
      one.deflate = (filters & 2) != 0;
      one.fletcher = (filters & 4) != 0;
      one.plain_edges = edges;
      Add(file, StrCat(name, filters), one);
    }
  }
}

// Blocks of an array that are in pages, of which few are written.
void Far(hid_t file) {
  Add(file, "far",
      {.dims = {135000},
       .most = {kEndless},
       .chunk = {1},
       .deflate = true,
       .fill = 1,
       .start = {134000},
       .count = {500}});
}

// A small file with each index.
void Indexes(hid_t file) {
  for (const bool packed : {false, true}) {
    const auto add = [&](const char* name, Made made) {
      made.shuffle = made.deflate = made.fletcher = packed;
      Add(file, StrCat(name, packed), made);
    };
    add("single", {.dims = {5, 7}, .chunk = {5, 7}});
    add("fixed", {.dims = {5, 7}, .chunk = {4, 3}, .fill = 3, .start = {1, 2}, .count = {2, 1}});
    add("endless", {.dims = {40, 2}, .most = {kEndless, 2}, .chunk = {1, 2}});
    add("endless_two", {.dims = {5, 7}, .most = {kEndless, kEndless}, .chunk = {2, 3}});
    add("early", {.dims = {3, 5}, .chunk = {2, 3}, .early = true});
  }
}

void LinksOfAllKinds(hid_t file) {
  const hid_t a = Group(file, "a"), b = Group(a, "b");
  Add(b, "x", {.dims = {3}});
  H5_OK(H5Lcreate_soft("/a/b/x", file, "absolute", H5P_DEFAULT, H5P_DEFAULT));
  H5_OK(H5Lcreate_soft("b/./x", a, "relative", H5P_DEFAULT, H5P_DEFAULT));
  H5_OK(H5Lcreate_soft("relative", a, "twice", H5P_DEFAULT, H5P_DEFAULT));
  H5_OK(H5Lcreate_soft("b", a, "group", H5P_DEFAULT, H5P_DEFAULT));
  H5_OK(H5Lcreate_soft("nothing", a, "dangling", H5P_DEFAULT, H5P_DEFAULT));
  H5_OK(H5Lcreate_hard(a, "b", file, "b_again", H5P_DEFAULT, H5P_DEFAULT));
  H5_OK(H5Lcreate_hard(file, "a", b, "around", H5P_DEFAULT, H5P_DEFAULT));
  H5_OK(H5Lcreate_hard(file, "/", b, "root", H5P_DEFAULT, H5P_DEFAULT));
}

void Nested(hid_t file) {
  hid_t group = file;
  for (int i = 0; i < 50; ++i) {
    group = Group(group, StrCat("level", i));
    Add(group, "x", {.dims = {1}});
  }
}

void Removed(hid_t file) {
  const hid_t group = Group(file, "g");
  for (int i = 0; i < 400; ++i) Add(group, StrCat("x", i), {.dims = {1}});
  for (int i = 0; i < 400; ++i) {
    if (i % 5 != 0) H5_OK(H5Ldelete(group, StrCat("x", i).c_str(), H5P_DEFAULT));
  }
  for (int i = 0; i < 40; ++i) AddTexts(group, StrCat("a", i), {"v"});
  for (int i = 0; i < 35; ++i) H5_OK(H5Adelete(group, StrCat("a", i).c_str()));
}

void Ordered(hid_t file) {
  const hid_t how = H5Pcreate(H5P_GROUP_CREATE);
  H5_OK(H5Pset_link_creation_order(how, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
  H5_OK(H5Pset_attr_creation_order(how, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
  for (const int count : {3, 12}) {
    const hid_t group = H5Gcreate2(file, StrCat("g", count).c_str(), H5P_DEFAULT, how, H5P_DEFAULT);
    for (int i = count; i-- > 0;) {
      Group(group, StrCat("m", i));
      AddTexts(group, StrCat("a", i), {"v"});
    }
  }
}

// A whole model of Keras: weights in chunks that may grow, lists of names outside of headers.
void KerasModel(hid_t file) {
  AddTexts(file, "model_config",
           {R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
      {"class_name": "Dense", "config": {"name": "a", "units": 4, "activation": "relu",
       "use_bias": true, "batch_input_shape": [null, 3], "dtype": "float32"}},
      {"class_name": "Dense", "config": {"name": "b", "units": 2, "use_bias": false}}]}})"});
  AddTexts(file, "keras_version", {"2.4.0"});
  const hid_t root = Group(file, "model_weights");
  AddTexts(root, "layer_names", {"a", "b"}, 1);
  const hid_t a = Group(root, "a"), b = Group(root, "b");
  AddTexts(a, "weight_names", {"a/kernel:0", "a/bias:0"}, 10);
  AddTexts(b, "weight_names", {"b/kernel:0"});
  for (int i = 0; i < 12; ++i) AddTexts(a, StrCat("other", i), {"v"});
  Add(Group(a, "a"), "kernel:0",
      {.dims = {3, 4},
       .most = {kEndless, 4},
       .chunk = {2, 2},
       .shuffle = true,
       .deflate = true,
       .fletcher = true});
  Add(a, "a/bias:0", {.dims = {4}, .chunk = {4}});
  Add(Group(b, "b"), "kernel:0", {.dims = {4, 2}, .type = H5T_IEEE_F32BE});
}

// --- The rows ------------------------------------------------------------------------------------

struct Version {
  const char* name;
  H5F_libver_t low, high;
  hsize_t user_block = 0;
  size_t width = 8;
  unsigned fan_out = 0;  // of B-trees, in a superblock of version 1; 0: the default
};
constexpr std::string_view kLatest = "latest";
constexpr Version kVersions[] = {
    {"earliest", H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST},
    {"v18", H5F_LIBVER_V18, H5F_LIBVER_V18},
    {"latest", H5F_LIBVER_LATEST, H5F_LIBVER_LATEST},
    {"earliest_block", H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST, 512},
    {"earliest_deep", H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST, 0, 8, 2},
    {"latest_block", H5F_LIBVER_LATEST, H5F_LIBVER_LATEST, 2048},
    {"earliest_narrow", H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST, 0, 4},
    {"latest_narrow", H5F_LIBVER_LATEST, H5F_LIBVER_LATEST, 0, 4},
};

// The library cannot open datasets again that it wrote so, where they may grow.
bool IsLatestNarrow(const Version& version) {
  return version.width != 8 && version.low == H5F_LIBVER_LATEST;
}

struct Row {
  const char* name;
  std::function<void(hid_t file)> write;
  // What a version cannot hold, or the library cannot read again; null: nothing.
  bool (*skips)(const Version& version) = nullptr;
};
const std::vector<Row>& Rows() {
  static const auto& rows = *new std::vector<Row>{
      {"nothing", [](hid_t) {}},
      {"groups5", [](hid_t file) { Groups(file, 5); }},
      {"groups1000", [](hid_t file) { Groups(file, 1000); }},
      {"types", Types},
      {"texts", Texts},
      {"many_attributes", ManyAttributes},
      {"large_attributes", LargeAttributes,
       [](const Version& version) { return version.low == H5F_LIBVER_EARLIEST; }},
      {"shapes", Shapes, IsLatestNarrow},
      {"chunks", [](hid_t file) { Chunks(file, false); }, IsLatestNarrow},
      {"edges", [](hid_t file) { Chunks(file, true); },
       [](const Version& version) { return version.high == H5F_LIBVER_V18 || version.width != 8; }},
      {"far", Far, [](const Version& version) { return version.name != kLatest; }},
      {"indexes", Indexes, IsLatestNarrow},
      {"links", LinksOfAllKinds},
      {"nested", Nested},
      {"removed", Removed},
      {"ordered", Ordered},
      {"keras", KerasModel, IsLatestNarrow},
  };
  return rows;
}

class Hdf5Library : public TempDirTest {
 protected:
  void SetUp() override {
    TempDirTest::SetUp();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  std::string Write(const Version& version, const std::function<void(hid_t file)>& write,
                    bool shared = false) {
    const std::string path = (folder_ / "f.h5").string();
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), how = H5Pcreate(H5P_FILE_CREATE);
    H5_OK(H5Pset_libver_bounds(access, version.low, version.high));
    H5_OK(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG));
    H5_OK(H5Pset_fapl_core(access, 1 << 20, true));  // in memory until it is closed
    H5_OK(H5Pset_userblock(how, version.user_block));
    H5_OK(H5Pset_sizes(how, version.width, version.width));
    H5_OK(H5Pset_obj_track_times(how, false));
    if (version.fan_out != 0) {
      H5_OK(H5Pset_istore_k(how, version.fan_out));
      H5_OK(H5Pset_sym_k(how, version.fan_out, version.fan_out));
    }
    if (shared) {
      H5_OK(H5Pset_shared_mesg_nindexes(how, 1));
      H5_OK(H5Pset_shared_mesg_index(how, 0, H5O_SHMESG_DTYPE_FLAG | H5O_SHMESG_ATTR_FLAG, 8));
    }
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, how, access);
    H5_OK(file);
    write(file);
    H5_OK(H5Fclose(file));
    return path;
  }
};

absl::StatusOr<std::vector<std::string>> Listed(const std::string& path) {
  const auto blob = Blob::Open(path);
  if (!blob.ok()) return blob.status();
  const auto file = hdf5::File::Open(*blob, 0, (*blob)->size());
  if (!file.ok()) return file.status();
  return ListHdf5(**file);
}

TEST_F(Hdf5Library, TheSameIsRead) {
  const char* update = std::getenv("X2IR_UPDATE_GOLDEN");
  const std::string kept[] = {"earliest keras",       "earliest_block texts", "latest types",
                              "latest links",         "latest indexes",       "latest keras",
                              "latest_narrow ordered"};
  for (const Version& version : kVersions) {
    for (const Row& row : Rows()) {
      if (row.skips && row.skips(version)) continue;
      const std::string name = StrCat(version.name, " ", row.name);
      SCOPED_TRACE(name);
      const std::string path = Write(version, row.write);
      const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
      H5_OK(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG));
      const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
      ASSERT_GE(file, 0);
      const std::vector<std::string> expected = LibraryLister().List(file);
      H5Fclose(file);
      ASSERT_GE(expected.size(), 1u);
      const auto listed = Listed(path);
      ASSERT_TRUE(listed.ok()) << listed.status();
      for (size_t i = 0; i < std::min(expected.size(), listed->size()); ++i) {
        ASSERT_EQ((*listed)[i], expected[i]);
      }
      ASSERT_EQ(listed->size(), expected.size());
      if (!update || std::find(std::begin(kept), std::end(kept), name) == std::end(kept)) continue;
      const std::string to =
          StrCat(X2IR_SOURCE_DIR, "/tests/data/hdf5/", version.name, "_", row.name);
      WriteFile(to + ".h5", ReadFile(path));
      std::string list;
      for (const std::string& line : expected) StrAppend(&list, line, "\n");
      WriteFile(to + ".txt", list);
    }
  }
}

TEST_F(Hdf5Library, ModelsOfKeras) {
  for (const Version& version : kVersions) {
    SCOPED_TRACE(version.name);
    const absl::StatusOr<Model> model = ReadKeras(Write(version, KerasModel));
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(model->weights.size(), 3u);
  }
}

// Groups that are reached on more paths than anybody could follow, and one around itself.
TEST_F(Hdf5Library, ModelsOfGroupsThatAreLinkedAgain) {
  const auto weights = [&](int depth) {
    const std::string path = Write(kVersions[0], [&](hid_t file) {
      hid_t at = Group(Group(file, "layers"), "dense");
      const hid_t first = at;
      for (int level = 0; level < depth; ++level) {
        const hid_t next = Group(at, "part0");
        for (int i = 1; i < 8; ++i) {
          H5_OK(H5Lcreate_hard(next, ".", at, StrCat("part", i).c_str(), H5P_DEFAULT, H5P_DEFAULT));
        }
        at = next;
      }
      if (depth == 0) H5_OK(H5Lcreate_hard(first, ".", first, "part", H5P_DEFAULT, H5P_DEFAULT));
    });
    std::filesystem::rename(path, folder_ / "net.weights.h5");
    WriteFile((folder_ / "net.json").string(),
              R"({"module": "keras", "class_name": "Sequential", "config": {"name": "s", "layers": [
                  {"module": "keras.layers", "class_name": "Dense", "config": {"name": "dense",
                   "units": 4, "batch_input_shape": [null, 3]}}]}})");
    return ReadKeras((folder_ / "net.json").string()).status();
  };
  EXPECT_THAT(std::string(weights(12).message()),
              HasSubstr("groups have more than 262144 members"));
  EXPECT_THAT(std::string(weights(0).message()), HasSubstr("groups are nested too deeply"));
}

TEST_F(Hdf5Library, WhatIsRefused) {
  const auto with_type = [](hid_t type) {
    return [type](hid_t file) {
      H5_OK(H5Dcreate2(file, "x", type, Space({3}), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    };
  };
  const auto with_filter = [](herr_t (*set)(hid_t how)) {
    return [set](hid_t file) {
      const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
      const hsize_t chunk = 4;
      H5_OK(H5Pset_chunk(how, 1, &chunk));
      H5_OK(set(how));
      const hid_t x =
          H5Dcreate2(file, "x", H5T_STD_I32LE, Space({8}), H5P_DEFAULT, how, H5P_DEFAULT);
      const int values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
      H5_OK(H5Dwrite(x, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    };
  };
  const hid_t compound = H5Tcreate(H5T_COMPOUND, 8);
  H5Tinsert(compound, "r", 0, H5T_IEEE_F32LE);
  H5Tinsert(compound, "i", 4, H5T_IEEE_F32LE);
  const hsize_t two = 2;
  const hid_t odd = H5Tcopy(H5T_STD_I16LE);
  H5Tset_precision(odd, 12);
  const signed char value = 3;
  const hid_t colours = H5Tenum_create(H5T_STD_I8LE);
  H5Tenum_insert(colours, "RED", &value);
  const struct {
    const char* name;
    std::function<void(hid_t file)> write;
    const char* message;
  } rows[] = {
      {"compound", with_type(compound), "its elements are compounds (8 bytes each)"},
      {"reference", with_type(H5T_STD_REF_OBJ), "its elements are references"},
      {"sequence", with_type(H5Tvlen_create(H5T_STD_I8LE)), "sequences of variable length"},
      {"array", with_type(H5Tarray_create2(H5T_STD_I8LE, 1, &two)), "its elements are arrays"},
      {"bits", with_type(H5T_STD_B8LE), "its elements are bit fields"},
      {"integer", with_type(odd), "integers of another width"},
      {"enumeration", with_type(colours), "its elements are an enumeration"},
      {"opaque", with_type(H5Tcreate(H5T_OPAQUE, 3)), "its elements are opaque bytes"},
      {"nbit", with_filter(H5Pset_nbit), "the filter 'nbit'"},
      {"scaleoffset", with_filter([](hid_t how) { return H5Pset_scaleoffset(how, H5Z_SO_INT, 0); }),
       "the filter 'scaleoffset'"},
      {"external",
       [](hid_t file) {
         const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
         H5_OK(H5Pset_external(how, "other.bin", 0, 12));
         H5_OK(H5Dcreate2(file, "x", H5T_STD_I32LE, Space({3}), H5P_DEFAULT, how, H5P_DEFAULT));
       },
       "its elements are stored in another file"},
      {"external_link",
       [](hid_t file) {
         H5_OK(H5Lcreate_external("other.h5", "/x", file, "x", H5P_DEFAULT, H5P_DEFAULT));
       },
       "'x' is in another file, 'other.h5'"},
      {"cycle",
       [](hid_t file) {
         H5_OK(H5Lcreate_soft("y", file, "x", H5P_DEFAULT, H5P_DEFAULT));
         H5_OK(H5Lcreate_soft("x", file, "y", H5P_DEFAULT, H5P_DEFAULT));
       },
       "'x' goes through more than 16 soft links"},
      {"virtual",
       [](hid_t file) {
         const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
         H5_OK(H5Pset_virtual(how, Space({3}), "other.h5", "x", Space({3})));
         H5_OK(H5Dcreate2(file, "x", H5T_STD_I32LE, Space({3}), H5P_DEFAULT, how, H5P_DEFAULT));
       },
       "those of other datasets"},
      {"undefined",
       [](hid_t file) {
         const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
         H5_OK(H5Pset_fill_value(how, H5T_NATIVE_INT, nullptr));
         H5_OK(H5Dcreate2(file, "x", H5T_STD_I32LE, Space({3}), H5P_DEFAULT, how, H5P_DEFAULT));
       },
       "has no fill value"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto blob = Blob::Open(Write(kVersions[0], row.write));
    ASSERT_TRUE(blob.ok()) << blob.status();
    const auto file = hdf5::File::Open(*blob, 0, (*blob)->size());
    ASSERT_TRUE(file.ok()) << file.status();
    const auto tensor = (*file)->Dataset("x");
    ASSERT_FALSE(tensor.ok());
    EXPECT_THAT(std::string(tensor.status().message()), HasSubstr(row.message));
  }
  // Messages in a heap of the file.
  const auto listed = Listed(Write(kVersions[2], Types, true));
  ASSERT_TRUE(listed.ok()) << listed.status();
  EXPECT_THAT(*listed, ::testing::Contains(HasSubstr("a message is shared by many objects")));
}

}  // namespace
}  // namespace x2ir
