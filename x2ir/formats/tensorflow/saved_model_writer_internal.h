// A model as the messages of a SavedModel. docs/adr/0037 says why it is one of TensorFlow 1's form,
// which all loaders read.
#ifndef X2IR_FORMATS_TENSORFLOW_SAVED_MODEL_WRITER_INTERNAL_H_
#define X2IR_FORMATS_TENSORFLOW_SAVED_MODEL_WRITER_INTERNAL_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/formats/tensorflow/graph_writer_internal.h"
#include "x2ir/formats/tensorflow/table_filler_internal.h"

namespace x2ir::tf_format {

struct SavedModelOptions {
  std::string signature;  // empty: TensorFlowWriteOptions says which
  bool freeze = false;    // no variables
};

struct SavedModelMessage {
  WireWriter message{};                         // SavedModel
  std::vector<GraphWriter::Apart> variables{};  // what the checkpoint has to hold
  std::vector<TableFiller::Asset> assets{};     // the files of the folder "assets"
};

absl::Status MakeSavedModel(const Model& model, const SavedModelOptions& options,
                            SavedModelMessage& out);

}  // namespace x2ir::tf_format

#endif  // X2IR_FORMATS_TENSORFLOW_SAVED_MODEL_WRITER_INTERNAL_H_
