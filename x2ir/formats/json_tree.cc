#include "x2ir/formats/json_tree.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
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
        items.shrink_to_fit();
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

struct Json::Members {
  // Of few members each is looked at.
  static constexpr size_t kFew = 16;

  std::vector<Member> list;
  StringMap<size_t> places;  // in the list; empty for a few

  // The member's place, or the size of the list.
  size_t Find(std::string_view name) const {
    if (places.empty()) {
      size_t i = 0;
      while (i < list.size() && list[i].first != name) ++i;
      return i;
    }
    const auto it = places.find(name);
    return it == places.end() ? list.size() : it->second;
  }
  void Index() {
    places.clear();
    if (list.size() <= kFew) return;
    for (size_t i = 0; i < list.size(); ++i) places.emplace(list[i].first, i);
  }
  void Add(std::string_view name, Json value) {
    list.emplace_back(std::string(name), std::move(value));
    if (places.empty()) {
      Index();
    } else {
      places.emplace(list.back().first, list.size() - 1);
    }
  }
};

Json::Json(std::string text) : kind_(Kind::kString) { of_.text = new std::string(std::move(text)); }

Json::Json(const Json& other) : kind_(other.kind_), of_(other.of_) {
  switch (kind_) {
    case Kind::kString: of_.text = new std::string(*other.of_.text); break;
    case Kind::kArray: of_.items = new std::vector<Json>(*other.of_.items); break;
    case Kind::kObject: of_.members = new Members(*other.of_.members); break;
    default: break;
  }
}

Json::~Json() {
  switch (kind_) {
    case Kind::kString: delete of_.text; break;
    case Kind::kArray: delete of_.items; break;
    case Kind::kObject: delete of_.members; break;
    default: break;
  }
}

Json Json::Bool(bool value) {
  Json json(int64_t{value});
  json.kind_ = Kind::kBool;
  return json;
}

Json Json::Array(std::vector<Json> items) {
  Json json;
  json.of_.items = new std::vector<Json>(std::move(items));
  json.kind_ = Kind::kArray;
  return json;
}

Json Json::Object() {
  Json json;
  json.of_.members = new Members;
  json.kind_ = Kind::kObject;
  return json;
}

const std::vector<Json>& Json::items() const {
  static const auto& none = *new std::vector<Json>;
  return kind_ == Kind::kArray ? *of_.items : none;
}

const std::vector<Json::Member>& Json::members() const {
  static const auto& none = *new std::vector<Member>;
  return kind_ == Kind::kObject ? of_.members->list : none;
}

const std::string& Json::text() const {
  static const auto& none = *new std::string;
  return kind_ == Kind::kString ? *of_.text : none;
}

absl::StatusOr<Json> Json::Parse(std::string_view text) { return JsonTreeReader(text).Read(); }

const Json& Json::operator[](std::string_view name) const {
  static const Json& null = *new Json;
  if (kind_ != Kind::kObject) return null;
  const size_t i = of_.members->Find(name);
  return i < of_.members->list.size() ? of_.members->list[i].second : null;
}

const Json& Json::at(size_t i) const {
  static const Json& null = *new Json;
  return i < items().size() ? items()[i] : null;
}

int64_t Json::Int(int64_t fallback) const {
  if (kind_ == Kind::kInt) return of_.number;
  if (kind_ != Kind::kFloat || of_.real != std::floor(of_.real) || std::fabs(of_.real) > 9e15) {
    return fallback;
  }
  return static_cast<int64_t>(of_.real);
}

double Json::Number(double fallback) const {
  if (kind_ == Kind::kInt) return static_cast<double>(of_.number);
  return kind_ == Kind::kFloat ? of_.real : fallback;
}

void Json::Set(std::string_view name, Json value) {
  if (kind_ != Kind::kObject) *this = Object();
  const size_t i = of_.members->Find(name);
  if (i < of_.members->list.size()) {
    of_.members->list[i].second = std::move(value);
  } else {
    of_.members->Add(name, std::move(value));
  }
}

void Json::Erase(std::string_view name) {
  if (kind_ != Kind::kObject) return;
  std::erase_if(of_.members->list, [&](const Member& member) { return member.first == name; });
  of_.members->Index();
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

}  // namespace x2ir
