// The registry of formats.
#include "x2ir/formats/format.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

constexpr size_t kHeadSize = 4096;

NamedRegistry<Format>& Formats() {
  static auto* formats = new NamedRegistry<Format>("format");
  return *formats;
}

}  // namespace

bool RegisterFormat(Format format, SourcePlace place) {
  if (format.names_files) {
    format.read_options.push_back(
        {.name = std::string(kAllowOutside),
         .help = "Allow files that the model names to be outside of its own folder"});
  }
  Formats().Add(std::move(format), place);
  return true;
}

const Format* FindFormat(std::string_view name) { return Formats().Find(name); }

std::vector<const Format*> AllFormats() { return Formats().All(); }

const Format* FormatOfExtension(std::string_view path) {
  const std::string lower = absl::AsciiStrToLower(ForAbsl(path));
  const Format* best = nullptr;
  size_t longest = 0;
  for (const Format* format : AllFormats()) {
    if (format->only_by_name) continue;
    for (const std::string& extension : format->extensions) {
      if (extension.size() <= longest || !lower.ends_with(extension)) continue;
      best = format;
      longest = extension.size();
    }
  }
  return best;
}

std::string FormatNames(bool only_written) {
  std::string names;
  for (const Format* format : AllFormats()) {
    if (only_written ? !format->write : !format->read) continue;
    StrAppend(&names, names.empty() ? "" : ", ", format->name);
    if (!format->extensions.empty()) StrAppend(&names, " (", format->extensions.front(), ")");
  }
  return names;
}

namespace {

// What is looked at; `file` holds its bytes.
absl::StatusOr<Candidate> CandidateOf(const Source& source, BlobPtr& file) {
  Candidate candidate{.path = source.name(), .is_folder = source.is_folder()};
  if (candidate.is_folder) return candidate;
  X2IR_ASSIGN_OR_RETURN(file, source.Open());
  if (file->size() == 0) return DataLoss("'", source.name(), "' is empty");
  candidate.head = {file->data(), std::min(file->size(), kHeadSize)};
  candidate.size = file->size();
  return candidate;
}

}  // namespace

bool IsByName(const Format& format, const Source& source) {
  if (FormatOfExtension(source.name()) != &format || !format.recognize) return false;
  BlobPtr file;
  const auto candidate = CandidateOf(source, file);
  return candidate.ok() && format.recognize(*candidate) == Match::kNo;
}

absl::StatusOr<const Format*> RecognizeFormat(const Source& source) {
  BlobPtr file;
  X2IR_ASSIGN_OR_RETURN(const Candidate candidate, CandidateOf(source, file));
  const Format* possible = nullptr;
  for (const Format* format : AllFormats()) {
    if (!format->read || !format->recognize) continue;
    const Match match = format->recognize(candidate);
    if (match == Match::kCertain) return format;
    if (match == Match::kPossible && !possible) possible = format;
  }
  if (possible) return possible;
  if (candidate.is_folder) {
    return DataLoss("'", source.name(), "' is a directory that is in no format that x2ir knows (",
                    FormatNames(), ")");
  }
  // A broken file is what it is called, so that the reader can say where it breaks.
  if (const Format* format = FormatOfExtension(source.name()); format && format->read) {
    return format;
  }
  return DataLoss("'", source.name(), "' is in no format that x2ir knows (", FormatNames(), ")");
}

absl::StatusOr<const Format*> FormatToWrite(std::string_view name, std::string_view path) {
  const Format* format = name.empty() ? FormatOfExtension(path) : FindFormat(name);
  const std::string written = FormatNames(/*only_written=*/true);
  if (format && format->write) return format;
  if (format) {
    return OptionError("format", "format '", format->name,
                       "' can only be read; formats that can be written: ", written);
  }
  if (!name.empty()) {
    return OptionError("format", "there is no format '", name,
                       "'; formats that can be written: ", written);
  }
  return OptionError("format", "the name '", path, "' does not say in which format to write; ",
                     "formats that can be written: ", written);
}

}  // namespace x2ir
