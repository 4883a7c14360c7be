#include "tests/formats/hdf5_listing_util.h"

#include <zlib.h>

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

std::string Sum(std::string_view bytes) {
  return absl::StrFormat(
      "%d bytes %s.. crc32 %08x", bytes.size(),
      absl::BytesToHexString(std::string(bytes.substr(0, 16))),
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

class Lister {
 public:
  Lister(hdf5::File& file, size_t most) : file_(file), most_(most) {}

  void List(const std::string& path) {
    if (lines_.size() >= most_) return;
    const auto id = file_.Id(path);
    if (absl::IsNotFound(id.status())) return Add(NothingLine(path));
    if (!id.ok()) return Error(path, id.status());
    if (std::find(around_.begin(), around_.end(), *id) != around_.end()) {
      return Add(CycleLine(path));
    }
    const auto is_group = file_.IsGroup(path), is_dataset = file_.IsDataset(path);
    if (!is_group.ok()) return Error(path, is_group.status());
    if (!is_dataset.ok()) return Error(path, is_dataset.status());
    if (*is_dataset) {
      const auto tensor = file_.Dataset(path);
      if (tensor.ok()) {
        Add(DatasetLine(path, *tensor));
      } else {
        Error(path, tensor.status());
      }
    } else if (*is_group) {
      Add(GroupLine(path));
    } else {
      Add(StrCat("other /", path));
    }
    ListAttributes(path);
    if (*is_group) ListMembers(path, *id);
  }
  std::vector<std::string> TakeLines() { return std::move(lines_); }

 private:
  void Add(std::string line) { lines_.push_back(std::move(line)); }
  void Error(const std::string& path, const absl::Status& status) {
    Add(StrCat("error /", path, " ", status.message()));
  }
  void ListAttributes(const std::string& path) {
    const auto names = file_.AttributeNames(path);
    if (!names.ok()) return Error(path, names.status());
    for (const std::string& name : *names) {
      if (lines_.size() >= most_) return;
      const auto texts = file_.Texts(path, name);
      if (texts.ok() && *texts) {
        Add(AttributeLine(path, name, **texts));
      } else if (!texts.ok() &&
                 texts.status().message().find("not a list of strings") != std::string::npos) {
        Add(OtherAttributeLine(path, name));
      } else {
        Error(path, texts.status());
      }
    }
  }
  void ListMembers(const std::string& path, uint64_t id) {
    const auto names = file_.Names(path);
    if (!names.ok()) return Error(path, names.status());
    around_.push_back(id);
    for (const std::string& name : *names) {
      List(path.empty() ? name : StrCat(path, "/", name));
    }
    around_.pop_back();
  }

  hdf5::File& file_;
  size_t most_;
  std::vector<uint64_t> around_;
  std::vector<std::string> lines_;
};

}  // namespace

std::string DatasetLine(std::string_view path, const Tensor& tensor) {
  std::string line = StrCat("dataset /", path, " ", tensor.type().ToString(), " ");
  if (!tensor.is_string()) {
    const auto bytes = tensor.bytes();
    return line + Sum({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  std::string all;
  for (const std::string& text : tensor.strings()) StrAppend(&all, text, std::string_view("\0", 1));
  return line + Sum(all);
}
std::string AttributeLine(std::string_view path, std::string_view name,
                          const std::vector<std::string>& texts) {
  std::string line = StrCat("attribute /", path, " ", name, " ", texts.size(), ":");
  for (const std::string& text : texts) {
    StrAppend(&line, " ", text.size() <= 32 ? std::string(absl::CHexEscape(text)) : Sum(text));
  }
  return line;
}
std::string OtherAttributeLine(std::string_view path, std::string_view name) {
  return StrCat("attribute /", path, " ", name, " of another type");
}
std::string GroupLine(std::string_view path) { return StrCat("group /", path); }
std::string CycleLine(std::string_view path) {
  return StrCat("group /", path, " is around itself");
}
std::string NothingLine(std::string_view path) { return StrCat("nothing /", path); }

std::vector<std::string> ListHdf5(hdf5::File& file, size_t most) {
  Lister lister(file, most);
  lister.List("");
  return lister.TakeLines();
}

}  // namespace x2ir
