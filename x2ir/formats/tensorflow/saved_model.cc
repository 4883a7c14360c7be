// The messages of SavedModels.
#include <algorithm>
#include <numeric>
#include <utility>

#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tf_format {
namespace {

constexpr std::string_view kServe = "serve";

absl::StatusOr<PortProto> ReadPort(const Source& source, const Entry& entry) {
  PortProto port{entry.first, {}, 0, std::nullopt};
  WireReader in = source.Fields(entry.second);
  while (in.Next()) {
    switch (in.field()) {
      case tensor_info_field::kName: port.tensor = in.Bytes(); break;
      case tensor_info_field::kDtype: port.type = in.Int(); break;
      case tensor_info_field::kTensorShape: {
        X2IR_ASSIGN_OR_RETURN(port.shape, ReadShape(source, in.Bytes()));
        break;
      }
      default: break;
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  return port;
}

absl::StatusOr<SignatureProto> ReadSignature(const Source& source, const Entry& entry) {
  SignatureProto signature{entry.first, {}, {}};
  WireReader in = source.Fields(entry.second);
  while (in.Next()) {
    const bool is_input = in.field() == signature_def_field::kInputs;
    if (!is_input && in.field() != signature_def_field::kOutputs) continue;
    X2IR_ASSIGN_OR_RETURN(const Entry port_entry, ReadEntry(source, in.Bytes()));
    X2IR_ASSIGN_OR_RETURN(PortProto port, ReadPort(source, port_entry));
    (is_input ? signature.inputs : signature.outputs).push_back(std::move(port));
  }
  X2IR_RETURN_IF_ERROR(in.status());
  return signature;
}

// A map has no order of its own: by name, unless the file was written in the order of the ports.
absl::Status OrderPorts(bool ordered, SignatureProto& signature) {
  for (auto* list : {&signature.inputs, &signature.outputs}) {
    std::vector<size_t> by_name(list->size());
    std::iota(by_name.begin(), by_name.end(), size_t{0});
    std::stable_sort(by_name.begin(), by_name.end(),
                     [&](size_t a, size_t b) { return (*list)[a].name < (*list)[b].name; });
    for (size_t i = 0; i < by_name.size(); ++i) {
      const std::string_view name = (*list)[by_name[i]].name;
      if (name.empty() || (i > 0 && name == (*list)[by_name[i - 1]].name)) {
        return Invalid("signature '", signature.name, "' has ",
                       name.empty() ? "a tensor" : "two tensors", " of the name '", name, "'");
      }
    }
    if (ordered) continue;
    std::vector<PortProto> sorted;
    for (const size_t i : by_name) sorted.push_back(std::move((*list)[i]));
    *list = std::move(sorted);
  }
  return absl::OkStatus();
}

absl::StatusOr<SavedModelProto> ReadMetaGraph(const Source& source, std::string_view bytes) {
  SavedModelProto model;
  bool ordered = false;
  WireReader meta = source.Fields(bytes);
  while (meta.Next()) {
    switch (meta.field()) {
      case meta_graph_def_field::kGraphDef: model.graph = meta.Bytes(); break;
      case meta_graph_def_field::kMetaInfoDef: {
        WireReader info = source.Fields(meta.Bytes());
        while (info.Next()) {
          if (info.field() == meta_graph_def_meta_info_def_field::kTags)
            model.tags.push_back(info.Bytes());
          if (info.field() == meta_graph_def_meta_info_def_field::kTensorflowVersion) {
            model.tensorflow_version = info.String();
          }
          if (info.field() == meta_graph_def_meta_info_def_field::kMetaGraphVersion) {
            ordered = info.Bytes() == kOrderedVersion;
          }
        }
        X2IR_RETURN_IF_ERROR(info.status());
        break;
      }
      case meta_graph_def_field::kSaverDef: {
        WireReader saver = source.Fields(meta.Bytes());
        while (saver.Next()) {
          if (saver.field() == saver_def_field::kFilenameTensorName)
            model.checkpoint_name = saver.Bytes();
          if (saver.field() == saver_def_field::kRestoreOpName) model.restore_op = saver.Bytes();
        }
        X2IR_RETURN_IF_ERROR(saver.status());
        break;
      }
      case meta_graph_def_field::kAssetFileDef: {
        std::pair<std::string_view, std::string_view> asset;
        WireReader fields = source.Fields(meta.Bytes());
        while (fields.Next()) {
          if (fields.field() == asset_file_def_field::kFilename) asset.second = fields.Bytes();
          if (fields.field() != asset_file_def_field::kTensorInfo) continue;
          WireReader info = source.Fields(fields.Bytes());
          while (info.Next()) {
            if (info.field() == tensor_info_field::kName) asset.first = info.Bytes();
          }
          X2IR_RETURN_IF_ERROR(info.status());
        }
        X2IR_RETURN_IF_ERROR(fields.status());
        model.assets.push_back(asset);
        break;
      }
      case meta_graph_def_field::kSignatureDef: {
        X2IR_ASSIGN_OR_RETURN(const Entry entry, ReadEntry(source, meta.Bytes()));
        X2IR_ASSIGN_OR_RETURN(SignatureProto signature, ReadSignature(source, entry));
        model.signatures.push_back(std::move(signature));
        break;
      }
      default: break;
    }
  }
  X2IR_RETURN_IF_ERROR(meta.status());
  for (SignatureProto& signature : model.signatures) {
    X2IR_RETURN_IF_ERROR(OrderPorts(ordered, signature));
  }
  std::sort(model.tags.begin(), model.tags.end());
  return model;
}

std::string Join(const std::vector<std::string_view>& tags) {
  std::string text;
  for (const std::string_view tag : tags) StrAppend(&text, text.empty() ? "" : ",", tag);
  return text;
}

}  // namespace

absl::StatusOr<SavedModelProto> ReadSavedModelProto(const Source& source, std::string_view tags) {
  std::vector<SavedModelProto> models;
  WireReader in = source.Fields(source.bytes);
  while (in.Next()) {
    if (in.field() != saved_model_field::kMetaGraphs) continue;
    X2IR_ASSIGN_OR_RETURN(SavedModelProto model, ReadMetaGraph(source, in.Bytes()));
    models.push_back(std::move(model));
  }
  X2IR_RETURN_IF_ERROR(in.status());
  if (models.empty()) return DataLoss("the SavedModel has no graph");
  std::vector<std::string_view> wanted;
  for (std::string_view rest = tags; !rest.empty();) {
    wanted.push_back(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(wanted.back().size() + 1, rest.size()));
  }
  std::sort(wanted.begin(), wanted.end());
  const auto find = [&](auto holds) -> std::optional<SavedModelProto> {
    if (std::count_if(models.begin(), models.end(), holds) != 1) return std::nullopt;
    return std::move(*std::find_if(models.begin(), models.end(), holds));
  };
  const auto has = [](const std::vector<std::string_view>& list) {
    return [list](const SavedModelProto& model) { return model.tags == list; };
  };
  if (!tags.empty()) {
    if (auto model = find(has(wanted))) return *std::move(model);
  } else {
    if (auto model = find(has({kServe}))) return *std::move(model);
    const auto serves = [](const SavedModelProto& model) {
      return std::count(model.tags.begin(), model.tags.end(), kServe) != 0;
    };
    if (auto model = find(serves)) return *std::move(model);
    if (models.size() == 1) return std::move(models[0]);
  }
  std::string names;
  for (const SavedModelProto& model : models) {
    StrAppend(&names, names.empty() ? "'" : ", '", Join(model.tags), "'");
  }
  return OptionError("model", "which of the SavedModel's graphs, which have the tags ", names, "?");
}

}  // namespace x2ir::tf_format
