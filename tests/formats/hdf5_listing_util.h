// What an HDF5 file holds, as lines: the same of x2ir's reader and of another one.
#ifndef X2IR_TESTS_FORMATS_HDF5_LISTING_UTIL_H_
#define X2IR_TESTS_FORMATS_HDF5_LISTING_UTIL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/formats/hdf5/file_internal.h"

namespace x2ir {

// "dataset /a/b float32[2,3] 24 bytes 0000803f.. crc32 12345678"
std::string DatasetLine(std::string_view path, const Tensor& tensor);
// "attribute /a name \"x\" \"y\""
std::string AttributeLine(std::string_view path, std::string_view name,
                          const std::vector<std::string>& texts);
std::string OtherAttributeLine(std::string_view path, std::string_view name);
std::string GroupLine(std::string_view path);
// A group that is around itself.
std::string CycleLine(std::string_view path);
// A soft link to nothing.
std::string NothingLine(std::string_view path);

// Groups in the order of names, each before its members; attributes before members. What cannot be
// read is a line "error PATH MESSAGE". After `most` lines it stops.
std::vector<std::string> ListHdf5(hdf5::File& file, size_t most = 1 << 20);

}  // namespace x2ir

#endif  // X2IR_TESTS_FORMATS_HDF5_LISTING_UTIL_H_
