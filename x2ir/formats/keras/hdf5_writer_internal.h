// Writes HDF5 files of groups and datasets, as libhdf5 1.8 and later read them: a superblock of
// version 0, groups that list their links in their object headers (version 1), and contiguous
// datasets. Bytes of datasets are at multiples of 64. The same content makes the same bytes.
#ifndef X2IR_FORMATS_KERAS_HDF5_WRITER_INTERNAL_H_
#define X2IR_FORMATS_KERAS_HDF5_WRITER_INTERNAL_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/zip_writer.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir::keras {

class Hdf5Writer {
 public:
  // "layers/dense/vars": the group, and those around it. Asking for one twice is no error.
  void AddGroup(std::string_view path);
  // A dataset in a group. The tensor must outlive the writer. FailedPrecondition for element types
  // that HDF5 has no name for, and for names that are taken.
  absl::Status AddDataset(std::string_view group, std::string_view name, const Tensor& tensor);
  // The file, part by part. FailedPrecondition where a group has more members than a header holds.
  absl::StatusOr<std::vector<ZipWriter::Part>> Finish() const;

 private:
  struct Group {
    std::map<std::string, std::unique_ptr<Group>, std::less<>> groups;
    std::map<std::string, const Tensor*, std::less<>> datasets;
  };
  struct Layout;
  Group& Find(std::string_view path);

  Group root_;
};

}  // namespace x2ir::keras

#endif  // X2IR_FORMATS_KERAS_HDF5_WRITER_INTERNAL_H_
