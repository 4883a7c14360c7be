// What all bodies of a file share: its functions, what they change, and which of them are needed.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/tensorflow/body_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tf_format {
namespace {

constexpr size_t kMaxFunctionAttributes = 1000;  // of one function; they are a list

}  // namespace

Library::Library(const Source& source, const GraphProto& proto, const Variables* variables)
    : source_(source), variables_(variables), producer_(proto.producer) {
  for (const FunctionProto& function : proto.functions) {
    duplicate_ |= !functions_.emplace(function.name, &function).second;
  }
}

absl::Status Library::Check() const {
  if (duplicate_) return Invalid("two functions have the same name");
  for (const auto& [name, function] : functions_) {
    if (function->attrs.size() > kMaxFunctionAttributes) {
      return Invalid("function '", name, "' has ", function->attrs.size(), " attributes");
    }
  }
  return absl::OkStatus();
}

const FunctionProto* Library::Find(std::string_view name) const {
  const auto it = functions_.find(name);
  return it == functions_.end() ? nullptr : it->second;
}

const FunctionProto* Library::Called(const NodeProto& node) const {
  if (node.op != "PartitionedCall" && node.op != "StatefulPartitionedCall") return Find(node.op);
  const absl::StatusOr<AttrProto> attr = ReadAttr(source_, node.attr("f"));
  const auto* name = attr.ok() ? attr->value.get<std::string>() : nullptr;
  return name ? Find(*name) : nullptr;
}

bool Library::Writes(const NodeProto& node) {
  if (ChangesState(node.op)) return true;
  const std::vector<const FunctionProto*> named = NamedBy(node);
  return std::any_of(named.begin(), named.end(),
                     [this](const FunctionProto* f) { return FunctionWrites(f->name); });
}

bool Library::FunctionWrites(std::string_view name) {
  // Over the calls, without recursion: bodies may call each other as deep as they like.
  const FunctionProto* root = Find(name);
  if (!root) return false;
  if (const auto it = writes_.find(root->name); it != writes_.end()) return it->second;
  bool writes = false;
  absl::flat_hash_set<const FunctionProto*> seen = {root};
  std::vector<const FunctionProto*> todo = {root};
  while (!todo.empty() && !writes) {
    const FunctionProto* function = todo.back();
    todo.pop_back();
    source_.budget->looks -= 1 + static_cast<int64_t>(function->nodes.size());
    if (source_.budget->looks < 0) return true;  // it may; then nothing is forgotten
    for (const NodeProto& node : function->nodes) {
      writes |= ChangesState(node.op);
      for (const FunctionProto* callee : NamedBy(node)) {
        if (seen.insert(callee).second) todo.push_back(callee);
      }
    }
  }
  writes_[root->name] = writes;
  // Where nothing writes, nothing that it calls does.
  for (const FunctionProto* function : seen) {
    if (!writes) writes_[function->name] = false;
  }
  return writes;
}

std::vector<const FunctionProto*> Library::NamedBy(const NodeProto& node) const {
  std::vector<const FunctionProto*> named;
  const auto add = [&](std::string_view name) {
    if (const FunctionProto* function = Find(name)) named.push_back(function);
  };
  add(node.op);
  for (const auto& [name, bytes] : node.attrs) {
    if (name.starts_with('_') || name == "value") continue;
    const absl::StatusOr<AttrProto> attr = ReadAttr(source_, bytes);
    if (!attr.ok() || !attr->function) continue;
    if (const auto* one = attr->value.get<std::string>()) add(*one);
    if (const auto* list = attr->value.get<Attribute::Strings>()) {
      for (const std::string& callee : *list) add(callee);
    }
  }
  return named;
}

absl::Status Library::Spend(int64_t nodes) {
  source_.budget->nodes -= nodes;
  if (source_.budget->nodes >= 0) return absl::OkStatus();
  return Invalid("the functions, written out, are too many nodes, or nodes have too many outputs");
}

void Library::Need(const FunctionProto& function) {
  if (asked_.insert(&function).second) needed_.push_back(&function);
}

absl::Status Library::ReadNeeded(Model* model) {
  while (!needed_.empty()) {
    const FunctionProto& proto = *needed_.back();
    needed_.pop_back();
    auto function = std::make_shared<Function>();
    function->name = std::string(proto.name);
    for (const auto& [name, kind] : proto.attrs) {
      // Annotations of TensorFlow's own.
      if (!name.starts_with('_')) function->attributes.emplace_back(name);
    }
    function->opset_imports = model->opset_imports;
    function->body = std::make_shared<Graph>(function->name);
    absl::Status s = ReadFunctionBody(*this, proto, nullptr, 0, function->body.get());
    if (!s.ok()) return Annotate(s, StrCat("function '", proto.name, "'"));
    model->functions.push_back(std::move(function));
  }
  return absl::OkStatus();
}

}  // namespace x2ir::tf_format
