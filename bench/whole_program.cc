// Measures whole programs: what converting and exporting a model costs beside copying its files
// with `cp` in the same run, and how much memory it takes at its peak.
//
//   x2ir_whole_program BIN_FOLDER WORK_FOLDER RUNS MODEL...
//
// Prints a table: median wall time of the runs (after one warm-up, commands taking turns so that
// drift hits all alike, each writing to new files on a disk that has nothing else to write), the
// ratio to cp, the median time of processors (which tells more where the machine has other work),
// peak resident memory, and where there is a bound on one of them, whether it is kept:
//
//   weights     convert and export of 50 MB and more: 1.3 times cp, and 20 ms; to .pt2, whose
//               checksums are computed, and .py, 1.3 times cp, 50 ms, and 80 MB of memory; to
//               .tflite and from it, where they are relaid, 4 times cp, and 50 ms; to .mlpackage
//               and from it as convert and export; of HDF5 3 times cp, of Caffe2 4 times and 50 ms
//   nodes       1.5 s for 200,000 and 8 s for 1,000,000 of them, in proportion between
//   reference   of weights that stay where they are: 0.5 s and 200 MB
//   memory      60 MB, and 2 kB a node; 110 MB where weights are relaid or in chunks
//
// A model with external data beside it (MODEL.onnx.*.bin) is measured once, with its weights copied
// and referred to. Other converters are measured too if X2IR_BENCH_OTHERS names them, one a line:
// "NAME: COMMAND", where {in} and {out} are the model and a file that may be written.
#include <fcntl.h>
#include <glob.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

extern char** environ;

namespace {

struct Command {
  std::string label;
  std::string line;   // of shell
  std::string makes;  // files that are removed before, with a * at the end
  enum { kNone, kWeights, kNodes, kReference, kFrozen, kKernels, kProgram, kPieces } bound = kNone;
  std::vector<double> seconds{}, processor{};
  long peak_kib = 0;
};

struct Figures {
  double bytes = 0;  // of all files
  double nodes = 0;
};

std::vector<std::string> Glob(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return paths;
}

void Remove(const Command& command) {
  std::error_code ignored;
  for (const std::string& path : Glob(command.makes + "*")) {
    std::filesystem::remove_all(path, ignored);  // a package is a folder
  }
}

bool Run(Command& command, bool counted) {
  Remove(command);
  sync();
  const std::string line = "exec " + command.line;
  const char* argv[] = {"sh", "-c", line.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  const auto start = std::chrono::steady_clock::now();
  pid_t pid = 0;
  const int failed =
      posix_spawnp(&pid, argv[0], &actions, nullptr, const_cast<char* const*>(argv), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return false;
  int status = 0;
  rusage usage{};
  if (wait4(pid, &status, 0, &usage) != pid) return false;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto time = [](const timeval& t) { return t.tv_sec + t.tv_usec * 1e-6; };
  if (counted) {
    command.seconds.push_back(seconds);
    command.processor.push_back(time(usage.ru_utime) + time(usage.ru_stime));
  }
  command.peak_kib = std::max(command.peak_kib, usage.ru_maxrss);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

Figures FiguresOf(const std::string& bin, const std::string& model,
                  const std::vector<std::string>& files) {
  Figures figures;
  struct stat info {};
  for (const std::string& file : files) {
    if (stat(file.c_str(), &info) == 0) figures.bytes += static_cast<double>(info.st_size);
  }
  FILE* pipe = popen((bin + "/x2ir info --json " + Quoted(model)).c_str(), "r");
  std::string text;
  char buffer[4096];
  for (size_t n; pipe && (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) text.append(buffer, n);
  if (pipe) pclose(pipe);
  if (const size_t at = text.find("\"nodes\":"); at != std::string::npos) {
    figures.nodes = std::atof(text.c_str() + at + 8);
  }
  return figures;
}

std::vector<Command> CommandsFor(const std::string& bin, const std::string& base,
                                 const std::string& model, const std::vector<std::string>& files,
                                 const Figures& figures) {
  const std::string x2ir = bin + "/x2ir convert -q " + Quoted(model) + " -o ";
  const std::string ir2onnx = bin + "/ir2onnx export -q --allow-outside ";
  const bool external = files.size() > 1;
  std::string all;
  for (const std::string& file : files) all += " " + Quoted(file);
  auto bound = Command::kNone;
  if (figures.bytes >= 50e6 && figures.nodes < 50e3) bound = Command::kWeights;
  if (figures.nodes >= 50e3) bound = Command::kNodes;
  // TensorFlow's: to IR only. Kernels of convolutions and Caffe2's numbers are relaid.
  const bool in_pieces = model.ends_with(".h5");
  const bool frozen = model.ends_with(".pb");
  const bool relaid = model.find("kernels") != std::string::npos || model.ends_with("init_net.pb");
  const bool every_target = bound == Command::kWeights && model.ends_with(".onnx");
  const auto import_bound = in_pieces ? Command::kPieces
                            : !frozen ? bound
                            : !relaid ? Command::kFrozen
                                      : Command::kKernels;

  std::vector<Command> commands;
  // Holes are written as what they are read as.
  const std::string copies = base + ".copies";
  mkdir(copies.c_str(), 0777);
  commands.push_back({"cp", "cp --sparse=never" + all + " " + Quoted(copies), copies + "/"});
  if (external) {
    // The model refers to files, which must be in its folder.
    const std::string ir = model + ".ref.json", back = model + ".ref.onnx";
    commands.push_back({"convert, reference", x2ir + Quoted(ir) + " --weights reference",
                        model + ".ref.", Command::kReference});
    commands.push_back({"export, reference",
                        ir2onnx + Quoted(ir) + " -o " + Quoted(back) + " --external-data reference",
                        back, Command::kReference});
  }
  const std::string ir = base + ".json", back = base + ".out.onnx";
  commands.push_back({"convert", x2ir + Quoted(ir), base + ".json", import_bound});
  commands.back().makes = base + ".[js]";  // both files
  // 200,000 nodes in JSON are no conversion, but the bound is the same.
  commands.push_back({"export", ir2onnx + Quoted(ir) + " -o " + Quoted(back), back,
                      bound == Command::kNodes ? Command::kNone : bound});
  if (every_target) {
    const std::string program = base + ".pt2";
    commands.push_back({"convert to .pt2", x2ir + Quoted(program), program, Command::kProgram});
    const std::string module = base + ".module";
    commands.push_back(
        {"convert to .py", x2ir + Quoted(module + ".py"), module, Command::kProgram});
  }
  if (every_target) {
    // Channels are last there: windows of several elements are relaid, both ways.
    const bool moved = model.find("windows") == std::string::npos;
    const std::string lite = base + ".tflite", of_lite = base + ".lite.json";
    const auto lite_bound = moved ? Command::kWeights : Command::kKernels;
    commands.push_back({"convert to .tflite", x2ir + Quoted(lite), lite, lite_bound});
    commands.push_back({"convert from .tflite",
                        bin + "/x2ir convert -q " + Quoted(lite) + " -o " + Quoted(of_lite),
                        base + ".lite.[js]", lite_bound});
    const std::string package = base + ".mlpackage", of_package = base + ".package.json";
    commands.push_back({"convert to .mlpackage", x2ir + Quoted(package), package, bound});
    commands.push_back({"convert from .mlpackage",
                        bin + "/x2ir convert -q " + Quoted(package) + " -o " + Quoted(of_package),
                        base + ".package.[js]", bound});
  }
  const char* others = std::getenv("X2IR_BENCH_OTHERS");
  std::istringstream lines(others ? others : "");
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string out = base + ".other." + std::to_string(commands.size());
    commands.push_back(
        {line.substr(0, colon),
         Replaced(Replaced(line.substr(colon + 1), "{in}", Quoted(model)), "{out}", Quoted(out)),
         out});
  }
  return commands;
}

// The bounds on time and memory; 0: none.
double SecondsFor(const Command& command, const Figures& figures, double cp) {
  switch (command.bound) {
    case Command::kNone: return 0;
    case Command::kWeights: return 1.3 * cp + 0.02;
    case Command::kNodes: return 1.5 + (figures.nodes - 200e3) / 800e3 * 6.5;
    case Command::kReference: return 0.5;
    case Command::kFrozen: return 2 * cp + 0.05;
    case Command::kKernels: return 4 * cp + 0.05;
    case Command::kProgram: return 1.3 * cp + 0.05;
    case Command::kPieces: return 3 * cp;
  }
  return 0;
}
double BytesFor(const Command& command, const Figures& figures) {
  if (command.bound == Command::kReference) return 200e6;
  if (command.bound == Command::kProgram) return 80e6;
  if (command.bound == Command::kFrozen || command.bound == Command::kKernels ||
      command.bound == Command::kPieces) {
    return 110e6;
  }
  return 60e6 + 2000 * figures.nodes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: %s BIN_FOLDER WORK_FOLDER RUNS MODEL...\n", argv[0]);
    return 2;
  }
  const std::string bin = argv[1];
  const std::string work = argv[2];
  std::printf("%-44s %8s %9s %9s %9s %9s %9s  %s\n", "command", "MB", "nodes", "ms", "x cp",
              "cpu ms", "peak MB", "bounds");
  bool kept = true;
  for (int i = 4; i < argc; ++i) {
    const std::string model = argv[i];
    struct stat info {};
    if (stat(model.c_str(), &info) != 0) continue;
    std::vector<std::string> files = {model};
    for (const std::string& file : Glob(model + ".*.bin")) files.push_back(file);
    const int runs = files.size() > 1 ? 0 : std::max(1, std::atoi(argv[3]));
    const Figures figures = FiguresOf(bin, model, files);
    const std::string base = work + "/" + Replaced(model, "/", "_");
    std::vector<Command> commands = CommandsFor(bin, base, model, files, figures);
    for (int run = 0; run <= runs; ++run) {
      for (Command& command : commands) {
        if (!Run(command, run > 0 || runs == 0)) {
          std::fprintf(stderr, "%s of %s failed\n", command.label.c_str(), model.c_str());
          return 1;
        }
        // Copies of so much at once may be more than the disk has.
        if (runs == 0 && command.label == "cp") Remove(command);
      }
    }
    const double cp = Median(commands[0].seconds);
    const std::string name = model.size() > 22 ? "..." + model.substr(model.size() - 22) : model;
    for (const Command& command : commands) {
      const double seconds = Median(command.seconds);
      const double peak = static_cast<double>(command.peak_kib) * 1024;
      std::string verdict;
      const auto check = [&](const char* what, double is, double most, double unit) {
        if (most == 0) return;
        char text[64];
        std::snprintf(text, sizeof(text), "%s %.*f%s  ", what, unit == 1 ? 2 : 0, most / unit,
                      is <= most ? "" : " EXCEEDED");
        verdict += text;
        kept = kept && is <= most;
      };
      check("s", seconds, SecondsFor(command, figures, cp), 1);
      const bool ours =
          &command != &commands[0] && command.makes.find(".other.") == std::string::npos;
      check("MB", peak, ours ? BytesFor(command, figures) : 0, 1e6);
      std::printf("%-44s %8.1f %9.0f %9.2f %9.2f %9.1f %9.1f  %s\n",
                  (command.label + " " + name).c_str(), figures.bytes / 1e6, figures.nodes,
                  seconds * 1e3, seconds / cp, Median(command.processor) * 1e3, peak / 1e6,
                  verdict.c_str());
    }
    std::fflush(stdout);
    for (const Command& command : commands) Remove(command);
    rmdir((base + ".copies").c_str());
  }
  return kept ? 0 : 1;
}
