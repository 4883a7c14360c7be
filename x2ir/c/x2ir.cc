// x2ir.h, over core/convert.h: handles are C++ objects, and nothing but codes and texts comes out.
#include "x2ir/c/x2ir.h"

#include <exception>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/core/conversion_options.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/format.h"
#include "x2ir/formats/option_texts.h"
#include "x2ir/graph_wrapper/mappings.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/out_of_memory.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

struct x2ir_result {
  int code = X2IR_OK;
  std::string message{}, report = "{}";
  std::optional<std::string> option{};
};
struct x2ir_options {
  x2ir::OptionTexts texts{};
  std::string from{}, to{};
  x2ir::ProgressFn progress{};
  x2ir_log_fn log = nullptr;
  void* log_user = nullptr;
};
struct x2ir_source {
  x2ir::Source source;
  x2ir::HeldBytes bytes{};  // of one in memory, to give it a resolver
};
struct x2ir_sink {
  x2ir::Sink sink;
  std::vector<std::pair<std::string, std::string>> files{};
};
struct x2ir_model {
  x2ir::Model model;
};

namespace {

using x2ir::Format;
using x2ir::Report;

// The codes of x2ir.h are Abseil's.
static_assert(X2IR_CANCELLED == static_cast<int>(absl::StatusCode::kCancelled));
static_assert(X2IR_INVALID_ARGUMENT == static_cast<int>(absl::StatusCode::kInvalidArgument));
static_assert(X2IR_NOT_FOUND == static_cast<int>(absl::StatusCode::kNotFound));
static_assert(X2IR_ALREADY_EXISTS == static_cast<int>(absl::StatusCode::kAlreadyExists));
static_assert(X2IR_PERMISSION_DENIED == static_cast<int>(absl::StatusCode::kPermissionDenied));
static_assert(X2IR_OUT_OF_MEMORY == static_cast<int>(absl::StatusCode::kResourceExhausted));
static_assert(X2IR_FAILED_PRECONDITION == static_cast<int>(absl::StatusCode::kFailedPrecondition));
static_assert(X2IR_UNIMPLEMENTED == static_cast<int>(absl::StatusCode::kUnimplemented));
static_assert(X2IR_INTERNAL == static_cast<int>(absl::StatusCode::kInternal));
static_assert(X2IR_UNAVAILABLE == static_cast<int>(absl::StatusCode::kUnavailable));
static_assert(X2IR_DATA_LOSS == static_cast<int>(absl::StatusCode::kDataLoss));

// Where there is no memory for a result.
x2ir_result* OutOfMemory() {
  // Its message fits into the string itself, and it is never taken apart.
  static auto& result = *new (std::nothrow) x2ir_result{X2IR_OUT_OF_MEMORY, "out of memory"};
  return &result;
}
// Made when the library is loaded, while there is memory.
[[maybe_unused]] x2ir_result* const kOutOfMemory = OutOfMemory();

// Whatever happens in `work`, as a status.
template <typename Work>
absl::Status Caught(const Work& work) {
  try {
    return x2ir::WithinMemory(work);
  } catch (const std::exception& error) {
    return x2ir::Internal(error.what());
  } catch (...) {
    return x2ir::Internal("an exception of unknown type");
  }
}

// A new handle, or null.
template <typename Make>
auto Made(const Make& make) -> decltype(make()) {
  try {
    return make();
  } catch (...) {
    return nullptr;
  }
}

// What the library says, with options called by their keys.
std::string WithKeys(std::string_view text) {
  return x2ir::WithOptionNames(
      text, [](std::string_view option) { return x2ir::OptionText(x2ir::OptionKey(option)); });
}

void Log(const x2ir_options& options, const Report& report, const x2ir_result& result) {
  if (!options.log) return;
  for (const std::string& note : report.notes) {
    options.log(options.log_user, X2IR_LOG_NOTE, WithKeys(note).c_str());
  }
  for (const std::string& warning : report.warnings) {
    options.log(options.log_user, X2IR_LOG_WARNING, WithKeys(warning).c_str());
  }
  if (result.code != X2IR_OK) {
    options.log(options.log_user, X2IR_LOG_ERROR, result.message.c_str());
  }
}

// `work`: absl::Status(const x2ir_options&, Report&).
template <typename Work>
x2ir_result* Done(const x2ir_options* given, const Work& work) {
  x2ir_result* result = new (std::nothrow) x2ir_result;
  if (!result) return OutOfMemory();
  const absl::Status told = Caught([&] {
    static const auto& none = *new x2ir_options;
    const x2ir_options& options = given ? *given : none;
    Report report;
    const absl::Status status = Caught([&] { return work(options, report); });
    result->code = static_cast<int>(status.code());
    result->message = WithKeys(std::string_view(status.message().data(), status.message().size()));
    result->report = WithKeys(report.ToJson());
    if (const auto option = x2ir::OptionOf(status)) result->option = x2ir::OptionKey(*option);
    Log(options, report, *result);
    return absl::OkStatus();
  });
  if (told.ok()) return result;
  delete result;
  return OutOfMemory();
}

absl::Status Null(std::string_view what) { return x2ir::Invalid("the ", what, " is null"); }

absl::StatusOr<const Format*> FormatToRead(const x2ir::Source& source, const std::string& name) {
  std::string found = name;
  if (found.empty()) {
    X2IR_ASSIGN_OR_RETURN(found, x2ir::DetectFormat(source));
  }
  const Format* format = x2ir::FindFormat(found);
  if (format && format->read) return format;
  return x2ir::OptionError("from", "there is no format '", found,
                           "' to read; expected one of: ", x2ir::FormatNames());
}

absl::StatusOr<const Format*> FormatToWrite(const std::string& name, const x2ir::Sink& sink) {
  absl::StatusOr<const Format*> format = x2ir::FormatToWrite(name, sink.name());
  if (format.ok() || !x2ir::OptionOf(format.status())) return format;
  // What is "format" there is "to" here.
  const std::string prefix = x2ir::OptionText("format") + ": ";
  std::string message(format.status().message());
  if (message.starts_with(prefix)) message.erase(0, prefix.size());
  return x2ir::OptionErrorOf("to", message);
}

absl::Status OnlyFor(std::string_view option, const std::string& value, std::string_view what) {
  if (value.empty()) return absl::OkStatus();
  return x2ir::OptionError(option, "is an option for a model that is ", what, ", and no model is ",
                           what, " here");
}

absl::Status Convert(const x2ir_source& source, x2ir_sink& sink, const x2ir_options& given,
                     Report& report) {
  // What cannot be written is not read.
  X2IR_ASSIGN_OR_RETURN(const Format* to, FormatToWrite(given.to, sink.sink));
  X2IR_ASSIGN_OR_RETURN(const Format* from, FormatToRead(source.source, given.from));
  X2IR_ASSIGN_OR_RETURN(x2ir::ConvertOptions options, x2ir::ParseConversion(given.texts, from, to));
  options.from.progress = options.to.progress = given.progress;
  return x2ir::AtLeastOpset(*to, options.to, report,
                            [&](const x2ir::ExportOptions& attempt, Report& said) {
                              options.to = attempt;
                              sink.files.clear();
                              return x2ir::Convert(source.source, sink.sink, options, &said);
                            });
}

absl::Status Load(const x2ir_source& source, const x2ir_options& given, Report& report,
                  x2ir_model** model) {
  X2IR_RETURN_IF_ERROR(OnlyFor("to", given.to, "written"));
  X2IR_ASSIGN_OR_RETURN(const Format* from, FormatToRead(source.source, given.from));
  X2IR_ASSIGN_OR_RETURN(x2ir::ConvertOptions options,
                        x2ir::ParseConversion(given.texts, from, nullptr));
  options.from.progress = given.progress;
  X2IR_ASSIGN_OR_RETURN(x2ir::Model loaded, x2ir::Import(source.source, options.from, &report));
  *model = new x2ir_model{std::move(loaded)};
  return absl::OkStatus();
}

absl::Status Save(const x2ir_model& model, x2ir_sink& sink, const x2ir_options& given,
                  Report& report) {
  X2IR_RETURN_IF_ERROR(OnlyFor("from", given.from, "read"));
  X2IR_ASSIGN_OR_RETURN(const Format* to, FormatToWrite(given.to, sink.sink));
  X2IR_ASSIGN_OR_RETURN(x2ir::ConvertOptions options,
                        x2ir::ParseConversion(given.texts, nullptr, to));
  options.to.progress = given.progress;
  return x2ir::AtLeastOpset(*to, options.to, report,
                            [&](const x2ir::ExportOptions& attempt, Report& said) {
                              sink.files.clear();
                              return x2ir::Export(model.model.Clone(), sink.sink, attempt, &said);
                            });
}

// Bytes of a caller, as long as they are used. What the caller's function is told happens at once
// where there is no memory for more.
x2ir::HeldBytes Held(const void* data, size_t size, x2ir_release_fn release, void* user) {
  if (!data) size = 0;  // bytes that are not there
  std::shared_ptr<const void> owner;
  if (release) {
    owner = std::shared_ptr<const void>(static_cast<const void*>("held"),
                                        [release, user](const void*) { release(user); });
  }
  return {{static_cast<const std::byte*>(data), size}, std::move(owner)};
}

absl::Status Write(x2ir_write_fn fn, void* user, std::string_view file, std::string_view bytes) {
  const std::string name(file);
  if (fn(user, name.c_str(), bytes.data(), bytes.size()) == 0) return absl::OkStatus();
  return absl::UnavailableError(x2ir::StrCat("the function that takes '", name, "' failed"));
}

}  // namespace

int x2ir_api_version(void) { return X2IR_API_VERSION; }
const char* x2ir_version(void) { return X2IR_VERSION; }
void x2ir_handle_mapping_faults(void) { x2ir::HandleMappingFaults(); }

int x2ir_result_code(const x2ir_result* result) {
  return result ? result->code : X2IR_INVALID_ARGUMENT;
}
const char* x2ir_result_message(const x2ir_result* result) {
  return result ? result->message.c_str() : "the result is null";
}
const char* x2ir_result_option(const x2ir_result* result) {
  return result && result->option ? result->option->c_str() : nullptr;
}
const char* x2ir_result_report(const x2ir_result* result) {
  return result ? result->report.c_str() : "{}";
}
void x2ir_result_free(x2ir_result* result) {
  if (result != OutOfMemory()) delete result;
}

x2ir_options* x2ir_options_new(void) { return new (std::nothrow) x2ir_options; }
void x2ir_options_free(x2ir_options* options) { delete options; }

x2ir_result* x2ir_options_set(x2ir_options* options, const char* key, const char* value) {
  return Done(nullptr, [&](const x2ir_options&, Report&) -> absl::Status {
    if (!options) return Null("options handle");
    if (!key || !value) return Null("key or the value");
    const std::string_view name(key);
    if (name != "from" && name != "to") {
      options->texts.emplace_back(key, value);
      return absl::OkStatus();
    }
    std::string& format = name == "from" ? options->from : options->to;
    if (!format.empty()) return x2ir::OptionError(name, "is given twice");
    if (*value == '\0') return x2ir::OptionError(name, "expected the name of a format");
    format = value;
    return absl::OkStatus();
  });
}

void x2ir_options_on_progress(x2ir_options* options, x2ir_progress_fn fn, void* user) {
  if (!options) return;
  options->progress = {};
  if (!fn) return;
  // So small that a function keeps it in itself.
  options->progress = [fn, user](int64_t done, int64_t total) {
    return fn(user, done, total) == 0;
  };
}

void x2ir_options_on_log(x2ir_options* options, x2ir_log_fn fn, void* user) {
  if (!options) return;
  options->log = fn;
  options->log_user = user;
}

x2ir_source* x2ir_source_file(const char* path) {
  return Made([&] { return new x2ir_source{x2ir::Source(path ? path : "")}; });
}

x2ir_source* x2ir_source_bytes(const void* data, size_t size, const char* name,
                               x2ir_release_fn release, void* user) {
  return Made([&] {
    const x2ir::HeldBytes bytes = Held(data, size, release, user);
    return new x2ir_source{x2ir::Source::Bytes(bytes, {}, name ? name : "model"), bytes};
  });
}

void x2ir_source_on_file(x2ir_source* source, x2ir_resolve_fn fn, void* user) {
  if (!source || !source->source.in_memory()) return;
  x2ir::Source::Resolver resolver;
  if (fn) {
    resolver = [fn, user](const std::string& name) -> absl::StatusOr<x2ir::HeldBytes> {
      x2ir_bytes bytes = {nullptr, 0, nullptr, nullptr};
      if (fn(user, name.c_str(), &bytes) != 0) {
        return x2ir::NotFound("there is no file '", name, "' for the model");
      }
      return Held(bytes.data, bytes.size, bytes.release, bytes.user);
    };
  }
  (void)Caught([&] {
    source->source = x2ir::Source::Bytes(source->bytes, std::move(resolver), source->source.name());
    return absl::OkStatus();
  });
}

void x2ir_source_free(x2ir_source* source) { delete source; }

x2ir_sink* x2ir_sink_file(const char* path) {
  return Made([&] { return new x2ir_sink{x2ir::Sink(path ? path : "")}; });
}

x2ir_sink* x2ir_sink_function(const char* name, x2ir_write_fn fn, void* user) {
  if (!fn) return nullptr;
  return Made([&] {
    return new x2ir_sink{x2ir::Sink::Files(
        name ? name : "", [fn, user](std::string_view file, std::string_view bytes) {
          return Write(fn, user, file, bytes);
        })};
  });
}

x2ir_sink* x2ir_sink_memory(const char* name) {
  return Made([&] {
    auto sink = std::make_unique<x2ir_sink>(x2ir_sink{x2ir::Sink("")});
    sink->sink = x2ir::Sink::Files(
        name ? name : "", [files = &sink->files](std::string_view file, std::string_view bytes) {
          auto it = files->begin();
          while (it != files->end() && it->first != file) ++it;
          if (it == files->end()) it = files->insert(it, {std::string(file), ""});
          it->second.append(bytes);
          return absl::OkStatus();
        });
    return sink.release();
  });
}

size_t x2ir_sink_count(const x2ir_sink* sink) { return sink ? sink->files.size() : 0; }
const char* x2ir_sink_name(const x2ir_sink* sink, size_t index) {
  return index < x2ir_sink_count(sink) ? sink->files[index].first.c_str() : nullptr;
}
const void* x2ir_sink_data(const x2ir_sink* sink, size_t index, size_t* size) {
  const bool there = index < x2ir_sink_count(sink);
  if (size) *size = there ? sink->files[index].second.size() : 0;
  return there ? sink->files[index].second.data() : nullptr;
}
void x2ir_sink_free(x2ir_sink* sink) { delete sink; }

x2ir_result* x2ir_convert(const x2ir_source* source, x2ir_sink* sink, const x2ir_options* options) {
  return Done(options, [&](const x2ir_options& given, Report& report) {
    if (!source || !sink) return Null("source or the sink");
    const absl::Status status = Convert(*source, *sink, given, report);
    if (!status.ok()) sink->files.clear();
    return status;
  });
}

x2ir_result* x2ir_load(const x2ir_source* source, const x2ir_options* options, x2ir_model** model) {
  return Done(options, [&](const x2ir_options& given, Report& report) {
    if (!model) return Null("place for the model");
    *model = nullptr;
    return source ? Load(*source, given, report, model) : Null("source");
  });
}

x2ir_result* x2ir_save(const x2ir_model* model, x2ir_sink* sink, const x2ir_options* options) {
  return Done(options, [&](const x2ir_options& given, Report& report) {
    if (!model || !sink) return Null("model or the sink");
    const absl::Status status = Save(*model, *sink, given, report);
    if (!status.ok()) sink->files.clear();
    return status;
  });
}

x2ir_result* x2ir_model_text(const x2ir_model* model, x2ir_write_fn fn, void* user) {
  return Done(nullptr, [&](const x2ir_options&, Report&) {
    if (!model || !fn) return Null("model or the function");
    return Write(fn, user, "", x2ir::ToText(*model->model.graph));
  });
}

void x2ir_model_free(x2ir_model* model) { delete model; }
