// Configurations as text: sections of options, a line each.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>

#include "x2ir/formats/darknet/darknet.h"
#include "x2ir/graph_wrapper/name_pair.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::darknet {
namespace {

constexpr size_t kMaxSections = 1 << 16;
constexpr size_t kMaxLine = 1 << 16;

constexpr NamePair kShortNames[] = {
    {"network", "net"},
    {"conv", "convolutional"},
    {"deconv", "deconvolutional"},
    {"activ", "activation"},
    {"conn", "connected"},
    {"max", "maxpool"},
    {"local_max", "local_maxpool"},
    {"local_avg", "local_avgpool"},
    {"avg", "avgpool"},
    {"localavg", "local_avgpool"},
    {"lrn", "normalization"},
    {"soft", "softmax"},
    {"silence", "empty"},
    {"contrastive_loss", "contrastive"},
    {"Gaussian_yolo", "gaussian_yolo"},
};

std::string WithoutSpaces(std::string_view line) {
  std::string text;
  for (const char c : line) {
    if (c != ' ' && c != '\t' && c != '\r') text.push_back(c);
  }
  return text;
}

}  // namespace

const std::string* Section::Find(std::string_view key) const {
  for (const auto& [name, value] : options) {
    if (name == key) return &value;
  }
  return nullptr;
}

absl::StatusOr<std::vector<Section>> ParseConfig(std::string_view text) {
  std::vector<Section> sections;
  StringSet there;  // keys of the last section
  int64_t number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > kMaxLine) return Invalid("line ", number, " is too long");
    const std::string line = WithoutSpaces(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line[0] == '#' || line[0] == ';' || line[0] == '\0') continue;
    if (line[0] == '[') {
      const size_t close = line.find(']');
      if (close == line.npos)
        return Invalid("line ", number, ": '", line.substr(0, 80), "' is not a section");
      std::string name = line.substr(1, close - 1);
      const auto* full = std::ranges::find(kShortNames, std::string_view(name), &NamePair::from);
      if (full != std::end(kShortNames)) name = full->to;
      sections.push_back({std::move(name), number});
      there.clear();
      if (sections.size() > kMaxSections) return Invalid("there are too many sections");
      continue;
    }
    const size_t equal = line.find('=');
    if (equal == line.npos || equal == 0) {
      return Invalid("line ", number, ": '", line.substr(0, 80), "' is not KEY=VALUE");
    }
    if (sections.empty()) return Invalid("line ", number, ": KEY=VALUE before the first section");
    // Of an option that is there twice the first counts.
    const std::string key = line.substr(0, equal);
    if (there.insert(key).second) {
      sections.back().options.emplace_back(key, line.substr(equal + 1));
    }
  }
  return sections;
}

bool LooksLikeConfig(std::string_view head) {
  while (!head.empty()) {
    const size_t end = std::min(head.find('\n'), head.size());
    const std::string line = WithoutSpaces(head.substr(0, end));
    head.remove_prefix(std::min(end + 1, head.size()));
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    return line.starts_with("[net]") || line.starts_with("[network]");
  }
  return false;
}

std::vector<double> ParseNumbers(std::string_view text) {
  std::vector<double> numbers;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string part(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    char* end = nullptr;
    const double number = std::strtod(part.c_str(), &end);
    if (end == part.c_str()) break;
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<int64_t> ParseIntegers(std::string_view text) {
  std::vector<int64_t> numbers;
  for (const double number : ParseNumbers(text)) {
    if (!(number > -2e9 && number < 2e9)) break;
    numbers.push_back(static_cast<int64_t>(number));
  }
  return numbers;
}

}  // namespace x2ir::darknet
