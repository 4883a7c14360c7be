#include "tests/cli/mutations_util.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/io/zip.h"
#include "x2ir/formats/io/zip_writer.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

constexpr uint64_t kNumbers[] = {0,
                                 1,
                                 2,
                                 7,
                                 255,
                                 65536,
                                 0x7fffffff,
                                 0x80000000,
                                 0xffffffff,
                                 uint64_t{1} << 40,
                                 uint64_t{1} << 62,
                                 0x7fffffffffffffff,
                                 0x8000000000000000,
                                 0xffffffffffffffff};

// --- Protobuf's wire form -----------------------------------------------------------------------

struct Field {
  uint64_t tag = 0;
  std::string bytes;  // as they stand behind the tag and, of type 2, the length
};

std::optional<uint64_t> Varint(std::string_view bytes, size_t* at) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && *at < bytes.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[(*at)++]);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

void AddVarint(std::string* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

std::optional<std::vector<Field>> FieldsOf(std::string_view bytes) {
  std::vector<Field> fields;
  for (size_t at = 0; at < bytes.size();) {
    const auto tag = Varint(bytes, &at);
    if (!tag || *tag >> 3 == 0 || *tag >> 3 > 100000) return std::nullopt;
    const size_t start = at;
    size_t size = 0;
    switch (*tag & 7) {
      case 0:
        if (!Varint(bytes, &at)) return std::nullopt;
        size = at - start;
        at = start;
        break;
      case 1: size = 8; break;
      case 5: size = 4; break;
      case 2: {
        const auto length = Varint(bytes, &at);
        if (!length || *length > bytes.size() - at) return std::nullopt;
        size = *length;
        break;
      }
      default: return std::nullopt;
    }
    if (size > bytes.size() - at) return std::nullopt;
    fields.push_back({*tag, std::string(bytes.substr(at, size))});
    at += size;
  }
  return fields;
}

void Add(std::string* out, const Field& field) {
  AddVarint(out, field.tag);
  if ((field.tag & 7) == 2) AddVarint(out, field.bytes.size());
  *out += field.bytes;
}

// --- JSON ---------------------------------------------------------------------------------------

struct JsonSpan {
  size_t begin, end;
  size_t key = std::string::npos;  // where its key begins, of a member
};

std::vector<JsonSpan> ValuesOf(const std::string& text) {
  std::vector<JsonSpan> spans;
  std::vector<size_t> open;  // in spans
  size_t key = std::string::npos;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"') {
      size_t end = i + 1;
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
      const size_t next = text.find_first_not_of(" \n\t\r", end);
      if (next != text.npos && text[next] == ':') {
        key = i;
      } else {
        spans.push_back({i, end, std::exchange(key, text.npos)});
      }
      i = end;
    } else if (c == '{' || c == '[') {
      open.push_back(spans.size());
      spans.push_back({i, i, std::exchange(key, text.npos)});
      ++i;
    } else if (c == '}' || c == ']') {
      ++i;
      if (open.empty()) continue;
      spans[open.back()].end = i;
      open.pop_back();
    } else if (std::strchr(" \n\t\r,:", c)) {
      ++i;
    } else {
      const size_t end = std::min(text.find_first_of(" \n\t\r,:]}", i), text.size());
      spans.push_back({i, end, std::exchange(key, text.npos)});
      i = end;
    }
  }
  std::erase_if(spans, [](const JsonSpan& span) { return span.end <= span.begin; });
  return spans;
}

bool IsText(const std::string& bytes) {
  const std::string_view head = std::string_view(bytes).substr(0, 4096);
  return std::none_of(head.begin(), head.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && !std::strchr("\n\r\t", c);
  });
}

}  // namespace

std::string Mutator::Number() {
  const uint64_t number = kNumbers[Below(std::size(kNumbers))];
  switch (Below(6)) {
    case 0: return "1e999";
    case 1: return StrCat(static_cast<int64_t>(number), ".5");
    case 2: return StrCat("-", number);
    default: return StrCat(static_cast<int64_t>(number));
  }
}

std::string Mutator::Word() {
  switch (Below(7)) {
    case 0: return "";
    case 1: return std::string(200'000, 'a');
    case 2: return "../../x";
    case 3:
      return "\x1b[31m\x7f\xc2\x9b"
             "2J\xe2\x80\xae"
             "b";
    case 4: return "option 'opset' is {} [] \n error: \\";
    case 5: return "float32";
    default: return StrCat("n", Below(4));
  }
}

std::string Mutator::Proto(const std::string& bytes, int depth) {
  auto fields = FieldsOf(bytes);
  if (!fields || fields->empty()) return Words(bytes);
  std::vector<Field>& all = *fields;
  const size_t i = Below(all.size());
  Field& field = all[i];
  const bool is_bytes = (field.tag & 7) == 2;
  if (is_bytes && depth < 12 && !OneIn(4)) {
    const auto inner = FieldsOf(field.bytes);
    if (inner && !inner->empty()) {
      field.bytes = Proto(field.bytes, depth + 1);
    } else if (OneIn(2) || field.bytes.size() > 64) {
      field.bytes = Words(field.bytes);
    } else {
      field.bytes = Word();
    }
  } else {
    switch (Below(7)) {
      case 0: all.erase(all.begin() + static_cast<ptrdiff_t>(i)); break;
      case 1: all.push_back(field); break;
      case 2: {
        const Field copy = field;
        const size_t most = std::min<size_t>(2000, 400'000 / (copy.bytes.size() + 4));
        all.insert(all.end(), 1 + Below(most), copy);
        break;
      }
      case 3: std::swap(field.bytes, all[Below(all.size())].bytes); break;
      case 4: std::swap(field, all[Below(all.size())]); break;
      case 5:
        if (is_bytes) {
          for (size_t n = Below(2) ? 1000 : 3; n > 0; --n) {
            std::string outer;
            Add(&outer, field);
            field.bytes = std::move(outer);
          }
        } else {
          field.tag = (field.tag >> 3) << 3 | 2;
        }
        break;
      default:
        if (is_bytes) {
          field.bytes = Word();
        } else if ((field.tag & 7) == 0) {
          field.bytes.clear();
          AddVarint(&field.bytes, kNumbers[Below(std::size(kNumbers))]);
        } else {
          field.bytes = Words(field.bytes);
        }
    }
  }
  std::string out;
  for (const Field& each : all) Add(&out, each);
  return out;
}

std::string Mutator::Json(const std::string& text) {
  const std::vector<JsonSpan> spans = ValuesOf(text);
  if (spans.empty()) return Text(text);
  const JsonSpan span = spans[Below(spans.size())];
  const std::string value = text.substr(span.begin, span.end - span.begin);
  const bool is_member = span.key != text.npos;
  size_t begin = span.begin;
  std::string with;
  switch (Below(8)) {
    case 0: {
      const JsonSpan other = spans[Below(spans.size())];
      with = text.substr(other.begin, other.end - other.begin);
      break;
    }
    case 1: with = Number(); break;
    case 2: {
      with = "\"";
      for (const char c : Word()) {
        if (c == '"' || c == '\\') with += '\\';
        if (c == '\n' || c == '\x1b') {
          with += c == '\n' ? "\\n" : "\\u001b";
        } else {
          with += c;
        }
      }
      with += '"';
      break;
    }
    case 3: with = OneIn(2) ? "null" : "true"; break;
    case 4: {  // again, or often
      const size_t most = OneIn(3) ? std::min<size_t>(20'000, 500'000 / (value.size() + 8)) : 1;
      if (is_member) begin = span.key;
      with = text.substr(begin, span.end - begin);
      const std::string key = is_member ? text.substr(span.key, span.begin - span.key) : "";
      for (size_t n = 0; n < most; ++n) {
        if (is_member && most > 1) {
          StrAppend(&with, ",\"k", n, "\":", value);
        } else {
          StrAppend(&with, ",", key, value);
        }
      }
      break;
    }
    case 5: {  // deep
      const size_t depth = OneIn(2) ? 10'000 : 30;
      const bool list = OneIn(2);
      for (size_t n = 0; n < depth; ++n) with += list ? "[" : "{\"a\":";
      with += value;
      with.append(depth, list ? ']' : '}');
      break;
    }
    case 6: with = OneIn(2) ? "{}" : "[]"; break;
    default: {  // gone, with its comma
      if (is_member) begin = span.key;
      size_t end = text.find_first_not_of(" \n\t\r", span.end);
      if (end != text.npos && text[end] == ',') {
        return text.substr(0, begin) + text.substr(end + 1);
      }
      const size_t comma = begin == 0 ? text.npos : text.find_last_not_of(" \n\t\r", begin - 1);
      if (comma != text.npos && text[comma] == ',') begin = comma;
      return text.substr(0, begin) + text.substr(span.end);
    }
  }
  return text.substr(0, begin) + with + text.substr(span.end);
}

std::string Mutator::Text(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  const size_t i = Below(lines.size());
  std::string& line = lines[i];
  switch (Below(7)) {
    case 0: lines.erase(lines.begin() + static_cast<ptrdiff_t>(i)); break;
    case 1: {
      const std::string copy = line;
      const size_t most = OneIn(3) ? std::min<size_t>(5'000, 300'000 / (copy.size() + 1)) : 1;
      lines.insert(lines.begin() + static_cast<ptrdiff_t>(i), most, copy);
      break;
    }
    case 2: std::swap(line, lines[Below(lines.size())]); break;
    case 3:
      line += OneIn(2) ? std::string(5'000, "{[(<"[Below(4)]) : std::string(1, "}])>"[Below(4)]);
      break;
    default: {  // a word or a number of it
      const auto is_word = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '_' || c == '.' || c == '-';
      };
      if (line.empty()) break;
      size_t begin = Below(line.size());
      while (begin < line.size() && !is_word(line[begin])) ++begin;
      if (begin == line.size()) break;
      while (begin > 0 && is_word(line[begin - 1])) --begin;
      size_t end = begin;
      while (end < line.size() && is_word(line[end])) ++end;
      const bool number = (line[begin] >= '0' && line[begin] <= '9') || line[begin] == '-';
      line = line.substr(0, begin) + (number && !OneIn(5) ? Number() : Word()) + line.substr(end);
    }
  }
  std::string out;
  for (const std::string& each : lines) StrAppend(&out, out.empty() ? "" : "\n", each);
  return out;
}

std::string Mutator::Words(std::string bytes) {
  if (bytes.empty()) return OneIn(2) ? Word() : bytes;
  const size_t width = size_t{1} << Below(4);
  const size_t at = Below(bytes.size()) / width * width;
  const size_t size = std::min(width, bytes.size() - at);
  switch (Below(8)) {
    case 0: return bytes.substr(0, at);
    case 1: return bytes.substr(0, at) + bytes.substr(at + size);
    case 2: return bytes.substr(0, at) + bytes.substr(at, size) + bytes.substr(at);
    case 3: {
      const size_t from = Below(bytes.size()) / width * width;
      const std::string other = bytes.substr(from, size);
      return bytes.replace(at, other.size(), other);
    }
    default: {
      const uint64_t number =
          OneIn(4) ? bytes.size() + Below(8) : kNumbers[Below(std::size(kNumbers))];
      std::memcpy(bytes.data() + at, &number, size);
      return bytes;
    }
  }
}

std::string Mutator::Zip(const std::string& bytes) {
  const BlobPtr blob = Blob::InMemory(
      {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, nullptr, "zip");
  auto zip = ZipArchive::Open(blob);
  if (!zip.ok() || zip->entries().empty() || OneIn(10)) return Words(bytes);
  std::vector<std::pair<std::string, std::string>> members;
  for (const ZipEntry& entry : zip->entries()) {
    const auto content = zip->Read(entry);
    members.emplace_back(entry.name, content.ok() ? content->view : "");
  }
  const size_t i = Below(members.size());
  switch (Below(8)) {
    case 0: members.erase(members.begin() + static_cast<ptrdiff_t>(i)); break;
    case 1: std::swap(members[i].second, members[Below(members.size())].second); break;
    case 2: members[i].second = Word(); break;
    default: members[i].second = Mutate(members[i].second);
  }
  std::string out;
  AtomicFile file = AtomicFile::ToFunction("zip", [&](std::string_view part) {
    out += part;
    return absl::OkStatus();
  });
  ZipWriter writer(file);
  for (const auto& [name, content] : members) {
    if (!writer.Add(name, std::string_view(content)).ok()) return Words(bytes);
  }
  if (!writer.Finish().ok() || !file.Commit().ok()) return Words(bytes);
  return out;
}

std::string Mutator::Mutate(const std::string& bytes) {
  if (LooksLikeZip(bytes)) return Zip(bytes);
  const size_t start = bytes.find_first_not_of(" \n\t\r");
  if (IsText(bytes) && start != bytes.npos) {
    return (bytes[start] == '{' || bytes[start] == '[') && !OneIn(8) ? Json(bytes) : Text(bytes);
  }
  if (const auto fields = FieldsOf(bytes); fields && !fields->empty()) return Proto(bytes, 0);
  return Words(bytes);
}

}  // namespace x2ir
