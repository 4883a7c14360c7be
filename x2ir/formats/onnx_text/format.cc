// Registers the formats "textproto" and "onnxjson", ONNX's messages as protobuf writes them in
// text, and "onnxtxt", ONNX's own syntax.
#include "x2ir/formats/format.h"

#include <utility>

#include "x2ir/formats/onnx/files_internal.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/onnx_text/onnx_text_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

using onnx_text::ModelMessage;

// A way to say a model in text.
struct TextForm {
  absl::StatusOr<std::string> (*to_wire)(std::string_view text);
  absl::Status (*from_wire)(std::string_view wire, const ProtoPut&);
  bool (*begins)(std::string_view head);
};

constexpr TextForm kTextProto = {
    [](std::string_view text) {
      return ProtoTextToWire(text, ModelMessage(), ProtoUnknown::kError);
    },
    [](std::string_view wire, const ProtoPut& put) {
      return WireToProtoText(wire, ModelMessage(), put);
    },
    [](std::string_view head) {
      const std::string_view name = FirstProtoTextName(head);
      return !name.empty() && FindProtoField(ModelMessage(), name) != nullptr;
    },
};
constexpr TextForm kJson = {
    [](std::string_view text) { return ProtoJsonToWire(text, ModelMessage()); },
    [](std::string_view wire, const ProtoPut& put) {
      return WireToProtoJson(wire, ModelMessage(), put);
    },
    [](std::string_view head) {
      const std::string_view key = FirstJsonKey(head);
      return !key.empty() && FindProtoJsonField(ModelMessage(), key) != nullptr;
    },
};
constexpr TextForm kSyntax = {onnx_text::SyntaxToWire, onnx_text::WireToSyntax,
                              onnx_text::LooksLikeSyntax};

template <const TextForm& kForm>
absl::StatusOr<Model> ReadTextForm(const Source& source, const ReadRequest&) {
  X2IR_ASSIGN_OR_RETURN(const BlobPtr file, source.Open());
  absl::StatusOr<std::string> wire = kForm.to_wire(file->view());
  if (!wire.ok()) return Annotate(wire.status(), StrCat("'", source.name(), "'"));
  return ReadOnnxMessage(*std::move(wire), source);
}

template <const TextForm& kForm>
absl::Status WriteTextForm(const Model& model, const Sink& sink, const FormatOptions& options) {
  X2IR_ASSIGN_OR_RETURN(OnnxWriteOptions write, onnx_format::WriteOptionsOf(options, sink));
  write.encode = kForm.from_wire;
  return WriteOnnx(model, sink, write);
}

template <const TextForm& kForm>
Format FormatOf(std::string name, std::vector<std::string> extensions, std::string doc) {
  return {
      .name = std::move(name),
      .dialect = "onnx",
      .extensions = std::move(extensions),
      .doc = std::move(doc),
      .recognize =
          [](const Candidate& file) {
            const std::string_view head = file.text();
            return !file.is_folder && kForm.begins(head) ? Match::kPossible : Match::kNo;
          },
      .names_files = true,
      .read = ReadTextForm<kForm>,
      .write_options = onnx_format::WriteOptionDefs(),
      .write = WriteTextForm<kForm>,
      .companions = onnx_format::Companions,
      .input_defaults = true,
      .metadata = true,
  };
}

[[maybe_unused]] const bool kRegistered[] = {
    RegisterFormat(FormatOf<kTextProto>("textproto", {".textproto", ".prototxt", ".txtpb"},
                                        "Models of ONNX in protobuf's text format")),
    RegisterFormat(FormatOf<kJson>("onnxjson", {".onnxjson"}, "Models of ONNX in protobuf's JSON")),
    RegisterFormat(FormatOf<kSyntax>("onnxtxt", {".onnxtxt", ".onnxtext"},
                                     "Models in ONNX's own text syntax")),
};

}  // namespace
}  // namespace x2ir
