#include "tests/handlers/checkpoint/checkpoint_util.h"

#include "gtest/gtest.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {

SmallCheckpoint CheckpointWith(std::string_view family, std::string_view changes) {
  SmallCheckpoint checkpoint = SmallCheckpointOf(family);
  const absl::StatusOr<Json> parsed = Json::Parse(changes);
  EXPECT_TRUE(parsed.ok()) << changes << ": " << parsed.status();
  if (!parsed.ok()) return checkpoint;
  const auto change = [](Json& object, std::string_view key, const Json& value) {
    if (value.text() == "-") {
      object.Erase(key);
    } else {
      object.Set(key, value);
    }
  };
  for (const auto& [key, value] : parsed->members()) {
    if (const size_t dot = key.find('.'); dot != key.npos) {
      const std::string outer = key.substr(0, dot);
      Json inner = checkpoint.config[outer];
      change(inner, key.substr(dot + 1), value);
      checkpoint.config.Set(outer, std::move(inner));
    } else {
      change(checkpoint.config, key, value);
    }
  }
  return checkpoint;
}

absl::StatusOr<Model> ImportOf(const SmallCheckpoint& checkpoint,
                               const CheckpointOptions& options) {
  const TempDir folder;
  folder.Put("config.json", checkpoint.Config());
  folder.Put("model.safetensors", checkpoint.Safetensors());
  ImportOptions import;
  if (!options.task.empty()) import.format_options.Set("task", options.task);
  if (!options.part.empty()) import.format_options.Set("part", options.part);
  if (options.no_cache) import.format_options.Set("no_cache", true);
  return Import(folder.path().string(), import);
}

std::string ErrorOf(const SmallCheckpoint& checkpoint, const CheckpointOptions& options) {
  const absl::StatusOr<Model> model = ImportOf(checkpoint, options);
  return model.ok() ? "converted" : std::string(model.status().message());
}

std::string InterfaceOf(const absl::StatusOr<Model>& model) {
  if (!model.ok()) return model.status().ToString();
  std::string text;
  const auto add = [&](const char* what, const Value* value) {
    StrAppend(&text, what, " ", value->name(), ": ", value->type().ToString(), "\n");
  };
  for (const Value* input : model->graph->inputs()) add("in", input);
  for (const Value* output : model->graph->outputs()) add("out", output);
  return text;
}

}  // namespace x2ir
