// Types as text and back, and merging.
#include "x2ir/graph_wrapper/type.h"

#include <string>
#include <tuple>

#include "gtest/gtest.h"

namespace x2ir {
namespace {

TEST(TypeTest, RoundTrip) {
  const std::string rows[] = {
      "?",
      "float32[2,seq,?]",
      "float32[...]",
      "float32[]",
      "undefined[2]",
      "int4[2*seq+1]",
      "float8e4m3fn[floordiv(h, 2)]",
      "string[\"batch size\"]",
      "float32[\"/a\\n_d0\",2*\"x y\"+1]",
      "bool[a + b]",
      "sequence(int64[?])",
      "sequence(?)",
      "optional(sequence(float16[2]))",
      "map(string, float32[...])",
      "map(int64, sequence(?))",
      "sparse(float32[3,n])",
      "sparse(float32[...])",
      "opaque(com, Thing)",
      "opaque(\"\", \"a b\")",
  };
  for (const std::string& text : rows) {
    const auto type = Type::Parse(text);
    ASSERT_TRUE(type.ok()) << type.status();
    EXPECT_EQ(type->ToString(), text);
    EXPECT_EQ(*Type::Parse(type->ToString()), *type) << text;
  }
  for (int t = 1; t < kNumDTypes; ++t) {
    const Type type = Type::Tensor(static_cast<DType>(t), Shape{2, Dim::Symbol("n")});
    EXPECT_EQ(*Type::Parse(type.ToString()), type);
  }
}

TEST(TypeTest, ReadsLoosely) {
  const std::tuple<std::string, std::string> rows[] = {
      {" f32 [ 2 , n ] ", "float32[2,n]"},
      {"float[ ... ]", "float32[...]"},
      {"map( string ,double[] )", "map(string, float64[])"},
      {"int64[2*3]", "int64[6]"},
      {"int64[\"7\"]", "int64[7]"},
  };
  for (const auto& [text, want] : rows) {
    const auto type = Type::Parse(text);
    ASSERT_TRUE(type.ok()) << type.status();
    EXPECT_EQ(type->ToString(), want);
  }
}

TEST(TypeTest, OpaqueDimNamesSurvive) {
  for (const std::string name : {"\"quoted\"", "?", "a]b", "x,y", "...", "\x01", "h/2"}) {
    const Type type = Type::Tensor(DType::kFloat32, Shape{Dim::Symbol(name)});
    const auto back = Type::Parse(type.ToString());
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(*back, type) << type.ToString();
    EXPECT_EQ((*back->shape())[0].ToString(), name);
  }
}

TEST(TypeTest, Errors) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "sequence(";
  const std::string rows[] = {"",
                              "float32",
                              "float33[2]",
                              "float32[",
                              "float32[2",
                              "float32[2,]",
                              "float32[,]",
                              "float32[2]]",
                              "float32[-1]",
                              "float32[\"\"]",
                              "float32[99999999999999999999]",
                              "sequence()",
                              "sequence(float32[2]",
                              "map(string)",
                              "map(, ?)",
                              "sparse(?)",
                              "foo(?)",
                              "opaque(a)",
                              "float32[2 3]",
                              "[2]",
                              "float32[\"a]",
                              "float32[\"\\q\"]",
                              "float32[\"\\ud800\"]",
                              "??",
                              "\xff",
                              deep,
                              "float32[a%0]"};
  for (const std::string& text : rows) {
    const auto type = Type::Parse(text);
    EXPECT_EQ(type.status().code(), absl::StatusCode::kInvalidArgument) << text.substr(0, 40);
  }
  EXPECT_NE(Type::Parse("float32[2,,]").status().message().find("column 11"), std::string::npos);
}

TEST(TypeTest, AccessorsOfOtherKinds) {
  const Type type;
  EXPECT_FALSE(type.is_known());
  EXPECT_FALSE(type.element().is_known());
  EXPECT_EQ(type.opaque_domain(), "");
  EXPECT_EQ(Type::Opaque("d", "n").opaque_name(), "n");
  EXPECT_EQ(Type::Sequence(Type::Tensor(DType::kInt8)).element().dtype(), DType::kInt8);
}

TEST(TypeTest, Merge) {
  // declared, inferred, merged ("" is a contradiction).
  const std::tuple<std::string, std::string, std::string> rows[] = {
      {"?", "float32[2]", "float32[2]"},
      {"float32[2]", "?", "float32[2]"},
      {"float32[n,3]", "float32[2,m]", "float32[2,3]"},
      {"float32[n]", "float32[m]", "float32[n]"},
      {"float32[n]", "float32[?]", "float32[n]"},
      {"float32[?]", "float32[m+1]", "float32[m+1]"},
      {"float32[...]", "float32[2,?]", "float32[2,?]"},
      {"float32[2]", "float32[...]", "float32[2]"},
      {"undefined[2]", "float32[2]", "float32[2]"},
      {"float32[2]", "undefined[...]", "float32[2]"},
      {"float32[]", "float32[]", "float32[]"},
      {"float32[2]", "float32[3]", ""},
      {"float32[2]", "float64[2]", ""},
      {"float32[2]", "float32[2,1]", ""},
      {"float32[2]", "sequence(float32[2])", ""},
      {"sequence(?)", "sequence(int64[n])", "sequence(int64[n])"},
      {"optional(int64[?])", "optional(int64[4])", "optional(int64[4])"},
      {"sequence(int64[1])", "sequence(int64[2])", ""},
      {"map(string, ?)", "map(string, float32[2])", "map(string, float32[2])"},
      {"map(string, ?)", "map(int64, ?)", ""},
      {"sparse(float32[n])", "sparse(float32[3])", "sparse(float32[3])"},
      {"opaque(a, b)", "opaque(a, b)", "opaque(a, b)"},
      {"opaque(a, b)", "opaque(a, c)", ""},
  };
  for (const auto& [declared, inferred, want] : rows) {
    const auto merged = MergeTypes(*Type::Parse(declared), *Type::Parse(inferred));
    if (want.empty()) {
      EXPECT_EQ(merged.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_EQ(merged.status().message(), "expected " + declared + ", got " + inferred);
    } else {
      ASSERT_TRUE(merged.ok()) << merged.status();
      EXPECT_EQ(merged->ToString(), want) << declared << " " << inferred;
    }
  }
}

}  // namespace
}  // namespace x2ir
