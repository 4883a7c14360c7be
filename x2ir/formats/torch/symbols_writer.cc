// Sizes as torch.export writes them; the opposite of symbols.cc.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <numeric>

#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/torch/writer_internal.h"

namespace x2ir::torch_format {
namespace {

constexpr int64_t kMaxHinted = 1 << 12;  // of what sizes are made multiples of
constexpr int64_t kMaxHint = 1 << 20;    // that is raised to
constexpr int kMaxRounds = 64;

// "s0", "s12": what PyTorch calls sizes of inputs.
bool IsTorchSize(std::string_view name) {
  return name.size() >= 2 && name.size() < 8 && name[0] == 's' &&
         std::all_of(name.begin() + 1, name.end(),
                     [](char c) { return std::isdigit(static_cast<unsigned char>(c)); });
}

bool IsName(const Dim& dim) {
  const std::vector<std::string> names = dim.SymbolNames();
  return names.size() == 1 && dim == Dim::Symbol(names[0]);
}

bool IsDifference(const Dim& dim) {
  return dim.is_symbolic() && dim.ToString().find('-') != std::string::npos;
}

// The numbers by which something is divided in the text of a size.
void CollectDivisors(const Dim& dim, int64_t* multiple) {
  if (!dim.is_symbolic()) return;
  const std::string text = dim.ToString();
  if (text.find("floordiv(") == text.npos && text.find("mod(") == text.npos) return;
  for (size_t comma = text.find(", "); comma != text.npos; comma = text.find(", ", comma + 1)) {
    int64_t divisor = 0;
    const char* begin = text.data() + comma + 2;
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), divisor);
    if (error != std::errc() || end == text.data() + text.size() || *end != ')' || divisor < 1) {
      continue;
    }
    const int64_t both = std::lcm(*multiple, std::min(divisor, kMaxHinted + 1));
    if (both <= kMaxHinted) *multiple = both;
  }
}

}  // namespace

// Examples are such that nothing is left over where sizes are divided: what is divided is most
// often made whole again, and put beside what was not.
TorchSymbols::TorchSymbols(const Graph& graph) {
  std::vector<Dim> sizes;  // but names alone
  absl::flat_hash_set<std::string> seen;
  const auto add = [&](const Value* value) {
    const Shape* shape = value ? value->shape() : nullptr;
    for (int64_t i = 0; shape && i < shape->rank(); ++i) {
      const Dim& dim = (*shape)[i];
      if (!dim.is_symbolic() || IsName(dim) || !seen.insert(dim.ToString()).second) continue;
      CollectDivisors(dim, &step_);
      sizes.push_back(dim);
    }
  };
  const std::function<void(const Graph&)> walk = [&](const Graph& inner) {
    for (const Value* input : inner.inputs()) add(input);
    for (const Node* node : inner.nodes()) {
      for (const Value* output : node->outputs()) add(output);
      for (const Graph* nested : node->subgraphs()) walk(*nested);
    }
  };
  walk(graph);
  // Names of PyTorch are kept; they take precedence over others. Of a difference loaders ask what
  // its parts are, which only sizes of their own tell.
  for (const bool torch : {true, false}) {
    for (const bool alone : {true, false}) {
      for (const Value* input : graph.inputs()) {
        const Shape* shape = input->shape();
        for (int64_t i = 0; shape && i < shape->rank(); ++i) {
          const Dim& dim = (*shape)[i];
          if (IsName(dim) != alone || (!alone && IsDifference(dim))) continue;
          for (const std::string& name : dim.SymbolNames()) {
            if (IsTorchSize(name) == torch && !renamed_.contains(name)) {
              renamed_[name] = FreshInput(torch ? std::string_view(name) : std::string_view());
            }
          }
        }
      }
    }
  }
  RaiseHints(sizes);
}

// Loaders make tensors of the example's sizes: none may be negative. What a window takes off a
// length wants a long one.
void TorchSymbols::RaiseHints(const std::vector<Dim>& dims) {
  std::vector<Dim> sizes;
  for (const Dim& dim : dims) {
    if (auto renamed = Renamed(dim); renamed && IsDifference(*renamed)) {
      sizes.push_back(*std::move(renamed));
    }
  }
  bool raised = true;
  for (int round = 0; raised && round < kMaxRounds; ++round) {
    raised = false;
    for (const Dim& size : sizes) {
      const auto before = Hint(size);
      if (!before || *before >= 0) continue;
      // The name that helps most.
      std::string best;
      int64_t most = *before;
      for (const std::string& name : size.SymbolNames()) {
        int64_t& hint = hints_[name];
        if (hint > kMaxHint / 2) continue;
        hint *= 2;
        if (const auto after = Hint(size); after && *after >= most) {
          best = name;
          most = *after;
        }
        hint /= 2;
      }
      if (best.empty()) continue;
      hints_[best] *= 2;
      raised = true;
    }
  }
}

Dim TorchSymbols::FreshInput(std::string_view like) {
  std::string name(like);
  for (int i = static_cast<int>(hints_.size()); name.empty() || hints_.contains(name); ++i) {
    name = StrCat("s", i);
  }
  hints_[name] = step_ * (2 + inputs_++);
  all_.push_back(name);
  return Dim::Symbol(name);
}

Dim TorchSymbols::Fresh() {
  all_.push_back(StrCat("u", fresh_++));
  return Dim::Symbol(all_.back());
}

std::string TorchSymbols::FreshFloat() { return StrCat("zuf", floats_++); }

std::optional<Dim> TorchSymbols::Renamed(const Dim& dim) const {
  if (dim.is_static()) return dim;
  if (dim.is_unknown()) return std::nullopt;
  for (const std::string& name : dim.SymbolNames()) {
    if (!renamed_.contains(name)) return std::nullopt;
  }
  const Dim renamed = dim.Substitute(
      [&](std::string_view name) -> std::optional<Dim> { return renamed_.find(name)->second; });
  if (renamed.is_unknown()) return std::nullopt;
  return renamed;
}

Dim TorchSymbols::OfInput(const Dim& dim) {
  if (const auto renamed = Renamed(dim)) return *renamed;
  if (!dim.is_symbolic()) return FreshInput("");
  const auto [it, fresh] = of_inputs_.try_emplace(dim.ToString());
  if (fresh) it->second = FreshInput("");
  return it->second;
}

Dim TorchSymbols::Of(const Dim& dim) {
  // Loaders cannot tell whether a difference is negative of what has no example.
  const auto renamed = Renamed(dim);
  const bool may_be_negative =
      renamed && renamed->is_symbolic() && !Hint(*renamed) && IsDifference(*renamed);
  if (renamed && !may_be_negative) return *renamed;
  const Dim fresh = Fresh();
  if (dim.is_symbolic() && IsName(dim)) renamed_[dim.SymbolNames()[0]] = fresh;
  return fresh;
}

std::optional<int64_t> TorchSymbols::Hint(const Dim& dim) const {
  if (dim.is_static()) return dim.value();
  const Dim number = dim.Substitute([&](std::string_view name) -> std::optional<Dim> {
    const auto it = hints_.find(name);
    return it == hints_.end() ? std::nullopt : std::optional(Dim(it->second));
  });
  return number.is_static() ? std::optional(number.value()) : std::nullopt;
}

std::string TorchSymbols::Expression(const Dim& dim) const {
  static constexpr std::pair<std::string_view, std::string_view> kFunctions[] = {
      {"floordiv", "FloorDiv"}, {"mod", "PythonMod"}, {"min", "Min"}, {"max", "Max"}};
  const std::string text = dim.ToString();
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const auto part_of_word = [&](size_t k) {
      return k < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[k])) || text[k] == '_');
    };
    size_t end = i;
    while (part_of_word(end)) ++end;
    const std::string_view word = std::string_view(text).substr(i, end - i);
    if (word.empty() || std::isdigit(static_cast<unsigned char>(word[0]))) {
      out += word.empty() ? std::string_view(text).substr(i, 1) : word;
      i += std::max<size_t>(word.size(), 1);
      continue;
    }
    i = end;
    const auto* function = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                        [&](const auto& f) { return f.first == word; });
    if (function != std::end(kFunctions) && end < text.size() && text[end] == '(') {
      out += function->second;
    } else {
      StrAppend(&out, "Symbol('", word, hints_.contains(word) ? "', positive=True" : "'",
                ", integer=True)");
    }
  }
  return out;
}

void TorchSymbols::AppendSize(std::string* json, const Dim& dim) const {
  if (dim.is_static()) {
    StrAppend(json, "{\"as_int\": ", dim.value(), "}");
    return;
  }
  StrAppend(json, "{\"as_expr\": {\"expr_str\": \"", Expression(dim), "\", \"hint\": ");
  if (const auto hint = Hint(dim)) {
    StrAppend(json, "{\"as_int\": ", *hint, "}}}");
  } else {
    json->append("null}}");
  }
}

// Two and more is how PyTorch says any size: it takes 0 and 1, too.
void TorchSymbols::AppendRanges(std::string* json) const {
  json->append("{");
  for (const std::string& name : all_) {
    StrAppend(json, json->back() == '{' ? "\"" : ", \"", name,
              "\": {\"min_val\": ", hints_.contains(name) ? 2 : 0, ", \"max_val\": null}");
  }
  json->append("}");
}

}  // namespace x2ir::torch_format
