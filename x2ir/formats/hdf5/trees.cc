#include <bit>
#include <vector>

#include "x2ir/formats/hdf5/trees_internal.h"

namespace x2ir::hdf5 {
namespace {

constexpr int kMaxTreeDepth = 64;

}  // namespace

size_t BytesFor(uint64_t limit) {
  return limit == 0 ? 1 : static_cast<size_t>(std::bit_width(limit) - 1) / 8 + 1;
}

absl::Status WalkTree1(const Image& image, uint64_t root, NodeType type, size_t key_size,
                       Meter* meter,
                       absl::FunctionRef<absl::Status(std::string_view key, uint64_t child)> leaf) {
  struct Visit {
    uint64_t address;
    int level;  // -1: any
  };
  std::vector<Visit> todo = {{root, -1}};
  while (!todo.empty()) {
    const Visit visit = todo.back();
    todo.pop_back();
    Cursor in = image.From(visit.address);
    if (in.Bytes(4) != "TREE" || in.UInt(1) != static_cast<uint64_t>(type)) {
      return Broken(StrCat("there is no node of a B-tree at ", visit.address));
    }
    const int level = static_cast<int>(in.UInt(1));
    if (level > kMaxTreeDepth || (visit.level >= 0 && level != visit.level)) {
      return Broken("the levels of a B-tree do not count down");
    }
    const uint64_t count = in.UInt(2);
    in.SkipAddress();
    in.SkipAddress();
    std::vector<Visit> children;
    for (uint64_t i = 0; i < count; ++i) {
      const std::string_view key = in.Bytes(key_size);
      const uint64_t child = in.Address();
      if (!in.ok()) return Broken("a B-tree ends past the file");
      if (level > 0) {
        children.push_back({child, level - 1});
      } else {
        X2IR_RETURN_IF_ERROR(leaf(key, child));
      }
    }
    X2IR_RETURN_IF_ERROR(meter->Take(in.at()));
    todo.insert(todo.end(), children.rbegin(), children.rend());
  }
  return absl::OkStatus();
}

namespace {

// A tree of version 2: how wide the numbers are in its nodes depends on how many records fit.
class Tree2 {
 public:
  Tree2(const Image& image, Meter* meter,
        absl::FunctionRef<absl::Status(std::string_view record)> record)
      : image_(image), meter_(meter), record_(record) {}

  absl::Status Walk(uint64_t address, RecordType type, size_t least) {
    const Widths widths = image_.widths();
    X2IR_ASSIGN_OR_RETURN(
        Cursor in, image_.Checked(address, 4 + 12 + widths.address + 2 + widths.length + 4, "BTHD",
                                  "header of a B-tree", meter_));
    if (const uint64_t version = in.UInt(1); version != 0) {
      return NotRead("a B-tree is of version ", 2 + version);
    }
    type_ = in.UInt(1);
    const uint64_t node_size = in.UInt(4);
    record_size_ = in.UInt(2);
    const uint64_t depth = in.UInt(2);
    in.Skip(2);
    const uint64_t root = in.Address();
    const uint64_t count = in.UInt(2);
    if (type_ != static_cast<uint64_t>(type)) return Broken("a B-tree has records of another type");
    if (root == kNowhere) return absl::OkStatus();
    if (record_size_ < least || node_size < kPrefix + record_size_ || depth > kMaxTreeDepth) {
      return Broken("the sizes in a B-tree do not fit");
    }
    // Nodes of level l: how many records fit into one, and into all below it.
    uint64_t most = (node_size - kPrefix) / record_size_, all = most;
    count_width_ = BytesFor(most);
    all_widths_.push_back(0);
    for (uint64_t level = 1; level <= depth; ++level) {
      const uint64_t pointer = widths.address + count_width_ + all_widths_.back();
      if (node_size < kPrefix + pointer) return Broken("the sizes in a B-tree do not fit");
      most = (node_size - kPrefix - pointer) / (record_size_ + pointer);
      if (__builtin_mul_overflow(most + 1, all, &all) || __builtin_add_overflow(all, most, &all)) {
        return Broken("the sizes in a B-tree do not fit");
      }
      all_widths_.push_back(BytesFor(all));
    }
    return Node(root, count, depth);
  }

 private:
  static constexpr uint64_t kPrefix = 4 + 1 + 1 + 4;  // with the checksum

  // The first children, then what is between them.
  absl::Status Node(uint64_t address, uint64_t count, uint64_t level) {
    const size_t all_width = level > 0 ? all_widths_[level - 1] : 0;
    const uint64_t pointer = image_.widths().address + count_width_ + all_width;
    const uint64_t size = kPrefix + count * record_size_ + (level > 0 ? (count + 1) * pointer : 0);
    X2IR_ASSIGN_OR_RETURN(Cursor in, image_.Checked(address, size, level > 0 ? "BTIN" : "BTLF",
                                                    "node of a B-tree", meter_));
    if (in.UInt(1) != 0 || in.UInt(1) != type_)
      return Broken("a node of a B-tree has another version or type of records than its tree");
    Cursor children = in;
    children.Skip(count * record_size_);
    for (uint64_t i = 0; i <= count; ++i) {
      if (level > 0) {
        const uint64_t child = children.Address(), records = children.UInt(count_width_);
        children.Skip(all_width);
        X2IR_RETURN_IF_ERROR(Node(child, records, level - 1));
      }
      if (i < count) X2IR_RETURN_IF_ERROR(record_(in.Bytes(record_size_)));
    }
    return absl::OkStatus();
  }

  const Image& image_;
  Meter* meter_;
  absl::FunctionRef<absl::Status(std::string_view record)> record_;
  uint64_t type_ = 0, record_size_ = 0;
  size_t count_width_ = 0;
  std::vector<size_t> all_widths_;  // by level
};

}  // namespace

absl::Status WalkTree2(const Image& image, uint64_t address, RecordType type, size_t least,
                       Meter* meter,
                       absl::FunctionRef<absl::Status(std::string_view record)> record) {
  return Tree2(image, meter, record).Walk(address, type, least);
}

}  // namespace x2ir::hdf5
