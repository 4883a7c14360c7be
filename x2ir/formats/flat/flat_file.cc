#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "x2ir/formats/flat/flat_file_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::flat {
namespace {

constexpr uint64_t kLength = sizeof(flatbuffers::uoffset_t);
constexpr uint64_t kHeader = 8;  // offset of the root, identifier
// Gaps before data of this size and more stay empty: what describes the model lies close together.
constexpr size_t kLargeData = 64 << 10;

uint64_t RoundUpTo(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

}  // namespace

FlatRef FlatFile::Shared(std::string key, Object object) {
  const auto [it, fresh] = known_.try_emplace(std::move(key));
  if (fresh) {
    objects_.push_back(std::move(object));
    it->second.number = static_cast<uint32_t>(objects_.size());
  }
  return it->second;
}

FlatRef FlatFile::Leaf(std::string bytes, uint32_t alignment, bool own) {
  Object leaf{.kind = Kind::kLeaf, .alignment = alignment, .bytes = std::move(bytes)};
  size_ += leaf.bytes.size() + alignment;
  if (!own) {
    std::string key = StrCat("leaf ", int64_t{alignment}, " ", leaf.bytes);
    return Shared(std::move(key), std::move(leaf));
  }
  objects_.push_back(std::move(leaf));
  return {static_cast<uint32_t>(objects_.size())};
}

FlatRef FlatFile::String(std::string_view text) {
  std::string bytes(kLength, '\0');
  flatbuffers::WriteScalar(bytes.data(), static_cast<uint32_t>(text.size()));
  bytes += text;
  bytes += '\0';
  return Leaf(std::move(bytes), 4, /*own=*/false);
}

FlatRef FlatFile::Vector(const std::vector<FlatRef>& objects) {
  std::string key = "vector ";
  for (const FlatRef each : objects) StrAppend(&key, int64_t{each.number}, " ");
  size_ += kLength * (1 + objects.size());
  return Shared(std::move(key), {.kind = Kind::kVector, .objects = objects});
}

FlatRef FlatFile::Table(FlatTable table) {
  std::vector<FlatTable::Field>& fields = table.fields_;
  // The widest first, so that all are aligned.
  std::sort(fields.begin(), fields.end(), [](const auto& a, const auto& b) {
    return std::make_tuple(-a.width, a.at) < std::make_tuple(-b.width, b.at);
  });
  std::string key = "table ";
  FlatTable::At last = 2;
  for (const auto& f : fields) {
    // A byte and a word of the same number are not the same field.
    StrAppend(&key, int64_t{f.at}, ":", static_cast<int64_t>(f.kind), ":", int64_t{f.width}, ":",
              f.bits, " ");
    last = std::max(last, f.at);
  }
  std::string vtable(last + sizeof(FlatTable::At), '\0');
  uint16_t size = sizeof(flatbuffers::soffset_t);
  for (const auto& f : fields) {
    flatbuffers::WriteScalar(vtable.data() + f.at, size);
    size = static_cast<uint16_t>(size + f.width);
  }
  flatbuffers::WriteScalar(vtable.data(), static_cast<uint16_t>(vtable.size()));
  flatbuffers::WriteScalar(vtable.data() + 2, size);
  const auto [it, fresh] =
      known_vtables_.try_emplace(vtable, static_cast<uint32_t>(vtables_.size()));
  if (fresh) {
    size_ += vtable.size();
    vtables_.push_back(std::move(vtable));
  }
  size_ += RoundUpTo(size, 4);
  const uint32_t alignment = !fields.empty() && fields[0].width == 8 ? 8 : 4;
  return Shared(std::move(key), {.kind = Kind::kTable,
                                 .alignment = alignment,
                                 .fields = std::move(fields),
                                 .vtable = it->second});
}

FlatRef FlatFile::Data(const Tensor& tensor, uint32_t alignment, bool at_end) {
  objects_.push_back(
      {.kind = Kind::kData, .alignment = alignment, .data = tensor, .at_end = at_end});
  return {static_cast<uint32_t>(objects_.size())};
}

// --- Places -------------------------------------------------------------------------------------

// The inner ones come last to first.
void FlatFile::Visit(FlatRef object, std::vector<uint32_t>* inner) {
  if (seen_[object.number]) return;
  seen_[object.number] = true;
  const Object& own = at(object.number);
  switch (own.kind) {
    case Kind::kLeaf: leaves_.push_back(object.number); return;
    case Kind::kData: data_.push_back(object.number); return;
    case Kind::kVector:
      for (auto it = own.objects.rbegin(); it != own.objects.rend(); ++it) Visit(*it, inner);
      break;
    case Kind::kTable:
      for (const auto& f : own.fields) {
        if (f.kind != FlatTable::Kind::kNumber) Visit({static_cast<uint32_t>(f.bits)}, inner);
      }
  }
  inner->push_back(object.number);
}

void FlatFile::PlaceInner(const std::vector<uint32_t>& inner) {
  uint64_t end = kHeader;
  for (const std::string& vtable : vtables_) {
    vtable_places_.push_back(end);
    end += vtable.size();
  }
  for (const uint32_t number : inner) {
    Object& object = at(number);
    // Data of 8 bytes comes after 4 other bytes: the offset of the vtable, or a length.
    object.place = RoundUpTo(end + kLength, object.alignment) - kLength;
    end = object.place + kLength;
    if (object.kind == Kind::kVector) end += kLength * object.objects.size();
    for (const auto& f : object.fields) end += f.width;
  }
  end_ = RoundUpTo(end, 4);
}

// Small data first, then larger ones. What is in front of data until it is aligned are leaves, the
// largest that fit.
void FlatFile::PlaceOthers() {
  std::multimap<uint64_t, uint32_t> leaves;  // by size
  const auto put_leaf = [&](uint32_t number) {
    Object& leaf = at(number);
    leaf.place = RoundUpTo(end_ + kLength, leaf.alignment) - kLength;
    end_ = RoundUpTo(leaf.place + leaf.bytes.size(), 4);
    pieces_.push_back(number);
  };
  bool any_filled = false;
  for (const uint32_t number : data_) {
    any_filled |= !at(number).at_end && at(number).data.nbytes() < kLargeData;
  }
  for (const uint32_t number : leaves_) {
    const Object& leaf = at(number);
    if (any_filled && leaf.alignment <= 4) {
      leaves.emplace(RoundUpTo(leaf.bytes.size(), 4), number);
    } else {
      put_leaf(number);
    }
  }
  const auto class_of = [&](uint32_t number) {
    const Object& data = at(number);
    return data.data.nbytes() >= kLargeData || data.at_end ? 1000u : data.alignment;
  };
  std::stable_sort(data_.begin(), data_.end(),
                   [&](uint32_t a, uint32_t b) { return class_of(a) < class_of(b); });
  const auto put_rest = [&] {
    for (const auto& [size, number] : leaves) put_leaf(number);
    leaves.clear();
  };
  for (const uint32_t number : data_) {
    Object& data = at(number);
    if (class_of(number) == 1000u) put_rest();
    const uint64_t length = data.at_end ? 0 : kLength;
    end_ = RoundUpTo(end_, 4);
    for (;;) {
      const uint64_t gap = RoundUpTo(end_ + length, data.alignment) - length - end_;
      auto fits = leaves.upper_bound(gap);
      if (fits == leaves.begin()) break;
      put_leaf((--fits)->second);
      leaves.erase(fits);
    }
    data.place = RoundUpTo(end_ + length, data.alignment);
    end_ = data.place + data.data.nbytes();
    pieces_.push_back(number);
  }
  end_ = RoundUpTo(end_, 4);
  put_rest();
}

// --- Bytes --------------------------------------------------------------------------------------

std::string FlatFile::HeadBytes(FlatRef root, std::string_view identifier,
                                const std::vector<uint32_t>& inner) {
  uint64_t end = kHeader;
  if (!vtables_.empty()) end = vtable_places_.back() + vtables_.back().size();
  std::string head(end, '\0');
  const auto offset_to = [&](uint64_t from, uint32_t number) {
    const Object& to = at(number);
    const uint64_t begin = to.kind == Kind::kData ? to.place - kLength : to.place;
    flatbuffers::WriteScalar(head.data() + from, static_cast<flatbuffers::uoffset_t>(begin - from));
  };
  for (size_t i = 0; i < vtables_.size(); ++i) {
    std::copy(vtables_[i].begin(), vtables_[i].end(),
              head.begin() + static_cast<ptrdiff_t>(vtable_places_[i]));
  }
  for (const uint32_t number : inner) {
    const Object& object = at(number);
    uint64_t size = kLength * (1 + object.objects.size());
    for (const auto& f : object.fields) size += f.width;
    head.resize(object.place + size);
    uint64_t place = object.place;
    if (object.kind == Kind::kVector) {
      flatbuffers::WriteScalar(head.data() + place, static_cast<uint32_t>(object.objects.size()));
      for (const FlatRef each : object.objects) offset_to(place += kLength, each.number);
      continue;
    }
    flatbuffers::WriteScalar(head.data() + place, static_cast<flatbuffers::soffset_t>(place) -
                                                      static_cast<flatbuffers::soffset_t>(
                                                          vtable_places_[object.vtable]));
    place += kLength;
    for (const auto& f : object.fields) {
      if (f.kind == FlatTable::Kind::kOffset) {
        offset_to(place, static_cast<uint32_t>(f.bits));
      } else {
        const uint64_t bits =
            f.kind == FlatTable::Kind::kNumber ? f.bits : at(static_cast<uint32_t>(f.bits)).place;
        std::memcpy(head.data() + place, &bits, f.width);
      }
      place += f.width;
    }
  }
  offset_to(0, root.number);
  std::copy(identifier.begin(), identifier.end(), head.begin() + kLength);
  return head;
}

absl::Status FlatFile::Write(FlatRef root, std::string_view identifier, AtomicFile& file) {
  seen_.assign(objects_.size() + 1, false);
  std::vector<uint32_t> inner;
  Visit(root, &inner);
  std::reverse(inner.begin(), inner.end());
  PlaceInner(inner);
  PlaceOthers();
  std::string bytes = HeadBytes(root, identifier, inner);
  for (const uint32_t number : pieces_) {
    const Object& piece = at(number);
    if (piece.kind == Kind::kLeaf) {
      bytes.resize(piece.place - file.size());
      bytes += piece.bytes;
      continue;
    }
    const uint64_t length = piece.at_end ? 0 : kLength;
    bytes.resize(piece.place - length - file.size());
    if (!piece.at_end) {
      char count[kLength];
      flatbuffers::WriteScalar(count, static_cast<flatbuffers::uoffset_t>(piece.data.nbytes()));
      bytes.append(count, sizeof count);
    }
    X2IR_RETURN_IF_ERROR(file.Append(bytes));
    bytes.clear();
    X2IR_RETURN_IF_ERROR(file.Append(piece.data));
  }
  X2IR_RETURN_IF_ERROR(file.Append(bytes));
  return file.AlignTo(kLength);
}

}  // namespace x2ir::flat
