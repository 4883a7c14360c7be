// One page for browsers on this machine: HTTP on the loopback address only.
#ifndef X2IR_CLI_LOOPBACK_SERVER_H_
#define X2IR_CLI_LOOPBACK_SERVER_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace x2ir::cli {

class LoopbackServer {
 public:
  // Listens on 127.0.0.1; port 0: one that is free. Unavailable where that is not possible.
  static absl::StatusOr<LoopbackServer> Listen(int port);
  ~LoopbackServer();
  LoopbackServer(LoopbackServer&& other) noexcept;
  LoopbackServer& operator=(LoopbackServer&&) = delete;

  int port() const { return port_; }
  std::string Url() const;

  // Serves the page at "/" of this address until the program ends. Requests for another host name
  // are refused: a foreign page may have sent them.
  absl::Status Run(std::shared_ptr<const std::string> page) const;

 private:
  LoopbackServer(int fd, int port) : fd_(fd), port_(port) {}
  int fd_, port_;
};

// The answer to a request: its head, and whether the page follows.
struct HttpAnswer {
  std::string head;
  bool with_page = false;
};
HttpAnswer AnswerTo(std::string_view request, int port, size_t page_size);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_LOOPBACK_SERVER_H_
