// The layout of an archive of torch.jit.save:
//
//   NAME/version                        "3"
//   NAME/byteorder                      "little"; older ones lack it
//   NAME/data.pkl, NAME/data/0          the object, and its tensors
//   NAME/constants.pkl, NAME/constants/0   a tuple of what the code calls CONSTANTS.c0, ...
//   NAME/code/__torch__/a/b.py          the code
//   NAME/code/__torch__/a/b.py.debug_pkl   where the code was made from
//   NAME/bytecode.pkl                   for the lite interpreter, beside the code or instead of it
//
// PyTorch 1.0 to 1.3 had model.json and tensors/0 in place of the pickles.
#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/formats/torch/bytecode.h"
#include "x2ir/formats/torch/script.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::torch_script {
namespace {

// --- Layouts ---

struct Layout {
  enum Kind { kNone, kCode, kBytecode, kJson } kind = kNone;
  std::string_view prefix;  // "NAME/", or empty
};

// What lies in a folder.
struct Contents {
  bool data = false, constants = false, code = false, bytecode = false, json = false;
  bool tensors = false, exported = false;

  void See(std::string_view name) {
    data |= name == "data.pkl";
    constants |= name == "constants.pkl";
    bytecode |= name == "bytecode.pkl";
    json |= name == "model.json";
    exported |= name == "archive_format";  // of torch.export
    code |= name.starts_with("code/") && name.ends_with(".py");
    tensors |= name.starts_with("tensors/");
  }
  Layout::Kind Kind() const {
    if (exported) return Layout::kNone;
    if (bytecode && !code) return Layout::kBytecode;
    if (data && (constants || code)) return Layout::kCode;
    if (json && !data && (code || tensors)) return Layout::kJson;
    return Layout::kNone;
  }
};

// An archive lies in a folder of its name, or at the top.
Layout LayoutOf(const ZipArchive& zip) {
  absl::flat_hash_map<std::string_view, Contents> folders;
  for (const ZipEntry& entry : zip.entries()) {
    const std::string_view name = entry.name;
    folders[""].See(name);
    const size_t slash = name.find('/');
    if (slash == name.npos) continue;
    folders[name.substr(0, slash + 1)].See(name.substr(slash + 1));
  }
  Layout best;
  for (const auto& [prefix, contents] : folders) {
    const Layout layout{contents.Kind(), prefix};
    if (layout.kind == Layout::kNone) continue;
    if (best.kind == Layout::kNone || layout.prefix < best.prefix) best = layout;
  }
  return best;
}

// --- Debug tables ---

// Rows (offset in the code, range, tag), of which older ones lack the tag or have it before the
// range. A range is (source, start, end), a source is (text, file name, line of its start). In
// ("FORMAT_WITH_STRING_TABLE", texts, rows) the text is a list of numbers of texts that are joined,
// and the file name is one such number.
class DebugTable {
 public:
  // `files`: the numbers of file names in program.debug_files.
  DebugTable(Program& program, StringMap<uint32_t>& files) : program_(program), files_(files) {}

  // Nothing where the table is not as it should be.
  std::vector<Program::DebugEntry> Read(const PickleValue& root) {
    const PickleValue* rows = &root;
    if (root.kind == PickleValue::kTuple && root.items.size() == 3 &&
        root.items[0]->kind == PickleValue::kString &&
        root.items[0]->text == "FORMAT_WITH_STRING_TABLE") {
      texts_ = root.items[1];
      rows = root.items[2];
      if (!texts_->is_sequence()) return {};
    }
    if (!rows->is_sequence()) return {};
    std::vector<Program::DebugEntry> entries;
    entries.reserve(rows->items.size());
    for (const PickleValue* row : rows->items) {
      if (!ReadRow(*row, entries)) return {};
    }
    const auto before = [](const Program::DebugEntry& a, const Program::DebugEntry& b) {
      return a.offset < b.offset;
    };
    if (!std::is_sorted(entries.begin(), entries.end(), before)) {
      std::stable_sort(entries.begin(), entries.end(), before);
    }
    return entries;
  }

 private:
  struct Source {
    bool good = false;
    uint32_t file = 0;
    int64_t line = 0;
    const PickleValue* text = nullptr;
  };
  // Of a list of texts: after each of them, how many bytes and newlines there were.
  struct Pieces {
    std::vector<uint64_t> ends;
    std::vector<int64_t> newlines;
  };

  static bool IsInt(const PickleValue& value, int64_t max = std::numeric_limits<int32_t>::max()) {
    return value.kind == PickleValue::kInt && value.number >= 0 && value.number <= max;
  }

  bool ReadRow(const PickleValue& row, std::vector<Program::DebugEntry>& entries) {
    if (row.kind != PickleValue::kTuple || row.items.size() < 2 || row.items.size() > 3 ||
        !IsInt(*row.items[0], std::numeric_limits<uint32_t>::max())) {
      return false;
    }
    const PickleValue* range = nullptr;
    for (size_t i = row.items.size(); i-- > 1;) {
      if (row.items[i]->kind == PickleValue::kTuple) range = row.items[i];
    }
    if (!range || range->items.size() != 3 || !IsInt(*range->items[1])) return false;
    const Source* source = SourceOf(range->items[0]);
    if (!source) return false;
    Program::DebugEntry& entry = entries.emplace_back();
    entry.offset = static_cast<uint32_t>(row.items[0]->number);
    entry.file = source->file;
    const int64_t start = range->items[1]->number;
    entry.line = source->line + LinesBefore(*source->text, static_cast<uint64_t>(start));
    return true;
  }

  // Null: not a source. Each is looked at once.
  const Source* SourceOf(const PickleValue* value) {
    auto [it, fresh] = sources_.try_emplace(value);
    Source& source = it->second;
    if (!fresh) return source.good ? &source : nullptr;
    if (value->kind != PickleValue::kTuple || value->items.size() < 3 || !IsInt(*value->items[2])) {
      return nullptr;
    }
    source.text = value->items[0];
    source.line = value->items[2]->number;
    const PickleValue* name = value->items[1];
    if (texts_) {
      if (source.text->kind != PickleValue::kList) return nullptr;
      if (!CountPieces(*source.text)) return nullptr;
      if (name->kind != PickleValue::kNone && !(name = TextOf(*name))) return nullptr;
    } else if (source.text->kind != PickleValue::kString) {
      return nullptr;
    }
    if (name->kind == PickleValue::kString) {
      source.file = FileOf(name->text);
    } else if (name->kind == PickleValue::kNone) {
      source.file = FileOf("");
    } else {
      return nullptr;
    }
    source.good = true;
    return &source;
  }

  const PickleValue* TextOf(const PickleValue& number) const {
    if (!IsInt(number, static_cast<int64_t>(texts_->items.size()) - 1)) return nullptr;
    const PickleValue* text = texts_->items[static_cast<size_t>(number.number)];
    return text->kind == PickleValue::kString ? text : nullptr;
  }
  bool CountPieces(const PickleValue& list) {
    auto [it, fresh] = pieces_.try_emplace(&list);
    Pieces& pieces = it->second;
    if (!fresh) return pieces.ends.size() == list.items.size();
    uint64_t bytes = 0;
    int64_t newlines = 0;
    for (const PickleValue* number : list.items) {
      const PickleValue* text = TextOf(*number);
      if (!text) return false;
      bytes += text->text.size();
      newlines += static_cast<int64_t>(NewlinesOf(*text).size());
      pieces.ends.push_back(bytes);
      pieces.newlines.push_back(newlines);
    }
    return true;
  }

  uint32_t FileOf(std::string_view name) {
    const auto it = files_.find(name);
    if (it != files_.end()) return it->second;
    const uint32_t number = static_cast<uint32_t>(program_.debug_files.size());
    program_.debug_files.emplace_back(name);
    files_.emplace(std::string(name), number);
    return number;
  }

  int64_t LinesBefore(const PickleValue& text, uint64_t start) {
    if (start == 0) return 0;
    if (text.kind == PickleValue::kString) return LinesBeforeIn(text, start);
    const Pieces& pieces = pieces_[&text];
    const size_t piece = static_cast<size_t>(
        std::upper_bound(pieces.ends.begin(), pieces.ends.end(), start) - pieces.ends.begin());
    const int64_t lines = piece ? pieces.newlines[piece - 1] : 0;
    if (piece == text.items.size()) return lines;
    const uint64_t begin = piece ? pieces.ends[piece - 1] : 0;
    return lines + LinesBeforeIn(*TextOf(*text.items[piece]), start - begin);
  }
  int64_t LinesBeforeIn(const PickleValue& text, uint64_t start) {
    const std::vector<uint32_t>& newlines = NewlinesOf(text);
    return std::lower_bound(newlines.begin(), newlines.end(), start) - newlines.begin();
  }
  // Where a text has newlines, in its first 4 GiB.
  const std::vector<uint32_t>& NewlinesOf(const PickleValue& text) {
    auto [it, fresh] = newlines_.try_emplace(&text);
    if (fresh) {
      const std::string_view all = text.text.substr(0, std::numeric_limits<uint32_t>::max());
      for (size_t at = 0; (at = all.find('\n', at)) != all.npos; ++at) {
        it->second.push_back(static_cast<uint32_t>(at));
      }
    }
    return it->second;
  }

  Program& program_;
  StringMap<uint32_t>& files_;
  const PickleValue* texts_ = nullptr;  // null: texts are inline
  absl::flat_hash_map<const PickleValue*, Source> sources_;
  absl::flat_hash_map<const PickleValue*, Pieces> pieces_;
  absl::flat_hash_map<const PickleValue*, std::vector<uint32_t>> newlines_;
};

// --- The archive ---

class Opener {
 public:
  explicit Opener(ZipArchive zip) : zip_(std::move(zip)) {}

  absl::StatusOr<std::shared_ptr<Program>> Run() {
    const Layout layout = LayoutOf(zip_);
    switch (layout.kind) {
      case Layout::kNone: return DataLoss("not an archive of torch.jit.save: it has no code");
      case Layout::kBytecode: break;
      case Layout::kJson:
        return Unimplemented(
            "the file is of torch.jit.save of PyTorch 1.0 to 1.3, whose layout is not read: load "
            "it with torch.jit.load of a later PyTorch, and write it again with "
            "torch.jit.save(module, 'model.pt')");
      case Layout::kCode: break;
    }
    prefix_ = std::string(layout.prefix);
    program_->file = zip_.file();
    X2IR_RETURN_IF_ERROR(CheckByteOrder(zip_, Find("byteorder")));
    X2IR_RETURN_IF_ERROR(ReadVersion());
    X2IR_ASSIGN_OR_RETURN(program_->data, ReadPickle("data", "data"));
    if (layout.kind == Layout::kBytecode) {
      X2IR_RETURN_IF_ERROR(ReadBytecode());
      return std::shared_ptr<Program>(std::move(program_));
    }
    X2IR_ASSIGN_OR_RETURN(program_->constants, ReadPickle("constants", "constants"));
    const PickleValue& constants = program_->constants->root();
    if (constants.kind != PickleValue::kTuple) return DataLoss("constants.pkl is not a tuple");
    program_->constant_values = constants.items;
    X2IR_RETURN_IF_ERROR(ReadCode());
    ReadDebugTables();
    return std::shared_ptr<Program>(std::move(program_));
  }

 private:
  const ZipEntry* Find(std::string_view name) const { return zip_.Find(StrCat(prefix_, name)); }

  absl::Status ReadVersion() {
    const ZipEntry* entry = Find("version");
    if (!entry) entry = Find(".data/version");
    if (!entry) return DataLoss("the archive does not say its version");
    X2IR_ASSIGN_OR_RETURN(const std::string text, zip_.ReadWord(*entry));
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, program_->version);
    const bool blank = std::all_of(stop, end, [](char c) { return c == '\n' || c == '\r'; });
    if (error != std::errc() || !blank || program_->version <= 0) {
      return DataLoss("the archive's version is not a number");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<Pickle>> ReadPickle(std::string_view name,
                                                     std::string_view folder) {
    const ZipEntry* entry = Find(StrCat(name, ".pkl"));
    if (!entry) return DataLoss("the archive has no ", name, ".pkl");
    auto pickle = Pickle::Read(zip_, *entry, StrCat(prefix_, folder, "/"));
    if (!pickle.ok()) return Annotate(pickle.status(), StrCat(name, ".pkl"));
    return std::make_unique<Pickle>(*std::move(pickle));
  }

  // Of the lite interpreter, where it keeps no code: its tensors are among the constants.
  absl::Status ReadBytecode() {
    X2IR_ASSIGN_OR_RETURN(program_->constants, ReadPickle("bytecode", "constants"));
    X2IR_ASSIGN_OR_RETURN(BytecodeText code, WriteBytecodeAsScript(program_->constants->root(),
                                                                   &program_->data->root()));
    program_->constant_values = std::move(code.constants);
    for (BytecodeText::File& file : code.files) {
      X2IR_RETURN_IF_ERROR(AddFile(std::move(file.path), std::move(file.text)));
    }
    return absl::OkStatus();
  }

  absl::Status AddFile(std::string path, ZipArchive::Bytes text) {
    X2IR_ASSIGN_OR_RETURN(std::unique_ptr<ParsedFile> file, ParseScript(path, text.view));
    program_->texts.push_back(std::move(text));
    program_->by_path[std::move(path)] = file.get();
    program_->files.push_back(std::move(file));
    return absl::OkStatus();
  }

  absl::Status ReadCode() {
    const std::string folder = StrCat(prefix_, "code/");
    for (const ZipEntry& entry : zip_.entries()) {
      if (!entry.name.starts_with(folder) || !entry.name.ends_with(".py")) continue;
      const std::string path(entry.name.substr(folder.size()));
      X2IR_ASSIGN_OR_RETURN(ZipArchive::Bytes text, zip_.ReadText(entry));
      X2IR_RETURN_IF_ERROR(AddFile(path, std::move(text)));
    }
    return absl::OkStatus();
  }

  // They are for messages only, so that a broken one is as if there were none.
  void ReadDebugTables() {
    StringMap<uint32_t> files;
    for (const auto& file : program_->files) {
      const ZipEntry* entry = Find(StrCat("code/", file->path, ".debug_pkl"));
      if (!entry) continue;
      const auto pickle = Pickle::Read(zip_, *entry, StrCat(prefix_, "debug/"));
      if (!pickle.ok()) continue;
      auto entries = DebugTable(*program_, files).Read(pickle->root());
      if (!entries.empty()) program_->debug.emplace(file.get(), std::move(entries));
    }
  }

  ZipArchive zip_;
  std::string prefix_;
  std::shared_ptr<Program> program_ = std::make_shared<Program>();
};

// "__torch__.a.b.C": the file of __torch__.a.b, and "C".
std::pair<const ParsedFile*, std::string_view> Split(const Program& program,
                                                     std::string_view qualified_name) {
  const size_t dot = qualified_name.rfind('.');
  if (dot == qualified_name.npos) return {nullptr, qualified_name};
  std::string path(qualified_name.substr(0, dot));
  std::replace(path.begin(), path.end(), '.', '/');
  const auto it = program.by_path.find(path + ".py");
  return {it == program.by_path.end() ? nullptr : it->second, qualified_name.substr(dot + 1)};
}

template <typename T>
const T* FindIn(const absl::flat_hash_map<std::string_view, const T*>& named,
                std::string_view name) {
  const auto it = named.find(name);
  return it == named.end() ? nullptr : it->second;
}

}  // namespace

const ClassDef* Program::FindClass(std::string_view qualified_name) const {
  const auto [file, name] = Split(*this, qualified_name);
  return file ? FindIn(file->classes, name) : nullptr;
}

const FunctionDef* Program::FindFunction(std::string_view qualified_name) const {
  const auto [file, name] = Split(*this, qualified_name);
  return file ? FindIn(file->functions, name) : nullptr;
}

std::string Program::QualifiedName(const FunctionDef& function) {
  std::string name;
  if (function.file) {
    name = function.file->path;
    if (name.ends_with(".py")) name.resize(name.size() - 3);
    std::replace(name.begin(), name.end(), '/', '.');
    name += '.';
  }
  if (function.of) StrAppend(&name, function.of->name, ".");
  StrAppend(&name, function.name);
  return name;
}

SourcePlaceOf Program::PlaceOf(const ParsedFile& file, uint32_t offset) const {
  const auto it = debug.find(&file);
  if (it == debug.end()) return {};
  const std::vector<DebugEntry>& entries = it->second;
  auto entry = std::upper_bound(entries.begin(), entries.end(), offset,
                                [](uint32_t at, const DebugEntry& e) { return at < e.offset; });
  if (entry == entries.begin()) return {};
  --entry;
  const std::string& name = debug_files[entry->file];
  if (name.empty()) return {};
  return {name, entry->line};
}

absl::StatusOr<std::shared_ptr<Program>> OpenScript(ZipArchive zip) {
  return Opener(std::move(zip)).Run();
}

bool HoldsScript(const ZipArchive& zip) { return LayoutOf(zip).kind != Layout::kNone; }

}  // namespace x2ir::torch_script
