// Lookup tables. The ops that fill a table are separate from the ops that look values up: in the
// same frozen graph, in a function that a SavedModel runs first, or in a text file. This code
// combines them, and a table's handle becomes a constant, as a variable's does.
#ifndef X2IR_FORMATS_TENSORFLOW_TABLES_INTERNAL_H_
#define X2IR_FORMATS_TENSORFLOW_TABLES_INTERNAL_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/tensorflow/body_internal.h"
#include "x2ir/formats/tensorflow/saved_files_internal.h"

namespace x2ir::tf_format {

// Whether the op makes a table, or fills one with keys and values.
bool IsTable(std::string_view op);
bool FillsTable(std::string_view op);

class Tables {
 public:
  // `assets`: the SavedModel's text files, if there are any; `files`: which of them a constant of
  // the graph names.
  Tables(Library& library, const SavedFiles& assets,
         std::vector<std::pair<std::string_view, std::string_view>> files)
      : library_(library), assets_(assets), files_(files.begin(), files.end()) {}

  // Finds what fills the tables, in the graph and in the functions that it calls.
  absl::Status Scan(const GraphProto& proto, const Body& graph);

  // Two rows of strings, [2, n]: keys and values, numbers as their bytes. Unimplemented where it
  // is not known what the table holds in every run.
  absl::StatusOr<Tensor> Contents(const NodeProto& table);

 private:
  // Where an operand comes from: a constant, a table, or what is restored from the checkpoint; null
  // when it is computed.
  struct Origin {
    const NodeProto* node = nullptr;
    bool in_graph = false;   // no constant of a function
    std::string restored{};  // its key in the checkpoint
  };
  struct Filling {
    const NodeProto* node;
    std::vector<Origin> operands;
  };

  void FindFillers(const GraphProto& proto);
  absl::Status Walk(const Body& body, const std::vector<Origin>& args, int depth);
  Origin OriginOf(const Body& body, std::string_view input, const std::vector<Origin>& args,
                  bool may_restore = true);
  absl::StatusOr<Tensor> ValueOf(const Origin& origin) const;
  absl::StatusOr<std::string> NameOf(const NodeProto& table) const;
  absl::StatusOr<Tensor> Read(const Filling& filling, const NodeProto& table) const;
  absl::StatusOr<Tensor> ReadFile(const Filling& filling, DType keys, DType values) const;

  Library& library_;
  const SavedFiles& assets_;
  absl::flat_hash_map<std::string_view, std::string_view> files_;  // "node:0" to file
  absl::flat_hash_set<const FunctionProto*> fillers_;              // functions that fill some table
  StringMap<std::vector<Filling>> fillings_;                       // by the table's name
  StringMap<absl::StatusOr<Tensor>> contents_;
  int64_t left_ = 1 << 21;  // nodes of calls that are looked at
  bool unknown_ = false;    // something fills who knows which table
};

}  // namespace x2ir::tf_format

#endif  // X2IR_FORMATS_TENSORFLOW_TABLES_INTERNAL_H_
