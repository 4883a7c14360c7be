// Writes Graphviz text, and runs `dot` on it.
#include "x2ir/core/draw.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

extern char** environ;  // NOLINT: POSIX declares it nowhere

namespace x2ir {
namespace {

constexpr size_t kMaxAttributeText = 60;

// In quotes; a newline starts a new line of the label.
std::string DotString(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += '?';
    } else {
      out += c;
    }
  }
  return out + '"';
}

class Dot {
 public:
  std::string Draw(const Graph& graph) {
    StrAppend(&out_, "digraph ", DotString(graph.name()), " {\n", "  rankdir = TB;\n",
              "  node [shape = box, style = \"rounded,filled\", fillcolor = \"#e8eef7\", "
              "fontname = \"Helvetica\", fontsize = 11];\n",
              "  edge [fontname = \"Helvetica\", fontsize = 9, color = \"#555555\"];\n");
    Body(graph, "  ");
    out_ += edges_;
    return out_ + "}\n";
  }

 private:
  void Body(const Graph& graph, const std::string& indent) {
    for (const Value* input : graph.inputs()) {
      Port(*input, input->name(), indent, "#d9f2d9");
      source_[input] = StrCat("n", next_ - 1);
    }
    for (const Node* node : graph.nodes()) Op(*node, indent);
    for (const Value* output : graph.outputs()) {
      Port(*output, output->name(), indent, "#fbe3d0");
      Edge(*output, StrCat("n", next_ - 1));
    }
  }

  void Port(const Value& value, std::string_view name, const std::string& indent,
            std::string_view color) {
    StrAppend(&out_, indent, "n", next_++, " [shape = ellipse, fillcolor = \"", color,
              "\", label = ", DotString(StrCat(name, "\n", value.type().ToString())), "];\n");
  }

  void Op(const Node& node, const std::string& indent) {
    const std::string id = StrCat("n", next_++);
    std::string label =
        node.is_ir() ? node.op().str() : StrCat(node.dialect().str(), ".", node.op().str());
    for (const auto& [name, attr] : node.attrs()) {
      if (attr.kind() == AttrKind::kGraph || attr.kind() == AttrKind::kGraphs) continue;
      std::string value = AttributeText(attr);
      if (value.size() > kMaxAttributeText) value.replace(kMaxAttributeText, value.npos, "...");
      StrAppend(&label, "\n", name.str(), " = ", value);
    }
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      const Value* operand = node.input(i);
      if (operand && operand->fixed_constant()) {
        StrAppend(&label, "\n", operand->name(), ": ", operand->type().ToString());
      }
    }
    StrAppend(&out_, indent, id, " [label = ", DotString(label));
    if (!node.is_ir()) out_ += ", fillcolor = \"#f7e8e8\"";
    if (!node.name().empty()) StrAppend(&out_, ", tooltip = ", DotString(node.name()));
    out_ += "];\n";
    for (const Value* output : node.outputs()) {
      if (output) source_[output] = id;
    }
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      if (const Value* operand = node.input(i)) Edge(*operand, id);
    }
    for (const auto& [name, attr] : node.attrs()) {
      if (const auto* graph = attr.get<Attribute::GraphPtr>()) Nested(**graph, id, name, indent);
      if (const auto* graphs = attr.get<std::vector<Attribute::GraphPtr>>()) {
        for (const auto& graph : *graphs) Nested(*graph, id, name, indent);
      }
    }
  }

  void Nested(const Graph& graph, const std::string& owner, Symbol attr,
              const std::string& indent) {
    StrAppend(&out_, indent, "subgraph cluster_", next_, " {\n", indent,
              "  label = ", DotString(StrCat(attr.str(), " ", graph.name())), ";\n", indent,
              "  style = dashed; fontname = \"Helvetica\"; fontsize = 10;\n");
    const int first = next_;
    Body(graph, indent + "  ");
    StrAppend(&out_, indent, "}\n");
    if (next_ > first) {
      StrAppend(&edges_, "  ", owner, " -> n", first, " [style = dashed, arrowhead = none];\n");
    }
  }

  // Edges come last: one inside of a frame would draw its ends into the frame.
  void Edge(const Value& value, const std::string& to) {
    const auto it = source_.find(&value);
    if (it == source_.end()) return;  // a constant
    StrAppend(&edges_, "  ", it->second, " -> ", to);
    if (value.producer()) {
      StrAppend(&edges_, " [label = ", DotString(value.type().ToString()),
                ", tooltip = ", DotString(value.name()), "]");
    }
    edges_ += ";\n";
  }

  std::string out_;
  std::string edges_;
  int next_ = 0;
  absl::flat_hash_map<const Value*, std::string> source_;
};

// A file descriptor that is closed at the end.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  ~Fd() { Close(); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  void Close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

absl::Status Failed(std::string_view what, int error) {
  return SystemError("cannot run Graphviz: ", what, ": ", std::strerror(error));
}

}  // namespace

std::string ToDot(const Graph& graph) { return Dot().Draw(graph); }

absl::StatusOr<std::string> DotToSvg(const std::string& dot) {
  // Through a file, not a pipe: both sides of a program at once may wait for each other.
  std::FILE* input = std::tmpfile();
  if (input == nullptr) return Failed("no temporary file", errno);
  struct Closer {
    std::FILE* file;
    ~Closer() { std::fclose(file); }
  } closer{input};
  if (std::fwrite(dot.data(), 1, dot.size(), input) != dot.size() || std::fflush(input) != 0 ||
      ::lseek(::fileno(input), 0, SEEK_SET) != 0) {
    return Failed("temporary file", errno);
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Failed("pipe", errno);
  Fd reader(ends[0]);
  Fd writer(ends[1]);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ::fileno(input), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, writer.get(), STDOUT_FILENO);
  char name[] = "dot";
  char format[] = "-Tsvg";
  char* const args[] = {name, format, nullptr};
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, name, &actions, nullptr, args, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) {
    return SystemError(
        "Graphviz's program 'dot' is not installed; Graphviz text needs none: "
        "-o FILE.dot");
  }
  if (error != 0) return Failed("dot", error);
  writer.Close();

  std::string svg;
  char buffer[1 << 16];
  int failure = 0;
  for (;;) {
    const ssize_t n = ::read(reader.get(), buffer, sizeof buffer);
    if (n > 0) {
      svg.append(buffer, static_cast<size_t>(n));
    } else if (n == 0 || errno != EINTR) {
      failure = n < 0 ? errno : 0;
      break;
    }
  }
  reader.Close();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return Failed("waiting for dot", errno);
  }
  if (failure != 0) return Failed("reading from dot", failure);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return SystemError("Graphviz's program 'dot' failed");
  }
  return svg;
}

}  // namespace x2ir
