// Formats: files <-> graphs in their own dialect. A format registers itself from its own folder, or
// from the code of a host program; no other code has to be changed:
//
//   [[maybe_unused]] const bool kRegistered = RegisterFormat({
//       .name = "toy",
//       .dialect = "toy",
//       .extensions = {".toy"},
//       .doc = "Networks of Toy",
//       .recognize = [](const Candidate& file) { ... },
//       .read = ReadToy,    // absl::StatusOr<Model> ReadToy(const Source&, const ReadRequest&)
//       .write = WriteToy,  // absl::Status WriteToy(const Model&, const Sink&, const
//       FormatOptions&)
//   });
//
// A format may be registered, and looked up, from any thread. Of two with one name the first
// counts, and conversions say that there are two (graph_wrapper/registry.h).
#ifndef X2IR_FORMATS_FORMAT_H_
#define X2IR_FORMATS_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/io/side_file.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/formats/options.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/registry.h"

namespace X2IR_API x2ir {

// A file that some format may be able to read.
struct Candidate {
  const std::string& path;  // or the name of bytes in memory
  bool is_folder = false;
  absl::Span<const std::byte> head{};  // the file's first bytes, 4096 at most; none of a folder
  uint64_t size = 0;                   // of the file

  std::string_view text() const {
    return {reinterpret_cast<const char*>(head.data()), head.size()};
  }
};

// kPossible: for formats without a magic number; a certain match takes precedence.
enum class Match { kNo, kPossible, kCertain };

// The request to a reader, besides the source.
struct ReadRequest {
  FormatOptions options{};  // checked against the format's read_options
  // Where the graph will be cut ("node", "node:k"; empty: not): a reader may use them to read only
  // the required part, or if the file does not declare its inputs and outputs.
  std::vector<std::string> inputs{}, outputs{};
};

struct Format {
  std::string name;                     // "onnx"
  std::string dialect;                  // of the graphs that it holds; "" is IR
  std::vector<std::string> extensions;  // ".onnx"; lower case; the first is the usual one
  // Another format has the same extensions, so a path alone does not select this format.
  bool only_by_name = false;
  std::string doc;  // what it is, in a few words
  std::function<Match(const Candidate&)> recognize{};
  std::vector<OptionDef> read_options{};
  // Whether a file may name other files, which Source::OpenBeside opens: "allow_outside" is one of
  // the read_options then.
  bool names_files = false;
  // Reads a graph without interpreting it, in the format's dialect. The input may be any bytes: a
  // wrong file is DataLoss or InvalidArgument. Null: it is only written.
  std::function<absl::StatusOr<Model>(const Source&, const ReadRequest&)> read{};
  // Those named like a member of ExportOptions ("opset") are set by it, too.
  std::vector<OptionDef> write_options{};
  // Writes a graph of the format's dialect: complete, or not at all. Null: it is only read.
  std::function<absl::Status(const Model&, const Sink&, const FormatOptions&)> write{};
  // Files that writing a model to `path` may make besides `path` itself; for files of an unknown
  // number: the existing ones, and one more. Null: none.
  std::function<std::vector<std::string>(const std::string& path)> companions{};
  // The passes that run before a graph (of the IR) is written, unless options name others; null:
  // the default ones.
  std::function<std::vector<std::string>(const Graph& graph)> passes{};
  // Operators of the dialect that runtimes do not have for its files, though for others: export
  // expresses them by others.
  std::vector<std::string> lacks_ops{};
  // Whether inputs may have default values in the file; if not, a graph with default values is not
  // written.
  bool input_defaults = false;
  // Whether a file has metadata: keys and values that its model's annotations hold.
  bool metadata = false;
  // Whether users look for the source's modules in the file: then passes keep them.
  bool keeps_modules = false;
};

// Format::read of a reader whose one option is "params" (io/side_file.h).
template <typename Options>
auto ReadWithParams(absl::StatusOr<Model> (*read)(const Source&, const Options&)) {
  return [read](const Source& source, const ReadRequest& request) {
    return read(source, {.params = request.options.Text("params")});
  };
}

// A format that is only read, by such a reader, and has the name of its dialect.
template <typename Options>
Format FormatWithParams(std::string name, std::vector<std::string> extensions, std::string doc,
                        Match (*recognize)(const Candidate&),
                        absl::StatusOr<Model> (*read)(const Source&, const Options&)) {
  return {.name = name,
          .dialect = std::move(name),
          .extensions = std::move(extensions),
          .doc = std::move(doc),
          .recognize = recognize,
          .read_options = {ParamsOption()},
          .read = ReadWithParams(read)};
}

bool RegisterFormat(Format format, SourcePlace place = SourcePlace::Here());

// Null if it is not registered. Formats live as long as the process.
const Format* FindFormat(std::string_view name);
std::vector<const Format*> AllFormats();  // by name
// The one whose extension the path ends in, whatever its case: the longest counts. Null: none.
const Format* FormatOfExtension(std::string_view path);
// "onnx (.onnx), tensorflow (.pb)": those that are read, or those that are written.
std::string FormatNames(bool only_written = false);

// The format of a file by its content, else by its extension. DataLoss if no format accepts it.
absl::StatusOr<const Format*> RecognizeFormat(const Source& source);
// Whether a file is of this format because of its name: its content does not show it.
bool IsByName(const Format& format, const Source& source);
// The format of a file to be written: of that name, or (none is given) of its extension. An option
// error ("format") if there is none that can be written.
absl::StatusOr<const Format*> FormatToWrite(std::string_view name, std::string_view path);

}  // namespace x2ir

#endif  // X2IR_FORMATS_FORMAT_H_
