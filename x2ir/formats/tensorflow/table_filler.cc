// See table_filler_internal.h.
#include <algorithm>
#include <utility>

#include "x2ir/formats/tensorflow/table_contents.h"
#include "x2ir/formats/tensorflow/table_filler_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tf_format {
namespace {

constexpr std::string_view kInitializer = "init_all_tables";

// Whether the words are the lines of a file as TensorFlow reads it: it takes \r away.
bool AreLines(const Tensor& words) {
  const std::vector<std::string>& all = words.strings();
  return !all.empty() && std::none_of(all.begin(), all.end(), [](const std::string& word) {
    return word.empty() || word.find_first_of("\r\n") != word.npos;
  });
}

bool CountsUp(const Tensor& numbers) {
  for (int64_t i = 0; i < numbers.num_elements(); ++i) {
    if (numbers.AsInt(i) != i) return false;
  }
  return true;
}

}  // namespace

std::string TableFiller::FillFromFile(const GraphWriter::Table& table, bool words_are_keys,
                                      const std::vector<std::string>& words) {
  std::string base = table.node;
  std::replace(base.begin(), base.end(), '/', '_');
  std::string file = StrCat(base, ".txt");
  for (int i = 1; !files_.insert(file).second; ++i) file = StrCat(base, "_", i, ".txt");
  std::string text;
  for (const std::string& word : words) StrAppend(&text, word, "\n");
  const std::string path =
      nodes_.Constant(StrCat(table.node, "/asset"), Tensor::Strings({}, {folder_ + file}));
  assets_.push_back({path, file, std::move(text)});
  return nodes_.Add(StrCat(table.node, "/InitializeTableFromTextFile"),
                    StrCat("InitializeTableFromTextFile", table.version), {table.node, path},
                    {{"key_index", words_are_keys ? kWholeLine : kLineNumber},
                     {"value_index", words_are_keys ? kLineNumber : kWholeLine},
                     {"vocab_size", static_cast<int64_t>(words.size())},
                     {"delimiter", "\t"}});
}

absl::StatusOr<std::string> TableFiller::Fill(const GraphWriter::Table& table) {
  X2IR_ASSIGN_OR_RETURN(const Tensor keys, TfTableRow(table.contents, 0, table.key));
  X2IR_ASSIGN_OR_RETURN(const Tensor values, TfTableRow(table.contents, 1, table.value));
  const bool words_are_keys = keys.is_string();
  const Tensor &words = words_are_keys ? keys : values, &numbers = words_are_keys ? values : keys;
  if (!folder_.empty() && words.is_string() && numbers.dtype() == DType::kInt64 &&
      AreLines(words) && CountsUp(numbers)) {
    return FillFromFile(table, words_are_keys, words.strings());
  }
  return nodes_.Add(StrCat(table.node, "/InitializeTable"),
                    StrCat("InitializeTable", table.version),
                    {table.node, nodes_.Constant(StrCat(table.node, "/keys"), keys),
                     nodes_.Constant(StrCat(table.node, "/values"), values)},
                    {{"Tkey", Type::Tensor(table.key)}, {"Tval", Type::Tensor(table.value)}});
}

absl::Status TableFiller::Write() {
  std::vector<std::string> filled;
  for (const GraphWriter::Table& table : graph_.tables()) {
    absl::StatusOr<std::string> node = Fill(table);
    if (!node.ok()) return Annotate(node.status(), StrCat("table '", table.node, "'"));
    filled.push_back(StrCat("^", *node));
  }
  if (!filled.empty()) main_op_ = nodes_.Add(kInitializer, "NoOp", filled, {});
  return nodes_.status();
}

}  // namespace x2ir::tf_format
