// Measures whole programs: what converting and exporting a model costs beside copying its
// file with `cp` in the same run, and how much memory it takes at its peak.
//
//   x2ir_whole_program BIN_FOLDER WORK_FOLDER RUNS MODEL.onnx...
//
// Prints a table: median wall time of the runs (after one warm-up, commands taking turns so
// that drift hits all alike), the ratio to cp, and peak resident memory.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

extern char** environ;

namespace {

struct Command {
  std::string label;
  std::vector<std::string> args;
  std::vector<double> seconds;
  long peak_kib = 0;
};

bool Run(Command& command, bool counted) {
  std::vector<char*> argv;
  for (std::string& arg : command.args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  const auto start = std::chrono::steady_clock::now();
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return false;
  int status = 0;
  rusage usage{};
  if (wait4(pid, &status, 0, &usage) != pid) return false;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (counted) command.seconds.push_back(seconds);
  command.peak_kib = std::max(command.peak_kib, usage.ru_maxrss);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string StemOf(const std::string& path) {
  std::string stem = path;
  std::replace(stem.begin(), stem.end(), '/', '_');
  return stem;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: %s BIN_FOLDER WORK_FOLDER RUNS MODEL.onnx...\n", argv[0]);
    return 2;
  }
  const std::string bin = argv[1];
  const std::string work = argv[2];
  const int runs = std::max(1, std::atoi(argv[3]));
  std::printf("%-44s %8s %9s %9s %9s %10s\n", "command", "MB", "ms", "x cp", "ms - 2cp", "peak MB");
  for (int i = 4; i < argc; ++i) {
    const std::string model = argv[i];
    struct stat info {};
    if (stat(model.c_str(), &info) != 0) continue;
    const std::string base = work + "/" + StemOf(model);
    Command commands[] = {
        {"cp", {"cp", model, base + ".copy"}, {}, 0},
        {"convert", {bin + "/x2ir", "convert", "-q", model, "-o", base + ".json"}, {}, 0},
        {"export",
         {bin + "/ir2onnx", "export", "-q", base + ".json", "-o", base + ".out.onnx"},
         {},
         0},
    };
    for (int run = 0; run <= runs; ++run) {
      for (Command& command : commands) {
        if (!Run(command, run > 0)) {
          std::fprintf(stderr, "%s of %s failed\n", command.label.c_str(), model.c_str());
          return 1;
        }
      }
    }
    const double cp = Median(commands[0].seconds);
    const std::string name = model.size() > 30 ? "..." + model.substr(model.size() - 30) : model;
    for (const Command& command : commands) {
      const double seconds = Median(command.seconds);
      std::printf("%-44s %8.1f %9.2f %9.2f %9.2f %10.1f\n", (command.label + " " + name).c_str(),
                  info.st_size / 1e6, seconds * 1e3, seconds / cp, (seconds - 2 * cp) * 1e3,
                  command.peak_kib * 1024 / 1e6);
    }
  }
  return 0;
}
