// ONNX's node tests as archives of Keras 3, read again: the same results. What is not written
// stands in tests/golden/keras_one_way.txt with the reason. And models of Keras there and back.
//
//   X2IR_CASES=REGEX       only the cases whose names match, each with its reason
//   X2IR_UPDATE_GOLDEN=1   writes keras_one_way.txt and keras_models_one_way.txt
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/conformance/framework_util.h"
#include "tests/conformance/node_back_util.h"
#include "tests/core/back_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/keras/keras.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<Model> ThroughArchive(const Model& written) {
  const auto files = std::make_shared<std::map<std::string, std::string>>();
  X2IR_RETURN_IF_ERROR(WriteKeras(written, IntoMemory("m.keras", files)));
  return ReadKeras(FromMemory("", "m.keras", files));
}

TEST(KerasBack, NodeTestsComeBack) {
  ExpectNodeTestsComeBack(
      "keras", [](size_t) { return ThroughArchive; }, "tests/golden/keras_one_way.txt",
      "Node tests that are not written as archives of Keras.");
}

// What a file's outputs were, the archive that is written of it has, too; what is read and
// written once more has the same bytes.
TEST(KerasBack, ModelsOfKerasComeBack) {
  const fs::path archive = Unpacked("keras-cases.tar.xz", "keras-cases");
  ASSERT_FALSE(archive.empty());
  // tf.js takes kernels of Theano as they are.
  const auto is_theano = [](const std::string& name) {
    return name.find("conv1d") != name.npos && name.find("theano") != name.npos;
  };
  BackTally tally;
  for (const char* folder : {"keras_h5", "keras3"}) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(archive / "keras-cases" / folder)) {
      const std::string ending = entry.path().extension().string();
      if (ending == ".h5" || ending == ".keras") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& path : files) {
      const std::string name = path.filename().string();
      if (!tally.Wants(name)) continue;
      absl::StatusOr<Model> model = Import(path.string());
      ASSERT_TRUE(model.ok()) << name << ": " << model.status();
      std::string first, second, third;
      const absl::Status written =
          Export(*std::move(model), Sink::To(&first, "m.keras"), {.format = "keras"});
      if (!written.ok()) {
        const std::string text(written.message());
        // The first op of the list.
        const size_t list = text.find("\n  ");
        std::string reason = list == text.npos ? text : text.substr(list + 1);
        reason = reason.substr(0, reason.find_first_of("\n;"));
        tally.Add(name, {.problem = reason.substr(reason.find_first_not_of(' '))}, "");
        continue;
      }
      absl::StatusOr<Model> back = Import(Source::Bytes(first, {}, "m.keras"));
      ASSERT_TRUE(back.ok()) << name << ": " << back.status();
      for (const char* end : {".io.safetensors", ".stored_io.safetensors"}) {
        const fs::path io = path.string() + end;
        if (!fs::exists(io) || is_theano(name)) continue;
        const absl::Status agrees = AgreesWithIo(*back, io);
        EXPECT_TRUE(agrees.ok()) << name << ": " << agrees;
      }
      // The first time some operations become others (splits slices).
      const absl::Status again =
          Export(*std::move(back), Sink::To(&second, "m.keras"), {.format = "keras"});
      ASSERT_TRUE(again.ok()) << name << ": " << again;
      back = Import(Source::Bytes(second, {}, "m.keras"));
      ASSERT_TRUE(back.ok()) << name << ": " << back.status();
      const absl::Status once_more =
          Export(*std::move(back), Sink::To(&third, "m.keras"), {.format = "keras"});
      ASSERT_TRUE(once_more.ok()) << name << ": " << once_more;
      // Steps around a quotient of integers are read as such, splits and slices become each other,
      // and casts of places get other names.
      bool steps = false;
      for (const char* op : {"\"Argmax\"", "\"FloorDivide\"", "\"Split\""}) {
        steps = steps || first.find(op) != first.npos || second.find(op) != second.npos;
      }
      EXPECT_TRUE(second == third || steps) << name << " differs when it is written again";
      tally.Add(name, {}, "");
    }
  }
  tally.Finish("keras models", "models of Keras are written and come back",
               "tests/golden/keras_models_one_way.txt",
               "Models of Keras that are not written as archives of Keras 3.");
}

}  // namespace
}  // namespace x2ir
