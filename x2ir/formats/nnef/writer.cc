// Writes a graph of nodes of NNEF: its text, and a file for each tensor that is no single number.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "x2ir/formats/io/atomic_folder.h"
#include "x2ir/formats/io/file_names.h"
#include "x2ir/formats/io/folders.h"
#include "x2ir/formats/io/tar.h"
#include "x2ir/formats/nnef/nnef.h"
#include "x2ir/formats/nnef/operators.h"
#include "x2ir/formats/nnef/tensor_file.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace nnef {
namespace {

namespace fs = std::filesystem;

std::string RealText(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  char text[64];
  const auto [end, error] =
      std::to_chars(std::begin(text), std::end(text), static_cast<float>(number));
  (void)error;
  std::string shortest(std::begin(text), end);
  if (shortest.find_first_of(".e") == shortest.npos) shortest += ".0";
  return shortest;
}

// The type that external tensors and variables of these elements have.
std::string_view TypeText(DType dtype) {
  if (dtype == DType::kBool) return "logical";
  return IsFloating(dtype) ? "scalar" : "integer";
}

struct TensorToWrite {
  std::string label;
  std::string header;
  Tensor tensor;
};

class NnefWriter {
 public:
  absl::Status Write(const Graph& graph) {
    const std::string name = Identifier(graph.name().empty() ? "network" : graph.name());
    names_.erase(name);
    std::string inputs, outputs;
    for (const Value* input : graph.inputs()) {
      if (input->constant()) return CannotExpress("input '", input->name(), "' with a default");
      X2IR_RETURN_IF_ERROR(Annotate(WriteInput(*input), StrCat("input '", input->name(), "'")));
      StrAppend(&inputs, inputs.empty() ? "" : ", ", values_.at(input));
    }
    for (const Value* output : graph.outputs()) {
      const std::string id = Identifier(output->name());
      if (output->producer()) values_[output] = id;
    }
    for (const Node* node : graph.nodes()) {
      X2IR_RETURN_IF_ERROR(Annotate(WriteNode(*node), node->op().view()));
    }
    std::set<const Value*> returned;
    for (const Value* output : graph.outputs()) {
      X2IR_ASSIGN_OR_RETURN(std::string id, OperandText(output));
      // A result has a name of its own.
      if (!output->producer() || !returned.insert(output).second) {
        const std::string copy = Identifier(output->name());
        StrAppend(&lines_, "    ", copy, " = copy(", id, ");\n");
        id = copy;
      }
      StrAppend(&outputs, outputs.empty() ? "" : ", ", id);
    }
    text_ = "version 1.0;\n\n";
    if (!symbols_.empty()) text_ += "extension tract_registry tract_core;\n";
    for (const std::string& symbol : symbols_)
      StrAppend(&text_, "extension tract_symbol ", symbol, ";\n");
    if (!symbols_.empty()) text_ += "\n";
    StrAppend(&text_, "graph ", name, "(", inputs, ") -> (", outputs, ")\n{\n", declarations_,
              lines_, "}\n");
    return absl::OkStatus();
  }
  const std::string& text() const { return text_; }
  const std::vector<TensorToWrite>& tensors() const { return tensors_; }

 private:
  std::string Identifier(std::string_view base) {
    std::string name;
    for (const char c : base) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) || IsKeyword(name)) {
      name.insert(0, "v_");
    }
    std::string unique = name;
    for (int& i = suffixes_[name]; !names_.insert(unique).second; ++i) {
      unique = StrCat(name, "_", i + 1);
    }
    return unique;
  }
  absl::Status WriteInput(const Value& input) {
    const Type& type = input.type();
    if (!type.is_tensor() || !type.shape())
      return CannotExpress("a value of type ", type.ToString());
    const DType t = type.dtype();
    if (t != DType::kFloat32 && t != DType::kInt64 && t != DType::kBool) {
      return CannotExpress("elements of type ", Name(t),
                           "; NNEF has real numbers (float32), integers (int64) and flags");
    }
    std::string dims;
    for (const Dim& dim : *type.shape()) {
      std::string text;
      if (dim.is_static()) {
        text = StrCat(dim.value());
      } else {
        const std::vector<std::string> of = dim.SymbolNames();
        if (of.size() != 1 || Dim::Symbol(of[0]) != dim) {
          return CannotExpress("the size ", dim.ToString(), "; only numbers and names are sizes");
        }
        const auto plain = [](char c) {
          return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
        };
        if (!std::all_of(of[0].begin(), of[0].end(), plain) || IsKeyword(of[0])) {
          return CannotExpress("the size ", of[0], ", which is no name in NNEF");
        }
        text = of[0];
        symbols_.insert(text);
        names_.insert(text);
      }
      StrAppend(&dims, dims.empty() ? "" : ", ", text);
    }
    values_[&input] = Identifier(input.name());
    StrAppend(&declarations_, "    ", values_[&input], " = external<", TypeText(t), ">(shape = [",
              dims, "]);\n");
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> OperandText(const Value* value) {
    if (!value) return CannotExpress("an operand that is left out");
    const auto it = values_.find(value);
    if (it != values_.end()) return it->second;
    const Tensor* tensor = value->fixed_constant();
    if (!tensor) return Internal("'", value->name(), "' comes after its use");
    const DType t = tensor->dtype();
    if (tensor->rank() == 0 && !tensor->is_sparse()) {
      if (t == DType::kFloat32) return values_[value] = RealText(tensor->AsDouble(0));
      if (t == DType::kInt64) return values_[value] = StrCat(tensor->AsInt(0));
      if (t == DType::kBool) return values_[value] = tensor->AsInt(0) ? "true" : "false";
    }
    auto header = TensorHeader(*tensor);
    if (!header.ok()) return Annotate(header.status(), StrCat("constant '", value->name(), "'"));
    const std::string id = Identifier(value->name());
    tensors_.push_back({id, *std::move(header), *tensor});
    std::string dims;
    for (const int64_t dim : tensor->dims()) StrAppend(&dims, dims.empty() ? "" : ", ", dim);
    StrAppend(&declarations_, "    ", id, " = variable<", TypeText(t), ">(shape = [", dims,
              "], label = '", id, "');\n");
    return values_[value] = id;
  }
  // Lists of pairs are flat in the attribute.
  static std::string AttributeText(const Parameter& param, const Attribute& attr) {
    const bool flag = param.type == "logical", pairs = param.type.empty();
    if (const auto* number = attr.get<int64_t>()) {
      return flag                     ? *number ? "true" : "false"
             : param.type == "scalar" ? RealText(static_cast<double>(*number))
                                      : StrCat(*number);
    }
    if (const auto* number = attr.get<float>()) return RealText(*number);
    if (const auto* text = attr.get<std::string>()) return StrCat("'", *text, "'");
    std::string list;
    if (const auto* ints = attr.get<Attribute::Ints>()) {
      for (size_t i = 0; i < ints->size(); ++i) {
        StrAppend(&list, i ? ", " : "");
        if (pairs) StrAppend(&list, i % 2 ? "" : "(");
        StrAppend(&list, (*ints)[i], pairs && i % 2 ? ")" : "");
      }
    }
    return StrCat("[", list, "]");
  }
  absl::Status WriteNode(const Node& node) {
    const Fragment* op = FindOperator(node.op().view());
    const Attribute* names = node.attrs().Find(kOperands);
    const auto* of = names ? names->get<Attribute::Strings>() : nullptr;
    if (node.dialect() != Symbol(kDialect) || !op || !of || of->size() != node.num_inputs() ||
        IsTracts(op->name)) {
      return CannotExpress("it is not an operator of the standard");
    }
    std::string arguments;
    for (const Parameter& param : op->params) {
      std::vector<std::string> given;
      for (size_t i = 0; i < of->size(); ++i) {
        if ((*of)[i] != param.name) continue;
        X2IR_ASSIGN_OR_RETURN(std::string text, OperandText(node.input(i)));
        given.push_back(std::move(text));
      }
      const Attribute* attr = node.attrs().Find(param.name);
      if (given.empty() && !attr) {
        if (param.has_default()) continue;
        return Internal("parameter '", param.name, "' is missing");
      }
      std::string text;
      if (attr) {
        text = AttributeText(param, *attr);
      } else if (param.is_array) {
        for (const std::string& part : given) StrAppend(&text, text.empty() ? "[" : ", ", part);
        text += "]";
      } else {
        text = given[0];
      }
      StrAppend(&arguments, arguments.empty() ? "" : ", ",
                param.is_tensor ? text : StrCat(param.name, " = ", text));
    }
    const Attribute* cast = node.attrs().Find("type");
    const std::string type = cast ? StrCat("<", *cast->get<std::string>(), ">") : "";
    std::string results;
    for (const Value* output : node.outputs()) {
      std::string id = output && values_.contains(output)
                           ? values_[output]
                           : Identifier(output ? output->name() : "unused");
      if (output) values_[output] = id;
      StrAppend(&results, results.empty() ? "" : ", ", id);
    }
    const bool list = op->results.size() == 1 && op->results[0].is_array;
    StrAppend(&lines_, "    ", list ? "[" : "", results, list ? "]" : "", " = ", op->name, type,
              "(", arguments, ");\n");
    return absl::OkStatus();
  }

  std::string text_, declarations_, lines_;
  std::vector<TensorToWrite> tensors_;
  absl::flat_hash_map<const Value*, std::string> values_;
  absl::flat_hash_map<std::string, int> suffixes_;
  std::set<std::string> names_, symbols_;
};

// --- Files ---------------------------------------------------------------------------------------

constexpr size_t kOpenFiles = 64;

absl::Status PutFiles(const NnefWriter& written, const Sink& sink, const fs::path& folder) {
  std::vector<AtomicFile> open;
  const auto commit = [&] {
    std::vector<AtomicFile*> files;
    for (AtomicFile& file : open) files.push_back(&file);
    const absl::Status status = AtomicFile::CommitAll(files);
    open.clear();
    return status;
  };
  for (const TensorToWrite& part : written.tensors()) {
    X2IR_ASSIGN_OR_RETURN(AtomicFile file, sink.Create((folder / (part.label + ".dat")).string()));
    X2IR_RETURN_IF_ERROR(file.Append(part.header));
    X2IR_RETURN_IF_ERROR(file.Append(part.tensor));
    open.push_back(std::move(file));
    if (open.size() >= kOpenFiles) X2IR_RETURN_IF_ERROR(commit());
  }
  X2IR_ASSIGN_OR_RETURN(AtomicFile graph, sink.Create((folder / kGraphFile).string()));
  X2IR_RETURN_IF_ERROR(graph.Append(written.text()));
  open.push_back(std::move(graph));
  return commit();
}

// Whether the folder has the files of a model of NNEF and no others.
absl::Status CheckReplaceable(const fs::path& root) {
  std::error_code error;
  if (fs::is_empty(root, error)) return absl::OkStatus();
  if (!fs::exists(root / kGraphFile, error)) {
    return absl::AlreadyExistsError(
        StrCat("'", root.string(), "' exists and is not a model of NNEF; write to another path"));
  }
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name != kGraphFile && name != kQuantFile && !name.ends_with(".dat")) {
      return absl::AlreadyExistsError(
          StrCat("'", root.string(), "' has another file, '", name, "'; write to another path"));
    }
  }
  return absl::OkStatus();
}

absl::Status PutFolder(const NnefWriter& written, const Sink& sink) {
  if (!sink.is_path()) return PutFiles(written, sink, sink.name());
  std::error_code error;
  const bool exists = fs::exists(fs::symlink_status(sink.name(), error));
  if (exists) X2IR_RETURN_IF_ERROR(CheckReplaceable(sink.name()));
  // A folder that is there is replaced whole, so that no tensor of the old model stays; a link to
  // one stays a link.
  const std::string target = exists ? CanonicalPath(sink.name()) : sink.name();
  X2IR_ASSIGN_OR_RETURN(AtomicFolder folder, AtomicFolder::Create(target));
  for (const TensorToWrite& part : written.tensors()) {
    folder.AddFile((fs::path(folder.path()) / (part.label + ".dat")).string());
  }
  folder.AddFile((fs::path(folder.path()) / kGraphFile).string());
  X2IR_RETURN_IF_ERROR(PutFiles(written, sink, folder.path()));
  return exists ? folder.Replace() : folder.Commit();
}

absl::Status PutArchive(const NnefWriter& written, const Sink& sink, bool compressed) {
  X2IR_ASSIGN_OR_RETURN(AtomicFile file, sink.Create(sink.name()));
  GzipWriter gzip([&](std::string_view bytes) { return file.Append(bytes); });
  uint64_t size = 0;
  const auto put = [&](std::string_view bytes) {
    size += bytes.size();
    return compressed ? gzip.Append(bytes) : file.Append(bytes);
  };
  const auto pad = [&] {
    return put(std::string((kTarBlock - size % kTarBlock) % kTarBlock, '\0'));
  };
  X2IR_RETURN_IF_ERROR(put(TarHeader(kGraphFile, written.text().size())));
  X2IR_RETURN_IF_ERROR(put(written.text()));
  X2IR_RETURN_IF_ERROR(pad());
  for (const TensorToWrite& part : written.tensors()) {
    X2IR_RETURN_IF_ERROR(
        put(TarHeader(part.label + ".dat", part.header.size() + part.tensor.nbytes())));
    X2IR_RETURN_IF_ERROR(put(part.header));
    if (compressed) {
      const absl::Span<const std::byte> bytes = part.tensor.bytes();
      X2IR_RETURN_IF_ERROR(
          put(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
    } else {
      size += part.tensor.nbytes();
      X2IR_RETURN_IF_ERROR(file.Append(part.tensor));
    }
    X2IR_RETURN_IF_ERROR(pad());
  }
  X2IR_RETURN_IF_ERROR(put(std::string(2 * kTarBlock, '\0')));
  if (compressed) X2IR_RETURN_IF_ERROR(gzip.Finish());
  return file.Commit();
}

}  // namespace
}  // namespace nnef

absl::Status WriteNnef(const Model& model, const Sink& sink) {
  nnef::NnefWriter written;
  X2IR_RETURN_IF_ERROR(written.Write(*model.graph));
  if (!nnef::IsArchiveName(sink.name())) return nnef::PutFolder(written, sink);
  return nnef::PutArchive(written, sink, /*compressed=*/!sink.name().ends_with(".tar"));
}

}  // namespace x2ir
