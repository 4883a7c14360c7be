#include "x2ir/formats/stablehlo/jax_export.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <utility>

#include "jax_export_generated.h"
#include "x2ir/formats/mlir/bytecode.h"
#include "x2ir/formats/stablehlo/vhlo.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace stablehlo {
namespace {

namespace fb = ::x2ir::jax_fb;

// Null: it is no such file.
const fb::Exported* ExportedIn(std::string_view bytes) {
  flatbuffers::Verifier::Options options;
  options.check_alignment = false;  // bytes in memory may lie anywhere
  options.max_tables = 1 << 17;     // tables can be shared, and are counted each time
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  if (bytes.size() < 8 || bytes.size() > FLATBUFFERS_MAX_BUFFER_SIZE) return nullptr;
  flatbuffers::Verifier verifier(data, bytes.size(), options);
  if (!verifier.VerifyBuffer<fb::Exported>(nullptr)) return nullptr;
  const fb::Exported* exported = flatbuffers::GetRoot<fb::Exported>(data);
  const auto* module = exported->mlir_module();
  if (module == nullptr ||
      !mlir::IsBytecode({reinterpret_cast<const char*>(module->data()), module->size()})) {
    return nullptr;
  }
  return exported;
}

// The leaves of a tree, each by the way to it: "0.params.w". A name of the file costs its length
// for each leaf below it, so there is an end to the length.
class LeafNames {
 public:
  std::vector<std::string> Of(const fb::Tree* tree) {
    if (tree != nullptr) Add(*tree, "");
    return std::move(names_);
  }

 private:
  static constexpr size_t kLongestName = 256;

  void Add(const fb::Tree& tree, const std::string& path) {
    if (tree.kind() == fb::TreeKind::none) return;
    if (tree.kind() == fb::TreeKind::leaf) {
      names_.push_back(path);
      return;
    }
    if (tree.children() == nullptr) return;
    const auto* names = tree.kind() == fb::TreeKind::dict ? tree.names() : nullptr;
    for (flatbuffers::uoffset_t i = 0; i < tree.children()->size(); ++i) {
      const bool named = names != nullptr && i < names->size();
      const std::string_view step = named ? names->Get(i)->string_view() : std::string_view();
      std::string next = StrCat(path, path.empty() ? "" : ".");
      if (named) StrAppend(&next, step.substr(0, kLongestName));
      if (!named) StrAppend(&next, i);
      if (next.size() > kLongestName) next.resize(kLongestName);
      Add(*tree.children()->Get(i), next);
    }
  }

  std::vector<std::string> names_;
};

// Arguments are a tuple of those by position and a dictionary of those by name. Which of the two it
// is says nothing.
std::string ArgumentName(std::string name) {
  const size_t dot = name.find('.');
  return dot == name.npos ? name : name.substr(dot + 1);
}

mlir::Op* MainOf(mlir::Module& module) {
  for (mlir::Region& region : module.top.regions) {
    for (mlir::Block& block : region.blocks) {
      for (mlir::Op& op : block.ops) {
        const mlir::Attr* name = op.name == "func.func" ? op.Find("sym_name") : nullptr;
        if (name != nullptr && name->s == "main") return &op;
      }
    }
  }
  return nullptr;
}

// Makes the first argument of a function a constant.
absl::Status FixFirstArgument(mlir::Module& module, mlir::Op& function, int64_t value) {
  mlir::Block& block = function.regions[0].blocks[0];
  const mlir::TypeRef type = block.arguments.empty() ? nullptr : module.type(block.arguments[0]);
  const DType dtype = type != nullptr ? type->type.dtype() : DType::kUndefined;
  const Shape* shape = type != nullptr ? type->type.shape() : nullptr;
  if (!IsInteger(dtype) || shape == nullptr || shape->rank() != 0) {
    return Invalid("the first argument of 'main' is not the number of a platform");
  }
  mlir::Op constant;
  constant.name = "stablehlo.constant";
  constant.results.push_back(block.arguments[0]);
  mlir::Attr element;
  element.kind = mlir::Attr::kTensor;
  element.type = type;
  element.tensor = Tensor::ScalarOf(dtype, static_cast<double>(value));
  constant.attrs.emplace_back("value", std::move(element));
  block.ops.insert(block.ops.begin(), std::move(constant));
  block.arguments.erase(block.arguments.begin());
  for (auto& [name, attr] : function.attrs) {
    if (name == "function_type" && attr.type != nullptr && attr.type->num_arguments != 0) {
      auto made = std::make_shared<mlir::MlirType>(*attr.type);
      made->items.erase(made->items.begin());
      --made->num_arguments;
      attr.type = std::move(made);
    } else if (name == "arg_attrs" && !attr.items.empty()) {
      attr.items.erase(attr.items.begin());
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool IsJaxExport(std::string_view bytes) { return ExportedIn(bytes) != nullptr; }

absl::StatusOr<JaxExport> ReadJaxExport(const BlobPtr& blob) {
  const fb::Exported* exported = ExportedIn(blob->view());
  if (exported == nullptr) return DataLoss("'", blob->path(), "' is no file of jax.export");
  const uint32_t devices =
      std::max<uint32_t>(exported->nr_devices(),
                         static_cast<uint32_t>(std::max<int16_t>(exported->nr_devices_short(), 0)));
  if (devices > 1) {
    return Unimplemented("'", blob->path(), "' is a program for ", devices,
                         " devices; those for one device are read");
  }
  JaxExport result;
  result.serialization_version = exported->serialization_version();
  result.calling_convention_version = exported->calling_convention_version();
  if (exported->function_name() != nullptr) result.function_name = exported->function_name()->str();
  if (const auto* platforms = exported->platforms()) {
    for (const auto* platform : *platforms) result.platforms.push_back(platform->str());
  }
  if (const auto* effects = exported->ordered_effects()) result.num_tokens = effects->size();
  result.uses_global_constants = exported->uses_global_constants();
  const std::vector<std::string> inputs = LeafNames().Of(exported->in_tree());
  if (const auto* kept = exported->kept_inputs()) {
    for (const uint16_t input : *kept) {
      result.inputs.push_back(input < inputs.size() ? ArgumentName(inputs[input]) : "");
    }
  }
  result.outputs = LeafNames().Of(exported->out_tree());
  const auto* module = exported->mlir_module();
  result.begin =
      static_cast<uint64_t>(reinterpret_cast<const std::byte*>(module->data()) - blob->data());
  result.size = module->size();
  return result;
}

absl::StatusOr<mlir::Module> ReadJaxModule(const BlobPtr& blob) {
  X2IR_ASSIGN_OR_RETURN(const JaxExport file, ReadJaxExport(blob));
  X2IR_ASSIGN_OR_RETURN(mlir::Module module, mlir::ReadBytecode(blob, file.begin, file.size));
  X2IR_RETURN_IF_ERROR(FromVhlo(module));
  mlir::Op* main = MainOf(module);
  if (main == nullptr || main->regions.empty() || main->regions[0].blocks.empty()) {
    return Invalid("'", blob->path(), "' has no function 'main'");
  }
  if (file.platforms.size() > 1) {
    const auto cpu = std::find(file.platforms.begin(), file.platforms.end(), "cpu");
    const int64_t platform = cpu == file.platforms.end() ? 0 : cpu - file.platforms.begin();
    X2IR_RETURN_IF_ERROR(FixFirstArgument(module, *main, platform));
  }
  const std::vector<mlir::ValueId>& arguments = main->regions[0].blocks[0].arguments;
  for (size_t i = 0; i < file.inputs.size() && file.num_tokens + i < arguments.size(); ++i) {
    module.values[static_cast<size_t>(arguments[file.num_tokens + i])].name = file.inputs[i];
  }
  return module;
}

}  // namespace stablehlo
}  // namespace x2ir
