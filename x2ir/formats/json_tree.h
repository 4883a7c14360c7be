// JSON as a tree, for configurations that are read more than once: members by name, in any order.
//
// A value takes 16 bytes and what it points to, and members of large objects are found by a hash
// table: time and memory follow the text, whatever is in it.
#ifndef X2IR_FORMATS_JSON_TREE_H_
#define X2IR_FORMATS_JSON_TREE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/attribute.h"

namespace X2IR_API x2ir {

// A value that is absent is null, and so is every member and element of it: a path through objects
// needs no checks on the way.
class Json {
 public:
  enum class Kind : uint8_t { kNull, kBool, kInt, kFloat, kString, kArray, kObject };

  using Member = std::pair<std::string, Json>;

  Json() = default;
  explicit Json(std::string text);
  explicit Json(int64_t number) : kind_(Kind::kInt) { of_.number = number; }
  explicit Json(double number) : kind_(Kind::kFloat) { of_.real = number; }
  Json(const Json& other);
  Json(Json&& other) noexcept { Swap(other); }
  Json& operator=(Json other) noexcept {
    Swap(other);
    return *this;
  }
  ~Json();
  static Json Bool(bool value);
  static Json Array(std::vector<Json> items);
  static Json Object();

  // DataLoss for text that is not JSON, or is nested more than 200 deep. NaN and Infinity are
  // numbers.
  static absl::StatusOr<Json> Parse(std::string_view text);

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_array() const { return kind_ == Kind::kArray; }
  bool is_object() const { return kind_ == Kind::kObject; }
  bool is_number() const { return kind_ == Kind::kInt || kind_ == Kind::kFloat; }

  // Of an object; null where there is none.
  const Json& operator[](std::string_view name) const;
  bool Has(std::string_view name) const { return !(*this)[name].is_null(); }
  // Of an array; null past its end.
  const Json& at(size_t i) const;
  size_t size() const { return items().size(); }
  const std::vector<Json>& items() const;
  const std::vector<Member>& members() const;

  const std::string& text() const;  // empty for what is none
  bool Flag(bool fallback = false) const {
    return kind_ == Kind::kBool ? of_.number != 0 : fallback;
  }
  int64_t Int(int64_t fallback = 0) const;  // a float without a fraction is one, too
  double Number(double fallback = 0) const;

  // Makes it an object.
  void Set(std::string_view name, Json value);
  void Erase(std::string_view name);

  std::string ToString() const;

 private:
  struct Members;  // of an object, and where each name is

  void Swap(Json& other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(of_, other.of_);
  }

  Kind kind_ = Kind::kNull;
  union {
    int64_t number;  // bool, int
    double real;
    std::string* text;
    std::vector<Json>* items;
    Members* members;
  } of_ = {0};
};

// A configuration as attributes: numbers, texts, and lists of one kind (nested lists of numbers one
// after the other); all else as JSON. What is null is left out.
AttributeMap AttributesOf(const Json& config);

}  // namespace x2ir

#endif  // X2IR_FORMATS_JSON_TREE_H_
