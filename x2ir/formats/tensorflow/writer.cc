// Files of a GraphDef.
#include <cctype>
#include <limits>

#include "x2ir/formats/io/atomic_file.h"
#include "x2ir/formats/tensorflow/graph_writer_internal.h"
#include "x2ir/formats/tensorflow/tensorflow.h"
#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace tf_format {
namespace {

// What protobuf reads.
constexpr uint64_t kMaxMessage = std::numeric_limits<int32_t>::max();

bool IsTextName(std::string_view name) {
  constexpr std::string_view kText = ".pbtxt";
  if (name.size() < kText.size()) return false;
  name.remove_prefix(name.size() - kText.size());
  for (size_t i = 0; i < kText.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(name[i])) != kText[i]) return false;
  }
  return true;
}

}  // namespace
}  // namespace tf_format

absl::Status WriteFrozenGraph(const Model& model, const Sink& sink) {
  using namespace tf_format;  // NOLINT
  X2IR_RETURN_IF_ERROR(model.graph->CheckNames());
  WireWriter message;
  X2IR_RETURN_IF_ERROR(GraphWriter(model).Write(message));
  if (message.size() > kMaxMessage) {
    return CannotExpress("cannot write '", sink.name(), "': the graph takes ", message.size(),
                         " bytes, and a GraphDef can have at most ", kMaxMessage,
                         "; a SavedModel, which has variables in files of their own, can hold it");
  }
  X2IR_ASSIGN_OR_RETURN(AtomicFile file, sink.Create(sink.name()));
  const auto put = [&](std::string_view bytes) { return file.Append(bytes); };
  if (IsTextName(sink.name())) {
    X2IR_RETURN_IF_ERROR(Annotate(WireToText(message.ToString(), "GraphDef", put),
                                  StrCat("cannot write '", sink.name(), "'")));
  } else {
    X2IR_RETURN_IF_ERROR(
        message.Emit(put, [&](const Tensor& tensor) { return file.Append(tensor); }));
  }
  return file.Commit();
}

}  // namespace x2ir
