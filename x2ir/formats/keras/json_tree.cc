#include "x2ir/formats/keras/json_tree.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace keras {
namespace {

constexpr int kMaxJsonDepth = 200;

class JsonTreeReader {
 public:
  explicit JsonTreeReader(std::string_view text) : in_(text, true) {}

  absl::StatusOr<Json> Read() {
    Json json = Value(0);
    in_.Finish();
    if (!in_.ok()) return in_.status();
    return json;
  }

 private:
  Json Value(int depth) {
    if (depth > kMaxJsonDepth) {
      in_.Fail("values are nested too deeply");
      return {};
    }
    switch (in_.Peek()) {
      case JsonReader::Kind::kObject: {
        Json json = Json::Object();
        in_.Object([&](std::string_view key) {
          const std::string name(key);
          json.Set(name, Value(depth + 1));
        });
        return json;
      }
      case JsonReader::Kind::kArray: {
        std::vector<Json> items;
        in_.Array([&](size_t) { items.push_back(Value(depth + 1)); });
        return Json::Array(std::move(items));
      }
      case JsonReader::Kind::kString: return Json(std::string(in_.String()));
      case JsonReader::Kind::kBool: return Json::Bool(in_.Bool());
      case JsonReader::Kind::kNumber: return Number(in_.Number());
      default: in_.Skip(); return {};
    }
  }

  static Json Number(const JsonReader::NumberText& number) {
    if (!number.is_float) {
      if (const auto value = ParseNumber<int64_t>(number.text)) return Json(*value);
    }
    if (number.text == "NaN") return Json(std::nan(""));
    if (number.text == "Infinity") return Json(HUGE_VAL);
    if (number.text == "-Infinity") return Json(-HUGE_VAL);
    double value = 0;
    const char* end = number.text.data() + number.text.size();
    const auto [stop, error] = std::from_chars(number.text.data(), end, value);
    if (error == std::errc::result_out_of_range) {
      value = number.text.find("e-") == number.text.npos ? HUGE_VAL : 0;
      if (number.text.starts_with('-')) value = -value;
    }
    return Json(value);
  }

  JsonReader in_;
};

void AppendJson(std::string* out, const Json& json) {
  switch (json.kind()) {
    case Json::Kind::kNull: *out += "null"; return;
    case Json::Kind::kBool: *out += json.Flag() ? "true" : "false"; return;
    case Json::Kind::kInt: *out += StrCat(json.Int()); return;
    case Json::Kind::kFloat: {
      const double number = json.Number();
      if (std::isnan(number)) {
        *out += "NaN";
      } else if (std::isinf(number)) {
        *out += number < 0 ? "-Infinity" : "Infinity";
      } else {
        AppendJsonDouble(out, number);
      }
      return;
    }
    case Json::Kind::kString: AppendJsonString(out, json.text()); return;
    case Json::Kind::kArray:
      *out += '[';
      for (size_t i = 0; i < json.size(); ++i) {
        if (i > 0) *out += ", ";
        AppendJson(out, json.at(i));
      }
      *out += ']';
      return;
    case Json::Kind::kObject: {
      *out += '{';
      bool first = true;
      for (const auto& [name, value] : json.members()) {
        if (!first) *out += ", ";
        first = false;
        AppendJsonString(out, name);
        *out += ": ";
        AppendJson(out, value);
      }
      *out += '}';
      return;
    }
  }
}

// Numbers of nested lists one after the other; false where something else is among them.
bool FlattenNumbers(const Json& json, std::vector<double>* numbers, std::vector<int64_t>* ints,
                    bool* all_ints) {
  for (const Json& item : json.items()) {
    if (item.is_array()) {
      if (!FlattenNumbers(item, numbers, ints, all_ints)) return false;
    } else if (item.is_number() || item.kind() == Json::Kind::kBool) {
      const bool is_float = item.kind() == Json::Kind::kFloat;
      numbers->push_back(is_float ? item.Number() : static_cast<double>(item.Int(item.Flag())));
      ints->push_back(is_float ? 0 : item.Int(item.Flag()));
      *all_ints = *all_ints && !is_float;
    } else {
      return false;
    }
  }
  return true;
}

Attribute AttributeOfList(const Json& json) {
  std::vector<double> numbers;
  std::vector<int64_t> ints;
  bool all_ints = true;
  if (FlattenNumbers(json, &numbers, &ints, &all_ints)) {
    if (all_ints) return ints;
    return std::vector<float>(numbers.begin(), numbers.end());
  }
  std::vector<std::string> texts;
  for (const Json& item : json.items()) {
    if (!item.is_string()) return json.ToString();
    texts.push_back(item.text());
  }
  return texts;
}

}  // namespace

Json Json::OfKind(Kind kind) {
  Json json;
  json.kind_ = kind;
  return json;
}

Json Json::Bool(bool value) {
  Json json = OfKind(Kind::kBool);
  json.int_ = value;
  return json;
}

Json Json::Array(std::vector<Json> items) {
  Json json = OfKind(Kind::kArray);
  json.items_ = std::move(items);
  return json;
}

absl::StatusOr<Json> Json::Parse(std::string_view text) { return JsonTreeReader(text).Read(); }

const Json& Json::operator[](std::string_view name) const {
  static const Json& null = *new Json;
  for (const auto& [key, value] : members_) {
    if (key == name) return value;
  }
  return null;
}

const Json& Json::at(size_t i) const {
  static const Json& null = *new Json;
  return i < items_.size() ? items_[i] : null;
}

int64_t Json::Int(int64_t or_else) const {
  if (kind_ == Kind::kInt) return int_;
  if (kind_ != Kind::kFloat || float_ != std::floor(float_) || std::fabs(float_) > 9e15) {
    return or_else;
  }
  return static_cast<int64_t>(float_);
}

double Json::Number(double or_else) const {
  if (kind_ == Kind::kInt) return static_cast<double>(int_);
  return kind_ == Kind::kFloat ? float_ : or_else;
}

void Json::Set(std::string_view name, Json value) {
  kind_ = Kind::kObject;
  for (auto& [key, old] : members_) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  members_.emplace_back(std::string(name), std::move(value));
}

void Json::Erase(std::string_view name) {
  std::erase_if(members_, [&](const auto& member) { return member.first == name; });
}

std::string Json::ToString() const {
  std::string text;
  AppendJson(&text, *this);
  return text;
}

AttributeMap AttributesOf(const Json& config) {
  AttributeMap attrs;
  for (const auto& [name, value] : config.members()) {
    switch (value.kind()) {
      case Json::Kind::kNull: break;
      case Json::Kind::kBool: attrs.Set(name, value.Flag()); break;
      case Json::Kind::kInt: attrs.Set(name, value.Int()); break;
      case Json::Kind::kFloat: attrs.Set(name, value.Number()); break;
      case Json::Kind::kString: attrs.Set(name, value.text()); break;
      case Json::Kind::kArray: attrs.Set(name, AttributeOfList(value)); break;
      case Json::Kind::kObject: attrs.Set(name, value.ToString()); break;
    }
  }
  return attrs;
}

}  // namespace keras
}  // namespace x2ir
