#include "x2ir/handlers/checkpoint/run.h"

#include <algorithm>

#include "x2ir/core/dialect.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/handlers/checkpoint/architectures.h"
#include "x2ir/handlers/checkpoint/rounded.h"
#include "x2ir/handlers/checkpoint/sentence.h"

namespace x2ir::checkpoint {
namespace {

std::string KnownTypes() {
  std::string all;
  for (const Architecture* a : AllArchitectures()) {
    StrAppend(&all, all.empty() ? "" : ", ", a->model_type);
  }
  return all;
}

// A transformers class that serves a task, by the end of its name.
struct Task {
  std::string_view name, suffix;
};
constexpr Task kTasks[] = {{"text-generation", "ForCausalLM"},
                           {"text-generation", "LMHeadModel"},
                           {"feature-extraction", "Model"},
                           {"fill-mask", "ForMaskedLM"},
                           {"text-classification", "ForSequenceClassification"},
                           {"token-classification", "ForTokenClassification"},
                           {"question-answering", "ForQuestionAnswering"},
                           {"multiple-choice", "ForMultipleChoice"},
                           {"image-classification", "ForImageClassification"},
                           {"audio-classification", "ForAudioClassification"},
                           {"object-detection", "ForObjectDetection"},
                           {"semantic-segmentation", "ForSemanticSegmentation"},
                           {"audio-classification", "ForSequenceClassification"},
                           {"depth-estimation", "ForDepthEstimation"},
                           {"automatic-speech-recognition", "ForCTC"},
                           {"automatic-speech-recognition", "ForConditionalGeneration"},
                           {"text2text-generation", "ForConditionalGeneration"}};

std::string ClassOf(const Program& program, const Architecture& architecture) {
  const Json& named = program.config["architectures"].at(0);
  std::string name = named.text();
  if (name.empty()) name = architecture.classes[0];
  // Folders of sentence-transformers are for their vectors, whatever class they were trained as.
  const std::string task = program.request.task.empty() && HasSentence(program)
                               ? "feature-extraction"
                               : program.request.task;
  if (!task.empty()) {
    std::string of_task;
    bool known = false;
    for (const Task& known_task : kTasks) {
      if (known_task.name != task) continue;
      known = true;
      for (const std::string& c : architecture.classes) {
        const bool is_other = known_task.suffix == "Model" && c.ends_with("LMHeadModel");
        if (of_task.empty() && c.ends_with(known_task.suffix) && !is_other) of_task = c;
      }
    }
    if (!known) {
      std::string all;
      for (const Task& one : kTasks) {
        if (all.find(one.name) == all.npos) StrAppend(&all, all.empty() ? "" : ", ", one.name);
      }
      throw Refusal{OptionError("task", "'", task, "' is not known; expected ", all)};
    }
    if (of_task.empty()) {
      throw Refusal{
          OptionError("task", "models of ", architecture.model_type, " are not made for ", task)};
    }
    name = of_task;
  }
  std::string all;
  for (const std::string& c : architecture.classes) {
    if (c == name) return name;
    StrAppend(&all, all.empty() ? "" : ", ", c);
  }
  Refuse("class '", name, "' of ", architecture.model_type,
         " is not supported; those that are: ", all, " (", OptionText("task"), " chooses one)");
}

}  // namespace

absl::Status RunCheckpoint(Model& model, std::vector<std::string>& warnings) {
  const auto* program = dynamic_cast<const Program*>(model.program.get());
  if (!program) return Internal("a program that is no checkpoint");
  const std::string& type = program->config["model_type"].text();
  const Architecture* architecture = FindArchitecture(type);
  if (!architecture) {
    const std::string& name = program->config["architectures"].at(0).text();
    if (type.empty() && name.empty()) return DataLoss("config.json has no 'model_type'");
    return Unimplemented("architecture '", name.empty() ? type : name, "' (model_type '", type,
                         "') is not known; those that are: ", KnownTypes());
  }
  if (program->request.part != Request::kWhole && architecture->kind != kEncoderDecoder) {
    return OptionError("part", "models of ", type, " are not of an encoder and a decoder");
  }
  Net net(*model.graph, *program);
  try {
    net.ReadQuantized(warnings);
    architecture->build(net, ClassOf(*program, *architecture));
    net.NameAll();
    net.CheckAllTaken();
    if (program->request.weight_bits) {
      warnings.push_back(
          StrCat(net.rounded(), " weights of layers are rounded to ", program->request.weight_bits,
                 " bits in blocks of ", kRoundedBlock, ", as ",
                 program->request.weight_bits == 4
                     ? OptionText("int4")
                     : StrCat(OptionText("int8_weights"), ", or ", OptionText("int8"), " without ",
                              OptionText("calibrate"), ","),
                 " asks; activations stay as they are"));
    }
    if (program->request.unpack != DType::kUndefined) {
      warnings.push_back(StrCat(net.unpacked(), " quantized weights are unpacked to ",
                                Name(program->request.unpack), ", as ", OptionText("unpack"),
                                " asks"));
    }
  } catch (const Refusal& refusal) {
    return refusal.status;
  } catch (const Builder::Stopped&) {
    return Annotate(net.b().status(), StrCat("architecture '", type, "'"));
  }
  return absl::OkStatus();
}

namespace {

[[maybe_unused]] const bool kDialectIsRegistered = RegisterDialect({.name = kDialect,
                                                                    .holds_any_ops = false,
                                                                    .weights_keep_types = true,
                                                                    .run_program = RunCheckpoint});

}  // namespace
}  // namespace x2ir::checkpoint
