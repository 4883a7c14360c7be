// The links in a group, however it has them: in a symbol table, in its header, or outside of it.
#ifndef X2IR_FORMATS_HDF5_LINKS_INTERNAL_H_
#define X2IR_FORMATS_HDF5_LINKS_INTERNAL_H_

#include <functional>
#include <map>
#include <string>

#include "x2ir/formats/hdf5/header_internal.h"

namespace x2ir::hdf5 {

struct Link {
  enum Kind { kHard, kSoft, kExternal, kUserDefined } kind = kHard;
  uint64_t address = kNowhere;  // of a hard one
  std::string target{};         // the path of a soft one, the file of an external one
};
// By name, as the HDF5 library lists them. Of several of one name the first counts.
using Links = std::map<std::string, Link, std::less<>>;

bool IsGroup(const Messages& messages);

absl::StatusOr<Links> ReadLinks(Image* image, const Messages& messages);

}  // namespace x2ir::hdf5

#endif  // X2IR_FORMATS_HDF5_LINKS_INTERNAL_H_
