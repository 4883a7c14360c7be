// Sizes as torch.export writes them; the opposite of symbols.cc.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>

#include "x2ir/formats/torch/writer_internal.h"

namespace x2ir::torch_format {
namespace {

constexpr int64_t kMostHinted = 1 << 12;  // of what sizes are made multiples of

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
    const int64_t both = std::lcm(*multiple, std::min(divisor, kMostHinted + 1));
    if (both <= kMostHinted) *multiple = both;
  }
}

}  // namespace

// Examples are such that nothing is left over where sizes are divided: what is divided is most
// often made whole again, and put beside what was not.
TorchSymbols::TorchSymbols(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    for (const Value* output : node->outputs()) {
      const Shape* shape = output ? output->shape() : nullptr;
      for (int64_t i = 0; shape && i < shape->rank(); ++i) CollectDivisors((*shape)[i], &step_);
    }
  }
  // Names that are PyTorch's stay; these go before others.
  for (const bool torch : {true, false}) {
    for (const Value* input : graph.inputs()) {
      const Shape* shape = input->shape();
      for (int64_t i = 0; shape && i < shape->rank(); ++i) {
        for (const std::string& name : (*shape)[i].SymbolNames()) {
          if (IsTorchSize(name) == torch && !renamed_.contains(name)) {
            renamed_[name] = FreshInput(torch ? std::string_view(name) : std::string_view());
          }
        }
      }
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
  return FreshInput("");
}

Dim TorchSymbols::Of(const Dim& dim) {
  if (const auto renamed = Renamed(dim)) return *renamed;
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
