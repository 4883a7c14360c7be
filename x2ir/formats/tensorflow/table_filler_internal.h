// The nodes that fill the lookup tables of a written graph, and the vocabularies of a SavedModel.
#ifndef X2IR_FORMATS_TENSORFLOW_TABLE_FILLER_INTERNAL_H_
#define X2IR_FORMATS_TENSORFLOW_TABLE_FILLER_INTERNAL_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/formats/tensorflow/graph_writer_internal.h"

namespace x2ir::tf_format {

inline constexpr std::string_view kAssetsFolder = "assets";

class TableFiller {
 public:
  // A file of words, one a line, whose numbers are those of the lines. `node` is the constant that
  // has its path; loaders replace it.
  struct Asset {
    std::string node, file, text;
  };

  // `assets`: what stands before the names of files; empty: a graph without files beside it, whose
  // tables are filled by constants.
  TableFiller(WireWriter& out, GraphWriter& graph, std::string_view assets = "")
      : nodes_(out, graph, ""), graph_(graph), folder_(assets) {}

  // Adds the nodes to the graph, after it was written.
  absl::Status Write();
  // The node that fills all tables; empty where there are none.
  const std::string& main_op() const { return main_op_; }
  const std::vector<Asset>& assets() const { return assets_; }

 private:
  absl::StatusOr<std::string> Fill(const GraphWriter::Table& table);
  std::string FillFromFile(const GraphWriter::Table& table, bool words_are_keys,
                           const std::vector<std::string>& words);

  AddedNodes nodes_;
  GraphWriter& graph_;
  const std::string folder_;
  std::string main_op_;
  std::vector<Asset> assets_;
  std::set<std::string> files_;
};

}  // namespace x2ir::tf_format

#endif  // X2IR_FORMATS_TENSORFLOW_TABLE_FILLER_INTERNAL_H_
