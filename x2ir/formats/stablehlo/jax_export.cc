// Reads files of jax.export.
#include "x2ir/formats/stablehlo/jax_export.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <utility>

#include "jax_export_generated.h"
#include "x2ir/formats/mlir/bytecode.h"
#include "x2ir/formats/stablehlo/platforms.h"
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
  absl::StatusOr<mlir::Op*> found = MainOf(module);
  if (!found.ok()) return Annotate(found.status(), StrCat("'", blob->path(), "'"));
  mlir::Op* main = *found;
  X2IR_RETURN_IF_ERROR(ChoosePlatform(module, *main, file.platforms));
  const std::vector<mlir::ValueId>& arguments = main->regions[0].blocks[0].arguments;
  for (size_t i = 0; i < file.inputs.size() && file.num_tokens + i < arguments.size(); ++i) {
    module.values[static_cast<size_t>(arguments[file.num_tokens + i])].name = file.inputs[i];
  }
  return module;
}

}  // namespace stablehlo
}  // namespace x2ir
