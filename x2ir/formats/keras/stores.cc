#include <algorithm>
#include <iterator>
#include <set>

#include "x2ir/formats/keras/stores_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::keras {
namespace {

constexpr int kMaxGroupDepth = 16;
// In all groups that are looked into: a group may be linked from many others, or from itself.
constexpr size_t kMaxMembers = size_t{1} << 18;
constexpr size_t kMaxChunks = 1 << 16;

std::string PathOf(std::string_view group, std::string_view name) {
  return StrCat(group, group.empty() ? "" : "/", name);
}

// A list of texts; a long one is several attributes ("layer_names0", "layer_names1", ...).
absl::StatusOr<std::optional<std::vector<std::string>>> LongTexts(hdf5::File& file,
                                                                  const std::string& path,
                                                                  const std::string& attribute) {
  X2IR_ASSIGN_OR_RETURN(auto texts, file.Texts(path, attribute));
  if (texts) return texts;
  std::optional<std::vector<std::string>> all;
  for (size_t i = 0; i < kMaxChunks; ++i) {
    X2IR_ASSIGN_OR_RETURN(auto chunk, file.Texts(path, StrCat(attribute, i)));
    if (!chunk) break;
    if (!all) all.emplace();
    all->insert(all->end(), chunk->begin(), chunk->end());
  }
  return all;
}

// --- Groups of layers ----------------------------------------------------------------------------

class GroupedStore : public WeightStore {
 public:
  GroupedStore(hdf5::File& file, std::string root, const std::vector<std::string>& layers)
      : file_(file), root_(std::move(root)), layers_(layers.begin(), layers.end()) {}

  absl::StatusOr<std::vector<StoredWeight>> Of(const LayerPlace& place) override {
    std::vector<StoredWeight> found;
    if (!layers_.contains(place.names[0])) return found;
    const std::string group = PathOf(root_, place.names[0]);
    X2IR_ASSIGN_OR_RETURN(const auto names, LongTexts(file_, group, "weight_names"));
    if (!names) return found;
    std::vector<size_t> which;
    if (place.names.size() == 1) {
      for (size_t i = 0; i < names->size(); ++i) which.push_back(i);
    } else {
      which = FindByName(*names, place);
    }
    for (const size_t i : which) {
      X2IR_ASSIGN_OR_RETURN(Tensor tensor, file_.Dataset(PathOf(group, (*names)[i])));
      found.push_back({(*names)[i], std::move(tensor)});
    }
    return found;
  }

 private:
  hdf5::File& file_;
  std::string root_;
  std::set<std::string> layers_;
};

// --- Variables by paths --------------------------------------------------------------------------

// Parts of layers in the order in which their weights are counted; others follow by name.
constexpr std::string_view kParts[] = {"forward_layer", "backward_layer", "query_dense",
                                       "key_dense",     "value_dense",    "output_dense",
                                       "cell",          "cells",          "layer"};
constexpr std::string_view kContainers[] = {"layers", "_layer_checkpoint_dependencies"};

size_t RankOfPart(std::string_view name) {
  if (name.starts_with('_')) name.remove_prefix(1);
  return static_cast<size_t>(std::find(std::begin(kParts), std::end(kParts), name) -
                             std::begin(kParts));
}

// "lstm_cell_10" comes after "lstm_cell_9".
bool BeforeByNumber(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

class VariableStore : public WeightStore {
 public:
  explicit VariableStore(hdf5::File& file) : file_(file) {}

  absl::StatusOr<std::vector<StoredWeight>> Of(const LayerPlace& place) override {
    std::vector<StoredWeight> found;
    for (const std::string& path : PathsOf(place)) {
      X2IR_ASSIGN_OR_RETURN(const bool is_group, file_.IsGroup(path));
      if (!is_group) continue;
      X2IR_RETURN_IF_ERROR(Collect(path, "", 0, &found));
      return found;
    }
    return found;
  }

 private:
  // As this version of Keras writes it, as older ones did, and by the layer's own name.
  std::vector<std::string> PathsOf(const LayerPlace& place) const {
    std::vector<std::string> paths = {place.path};
    std::string older = place.path, oldest = place.path;
    for (size_t at = 0; (at = older.find("layers/", at)) != older.npos; at += 1) {
      if (at > 0 && older[at - 1] != '/') continue;
      older.replace(at, 6, kContainers[1]);
      at += kContainers[1].size();
    }
    oldest = older;
    for (size_t at = 0; (at = oldest.find("dependencies/", at)) != oldest.npos; ++at) {
      oldest[at + 12] = '\\';
    }
    paths.push_back(older);
    paths.push_back(oldest);
    const size_t slash = place.path.rfind('/');
    if (slash != place.path.npos) {
      paths.push_back(place.path.substr(0, slash + 1) + place.names.back());
    }
    return paths;
  }

  absl::Status Collect(const std::string& path, const std::string& prefix, int depth,
                       std::vector<StoredWeight>* found) {
    if (depth > kMaxGroupDepth) return Invalid("groups are nested too deeply");
    const std::string vars = PathOf(path, "vars");
    X2IR_ASSIGN_OR_RETURN(std::vector<std::string> names, file_.Names(vars));
    std::sort(names.begin(), names.end(), BeforeByNumber);
    for (const std::string& name : names) {
      const std::string variable = PathOf(vars, name);
      X2IR_ASSIGN_OR_RETURN(const bool is_dataset, file_.IsDataset(variable));
      if (!is_dataset) continue;
      X2IR_ASSIGN_OR_RETURN(Tensor tensor, file_.Dataset(variable));
      X2IR_ASSIGN_OR_RETURN(const auto dtype, file_.Text(variable, "dtype"));
      if (dtype && *dtype == "bfloat16" && BitWidth(tensor.dtype()) == 16) {
        const std::vector<int64_t> dims = tensor.dims();
        const auto owner = std::make_shared<const Tensor>(std::move(tensor));
        X2IR_ASSIGN_OR_RETURN(tensor, Tensor::View(DType::kBFloat16, dims, owner->bytes(), owner));
      }
      found->push_back({StrCat(prefix, "vars/", name), std::move(tensor)});
    }
    std::vector<std::string> parts;
    X2IR_ASSIGN_OR_RETURN(const std::vector<std::string> members, file_.Names(path));
    members_ += 1 + names.size() + members.size();
    if (members_ > kMaxMembers) return Invalid("groups have more than ", kMaxMembers, " members");
    for (const std::string& name : members) {
      if (name == "vars" || name.find("seed_generator") != name.npos) continue;
      X2IR_ASSIGN_OR_RETURN(const bool is_group, file_.IsGroup(PathOf(path, name)));
      if (is_group) parts.push_back(name);
    }
    std::sort(parts.begin(), parts.end(), [](const std::string& a, const std::string& b) {
      const size_t i = RankOfPart(a), k = RankOfPart(b);
      return i != k ? i < k : BeforeByNumber(a, b);
    });
    for (const std::string& part : parts) {
      X2IR_RETURN_IF_ERROR(
          Collect(PathOf(path, part), StrCat(prefix, part, "/"), depth + 1, found));
    }
    return absl::OkStatus();
  }

  hdf5::File& file_;
  size_t members_ = 0;  // of groups that were looked into
};

absl::StatusOr<bool> HasVariables(hdf5::File& file) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<std::string> names, file.Names(""));
  for (const std::string& name : names) {
    if (name.starts_with(kContainers[1])) return true;
    if (name != kContainers[0] && name != "vars") continue;
    X2IR_ASSIGN_OR_RETURN(const bool is_group, file.IsGroup(name));
    if (is_group) return true;
  }
  return false;
}

absl::StatusOr<std::string> RootOf(hdf5::File& file) {
  X2IR_ASSIGN_OR_RETURN(const bool is_group, file.IsGroup("model_weights"));
  return std::string(is_group ? "model_weights" : "");
}

}  // namespace

absl::StatusOr<bool> HasWeights(hdf5::File& file) {
  X2IR_ASSIGN_OR_RETURN(const std::string root, RootOf(file));
  X2IR_ASSIGN_OR_RETURN(const auto layers, LongTexts(file, root, "layer_names"));
  if (layers) return true;
  return HasVariables(file);
}

absl::StatusOr<std::unique_ptr<WeightStore>> OpenWeights(hdf5::File& file) {
  X2IR_ASSIGN_OR_RETURN(const std::string root, RootOf(file));
  X2IR_ASSIGN_OR_RETURN(const auto layers, LongTexts(file, root, "layer_names"));
  if (layers) return std::make_unique<GroupedStore>(file, root, *layers);
  X2IR_ASSIGN_OR_RETURN(const bool has_variables, HasVariables(file));
  if (!has_variables) return DataLoss("it has no weights of layers");
  return std::make_unique<VariableStore>(file);
}

}  // namespace x2ir::keras
