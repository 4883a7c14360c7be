#include "x2ir/core/edit/weights_from.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/safetensors/checkpoint.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

constexpr char kOption[] = "weights_from";
constexpr size_t kFewNames = 5;

// "'a', 'b', ..."
std::string Names(const std::vector<std::string>& names, size_t most = kFewNames) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), most); ++i) {
    StrAppend(&text, i ? ", '" : "'", names[i], "'");
  }
  if (names.size() > most) text += ", ...";
  return text;
}

std::string Count(size_t n, std::string_view what) {
  return StrCat(n, " ", what, n == 1 ? "" : "s");
}

// A weight of the model, and what was found for it.
struct Slot {
  Value* value;
  std::vector<std::string> names;
  bool is_parameter = true;
  const Tensor* found = nullptr;
  std::string found_as{};  // which of its names
};

bool IsAbsent(const Value& value) { return value.is_input() && !value.constant(); }

Type TypeOf(const Value& value) {
  return value.constant() ? value.constant()->type() : value.type();
}
bool Suits(const Value& value, const Tensor& tensor) {
  return !tensor.is_sparse() && tensor.type() == TypeOf(value);
}

bool IsSame(const Tensor& a, const Tensor& b) {
  if (a.data_id() == b.data_id() && a.type() == b.type()) return true;
  const bool same = a == b;
  DropPages(a);
  DropPages(b);
  return same;
}

// A checkpoint, and how its names differ from the model's.
class NamedWeights {
 public:
  NamedWeights(std::string path, Checkpoint checkpoint)
      : path_(std::move(path)), checkpoint_(std::move(checkpoint)) {}

  // The prefix by which most of the model's names are found with the type that they have; none
  // where it does as well.
  absl::Status FindPrefix(const std::vector<Slot>& slots) {
    Prefix best;
    Hits most = Count(slots, best);
    const Hits without = most;
    std::vector<std::string> equals;
    for (const Prefix& prefix : Candidates(slots)) {
      const Hits hits = Count(slots, prefix);
      if (hits <= without || hits < most) continue;
      if (hits > most) equals.clear();
      equals.push_back(prefix.text);
      most = hits;
      best = prefix;
    }
    if (equals.size() > 1) {
      return OptionError(kOption, "the names of '", path_,
                         "' match the model's with two different prefixes: ", Names(equals));
    }
    prefix_ = best;
    return absl::OkStatus();
  }

  // The tensors that a name of the model may mean.
  std::vector<const Tensor*> Find(const std::string& name) {
    std::vector<const Tensor*> found;
    for (const std::string& other : {Mapped(name, prefix_), name}) {
      const Tensor* tensor = checkpoint_.Find(other);
      if (!tensor) continue;
      used_.insert(tensor);
      found.push_back(tensor);
    }
    return found;
  }

  const std::string& path() const { return path_; }
  // "with 'model.' before their names"
  std::string PrefixText() const {
    if (prefix_.text.empty()) return "";
    return prefix_.is_models ? StrCat(", whose names lack the prefix '", prefix_.text, "'")
                             : StrCat(", whose names have the prefix '", prefix_.text, "'");
  }
  std::vector<std::string> Unused() const {
    std::vector<std::string> unused;
    for (const auto& [name, tensor] : checkpoint_.tensors) {
      if (!used_.contains(&tensor)) unused.push_back(name);
    }
    std::sort(unused.begin(), unused.end());
    return unused;
  }

 private:
  struct Prefix {
    std::string text;        // ends with a dot
    bool is_models = false;  // the model's names have it; else the checkpoint's
  };
  using Hits = std::pair<size_t, size_t>;  // of the right type, and of any

  static std::string Mapped(const std::string& name, const Prefix& prefix) {
    if (!prefix.is_models) return prefix.text + name;
    return name.starts_with(prefix.text) ? name.substr(prefix.text.size()) : name;
  }

  // Every prefix by which some name is found.
  std::vector<Prefix> Candidates(const std::vector<Slot>& slots) const {
    std::map<std::pair<std::string, bool>, Prefix> all;
    const auto add = [&](std::string_view name, size_t length, bool is_models) {
      Prefix prefix{std::string(name.substr(0, length)), is_models};
      all.try_emplace({prefix.text, is_models}, prefix);
    };
    const auto each_suffix = [](std::string_view name, const auto& take) {
      for (size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1)) {
        take(dot + 1);
      }
    };
    absl::flat_hash_set<std::string_view> names;
    for (const Slot& slot : slots) {
      for (const std::string& name : slot.names) {
        names.insert(name);
        each_suffix(name, [&](size_t length) {
          if (checkpoint_.Find(std::string_view(name).substr(length))) add(name, length, true);
        });
      }
    }
    for (const auto& entry : checkpoint_.tensors) {
      const std::string_view name = entry.first;
      each_suffix(name, [&](size_t length) {
        if (names.contains(name.substr(length))) add(name, length, false);
      });
    }
    std::vector<Prefix> prefixes;
    for (auto& [key, prefix] : all) prefixes.push_back(std::move(prefix));
    return prefixes;
  }

  Hits Count(const std::vector<Slot>& slots, const Prefix& prefix) const {
    Hits hits{0, 0};
    for (const Slot& slot : slots) {
      bool any = false, suits = false;
      for (const std::string& name : slot.names) {
        const Tensor* tensor = checkpoint_.Find(Mapped(name, prefix));
        if (!tensor) tensor = checkpoint_.Find(name);
        any = any || tensor;
        suits = suits || (tensor && Suits(*slot.value, *tensor));
      }
      hits.first += suits;
      hits.second += any;
    }
    return hits;
  }

  std::string path_;
  Checkpoint checkpoint_;
  Prefix prefix_;
  absl::flat_hash_set<const Tensor*> used_;
};

// What the reader says of weights; else every constant by its own name.
std::vector<Slot> SlotsOf(Model& model) {
  std::vector<Slot> slots;
  if (!model.weights.empty()) {
    for (const Weight& weight : model.weights) {
      Value* value = model.graph->Find(weight.value);
      if (!value || value->producer()) continue;
      slots.push_back({value, weight.names, weight.is_parameter});
    }
    return slots;
  }
  std::vector<Value*> values = model.graph->constants();
  for (Value* input : model.graph->inputs()) {
    if (input->constant()) values.push_back(input);
  }
  for (Value* value : values) slots.push_back({value, {value->name()}, /*is_parameter=*/false});
  return slots;
}

class Taking {
 public:
  Taking(Model& model, Report& report) : model_(model), report_(report), slots_(SlotsOf(model)) {}

  absl::Status Run(absl::Span<const std::string> paths) {
    for (const std::string& path : paths) {
      X2IR_ASSIGN_OR_RETURN(Checkpoint checkpoint, ReadCheckpoint(path));
      checkpoints_.emplace_back(path, std::move(checkpoint));
      X2IR_RETURN_IF_ERROR(checkpoints_.back().FindPrefix(slots_));
    }
    size_t taken = 0;
    std::vector<std::string> kept, missing, wrong;
    for (Slot& slot : slots_) {
      X2IR_RETURN_IF_ERROR(Find(slot));
      if (!slot.found) {
        const bool absent = IsAbsent(*slot.value);
        (slot.is_parameter || absent ? missing : kept).push_back(slot.names[0]);
        lacks_buffer_ = lacks_buffer_ || (absent && !slot.is_parameter);
      } else if (!Suits(*slot.value, *slot.found)) {
        wrong.push_back(StrCat("'", slot.found_as, "' is ", TypeOf(*slot.value).ToString(),
                               " in the model and ", slot.found->type().ToString(),
                               " in the checkpoint"));
      } else {
        ++taken;
      }
    }
    X2IR_RETURN_IF_ERROR(Problems(missing, wrong, taken));
    for (const Slot& slot : slots_) {
      if (slot.found) Set(slot);
    }
    Say(taken, kept);
    return absl::OkStatus();
  }

 private:
  // By its own name or those that it shares; all that are there must be the same.
  absl::Status Find(Slot& slot) {
    for (const std::string& name : slot.names) {
      for (NamedWeights& checkpoint : checkpoints_) {
        for (const Tensor* tensor : checkpoint.Find(name)) {
          if (!slot.found) {
            slot.found = tensor;
            slot.found_as = name;
          } else if (!IsSame(*slot.found, *tensor)) {
            return OptionError(
                kOption, name == slot.found_as
                             ? StrCat("there are two tensors that may be '", name, "'")
                             : StrCat("'", slot.found_as, "' and '", name,
                                      "' are one weight in the model, but not in the checkpoint"));
          }
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status Problems(const std::vector<std::string>& missing,
                        const std::vector<std::string>& wrong, size_t taken) const {
    std::string problem;
    const auto say = [&](std::string_view text) {
      StrAppend(&problem, problem.empty() ? "" : "; ", text);
    };
    const bool all_taken = missing.empty() && wrong.empty();
    if (all_taken && taken == 0) say("it has no weight of the model");
    if (!missing.empty()) {
      say(StrCat("it lacks ", Count(missing.size(), "weight"),
                 " of the model: ", Names(missing, missing.size()),
                 lacks_buffer_ ? " (checkpoints do not have non-persistent buffers; a second file "
                                 "with them can be given)"
                               : ""));
    }
    if (!wrong.empty()) {
      std::string list;
      for (const std::string& text : wrong) StrAppend(&list, list.empty() ? "" : ", ", text);
      say(StrCat(list, " (weights are taken as they are: export the model with these types)"));
    }
    return problem.empty() ? absl::OkStatus() : OptionErrorOf(kOption, problem);
  }

  void Set(const Slot& slot) {
    Graph& graph = *model_.graph;
    if (!slot.value->is_input()) return graph.ReplaceConstant(slot.value, *slot.found);
    const bool absent = IsAbsent(*slot.value);
    graph.SetDefault(slot.value, *slot.found);
    if (absent) graph.FreezeInput(slot.value);
  }

  void Say(size_t taken, const std::vector<std::string>& kept) {
    std::string from;
    for (const NamedWeights& checkpoint : checkpoints_) {
      StrAppend(&from, from.empty() ? "" : " and ", checkpoint.path(), checkpoint.PrefixText());
    }
    report_.notes.push_back(StrCat(Count(taken, "weight"), " from ", from));
    for (const Slot& slot : slots_) {
      if (!slot.found || slot.names.size() < 2) continue;
      std::vector<std::string> others = slot.names;
      others.erase(std::find(others.begin(), others.end(), slot.found_as));
      report_.notes.push_back(StrCat("'", slot.found_as, "' is also ", Names(others), " (tied)"));
    }
    for (const NamedWeights& checkpoint : checkpoints_) {
      const std::vector<std::string> unused = checkpoint.Unused();
      if (unused.empty()) continue;
      report_.notes.push_back(StrCat(Count(unused.size(), "tensor"), " of ", checkpoint.path(),
                                     " not used: ", Names(unused)));
    }
    if (!kept.empty()) {
      report_.notes.push_back(
          StrCat(Count(kept.size(), "constant"), " kept from the model: ", Names(kept)));
    }
  }

  Model& model_;
  Report& report_;
  std::vector<Slot> slots_;
  std::vector<NamedWeights> checkpoints_;
  bool lacks_buffer_ = false;
};

}  // namespace

absl::Status TakeWeights(Model& model, absl::Span<const std::string> checkpoints, Report& report) {
  return Taking(model, report).Run(checkpoints);
}

absl::Status CheckHasWeights(const Model& model) {
  std::vector<std::string> absent;
  for (const Weight& weight : model.weights) {
    const Value* value = std::as_const(*model.graph).Find(weight.value);
    if (value && IsAbsent(*value)) absent.push_back(weight.names[0]);
  }
  if (absent.empty()) return absl::OkStatus();
  return DataLoss("the file lacks ", Count(absent.size(), "weight"), " of the model (",
                  OptionText(kOption),
                  " names a checkpoint that has them): ", Names(absent, absent.size()));
}

}  // namespace x2ir
